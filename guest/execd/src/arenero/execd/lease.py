"""The lease: until when this sandbox may live, by a clock that nobody can set.

The control plane renews it by revision, so that a message that comes late or twice never shortens or revives it.
"""

from __future__ import annotations


class Lease:
    """One deadline; times are monotonic seconds."""

    def __init__(self, ttl_s: float | None, now_s: float) -> None:
        self.revision = 0
        """Revision of the record that the deadline in force comes from; 0: the start."""
        self._deadline_s = None if ttl_s is None else now_s + ttl_s

    def set(self, ttl_s: float | None, revision: int, now_s: float) -> None:
        """Live for so long from now on, or with None without end; older revisions than the last seen change nothing."""
        if revision < self.revision:
            return
        self.revision = revision
        self._deadline_s = None if ttl_s is None else now_s + ttl_s

    def clear(self) -> None:
        """The end has begun; it needs no deadline."""
        self._deadline_s = None

    def left_s(self, now_s: float) -> float | None:
        """Return the time left, never negative; None without an end."""
        return None if self._deadline_s is None else max(0.0, self._deadline_s - now_s)

    def expired(self, now_s: float) -> bool:
        """Whether the time has run out."""
        return self._deadline_s is not None and now_s >= self._deadline_s
