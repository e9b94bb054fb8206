"""A field error: which field of a request is wrong and why.

Validation functions return lists of these instead of raising, so that one answer can name every fault. They take the
path under which the caller knows the field, since the same value is `ttl_s` in one request and `spec.lifetime.ttl_s`
in another.
"""

from __future__ import annotations

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
        yield FieldError(field, f"is {value:g}; it must be from {low:g} to {high:g}{unit and ' ' + unit}")
