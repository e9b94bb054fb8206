"""Values on the command line that have a form of their own: durations, sizes, users and key=value pairs."""

from __future__ import annotations

import re
from typing import Any, Final

import click

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)?")
_DURATION_UNITS_S: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}
_LONGEST_S: Final = 315_576_000_000.0
"""Ten thousand years: what a duration on the wire holds."""
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])i?)?b?", re.IGNORECASE)
_SIZE_STEPS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_LARGEST_BYTES: Final = 2**63 - 1
MIB: Final = 1024 * 1024


class Duration(click.ParamType[float]):
    """A duration in seconds, written as `90`, `90s`, `1.5h`, `250ms`, `2d` or `1h30m`."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds."""
        if isinstance(value, int | float):
            return float(value)
        pieces = _DURATION.findall(value)
        if not pieces or "".join(number + unit for number, unit in pieces) != value:
            self.fail(f"{value!r} is no duration; write for example 90s, 15m or 1h30m", param, ctx)
        seconds = sum(float(number) * _DURATION_UNITS_S[unit or None] for number, unit in pieces)
        if seconds > _LONGEST_S:
            self.fail(f"{value!r} is too long", param, ctx)
        return seconds


class Size(click.ParamType[int]):
    """A size in bytes, written as `512M`, `2Gi`, `1.5GB` or `1048576`; units are powers of 1024."""

    name = "size"

    def __init__(self, least_bytes: int = 0) -> None:
        self._least_bytes = least_bytes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return bytes."""
        if isinstance(value, int):
            return value
        match = _SIZE.fullmatch(value)
        if match is None:
            self.fail(f"{value!r} is no size; write for example 512M or 2Gi", param, ctx)
        size_bytes = int(float(match[1]) * 1024 ** _SIZE_STEPS[(match[2] or "").lower()])
        if size_bytes > _LARGEST_BYTES:
            self.fail(f"{value!r} is too large", param, ctx)
        if size_bytes < self._least_bytes:
            self.fail(f"{value!r} is too little; it must be at least {self._least_bytes // MIB}M", param, ctx)
        return size_bytes


class Pair(click.ParamType[tuple[str, str]]):
    """`KEY=VALUE`."""

    name = "key=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Return the pair."""
        if isinstance(value, tuple):
            return value
        key, equals, rest = value.partition("=")
        if not key or not equals:
            self.fail(f"{value!r} is not KEY=VALUE", param, ctx)
        return key, rest


class User(click.ParamType[str | tuple[int, int]]):
    """Who to run as: a name, a uid, or `UID:GID`."""

    name = "user"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | tuple[int, int]:
        """Return a name, or (uid, gid)."""
        if isinstance(value, tuple) or not value[:1].isdigit():
            return value  # type: ignore[no-any-return]
        uid, colon, gid = value.partition(":")
        gid = gid if colon else uid
        if not (uid.isdecimal() and gid.isdecimal() and max(int(uid), int(gid)) < 2**32):
            self.fail(f"{value!r} is no user; write a name, a uid or UID:GID", param, ctx)
        return int(uid), int(gid)


DURATION: Final = Duration()
PAIR: Final = Pair()
USER: Final = User()
