"""What surrounds every handler: the caller's identity, a span, and our errors as statuses.

The wrapping happens once per method, when a servicer is added, and not by grpc's interceptors: those rebuild the chain
for each call and, for streams, tempt into a layer per message. Here a call costs one coroutine more; a message costs
nothing, since a stream's generator is drained into `context.write`, which is what grpc itself would do.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from arenero.errors import ArenError, Internal, OutcomeUnknown, Unavailable, Unsupported
from arenero.rpc.identity import SANDBOX_KEY, Authenticate, set_caller
from arenero.rpc.status import code_of, to_trailers

_log = logging.getLogger(__name__)
_tracer = trace.get_tracer("arenero.rpc")
_propagator: Final = TraceContextTextMapPropagator()
_TRACE_KEY: Final = "traceparent"
_OPEN: Final = ("/grpc.health.", "/grpc.reflection.")
"""Answered to everybody, ready or not."""
_UNTRACED: Final = (*_OPEN, "/opentelemetry.proto.collector.", "/arenero.api.gateway.v1.TraceService/")
"""Not worth a span. One for the delivery of spans would have to be delivered too, for ever; one for looking at a
sandbox's traces would be the newest of them."""
_OUR_FAULT: Final = frozenset({grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.UNAVAILABLE})
_WORDS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

