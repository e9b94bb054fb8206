"""Spans as an exporter sends them."""

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

TRACE = "0af7651916cd43dd8448eb211c80319c"
LASTS_NS = 10


def exported(
    *spans: tuple[str, str, str, int],
    trace_id: str = TRACE,
    tenant: str = "acme",
    sandbox: str = "",
    failed: bool = False,
) -> list[ResourceSpans]:
    """Each span is given as id, parent's id (one character each), name and start."""
    attributes = {"arenero.tenant": tenant} | ({"arenero.sandbox_id": sandbox} if sandbox else {})
    made = [
        Span(
            trace_id=bytes.fromhex(trace_id),
            span_id=span_id.encode() * 8,
            parent_span_id=parent_id.encode() * 8,
            name=name,
            start_time_unix_nano=start_ns,
            end_time_unix_nano=start_ns + LASTS_NS,
            attributes=[pair(key, value) for key, value in attributes.items()],
            status=Status(code=Status.STATUS_CODE_ERROR if failed else Status.STATUS_CODE_UNSET),
        )
        for span_id, parent_id, name, start_ns in spans
    ]
    resource = Resource(attributes=[pair("service.name", "arenero-lifecycle")])
    return [ResourceSpans(resource=resource, scope_spans=[ScopeSpans(spans=made)])]


def pair(key: str, value: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=value))
