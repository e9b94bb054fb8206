"""The OTLP receiver of embedded mode: spans of all processes go into one `SpanStore`."""

from __future__ import annotations

from typing import Any

from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

from arenero.telemetry.store import SpanStore


class TraceServicer(trace_service_pb2_grpc.TraceServiceServicer):
    """Answers `opentelemetry.proto.collector.trace.v1.TraceService` on a private socket."""

    def __init__(self, store: SpanStore) -> None:
        self._store = store

    async def Export(  # noqa: N802  # the name that OTLP gives it
        self, request: trace_service_pb2.ExportTraceServiceRequest, context: Any
    ) -> trace_service_pb2.ExportTraceServiceResponse:
        """Take spans in; what is malformed is dropped without a word, as OTLP allows."""
        self._store.add(request.resource_spans)
        return trace_service_pb2.ExportTraceServiceResponse()
