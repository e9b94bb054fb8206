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


class Portal:
    """The event loop's thread, started when first used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there and wait for it. Ctrl-C cancels it."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._running_loop())
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
            close = getattr(items, "aclose", None)
            if close is not None:
                self.run(close())

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                thread = threading.Thread(target=self._loop.run_forever, name="arenero-sdk", daemon=True)
                thread.start()
                atexit.register(self._stop, self._loop, thread)
            return self._loop

    @staticmethod
    def _stop(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=5)


PORTAL: Final = Portal()


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


async def _next(items: AsyncIterator[T]) -> T:
    return await items.__anext__()
