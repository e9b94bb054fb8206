"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class ManualClock:
    """A `Clock` for tests: both of its times move only by `advance`."""

    def __init__(self, start: datetime = datetime(2030, 1, 1, tzinfo=UTC)) -> None:
        self._now = start
        self._monotonic_s = 1_000.0

    def now(self) -> datetime:
        """Return the instant that the clock was set to."""
        return self._now

    def monotonic_s(self) -> float:
        """Return seconds that move together with `now`."""
        return self._monotonic_s

    def advance(self, seconds: float) -> None:
        """Move both times forward.

        Raises:
            ValueError: The step is negative; a monotonic clock can't go back.
        """
        if seconds < 0:
            raise ValueError("a clock can't be moved back")
        self._now += timedelta(seconds=seconds)
        self._monotonic_s += seconds

    def jump(self, seconds: float) -> None:
        """Move the wall clock alone, forward or back, as an administrator or NTP does."""
        self._now += timedelta(seconds=seconds)
