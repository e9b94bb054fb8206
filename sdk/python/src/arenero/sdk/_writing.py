"""Writing on open calls, without losing the status of a call that ends meanwhile.

When a server ends a call before it has read everything, as one does that refuses an upload, grpc.aio (to 1.85 at least,
https://github.com/grpc/grpc/issues/36066) overwrites what the server said with `INTERNAL: Internal error from Core`.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import grpc

_STATUS_WAIT_S: Final = 5.0


async def write(call: Any, message: Any) -> bool:
    """Send a message; False when the call has ended, and then its status, read next, says why.

    One at a time: gRPC knows no second write on a call while the first one waits.
    """
    keep_status(call)
    try:
        await call.write(message)
    except (asyncio.InvalidStateError, grpc.aio.AioRpcError):
        return False
    return True


def keep_status(call: Any) -> None:
    """Let a failed write wait for the status that the server sent, instead of making one up."""
    if not isinstance(call._cython_call, _StatusKeeper):
        call._cython_call = _StatusKeeper(call._cython_call)


class _StatusKeeper:
    """grpc's inner call, but for the one method that overwrites its status."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def set_internal_error(self, text: str) -> None:
        """Give the real status some time; a write that Core refuses outright never gets one."""
        asyncio.get_running_loop().call_later(_STATUS_WAIT_S, self._make_up_status, text)

    def _make_up_status(self, text: str) -> None:
        if not self._inner.done():
            self._inner.set_internal_error(text)
