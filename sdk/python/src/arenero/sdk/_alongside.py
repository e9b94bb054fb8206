"""Running something beside something else, without a group around the error that comes out of it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def alongside(main: Coroutine[Any, Any, T], beside: Coroutine[Any, Any, object]) -> T:
    """Await `main` while `beside` runs, which is cancelled when `main` is done.

    Raises:
        BaseException: What failed first of the two, as it was raised.
    """
    try:
        async with asyncio.TaskGroup() as group:
            other = group.create_task(beside)
            result = await main
            other.cancel()
    except BaseExceptionGroup as failed:
        first = first_of(failed)
        raise first from first.__cause__
    return result


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error of a group, and of the groups in it."""
    inner = group.exceptions[0]
    return first_of(inner) if isinstance(inner, BaseExceptionGroup) else inner
