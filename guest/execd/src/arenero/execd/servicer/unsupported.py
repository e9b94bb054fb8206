"""Services that this execd doesn't have: every call is answered, with the reason, instead of being unknown."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from google.protobuf.descriptor import ServiceDescriptor

from arenero.errors import Unsupported
from arenero.rpc.interceptors import Context


def unsupported(kind: type, service: ServiceDescriptor, message: str, reason: str) -> Any:
    """Return a servicer of a generated class whose every call raises `Unsupported`."""
    calls = {
        method.name: _streaming(message, reason) if method.server_streaming else _single(message, reason)
        for method in service.methods
    }
    return type(f"Unsupported{service.name}", (kind,), dict(calls))()


def _single(message: str, reason: str) -> Callable[..., Any]:
    async def call(self: object, request: Any, context: Context) -> Any:
        raise Unsupported(message, reason=reason)

    return call


def _streaming(message: str, reason: str) -> Callable[..., Any]:
    async def call(self: object, request: Any, context: Context) -> AsyncIterator[Any]:
        raise Unsupported(message, reason=reason)
        yield

    return call
