"""Traces as trees: what the gateway keeps of all parts' spans, for whoever caused them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arenero.errors import NotFound, Unsupported
from arenero.model.ids import TenantId
from arenero.telemetry.store import SpanStore, StoredSpan


@dataclass(frozen=True, slots=True)
class Placed:
    """A span and how deep it is in its trace's tree."""

    span: StoredSpan
    depth: int


@dataclass(frozen=True, slots=True)
class TraceView:
    """One trace as a tenant may see it."""

    tenant: TenantId
    spans: Sequence[Placed]
    """A parent before its children, children by their start."""

    @property
    def root(self) -> StoredSpan:
        """The span that it begins with."""
        return self.spans[0].span

    @property
    def duration_ns(self) -> int:
        """From the start of the first span to the end of the last."""
        return max(placed.span.end_unix_ns for placed in self.spans) - self.root.start_unix_ns


class Traces:
    """Answers for traces.

    Args:
        store: Where spans are kept; None where they go to a collector instead.
    """

    def __init__(self, store: SpanStore | None) -> None:
        self._store = store

    def trace(self, tenant: TenantId, trace_id: str) -> TraceView:
        """Return a trace.

        Raises:
            NotFound: There is none of that id any more, or the tenant has no part in it.
            Unsupported: Nothing is kept here.
        """
        spans = self._kept().trace(trace_id, tenant=tenant)
        if not spans:
            raise NotFound(f"no span of the trace {trace_id} is kept", reason="TRACE_NOT_FOUND")
        return _view(tenant, spans)

    def of_sandbox(self, tenant: TenantId, sandbox_id: str, *, root_name: str = "", limit: int) -> list[TraceView]:
        """Return the traces that named a sandbox, newest first; only those that begin with that span, if one is named.

        Raises:
            Unsupported: Nothing is kept here.
        """
        found = (_view(tenant, spans) for spans in self._kept().traces_of(sandbox_id, tenant=tenant, limit=1000))
        wanted = (view for view in found if not root_name or view.root.name == root_name)
        return [view for view, _ in zip(wanted, range(limit), strict=False)]

    def recent(self, tenant: TenantId, *, limit: int) -> list[TraceView]:
        """Return the newest traces of a tenant.

        Raises:
            Unsupported: Nothing is kept here.
        """
        return [_view(tenant, spans) for spans in self._kept().recent(tenant=tenant, limit=limit)]

    def _kept(self) -> SpanStore:
        if self._store is None:
            raise Unsupported(
                "this platform keeps no spans; they go to a collector, if anywhere",
                reason="TRACES_ELSEWHERE",
                fix="ask the collector that telemetry.otlp_address names",
            )
        return self._store


def _view(tenant: TenantId, spans: Sequence[StoredSpan]) -> TraceView:
    return TraceView(tenant, list(_walk(spans)))


def _walk(spans: Sequence[StoredSpan]) -> Iterator[Placed]:
    """Yield spans in the order of the tree. A span whose parent is not kept is at the top; so is one of a loop."""
    children: dict[str, list[StoredSpan]] = {}
    kept = {span.span_id for span in spans}
    for span in spans:
        parent = span.parent_id if span.parent_id in kept and span.parent_id != span.span_id else ""
        children.setdefault(parent, []).append(span)
    seen: set[str] = set()
    waiting = [Placed(span, 0) for span in reversed(children.get("", []))]
    while waiting:
        placed = waiting.pop()
        seen.add(placed.span.span_id)
        yield placed
        waiting += [Placed(span, placed.depth + 1) for span in reversed(children.get(placed.span.span_id, []))]
    yield from (Placed(span, 0) for span in spans if span.span_id not in seen)
