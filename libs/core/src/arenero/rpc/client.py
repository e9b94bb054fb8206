"""Calls to other parts: a channel, and calls that raise our errors, continue the trace and say who asks.

No client interceptors: they cost more than the call's own work in Python. A call is tried again only when it surely was
not done (`Unavailable`), within its deadline; a broken connection is `OutcomeUnknown`, which the caller must look into.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, TypeVar

import grpc
from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from arenero.errors import DeadlineExceeded, Unavailable
from arenero.rpc.identity import Caller
from arenero.rpc.server import MAX_MESSAGE_BYTES, UNIX
from arenero.rpc.status import from_rpc_error

_propagator: Final = TraceContextTextMapPropagator()
_MIN_BACKOFF_S: Final = 0.02
_MAX_BACKOFF_S: Final = 1.0
Metadata = Sequence[tuple[str, str | bytes]]
_Response = TypeVar("_Response")

OPTIONS: Final[Sequence[tuple[str, Any]]] = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.max_pings_without_data", 0),
    # A restarted service on the same machine is back in a fraction of a second: don't sit out gRPC's default of one.
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # Never look for a proxy in the environment, and don't share connections behind the callers' backs.
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
)


def open_channel(address: str, *, options: Sequence[tuple[str, Any]] = ()) -> grpc.aio.Channel:
    """Return a channel to `unix:/path` or `host:port`. It connects when first used, and again after each break."""
    every = [*OPTIONS, *options]
    if address.startswith(UNIX):
        credentials = grpc.local_channel_credentials(grpc.LocalConnectionType.UDS)
        return grpc.aio.secure_channel(address, credentials, options=[*every, ("grpc.default_authority", "localhost")])
    return grpc.aio.insecure_channel(address, options=every)


def call_metadata(caller: Caller | None = None, *extra: tuple[str, str | bytes]) -> list[tuple[str, str | bytes]]:
    """Return the metadata of a call: the trace that it belongs to, who asks, and what else is given."""
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    return [*carrier.items(), *(caller.to_metadata() if caller else ()), *extra]


async def call(
    method: Callable[..., Awaitable[_Response]],
    request: object,
    *,
    timeout_s: float,
    caller: Caller | None = None,
    metadata: Metadata = (),
) -> _Response:
    """Make a unary call, again while it was not done and time is left.

    Raises:
        ArenError: What the server raised, or what became of the call.
    """
    loop = asyncio.get_running_loop()
    deadline_s = loop.time() + timeout_s
    backoff_s = _MIN_BACKOFF_S
    sent = [*call_metadata(caller), *metadata]
    while True:
        try:
            return await method(request, timeout=max(deadline_s - loop.time(), 0.001), metadata=sent)
        except grpc.RpcError as error:
            failure = from_rpc_error(error)
            if not isinstance(failure, Unavailable):
                raise failure from error
        pause_s = max(failure.retry_after_s or 0.0, backoff_s)
        if loop.time() + pause_s >= deadline_s:
            raise failure
        await asyncio.sleep(pause_s)
        backoff_s = min(backoff_s * 2, _MAX_BACKOFF_S)


async def stream(
    method: Callable[..., Any],
    request: object,
    *,
    timeout_s: float | None = None,
    caller: Caller | None = None,
    metadata: Metadata = (),
) -> AsyncIterator[Any]:
    """Make a call that answers with a stream and yield its messages; the call is cancelled when the iteration ends.

    Raises:
        ArenError: What the server raised, or what became of the call. A stream that breaks never ends normally.
    """
    running = method(request, timeout=timeout_s, metadata=[*call_metadata(caller), *metadata])
    try:
        async for message in running:
            yield message
    except grpc.RpcError as error:
        raise from_rpc_error(error) from error
    finally:
        running.cancel()


async def wait_ready(channel: grpc.aio.Channel, *, timeout_s: float) -> None:
    """Wait until a channel is connected.

    Raises:
        DeadlineExceeded: It was not within `timeout_s`.
    """
    try:
        async with asyncio.timeout(timeout_s):
            await channel.channel_ready()
    except TimeoutError:
        raise DeadlineExceeded(f"no connection within {timeout_s:g} s", reason="NOT_CONNECTED") from None


def client_span(name: str, **attributes: str) -> AbstractContextManager[Span]:
    """Return a context that is a span around calls to another part, such as `gateway.forward`."""
    return trace.get_tracer("arenero.rpc").start_as_current_span(name, kind=SpanKind.CLIENT, attributes=attributes)
