"""Moves the messages of one direction of a call.

The next message is asked for while the last one is on its way out, so reading and writing overlap; no more than that is
held, so a slow reader stops its writer through HTTP/2's own flow control and the memory stays flat.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Final

import grpc

EOF: Final = grpc.aio.EOF
Read = Callable[[], Coroutine[Any, Any, Any]]
"""Returns a message, or `EOF` after the last."""
Write = Callable[[bytes], Awaitable[None]]


async def pump(message: Any, read: Read, write: Write, count: Callable[[int], None]) -> None:
    """Write a message and all that follow it. An error of either side ends it and is raised.

    Args:
        message: The first, already read; `EOF` when there is none.
        read: Where the others come from; not called again after it gave `EOF`.
        write: Where they go; returns when there is room for the next.
        count: Told the size of each in bytes.
    """
    async with subtasks() as group:
        while message is not EOF:
            following = group.create_task(read())
            count(len(message))
            await write(message)
            message = await following


@asynccontextmanager
async def subtasks() -> AsyncIterator[asyncio.TaskGroup]:
    """A task group whose first error comes out as it is: callers here have one thing that can go wrong at a time."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as errors:
        raise _first(errors) from None


def _first(error: BaseException) -> BaseException:
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def was_cancelled() -> bool:
    """Whether a CancelledError that was just caught is meant for this task.

    grpc.aio raises the same class when the *other side* of a call ended it with the status CANCELLED.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
