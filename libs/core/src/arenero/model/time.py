"""Instants and durations: instants are aware UTC datetimes, durations are float seconds.

Reading the clock is the caller's business, through a `Clock` that is passed in: nothing in the model knows what time it
is. `arenero.testing.clock` has one that stands still until it is told to move.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> datetime:
        """Return the present instant, in UTC."""

    def monotonic_s(self) -> float:
        """Return seconds on a clock that never jumps; only differences mean anything."""


class SystemClock:
    """The machine's own clocks."""

    def now(self) -> datetime:
        """Return the present instant, in UTC."""
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        """Return `time.monotonic()`."""
        return time.monotonic()


def require_utc(instant: datetime) -> datetime:
    """Return the instant in UTC.

    Raises:
        ValueError: It is naive, so nobody can know which instant it means.
    """
    if instant.tzinfo is None:
        raise ValueError("a datetime without a time zone was given; use an aware one")
    return instant.astimezone(UTC)


def to_unix_ns(instant: datetime) -> int:
    """Return nanoseconds since 1970, exactly (a float would lose microseconds)."""
    delta = require_utc(instant) - EPOCH
    return ((delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds) * 1_000


def from_unix_ns(unix_ns: int) -> datetime:
    """Return the instant of nanoseconds since 1970, cut to whole microseconds."""
    return EPOCH + timedelta(microseconds=unix_ns // 1_000)


def to_rfc3339(instant: datetime) -> str:
    """Return the instant as RFC 3339 text with microseconds and `Z`."""
    return require_utc(instant).isoformat(timespec="microseconds").replace("+00:00", "Z")
