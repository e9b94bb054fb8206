"""A field error: which field of a request is wrong and why.

Validation functions return lists of these instead of raising, so that one answer can name every fault. They take the
path under which the caller knows the field, since the same value is `ttl_s` in one request and `spec.lifetime.ttl_s`
in another.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class FieldError:
    """One fault: `field` is a dotted path, `message` a sentence that needs no other context."""

    field: str
    message: str


def join_path(parent: str, child: str) -> str:
    """Return `parent.child`, or the child alone at the top."""
    return f"{parent}.{child}" if parent else child


def check_text(field: str, value: str, *, min_bytes: int, max_bytes: int) -> Iterable[FieldError]:
    """Check a one-line text: its size in UTF-8 bytes, no control character, no lone surrogate."""
    try:
        size_bytes = len(value.encode())
    except UnicodeEncodeError:
        yield FieldError(field, "is not valid Unicode text")
        return
    if size_bytes < min_bytes:
        yield FieldError(field, "is empty" if not size_bytes else f"must have at least {min_bytes} bytes")
    if size_bytes > max_bytes:
        yield FieldError(field, f"has {size_bytes} bytes; at most {max_bytes} are allowed")
    if found := _CONTROL.search(value):
        yield FieldError(field, f"holds the control character U+{ord(found.group()):04X}")


def check_integer(field: str, value: object, *, low: int, high: int) -> Iterable[FieldError]:
    """Check that a value is an int (not a bool) within [low, high]."""
    if isinstance(value, bool) or not isinstance(value, int):
        yield FieldError(field, "is not an integer")
    elif not low <= value <= high:
        yield FieldError(field, f"is {value}; it must be from {low} to {high}")


def check_number(field: str, value: object, *, low: float, high: float, unit: str = "") -> Iterable[FieldError]:
    """Check that a value is a finite number within [low, high]; NaN and infinities never pass."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield FieldError(field, "is not a number")
    elif not low <= value <= high:  # False for NaN too
        yield FieldError(field, f"is {value:.12g}; it must be from {low:.12g} to {high:.12g}{unit and ' ' + unit}")


def check_span(field: str, value_s: object, *, low_s: float, high_s: float) -> Iterable[FieldError]:
    """Check that a value is a number of seconds within [low, high], and say it in units that people use."""
    if isinstance(value_s, bool) or not isinstance(value_s, int | float):
        yield FieldError(field, "is not a number")
    elif not low_s <= value_s <= high_s:  # False for NaN too
        yield FieldError(field, f"is {span_text(value_s)}; it must be from {span_text(low_s)} to {span_text(high_s)}")


def check_size(field: str, value_bytes: object, *, low_bytes: int, high_bytes: int) -> Iterable[FieldError]:
    """Check that a value is a whole number of bytes within [low, high], and say it in units that people use."""
    if isinstance(value_bytes, bool) or not isinstance(value_bytes, int):
        yield FieldError(field, "is not an integer")
    elif not low_bytes <= value_bytes <= high_bytes:
        message = f"is {size_text(value_bytes)}; it must be from {size_text(low_bytes)} to {size_text(high_bytes)}"
        yield FieldError(field, message)


def size_text(size_bytes: int) -> str:
    """Return a size in the largest binary unit of which it has at least one, such as `512 bytes`, `1.5 GiB`."""
    for power, unit in ((60, "EiB"), (50, "PiB"), (40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if abs(size_bytes) >= 1 << power:
            return f"{size_bytes / (1 << power):.4g} {unit}"
    return f"{size_bytes} bytes"


def span_text(span_s: float) -> str:
    """Return a span of time in the largest unit of which it has at least one: `90 s`, `2.50 hours`, `365 days`."""
    for unit_s, unit in ((86_400, "day"), (3_600, "hour")):
        if math.isfinite(span_s) and abs(span_s) >= unit_s:
            count = f"{span_s / unit_s:.12g}" if span_s % unit_s == 0 else f"{span_s / unit_s:.2f}"
            return f"{count} {unit}{'' if count == '1' else 's'}"
    return f"{span_s:.12g} s"
