"""Blocking file work off the event loop, in a few threads.

Work that may take long is a generator. It is run in slices of some milliseconds, each wherever a thread is free, so
that a few threads serve any number of calls, none of them starves another, and a call that is cancelled stops at the
next slice. Before a slice the thread takes on the caller's identity.

A stream works one slice ahead: while the event loop sends one batch, the next is read.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, Final, Generic, ParamSpec, TypeVar

from arenero.errors import ArenError
from arenero.execd.faults import fault
from arenero.execd.identity import Identity, acting_as
from arenero.execd.threads import Threads

SLICE_S: Final = 0.02

_P = ParamSpec("_P")
_T = TypeVar("_T")
_R = TypeVar("_R")


class FileWorkers:
    """The threads that do file work."""

    def __init__(self, threads: int) -> None:
        self._pool = Threads(threads, "files")

    async def run(self, identity: Identity | None, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Do one short piece of work as a user. If cancelled, it may have happened."""
        return await self.start(identity, call, *args, **kwargs)

    async def acquire(self, identity: Identity | None, call: Callable[[], _T], release: Callable[[_T], Any]) -> _T:
        """Open something as a user. If cancelled, what may have been opened is released, in a thread."""
        opening = self.start(identity, call)

        def opened(done: asyncio.Future[_T]) -> None:
            if not done.cancelled() and done.exception() is None:
                self.submit(lambda: release(done.result()))

        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(opened)
            raise

    def start(
        self, identity: Identity | None, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> asyncio.Future[_T]:
        """Begin one short piece of work, to be awaited later."""

        def acting() -> _T:
            try:
                with acting_as(identity):
                    return call(*args, **kwargs)
            except OSError as error:
                raise _ours(error) from error

        return asyncio.get_running_loop().run_in_executor(self._pool, acting)

    async def batches(
        self, identity: Identity | None, items: Generator[_T, None, Any], *, most: int
    ) -> AsyncGenerator[list[_T], None]:
        """Run a generator in slices and give what it yields, at most so many at once.

        The generator is closed in a thread when the stream ends, however it ends. Use `contextlib.aclosing`, or a
        cancelled caller leaves that to the garbage collector.
        """
        sliced = _Sliced(identity, items, most)
        loop = asyncio.get_running_loop()
        try:
            ahead = loop.run_in_executor(self._pool, sliced.advance)
            while not (batch := await ahead).is_last:
                ahead = loop.run_in_executor(self._pool, sliced.advance)
                if batch.items:
                    yield batch.items
            if batch.items:
                yield batch.items
            batch.check()
        finally:
            self._close(sliced)

    async def finish(self, identity: Identity | None, steps: Generator[Any, None, _R]) -> _R:
        """Run a generator to its end in slices and return its result."""
        sliced = _Sliced[Any, _R](identity, steps, None)
        loop = asyncio.get_running_loop()
        try:
            while not (batch := await loop.run_in_executor(self._pool, sliced.advance)).is_last:
                pass
            batch.check()
            return batch.result  # type: ignore[return-value]
        finally:
            self._close(sliced)

    def submit(self, call: Callable[[], Any]) -> None:
        """Do something some time soon, and now when the threads are gone already."""
        try:
            self._pool.submit(call)
        except RuntimeError:
            call()

    def close(self) -> None:
        """Let what runs end and take no more. Doesn't wait: a thread may hang in a dead network file system."""
        self._pool.shutdown(wait=False, cancel_futures=False)

    def _close(self, sliced: _Sliced[Any, Any]) -> None:
        if not sliced.is_finished:
            self.submit(sliced.close)


def _ours(error: OSError) -> ArenError:
    """Return what a caller sees of an error that nobody tied to a path of the request."""
    return fault(error, os.fsencode(error.filename) if isinstance(error.filename, str | bytes) else b"", "")


class _Batch(Generic[_T, _R]):
    """What one slice gave."""

    __slots__ = ("error", "is_last", "items", "result")

    def __init__(self) -> None:
        self.items: list[_T] = []
        self.is_last = False
        self.result: _R | None = None
        self.error: BaseException | None = None

    def check(self) -> None:
        if isinstance(self.error, OSError):
            raise _ours(self.error) from self.error
        if self.error is not None:
            raise self.error


class _Sliced(Generic[_T, _R]):
    """A generator that is advanced by whatever thread is free, by one at a time."""

    def __init__(self, identity: Identity | None, steps: Generator[_T, None, _R], most: int | None) -> None:
        self._identity = identity
        self._steps = steps
        self._most = most
        """None: the items themselves don't matter."""
        self._lock = threading.Lock()
        self._is_closing = False
        self.is_finished = False

    def advance(self) -> _Batch[_T, _R]:
        """Run one slice. Never raises: a failure ends the batch, after what came before it."""
        batch = _Batch[_T, _R]()
        with self._lock:
            try:
                with acting_as(self._identity):
                    self._fill(batch)
            except BaseException as error:  # noqa: BLE001 - it is raised where the batch is taken
                batch.error = error
                batch.is_last = self.is_finished = True
        return batch

    def close(self) -> None:
        """Stop a slice that runs, then end the generator."""
        self._is_closing = True
        with self._lock, acting_as(self._identity):
            self._steps.close()
            self.is_finished = True

    def _fill(self, batch: _Batch[_T, _R]) -> None:
        until = time.monotonic() + SLICE_S
        while not self._is_closing:
            try:
                item = next(self._steps)
            except StopIteration as end:
                batch.result = end.value
                batch.is_last = self.is_finished = True
                return
            if self._most is not None:
                batch.items.append(item)
                if len(batch.items) >= self._most:
                    return
            if time.monotonic() >= until:
                return
