"""Watches that outlive their readers for a while, each with the changes that a slow or absent reader has yet to see.

Nothing runs in the background: while nobody reads, the kernel's own queue holds what happens, and when that overflows
the next reader is told so. A watch has one reader; who comes later takes it over.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections import deque
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from arenero.errors import ArenError, Conflict, InvalidArgument, NotFound, ResourceExhausted
from arenero.execd.changes import Change, Coalescer
from arenero.execd.faults import blamed_on
from arenero.execd.file_config import FileConfig
from arenero.execd.globs import Globs
from arenero.execd.identity import Identity
from arenero.execd.scope import Scope
from arenero.execd.watch import DirectoryWatch
from arenero.execd.workers import FileWorkers

DEFAULT_COALESCE_S: Final = 0.05
MOST_COALESCE_S: Final = 10.0
DEFAULT_HEARTBEAT_S: Final = 15.0
LEAST_HEARTBEAT_S: Final = 1.0
MOST_AT_ONCE: Final = 1000
"""Changes in one batch."""
_HALF_MOVE_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class WatchSpec:
    """What to watch."""

    root: bytes
    path: bytes
    is_recursive: bool = False
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a reader wants to hear."""

    coalesce_s: float = DEFAULT_COALESCE_S
    heartbeat_s: float = DEFAULT_HEARTBEAT_S

    def check(self) -> None:
        """Refuse what makes no sense.

        Raises:
            InvalidArgument: A duration is out of range.
        """
        if not 0 <= self.coalesce_s <= MOST_COALESCE_S:
            raise InvalidArgument(f"0 to {MOST_COALESCE_S:.0f} s", reason="OUT_OF_RANGE", field="coalesce")
        if self.heartbeat_s < LEAST_HEARTBEAT_S:
            raise InvalidArgument(f"at least {LEAST_HEARTBEAT_S:.0f} s", reason="OUT_OF_RANGE", field="heartbeat")


@dataclass(frozen=True, slots=True)
class Batch:
    """What a reader is told at once; without changes it is a sign of life."""

    cursor: int
    changes: tuple[Change, ...] = ()
    overflow: bool = False


class Watch:
    """One watch with its reader's place in it."""

    def __init__(self, spec: WatchSpec, identity: Identity | None, tree: DirectoryWatch, most: int) -> None:
        self.watch_id = os.urandom(12).hex()
        self.spec = spec
        self.identity = identity
        self._tree = tree
        self._kept: deque[tuple[int, Change | None]] = deque()
        """Cursor and change; no change stands for lost ones."""
        self._most = most
        self._evicted = 0
        """Changes up to this cursor are gone."""
        self.cursor = 0
        """Of the newest change."""
        self._coalescer = Coalescer()
        self.reader = 0
        """Token of whoever reads it."""
        self._reading = asyncio.Lock()
        self._wake: asyncio.Future[None] | None = None
        self.is_closed = False

    def take_over(self) -> int:
        """Become the reader; the former one is told."""
        self.reader += 1
        if self._wake is not None:
            self._stop_waiting(self._wake)
        return self.reader

    async def follow(self, reader: int, after: int, pace: Pace, workers: FileWorkers) -> AsyncGenerator[Batch, None]:
        """Give changes behind a cursor, and signs of life.

        Raises:
            Conflict: Somebody else took the watch over.
            ResourceExhausted: The kernel takes no more watches; the watch is of no use then.
        """
        while True:
            for batch in self._batches(after):
                after = batch.cursor
                yield batch
            if self._tree.has_ended or self.is_closed:
                self._check(reader)
                return
            if await self._has_news(pace.heartbeat_s):
                await asyncio.sleep(pace.coalesce_s)
                await self._read(reader, workers)
            elif reader == self.reader:
                yield Batch(after)
            self._check(reader)

    async def _read(self, reader: int, workers: FileWorkers) -> None:
        async with self._reading:
            while reader == self.reader and not self.is_closed:
                await workers.finish(self.identity, self._collect())
                if not self._tree.has_halves:
                    return
                await asyncio.sleep(_HALF_MOVE_S)

    def _check(self, reader: int) -> None:
        if reader != self.reader:
            raise Conflict("another reader took this watch over", reason="WATCH_TAKEN_OVER", field="watch_id")

    def _collect(self) -> Generator[None, None, None]:
        lost = yield from self._tree.read(self._coalescer.add)
        for change in self._coalescer.take():
            self._keep(change)
        if lost:
            self._keep(None)

    def _keep(self, change: Change | None) -> None:
        self.cursor += 1
        self._kept.append((self.cursor, change))
        if len(self._kept) > self._most:
            self._evicted, _ = self._kept.popleft()

    def _batches(self, after: int) -> list[Batch]:
        """Return all that is kept behind a cursor."""
        batches = [Batch(self._evicted, overflow=True)] if after < self._evicted else []
        news = [(cursor, change) for cursor, change in self._kept if cursor > after]
        for is_loss, run in itertools.groupby(news, lambda item: item[1] is None):
            items = list(run)
            for begin in range(0, len(items), MOST_AT_ONCE):
                part = items[begin : begin + MOST_AT_ONCE]
                changes = tuple(change for _, change in part if change is not None)
                batches.append(Batch(part[-1][0], changes, overflow=is_loss))
        return batches

    async def _has_news(self, within_s: float) -> bool:
        """Wait for events, but not longer; also ends when the watch is taken over."""
        loop = asyncio.get_running_loop()
        wake = self._wake = loop.create_future()
        loop.add_reader(self._tree.queue_fd, self._stop_waiting, wake)
        try:
            async with asyncio.timeout(within_s):
                await wake
        except TimeoutError:
            return False
        else:
            return True
        finally:
            self._stop_waiting(wake)

    def _stop_waiting(self, wake: asyncio.Future[None]) -> None:
        """End a wait, and the loop's interest in the queue with it: that goes on being readable until it is read."""
        if not wake.done():
            wake.set_result(None)
        if self._wake is wake:
            self._wake = None
            asyncio.get_running_loop().remove_reader(self._tree.queue_fd)

    def close(self, workers: FileWorkers) -> None:
        """Stop watching, and end who reads."""
        if not self.is_closed:
            self.is_closed = True
            self.take_over()
            workers.submit(self._tree.close)


