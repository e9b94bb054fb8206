"""Signals and kills of one exec: to its leader, its group, or all that came from it.

With a cgroup, all means all. Without one it means what /proc still connects to the exec's session, and the answer says
that something may have escaped.
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from typing import Final

from arenero.execd import procfs
from arenero.execd.cgroups import ExecCgroups
from arenero.execd.roster import Entry

KILL_TIMEOUT_S: Final = 5.0
"""After this time a kill is answered with what is left: processes in uninterruptible sleep can't be killed."""


@dataclass(slots=True)
class Kill:
    """A kill that waits for its processes to be gone."""

    question: int
    entry: Entry
    deadline_s: float


class Killer:
    """Signals and kills execs' processes."""

    def __init__(self, cgroups: ExecCgroups) -> None:
        self._cgroups = cgroups

    def signal(self, entry: Entry, number: int, target: str, group: int = 0) -> int:
        """Send a signal and return to how many processes or groups it went.

        Args:
            entry: The exec.
            number: The signal.
            target: `leader`, `group`, `all`, or `foreground` for the process group in `group`.
            group: Foreground process group of the exec's terminal.
        """
        if target == "all":
            return sum(_send(pid, number) for pid in self.members(entry))
        if target == "foreground" and group > 1:
            return _send(-group, number)
        if entry.running:
            return _send(entry.pid if target == "leader" else -entry.pid, number)
        # Its number may be another process's by now, so the rest of its group is looked up.
        rest = [] if target == "leader" else procfs.family(entry.pid, procfs.processes())
        return sum(_send(stat.pid, number) for stat in rest if stat.group == entry.pid)

    def kill(self, entry: Entry) -> int:
        """Send SIGKILL to all of an exec and return how many processes are left at the moment."""
        if entry.enclosed:
            self._cgroups.kill(entry.cgroup)
            return len(self.members(entry))
        if entry.running:
            _send(-entry.pid, signal.SIGKILL)
        return sum(_send(pid, signal.SIGKILL) for pid in self.members(entry))

    def members(self, entry: Entry) -> list[int]:
        """Return the processes of an exec that have not ended."""
        if entry.enclosed:
            return [] if self._cgroups.is_empty(entry.cgroup) else self._cgroups.pids(entry.cgroup)
        own = os.getpid()
        family = procfs.family(entry.pid, procfs.processes())
        return [stat.pid for stat in family if not stat.ended and stat.pid != own]


def _send(pid: int, number: int) -> int:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
        return 1
    return 0
