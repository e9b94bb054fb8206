"""The caller's trace, for the platform to continue: OpenTelemetry's where the program uses it, else `TRACEPARENT`.

OpenTelemetry is no dependency: a program that hasn't imported it has no trace there.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Final

_HEADER: Final = "traceparent"
_VALID: Final = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


def trace_metadata() -> tuple[tuple[str, str], ...]:
    """Return what a call carries of the trace; nothing when there is none."""
    value = _of_opentelemetry() or os.environ.get("TRACEPARENT", "")
    return ((_HEADER, value),) if _VALID.fullmatch(value) else ()


def _of_opentelemetry() -> str:
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return ""
    context = api.get_current_span().get_span_context()
    if not context.is_valid:
        return ""
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"