Context = Any
"""A `grpc.aio.ServicerContext`; its stubs make it generic over messages, which no code here looks at."""
Behaviour = Callable[[Any, Context], Any]
Parse = Callable[[bytes], Any]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the wrapped handlers of one server share."""

    authenticate: Authenticate
    is_ready: Callable[[], bool]
    """While false, calls are refused as unavailable; the caller tries again."""
    span_area: str | None = ""
    """First word of the spans' names; empty: each method's own area. None: no spans."""
    streams: set[asyncio.Task[Any]] = field(default_factory=set)
    """Calls under way that answer with a stream; such a call may last for ever, so a stop has to end it."""
    ended: set[asyncio.Task[Any]] = field(default_factory=set)
    """Those of them that a stop has ended."""

    def end_streams(self) -> None:
        """End the calls that answer with a stream, with a status. A task that is only cancelled sends none."""
        for task in self.streams:
            self.ended.add(task)
            task.cancel()


def wrap(
    method: str, handler: grpc.RpcMethodHandler[Any, Any], around: Surroundings, parse: Parse | None = None
) -> grpc.RpcMethodHandler[Any, Any]:
    """Return a handler that does the same inside the surroundings. `method` is the path, `/package.Service/Method`.

    A handler may give serialized messages in the place of messages: of bulk data a protobuf runtime makes copies.
    `parse` reads requests in the place of the runtime, for the same reason.
    """
    make, behaviour = _parts(handler)
    if str(getattr(behaviour, "__module__", "")).endswith("_pb2_grpc"):
        behaviour = _not_yet_available(method)  # The generated base class answers, so nobody here does.
    surround = _surround_stream if handler.response_streaming else _surround_unary
    guarded = surround(_Scope(method, around), behaviour)
    wrapped: grpc.RpcMethodHandler[Any, Any] = make(
        guarded,
        request_deserializer=parse or handler.request_deserializer,
        response_serializer=_unless_serialized(handler.response_serializer),
    )
    return wrapped


def span_name(method: str, area: str = "") -> str:
    """Return a method's span name: `/arenero.api.lifecycle.v1.SandboxService/Create` → `lifecycle.sandbox.Create`.

    The area is the method's own, or who serves it in the place of others: `gateway.sandbox.Create`.
    """
    service, _, name = method.strip("/").rpartition("/")
    parts = service.split(".")
    noun = _WORDS.sub("_", parts[-1].removesuffix("Service")).lower()
    return (
        f"{area or parts[2]}.{noun}.{name}" if parts[:2] == ["arenero", "api"] and len(parts) > 3 else method.strip("/")
    )


class _Scope:
    """One method: enters and leaves what surrounds its calls."""

    def __init__(self, method: str, around: Surroundings) -> None:
        self._method = method
        self._around = around
        self._traced = around.span_area is not None and not method.startswith(_UNTRACED)
        self._open = method.startswith(_OPEN)
        self._span_name = span_name(method, around.span_area or "")

    @contextmanager
    def registered(self) -> Iterator[None]:
        """Let this call be found by a server that stops."""
        task = asyncio.current_task()
        assert task is not None
        self._around.streams.add(task)
        try:
            yield
        finally:
            self._around.streams.discard(task)
            self._around.ended.discard(task)

    async def run(self, context: Context, request: Any, work: Callable[[], Awaitable[Any]]) -> Any:
        """Do the work of one call, inside a span where the method has one."""
        metadata = {key: value for key, value in context.invocation_metadata() if isinstance(value, str)}
        if not self._traced:
            return await self._run(context, metadata, trace.INVALID_SPAN, work)
        with _tracer.start_as_current_span(
            self._span_name,
            context=_propagator.extract(metadata) if _TRACE_KEY in metadata else None,
            kind=SpanKind.SERVER,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            if span.is_recording():
                _note_sandbox(span, metadata, request)
            return await self._run(context, metadata, span, work)

    async def _run(
        self, context: Context, metadata: Mapping[str, str], span: Span, work: Callable[[], Awaitable[Any]]
    ) -> Any:
        try:
            await self._enter(metadata, span)
            return await work()
        except ArenError as error:
            await self._abort(context, span, error)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task not in self._around.ended:
                raise
            task.uncancel()
            await self._abort(context, span, OutcomeUnknown("the service is stopping", reason="STOPPING"))
        except (grpc.aio.AbortError, grpc.aio.BaseError):
            raise
        except Exception as error:  # noqa: BLE001  # the boundary: whatever it was, the caller gets a status
            _log.exception("rpc.defect", extra={"method": self._method})
            await self._abort(context, span, _hidden(error))

    async def _enter(self, metadata: Mapping[str, str], span: Span) -> None:
        if self._open:
            return
        if not self._around.is_ready():
            raise Unavailable("the service is starting or stopping", reason="NOT_READY", retry_after_s=0.1)
        caller = await self._around.authenticate(self._method, metadata)
        set_caller(caller)
        if caller is not None and span.is_recording():
            span.set_attribute("arenero.tenant", caller.tenant)

    async def _abort(self, context: Context, span: Span, error: ArenError) -> None:
        code, message, trailers = to_trailers(error)
        if span.is_recording():
            span.set_attribute("arenero.reason", error.reason)
            span.set_attribute("rpc.grpc.status_code", code.value[0])
            if code_of(error) in _OUR_FAULT:
                span.set_status(StatusCode.ERROR, error.reason)
        await context.abort(code, message, trailers)


def _unless_serialized(serialize: Callable[[Any], bytes] | None) -> Callable[[Any], bytes] | None:
    if serialize is None:
        return None

    def serialized(message: Any) -> bytes:
        return message if isinstance(message, bytes) else serialize(message)

    return serialized


def _surround_unary(scope: _Scope, behaviour: Behaviour) -> Behaviour:
    async def serve(request: Any, context: Context) -> Any:
        return await scope.run(context, request, lambda: behaviour(request, context))

    return serve


def _surround_stream(scope: _Scope, behaviour: Behaviour) -> Behaviour:
    async def serve(request: Any, context: Context) -> None:
        with scope.registered():
            await scope.run(context, request, lambda: _drain(behaviour(request, context), context))

    return serve


async def _drain(answers: AsyncGenerator[Any, None] | Awaitable[None], context: Context) -> None:
    """Send what a handler yields; a handler that writes to the context by itself is only awaited."""
    if isinstance(answers, Awaitable):
        await answers
        return
    async with aclosing(answers):
        async for answer in answers:
            await context.write(answer)


def _not_yet_available(method: str) -> Behaviour:
    service, _, name = method.rpartition("/")
    operation = f"{service.rpartition('.')[2]}.{name}"

    async def refuse(request: Any, context: Context) -> None:
        raise Unsupported(f"{operation} is not available in this build yet", reason="NOT_YET_AVAILABLE")

    return refuse


def _parts(handler: grpc.RpcMethodHandler[Any, Any]) -> tuple[Callable[..., Any], Behaviour]:
    """Return the constructor of a handler's kind and its behaviour."""
    kinds: Mapping[tuple[bool, bool], tuple[Callable[..., Any], Any]] = {
        (False, False): (grpc.unary_unary_rpc_method_handler, handler.unary_unary),
        (False, True): (grpc.unary_stream_rpc_method_handler, handler.unary_stream),
        (True, False): (grpc.stream_unary_rpc_method_handler, handler.stream_unary),
        (True, True): (grpc.stream_stream_rpc_method_handler, handler.stream_stream),
    }
    return kinds[handler.request_streaming, handler.response_streaming]


def _note_sandbox(span: Span, metadata: Mapping[str, str], request: Any) -> None:
    """Tie the span to its sandbox: by metadata on the way to execd, by the request's field otherwise."""
    sandbox_id = metadata.get(SANDBOX_KEY) or getattr(request, "sandbox_id", "")
    if sandbox_id and isinstance(sandbox_id, str):
        span.set_attribute("arenero.sandbox_id", sandbox_id)


def _hidden(cause: Exception) -> Internal:
    """Return what the caller may know of a defect: nothing but that there was one. The log has the chain."""
    error = Internal("the service failed; its log has the details")
    error.__cause__ = cause
    return error
