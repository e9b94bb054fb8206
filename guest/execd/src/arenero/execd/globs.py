r"""Globs on paths: `*` and `?` within a name, `**` across directories, `[a-z]`, `[!a-z]`, and `\\` before a literal.

A glob without a slash is matched on the name alone, wherever it is; one with a slash on the whole path below the start.
Names are bytes: a `?` is one character where the name is UTF-8, and one byte where it isn't. Matching is linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from arenero.errors import InvalidArgument
from arenero.execd.regex import Expression, name_expression

LONGEST_GLOB: Final = 1024
MOST_GLOBS: Final = 256
_NOT_SLASH: Final = "[^/]"
_SLASH: Final = ord("/")
_HIGHEST: Final = 0x10FFFF

_Range = tuple[int, int]


class Glob:
    """One glob."""

    def __init__(self, pattern: str) -> None:
        stripped = pattern.strip("/")
        self._is_for_names = "/" not in stripped and stripped != "**"
        self._pattern = stripped

    @cached_property
    def _for_text(self) -> Expression:
        return name_expression(translate(self._pattern), is_bytes=False)

    @cached_property
    def _for_bytes(self) -> Expression:
        return name_expression(translate(self._pattern.encode().decode("latin-1"), highest=0xFF), is_bytes=True)

    def matches(self, path: bytes) -> bool:
        """Whether a path below the start matches."""
        subject = path.rpartition(b"/")[2] if self._is_for_names else path
        try:
            return self._for_text.matches(subject.decode())
        except UnicodeDecodeError:
            return self._for_bytes.matches(subject)


class Globs:
    """Several globs of which one must match."""

    def __init__(self, patterns: Sequence[str], field: str) -> None:
        if len(patterns) > MOST_GLOBS:
            raise InvalidArgument(f"more than {MOST_GLOBS} globs", reason="TOO_MANY_PATTERNS", field=field)
        self._globs = [glob(pattern, field) for pattern in patterns]

    def match(self, path: bytes) -> bool:
        """Whether any of them matches; none does where there are none."""
        return any(each.matches(path) for each in self._globs)


def glob(pattern: str, field: str) -> Glob:
    """Compile a glob.

    Raises:
        InvalidArgument: It is empty or too long.
    """
    if not pattern.strip("/") or len(pattern) > LONGEST_GLOB:
        raise InvalidArgument(f"a glob has 1 to {LONGEST_GLOB} characters", reason="INVALID_PATTERN", field=field)
    try:
        pattern.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument("the glob is no text", reason="INVALID_PATTERN", field=field) from error
    return Glob(pattern)


def translate(pattern: str, *, highest: int = _HIGHEST) -> str:
    """Return the RE2 expression that whole paths must match."""
    parts = [part for part in pattern.split("/") if part]
    expression = ""
    for at, part in enumerate(parts):
        is_last = at == len(parts) - 1
        if part == "**":
            expression += "(?s:.+)" if is_last else "(?:[^/]+/)*"
        else:
            expression += _translate_name(part, highest) + ("" if is_last else "/")
    return expression


def _translate_name(part: str, highest: int) -> str:
    expression = ""
    at = 0
    while at < len(part):
        character = part[at]
        at += 1
        if character == "*":
            expression += "" if expression.endswith(f"{_NOT_SLASH}*") else f"{_NOT_SLASH}*"
        elif character == "?":
            expression += _NOT_SLASH
        elif character == "[" and (end := _class_end(part, at)) > 0:
            expression += _translate_class(part[at:end], highest)
            at = end + 1
        elif character == "\\" and at < len(part):
            expression += _escape(ord(part[at]))
            at += 1
        else:
            expression += _escape(ord(character))
    return expression


def _class_end(part: str, begin: int) -> int:
    """Return where the bracket closes; -1 when it doesn't, and is an ordinary character then."""
    first = begin + 1 if part[begin : begin + 1] in ("!", "^") else begin
    # A bracket right at the start is a member.
    return part.find("]", first + 1)


def _translate_class(body: str, highest: int) -> str:
    is_negated = body[:1] in ("!", "^")
    members = list(_without_slash(_ranges(body[1:] if is_negated else body)))
    if is_negated:
        members.append((_SLASH, _SLASH))
    if not members:
        return f"[^\\x{{0}}-\\x{{{highest:x}}}]"  # Matches nothing: it had only a slash, or ranges that go down.
    inner = "".join(f"{_escape(low)}-{_escape(high)}" for low, high in members)
    return f"[{'^' if is_negated else ''}{inner}]"


def _ranges(body: str) -> Iterable[_Range]:
    at = 0
    while at < len(body):
        if body[at + 1 : at + 2] == "-" and at + 2 < len(body):
            yield ord(body[at]), ord(body[at + 2])
            at += 3
        else:
            yield ord(body[at]), ord(body[at])
            at += 1


def _without_slash(ranges: Iterable[_Range]) -> Iterable[_Range]:
    """A name has no slash, so no class matches one."""
    for low, high in ranges:
        for part in ((low, min(high, _SLASH - 1)), (max(low, _SLASH + 1), high)):
            if part[0] <= part[1]:
                yield part


def _escape(codepoint: int) -> str:
    return f"\\x{{{codepoint:x}}}"
