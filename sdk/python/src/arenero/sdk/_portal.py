"""Lets synchronous code call the asynchronous SDK: one event loop in one thread of its own."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Inner = TypeVar("Inner")
_SETTLE_S: Final = 5.0


class Portal:
    """The event loop's thread, started when first used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there and wait for it. Ctrl-C cancels it.

        Raises:
            RuntimeError: It was called on that very loop, which would wait for itself forever.
        """
        loop = self._running_loop()
        if self._is_here():
            coroutine.close()
            raise RuntimeError("arenero.sdk.sync can't be used on its own event loop: use arenero.sdk there")
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def iterate(self, items: AsyncIterator[T]) -> Iterator[T]:
        """Iterate over asynchronous items. Leaving the loop early closes them."""
        try:
            while True:
                try:
                    item = self.run(_next(items))
                except StopAsyncIteration:
                    return
                yield item
        finally:
            self._close(items)

    def stop(self) -> None:
        """Let what was cancelled finish, cancel the rest, and end the thread. The next use starts another."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_settle(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _close(self, items: AsyncIterator[Any]) -> None:
        close = getattr(items, "aclose", None)
        if close is None:
            return
        if self._is_here():
            # The garbage collector came by on this thread: nobody to wait for it, and nobody who could.
            asyncio.run_coroutine_threadsafe(close(), self._running_loop())
        else:
            self.run(close())

    def _is_here(self) -> bool:
        return threading.current_thread() is self._thread

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="arenero-sdk", daemon=True)
                self._thread.start()
            return self._loop


PORTAL: Final = Portal()
atexit.register(PORTAL.stop)


class Wrapper(Generic[Inner]):
    """A synchronous face of an asynchronous object."""

    def __init__(self, inner: Inner) -> None:
        self._inner = inner


def method(call: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> Callable[Concatenate[Any, P], T]:
    """Make a synchronous method of an asynchronous one."""

    def run(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return PORTAL.run(call(self._inner, *args, **kwargs))

    run.__doc__, run.__name__ = call.__doc__, call.__name__
    return run


def iterator(call: Callable[Concatenate[Any, P], AsyncIterator[T]]) -> Callable[Concatenate[Any, P], Iterator[T]]:
    """Make a method that iterates of one that iterates asynchronously."""

    def run(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return PORTAL.iterate(call(self._inner, *args, **kwargs))

    run.__doc__, run.__name__ = call.__doc__, call.__name__
    return run


async def _settle() -> None:
    """End all tasks. One that was cancelled before may be busy with undoing what it began."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        if not task.cancelling():
            task.cancel()
    if others:
        await asyncio.wait(others, timeout=_SETTLE_S)


async def _next(items: AsyncIterator[T]) -> T:
    return await items.__anext__()
