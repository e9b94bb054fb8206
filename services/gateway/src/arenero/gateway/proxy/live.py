"""The calls under way, by the key that opened them: when a key is revoked, its calls end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from arenero.errors import Unauthenticated


class LiveCalls:
    """Tasks of handlers, by actor."""

    def __init__(self) -> None:
        self._tasks: dict[str, set[asyncio.Task[Any]]] = {}
        self._ended: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return sum(len(tasks) for tasks in self._tasks.values())

    @contextmanager
    def holding(self, actor: str) -> Iterator[None]:
        """Count the current task among the actor's calls.

        Raises:
            Unauthenticated: The calls were ended meanwhile.
        """
        task = asyncio.current_task()
        assert task is not None
        tasks = self._tasks.setdefault(actor, set())
        tasks.add(task)
        try:
            yield
        except asyncio.CancelledError:
            if task not in self._ended:
                raise
            task.uncancel()
            raise Unauthenticated("the API key has ended, and its calls with it", reason="KEY_ENDED") from None
        finally:
            tasks.discard(task)
            self._ended.discard(task)
            if not tasks:
                self._tasks.pop(actor, None)

    def end(self, actor: str) -> None:
        """End the actor's calls; their clients are told why."""
        for task in self._tasks.get(actor, ()):
            self._ended.add(task)
            task.cancel()
