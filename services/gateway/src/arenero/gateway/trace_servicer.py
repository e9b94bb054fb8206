"""Traces over gRPC."""

from __future__ import annotations

import re
from typing import Any, Final

from google.protobuf.timestamp_pb2 import Timestamp

from arenero.api.gateway.v1 import trace_service_pb2 as pb
from arenero.api.gateway.v1.trace_service_pb2_grpc import TraceServiceServicer
from arenero.errors import InvalidArgument, NotFound
from arenero.gateway.traces import Placed, Traces, TraceView
from arenero.model.fields import check_integer
from arenero.model.ids import parse_sandbox_id
from arenero.rpc.identity import current_caller

_TRACE_ID: Final = re.compile(r"[0-9a-f]{32}")
_DEFAULT_LIMIT: Final = 50
_MAX_LIMIT: Final = 1000


class TraceServicer(TraceServiceServicer):
    """Answers TraceService."""

    def __init__(self, traces: Traces) -> None:
        self._traces = traces

    async def GetTrace(self, request: pb.GetTraceRequest, context: Any) -> pb.GetTraceResponse:  # noqa: N802
        """Answer one trace with its spans."""
        tenant = current_caller().tenant
        match request.WhichOneof("selector"):
            case "trace_id":
                view = self._traces.trace(tenant, parse_trace_id(request.trace_id))
            case "sandbox_id":
                sandbox_id = check_sandbox_id(request.sandbox_id)
                found = self._traces.of_sandbox(tenant, sandbox_id, root_name=request.root_name, limit=1)
                if not found:
                    raise NotFound(f"no trace that names {sandbox_id} is kept", reason="TRACE_NOT_FOUND")
                view = found[0]
            case _:
                raise InvalidArgument("name a trace or a sandbox", field="selector")
        return pb.GetTraceResponse(trace=to_message(view, with_spans=True))

    async def ListTraces(self, request: pb.ListTracesRequest, context: Any) -> pb.ListTracesResponse:  # noqa: N802
        """Answer which traces there are."""
        if errors := list(check_integer("limit", request.limit, low=0, high=_MAX_LIMIT)):
            raise InvalidArgument.from_fields(errors)
        tenant, limit = current_caller().tenant, request.limit or _DEFAULT_LIMIT
        if request.sandbox_id:
            views = self._traces.of_sandbox(tenant, check_sandbox_id(request.sandbox_id), limit=limit)
        else:
            views = self._traces.recent(tenant, limit=limit)
        return pb.ListTracesResponse(traces=[to_message(view, with_spans=False) for view in views])


def parse_trace_id(text: str) -> str:
    """Return a trace's id.

    Raises:
        InvalidArgument: It is none.
    """
    lowered = text.lower()
    if _TRACE_ID.fullmatch(lowered) is None:
        raise InvalidArgument("is not a trace id: 32 hexadecimal digits", field="trace_id")
    return lowered


def check_sandbox_id(text: str) -> str:
    """Return a sandbox's id.

    Raises:
        InvalidArgument: It is none.
    """
    try:
        return parse_sandbox_id(text)
    except ValueError as error:
        raise InvalidArgument(str(error), field="sandbox_id") from None


def to_message(view: TraceView, *, with_spans: bool) -> pb.Trace:
    """Return a trace as the API shows it."""
    started = Timestamp()
    started.FromNanoseconds(view.root.start_unix_ns)
    return pb.Trace(
        trace_id=view.root.trace_id,
        tenant=view.tenant,
        root_name=view.root.name,
        started_at=started,
        duration_ns=max(view.duration_ns, 0),
        span_count=len(view.spans),
        spans=[_span(placed) for placed in view.spans] if with_spans else [],
    )


def _span(placed: Placed) -> pb.Span:
    span = placed.span
    return pb.Span(
        span_id=span.span_id,
        parent_span_id=span.parent_id,
        depth=placed.depth,
        name=span.name,
        service=span.service,
        start_unix_ns=span.start_unix_ns,
        end_unix_ns=span.end_unix_ns,
        attributes={key: str(value) for key, value in span.attributes.items()},
        error=str(span.attributes.get("arenero.reason", "failed")) if span.is_error else "",
    )
