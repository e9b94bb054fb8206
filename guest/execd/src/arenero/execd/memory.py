"""Whether the kernel ended something for lack of memory: the counter of the sandbox's memory cgroup.

The counter says how many, not which. So an exec takes note of it at its start, and counts as a victim only when it died
by a SIGKILL that execd did not send while the counter rose.
"""

from __future__ import annotations

import os
from typing import Final

from arenero.execd.cgroups import count_oom_kills

_READ_BYTES: Final = 4096


class MemoryWatch:
    """Reads the counter from an open descriptor of the plan; -1 when there is none."""

    def __init__(self, events_fd: int) -> None:
        self._events_fd = events_fd

    def kills(self) -> int:
        """Return how many processes of the sandbox were ended so far; always 0 without a counter."""
        if self._events_fd < 0:
            return 0
        try:
            return count_oom_kills(os.pread(self._events_fd, _READ_BYTES, 0))
        except OSError:
            return 0
