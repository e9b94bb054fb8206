"""The last spans, in memory: what embedded mode shows for a trace or a sandbox.

Spans may come from guests, so nothing in them is trusted: sizes are cut, numbers are bounded, and the oldest traces
make room, so no sender can use up the memory. What a sender may claim about tenant and sandbox is the caller's decision
(`forced`). A tenant sees a trace only if a span of it is the tenant's, and never a span that is another's.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span, Status

SANDBOX: Final = "arenero.sandbox_id"
TENANT: Final = "arenero.tenant"
_MAX_NAME_CHARS: Final = 128
_MAX_VALUE_CHARS: Final = 512
_MAX_ATTRIBUTES: Final = 32
_MAX_TRACES_PER_SANDBOX: Final = 256
Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class StoredSpan:
    """One ended span."""

    trace_id: str
    """32 hexadecimal digits."""
    span_id: str
    parent_id: str
    """Empty for the first span of a trace."""
    name: str
    service: str
    start_unix_ns: int
    end_unix_ns: int
    is_error: bool
    attributes: Mapping[str, Value]

    @property
    def duration_s(self) -> float:
        """From start to end; never negative, whatever the sender's clock did."""
        return max(self.end_unix_ns - self.start_unix_ns, 0) / 1e9


@dataclass(slots=True)
class _Trace:
    spans: dict[str, StoredSpan] = field(default_factory=dict)
    sandboxes: set[str] = field(default_factory=set)


class SpanStore:
    """Bounded memory of spans. Not thread-safe: use it from the loop.

    Args:
        max_spans: All spans together; about 1 KiB each.
        max_spans_per_trace: Later spans of a longer trace are dropped.
    """

    def __init__(self, *, max_spans: int = 20_000, max_spans_per_trace: int = 2_000) -> None:
        self._max_spans = max_spans
        self._max_spans_per_trace = max_spans_per_trace
        self._traces: OrderedDict[str, _Trace] = OrderedDict()
        self._by_sandbox: OrderedDict[str, OrderedDict[str, None]] = OrderedDict()
        self._count = 0
        self.dropped = 0
        """Spans that were malformed or too many for their trace."""

    def __len__(self) -> int:
        return self._count

    def add(self, resources: Iterable[ResourceSpans], *, forced: Mapping[str, str] | None = None) -> None:
        """Take spans in.

        Args:
            resources: As an OTLP export request carries them.
            forced: Attributes that overrule the sender's: tenant and sandbox of a guest.
        """
        for span in _read(resources, forced or {}):
            if span is None:
                self.dropped += 1
            else:
                self._keep(span)

    def trace(self, trace_id: str, *, tenant: str | None = None) -> list[StoredSpan]:
        """Return the spans of a trace by start time; to a tenant, only if one is its own, and none of others."""
        found = self._traces.get(trace_id.lower())
        if found is None:
            return []
        spans = list(found.spans.values())
        if tenant is not None:
            spans = [span for span in spans if span.attributes.get(TENANT, tenant) == tenant]
            if not any(span.attributes.get(TENANT) == tenant for span in spans):
                return []
        return sorted(spans, key=lambda span: (span.start_unix_ns, span.end_unix_ns))

    def traces_of(self, sandbox_id: str, *, tenant: str | None = None, limit: int = 20) -> list[list[StoredSpan]]:
        """Return the latest traces that touch a sandbox, newest first, each as `trace` returns it."""
        ids = reversed(self._by_sandbox.get(sandbox_id, OrderedDict()))
        traces = (self.trace(trace_id, tenant=tenant) for trace_id in ids)
        return [spans for spans, _ in zip((found for found in traces if found), range(limit), strict=False)]

    def recent(self, *, tenant: str | None = None, limit: int = 20) -> list[list[StoredSpan]]:
        """Return the traces that got a span last, newest first, each as `trace` returns it."""
        traces = (self.trace(trace_id, tenant=tenant) for trace_id in reversed(self._traces))
        return [spans for spans, _ in zip((found for found in traces if found), range(limit), strict=False)]

    def _keep(self, span: StoredSpan) -> None:
        trace = self._traces.setdefault(span.trace_id, _Trace())
        self._traces.move_to_end(span.trace_id)
        if span.span_id not in trace.spans and len(trace.spans) >= self._max_spans_per_trace:
            self.dropped += 1
            return
        self._count += span.span_id not in trace.spans
        trace.spans[span.span_id] = span
        sandbox_id = span.attributes.get(SANDBOX)
        if isinstance(sandbox_id, str) and sandbox_id:
            self._index(trace, span.trace_id, sandbox_id)
        while self._count > self._max_spans:
            self._forget_oldest()

    def _index(self, trace: _Trace, trace_id: str, sandbox_id: str) -> None:
        trace.sandboxes.add(sandbox_id)
        ids = self._by_sandbox.setdefault(sandbox_id, OrderedDict())
        ids[trace_id] = None
        if len(ids) > _MAX_TRACES_PER_SANDBOX:
            ids.popitem(last=False)

    def _forget_oldest(self) -> None:
        trace_id, trace = self._traces.popitem(last=False)
        self._count -= len(trace.spans)
        for sandbox_id in trace.sandboxes:
            ids = self._by_sandbox.get(sandbox_id)
            if ids is not None:
                ids.pop(trace_id, None)
                if not ids:
                    del self._by_sandbox[sandbox_id]


def _read(resources: Iterable[ResourceSpans], forced: Mapping[str, str]) -> Iterator[StoredSpan | None]:
    for resource in resources:
        service = str(_attributes(resource.resource.attributes).get("service.name", ""))
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield _stored(span, service, forced)


def _stored(span: Span, service: str, forced: Mapping[str, str]) -> StoredSpan | None:
    """Return a span as it is kept; None when its ids are malformed."""
    if len(span.trace_id) != 16 or len(span.span_id) != 8:
        return None
    return StoredSpan(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex() if len(span.parent_span_id) == 8 else "",
        name=span.name[:_MAX_NAME_CHARS],
        service=service.removeprefix("arenero-")[:_MAX_NAME_CHARS],
        start_unix_ns=span.start_time_unix_nano,
        end_unix_ns=span.end_time_unix_nano,
        is_error=span.status.code == Status.STATUS_CODE_ERROR,
        attributes={**_attributes(span.attributes), **forced},
    )


def _attributes(pairs: Iterable[KeyValue]) -> dict[str, Value]:
    """Return the attributes that are plain values, as many and as long as are kept."""
    found: dict[str, Value] = {}
    for pair in pairs:
        value = _value(pair.value)
        if value is not None:
            found[pair.key[:_MAX_NAME_CHARS]] = value
        if len(found) >= _MAX_ATTRIBUTES:
            break
    return found


def _value(value: AnyValue) -> Value | None:
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return value.string_value[:_MAX_VALUE_CHARS]
    if kind == "bool_value":
        return value.bool_value
    if kind == "int_value":
        return value.int_value
    return value.double_value if kind == "double_value" else None
