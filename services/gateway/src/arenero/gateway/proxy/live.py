"""The calls under way, by the key that opened them: when a key is revoked, its calls end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class LiveCalls:
    """Tasks of handlers, by actor."""

    def __init__(self) -> None:
        self._tasks: dict[str, set[asyncio.Task[Any]]] = {}

    def __len__(self) -> int:
        return sum(len(tasks) for tasks in self._tasks.values())

    @contextmanager
    def holding(self, actor: str) -> Iterator[None]:
        """Count the current task among the actor's calls."""
        task = asyncio.current_task()
        assert task is not None
        tasks = self._tasks.setdefault(actor, set())
        tasks.add(task)
        try:
            yield
        finally:
            tasks.discard(task)
            if not tasks:
                self._tasks.pop(actor, None)

    def end(self, actor: str) -> None:
        """Cancel the actor's calls; their clients learn that the call was cancelled, and on the next one why."""
        for task in self._tasks.get(actor, ()):
            task.cancel()
