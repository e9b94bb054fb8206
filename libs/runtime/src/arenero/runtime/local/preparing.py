"""Cells built ahead of time, so that a start finds its surroundings ready.

A prepared cell has its namespaces, mounts and limits' group, and a first process that waits to be told who it is. Which
kind to prepare is learnt from the last request. Filling up is done one cell at a time and only while no start is under
way: it must not slow down what somebody waits for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from arenero.errors import ArenError
from arenero.host.tasks import TaskScope
from arenero.runtime.local.cells import Cell
from arenero.runtime.local.sources import Base
from arenero.runtime.local.zygote import Built

_TASK: Final = "fill"
_QUIET_S: Final = 0.02
_RETRY_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Kind:
    """What makes prepared cells alike."""

    base: Base
    disk_bytes: int | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A cell with its first process waiting."""

    cell: Cell
    build: asyncio.Future[Built]


class Stock:
    """Keeps a few cells of the kind that is asked for.

    Args:
        size: How many; 0: none ever.
        make: Makes and builds one.
        drop: Removes one that is not wanted any more.
    """

    def __init__(
        self, size: int, make: Callable[[Kind], Awaitable[Prepared]], drop: Callable[[Cell], Awaitable[None]]
    ) -> None:
        self._size = size
        self._make = make
        self._drop = drop
        self._kind: Kind | None = None
        self._ready: list[Prepared] = []
        self._tasks = TaskScope("local-stock")
        self._busy = 0

    def __len__(self) -> int:
        return len(self._ready)

    def take(self, kind: Kind) -> Prepared | None:
        """Return a prepared cell of a kind, or None when there is none; from now on this kind is prepared."""
        if self._size == 0:
            return None
        if kind != self._kind:
            self._kind = kind
            unwanted, self._ready = self._ready, []
            for prepared in unwanted:
                self._tasks.spawn(f"drop-{prepared.cell.name}", self._drop_one(prepared.cell))
        return self._ready.pop(0) if self._ready else None

    async def _drop_one(self, cell: Cell) -> None:
        await self._drop(cell)

    def begin(self) -> None:
        """Note that a start is under way."""
        self._busy += 1

    def end(self) -> None:
        """Note that it is over, and fill up in a while."""
        self._busy -= 1
        if self._size and self._kind is not None:
            self._tasks.spawn(_TASK, self._fill())

    async def _fill(self) -> None:
        await asyncio.sleep(_QUIET_S)
        while len(self._ready) < self._size and self._kind is not None:
            if self._busy:
                # The end of that start comes back here.
                return
            kind = self._kind
            try:
                prepared = await self._make(kind)
            except ArenError:
                # The next start will meet the same and tell whoever asked for it.
                await asyncio.sleep(_RETRY_S)
                return
            if kind == self._kind:
                self._ready.append(prepared)
            else:
                await self._drop(prepared.cell)

    async def close(self) -> None:
        """Stop filling, and drop what is there."""
        await self._tasks.close()
        unwanted, self._ready = self._ready, []
        for prepared in unwanted:
            await self._drop(prepared.cell)