class Watches:
    """All watches of execd, by their ids."""

    def __init__(self, config: FileConfig, workers: FileWorkers) -> None:
        self._config = config
        self._workers = workers
        self._watches: dict[str, Watch] = {}
        self._expiries: dict[str, asyncio.TimerHandle] = {}

    async def begin(self, scope: Scope, spec: WatchSpec) -> Watch:
        """Start a watch; when this returns, every change from now on is seen.

        Raises:
            ResourceExhausted: There are too many, here or for the kernel; reason WATCH_LIMIT.
            InvalidArgument: A glob is not valid.
        """
        ignore = Globs(spec.ignore, "ignore")
        self._make_room()
        tree = await self._workers.acquire(
            scope.identity, lambda: _open(scope, spec, ignore), lambda opened: opened.close()
        )
        watch = Watch(spec, scope.identity, tree, self._config.watch_most_changes)
        self._watches[watch.watch_id] = watch
        try:
            await self._workers.finish(scope.identity, _blamed(tree.start(), spec.path))
        except BaseException:
            self._drop(watch)
            raise
        return watch

    def find(self, watch_id: str, scope: Scope, spec: WatchSpec) -> Watch:
        """Return a watch to go on with.

        Raises:
            NotFound: It isn't known any more, reason WATCH_NOT_FOUND: look at the tree and start a new one.
            InvalidArgument: It watches something else.
        """
        watch = self._watches.get(watch_id)
        if watch is None:
            raise NotFound(
                "the watch isn't known any more",
                reason="WATCH_NOT_FOUND",
                field="watch_id",
                fix="look at the whole tree and start a new watch",
            )
        if watch.spec != spec or watch.identity != scope.identity:
            raise InvalidArgument("the watch is for something else", reason="WATCH_DIFFERS", field="watch_id")
        return watch

    async def follow(self, watch: Watch, after: int, pace: Pace) -> AsyncGenerator[Batch, None]:
        """Read a watch; afterwards it is kept for a while, unless it failed or its directory went."""
        reader = watch.take_over()
        if (expiry := self._expiries.pop(watch.watch_id, None)) is not None:
            expiry.cancel()
        try:
            yield Batch(after)
            async with aclosing(watch.follow(reader, after, pace, self._workers)) as batches:
                async for batch in batches:
                    yield batch
            self._drop(watch)
        except ArenError as error:
            if not isinstance(error, Conflict):
                self._drop(watch)
            raise
        finally:
            if watch.watch_id in self._watches and reader == watch.reader:
                self._expire_later(watch)

    def close(self) -> None:
        """End all watches."""
        for watch in list(self._watches.values()):
            self._drop(watch)

    def _make_room(self) -> None:
        if len(self._watches) < self._config.most_watches:
            return
        idle = next((watch for watch in self._watches.values() if watch.watch_id in self._expiries), None)
        if idle is None:
            raise ResourceExhausted(
                f"{self._config.most_watches} directories are watched already", reason="WATCH_LIMIT", field="path"
            )
        self._drop(idle)

    def _expire_later(self, watch: Watch) -> None:
        loop = asyncio.get_running_loop()
        self._expiries[watch.watch_id] = loop.call_later(self._config.watch_idle_s, self._drop, watch)

    def _drop(self, watch: Watch) -> None:
        self._watches.pop(watch.watch_id, None)
        if (expiry := self._expiries.pop(watch.watch_id, None)) is not None:
            expiry.cancel()
        watch.close(self._workers)


def _blamed(steps: Generator[None, None, None], path: bytes) -> Generator[None, None, None]:
    with blamed_on(path):
        yield from steps


def _open(scope: Scope, spec: WatchSpec, ignore: Globs) -> DirectoryWatch:
    with scope.open_tree() as tree:
        fd = tree.open_directory(spec.path)
    with blamed_on(spec.path):
        return DirectoryWatch(fd, is_recursive=spec.is_recursive, ignore=ignore)
