"""When a running exec must be ended: by its timeout, or by silence. Times are monotonic seconds."""

from __future__ import annotations

from arenero.execd.outcome import Cause


class Deadlines:
    """The deadlines of one exec."""

    def __init__(self, timeout_s: float | None, idle_output_timeout_s: float | None, now_s: float) -> None:
        self._end_s = None if timeout_s is None else now_s + timeout_s
        self._idle_s = idle_output_timeout_s
        self.last_output_s = now_s
        """When it wrote last; set by whoever reads its output."""

    def next_s(self) -> float | None:
        """Return when to look again; None when there is nothing to look for."""
        idle_end_s = None if self._idle_s is None else self.last_output_s + self._idle_s
        ends = [end for end in (self._end_s, idle_end_s) if end is not None]
        return min(ends, default=None)

    def passed(self, now_s: float) -> Cause | None:
        """Return the cause if a deadline has passed; the exec's own timeout comes first."""
        if self._end_s is not None and now_s >= self._end_s:
            return Cause.DEADLINE
        if self._idle_s is not None and now_s >= self.last_output_s + self._idle_s:
            return Cause.IDLE_OUTPUT_DEADLINE
        return None
