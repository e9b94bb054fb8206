"""Traces: what one request caused in all services, as a tree of spans."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from arenero.sdk._types.arenero.api.gateway.v1 import Span, Trace

__all__ = ["Span", "Trace", "tree"]

_NAME_WIDTH: Final = 44
_SHOWN_ATTRIBUTES: Final = ("rpc.status", "arenero.step", "arenero.reason")


def tree(trace: Trace) -> Iterator[str]:
    """Write a trace as indented lines: when each span began, how long it took, its service and name."""
    if not trace.spans:
        return
    origin_ns = min(span.start_unix_ns for span in trace.spans)
    for span in trace.spans:
        start_ms = (span.start_unix_ns - origin_ns) / 1e6
        took_ms = (span.end_unix_ns - span.start_unix_ns) / 1e6
        name = f"{'  ' * span.depth}{span.name}"
        words = [f"{key}={span.attributes[key]}" for key in _SHOWN_ATTRIBUTES if key in span.attributes]
        words += [f"error: {span.error}"] if span.error else []
        yield f"{start_ms:8.2f} ms {took_ms:8.2f} ms  {name:<{_NAME_WIDTH}} {' '.join(words)}".rstrip()
