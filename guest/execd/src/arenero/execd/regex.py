"""Regular expressions whose time is linear in the text, whatever the expression: RE2.

Callers send the expressions, sandboxes hold the texts, and both may be hostile. Python's own `re` can take for ever
on a short text and can't be stopped in a thread; RE2 can't, and lets other threads run meanwhile.
"""

from __future__ import annotations

from typing import Any, Final

import re2  # type: ignore[import-untyped]

from arenero.errors import InvalidArgument

LONGEST_EXPRESSION: Final = 4096
_MOST_MEMORY_BYTES: Final = 4 * 1024 * 1024
_BEYOND_LINES: Final = ("\\A", "\\z", "\\C")
"""The edges of the whole text, and the byte that may be a newline."""


class Expression:
    """A compiled expression."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    def find(self, text: bytes, begin: int = 0) -> tuple[int, int] | None:
        """Return where the first match at or after `begin` starts and ends."""
        match = self._compiled.search(text, begin)
        return None if match is None else match.span()

    def matches(self, text: str | bytes) -> bool:
        """Whether the whole text matches."""
        return self._compiled.fullmatch(text) is not None


def line_expression(pattern: str, *, ignore_case: bool, field: str) -> Expression:
    """Compile an expression to be looked for in many lines at once; no match ever crosses a line.

    Raises:
        InvalidArgument: It is too long, no valid RE2, or looks beyond lines.
    """
    if len(pattern) > LONGEST_EXPRESSION:
        raise InvalidArgument(
            f"the expression is longer than {LONGEST_EXPRESSION} characters", reason="PATTERN_TOO_LONG", field=field
        )
    if any(escape in pattern.replace("\\\\", "") for escape in _BEYOND_LINES):
        raise InvalidArgument(
            "\\A, \\z and \\C have no meaning in lines", reason="INVALID_PATTERN", field=field, fix="use ^, $ and ."
        )
    options = _options()
    options.never_nl = True
    options.case_sensitive = not ignore_case
    try:
        return _compile(f"(?m)(?:{pattern})".encode(), options)
    except (re2.error, UnicodeEncodeError) as error:
        raise InvalidArgument(_why(error), reason="INVALID_PATTERN", field=field) from error


def name_expression(pattern: str, *, is_bytes: bool) -> Expression:
    """Compile an expression for whole names: text, or bytes taken as the characters of their numbers."""
    options = _options()
    if is_bytes:
        options.encoding = re2.Options.Encoding.LATIN1
    return _compile(pattern.encode("latin-1" if is_bytes else "utf-8"), options)


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MOST_MEMORY_BYTES
    return options


def _compile(pattern: bytes, options: Any) -> Expression:
    compiled = re2.compile(pattern, options)
    # The module would keep 128 of them with all their memory.
    re2.purge()
    return Expression(compiled)


def _why(error: Exception) -> str:
    detail = error.args[0] if error.args else ""
    text = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
    return f"the expression is not valid: {text[:200]}"
