"""Writing on open calls, without losing the status of a call that ends meanwhile.

When a server ends a call before it has read everything, as one does that refuses an upload, grpc.aio (to 1.85 at least,
https://github.com/grpc/grpc/issues/36066) overwrites what the server said with `INTERNAL: Internal error from Core`.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import grpc
from grpc._cython import cygrpc  # type: ignore[attr-defined]


async def write(call: Any, message: Any) -> bool:
    """Send a message; False when the call takes no more, and then what can still be read of it says why.

    One at a time: gRPC knows no second write on a call while the first one waits.
    """
    if not isinstance(call._cython_call, _StatusKeeper):
        call._cython_call = _StatusKeeper(call._cython_call)
    try:
        await call.write(message)
    except (_NotWritten, asyncio.InvalidStateError, grpc.aio.AioRpcError):
        return False
    return True


async def end(call: Any) -> None:
    """Say that nothing more is sent; when the call is over already, what can still be read of it says why."""
    with contextlib.suppress(cygrpc.InternalError, asyncio.InvalidStateError):
        await call.done_writing()


class _NotWritten(Exception):
    """A write failed. Unlike grpc's own error, it doesn't make its caller invent a status."""


class _StatusKeeper:
    """grpc's inner call, whose failed writes leave its status alone."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def send_serialized_message(self, message: bytes) -> None:
        """Send; the status, which may come only after messages that are still to be read, is not waited for."""
        try:
            await self._inner.send_serialized_message(message)
        except cygrpc.InternalError:
            raise _NotWritten from None
