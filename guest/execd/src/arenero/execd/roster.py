"""The roster: every exec that init knows, from its launch to its release, and the one place that owns child status.

An exec's pid means something only until its first process was collected. After that it is only the number of its
session and its process group, which no new process can get while one of them is left.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from arenero.execd import control
from arenero.execd.cgroups import ExecCgroups
from arenero.execd.control import Kind, Message
from arenero.execd.launch import Launch, Limits
from arenero.execd.launcher import Launcher
from arenero.execd.steps import Failed, step

_COLLECTED_AT_ONCE: Final = 512
_MAX_RSS: Final = 2
NO_LIMITS: Final = Limits()


@dataclass(slots=True)
class Entry:
    """One exec whose program ran."""

    key: int
    pid: int
    """Its first process, which leads its session and its process group."""
    cgroup: str
    """Its cgroup's name; empty without one."""
    enclosed: bool
    """It has a cgroup: nothing of it can be missed."""
    running: bool = True
    """Its first process was not collected."""


class Roster:
    """Launches execs and collects whatever ends."""

    def __init__(self, cgroups: ExecCgroups, launcher: Launcher, tell: Callable[[Message], None]) -> None:
        self._cgroups = cgroups
        self._launcher = launcher
        self._tell = tell
        self._entries: dict[int, Entry] = {}
        self._by_pid: dict[int, Entry] = {}
        self._limits: dict[int, Limits] = {}

    def find(self, key: int) -> Entry | None:
        """Return an exec that was not released."""
        return self._entries.get(key)

    def limit(self, key: int, limits: Limits) -> None:
        """Remember the limits for the next launch of this key."""
        self._limits[key] = limits

    def launch(self, message: Message) -> None:
        """Launch an exec and tell how that went."""
        cgroup = self._cgroups.take()
        try:
            step("cgroup", self._cgroups.limit, cgroup, self._limits.pop(message.key, NO_LIMITS))
            with self._cgroups.inside(cgroup) as enclosed:
                pid = self._launcher.launch(Launch.from_body(message.body), message.fds)
        except Failed as failed:
            self._cgroups.give_back(cgroup)
            self._tell(Message(Kind.START_FAILED, message.key, failed.fault.to_body()))
        else:
            entry = Entry(message.key, pid, cgroup if enclosed else "", enclosed)
            self._entries[message.key] = self._by_pid[pid] = entry
            self._tell(Message(Kind.STARTED, message.key, {"pid": pid, "cgroup": entry.cgroup}))
        finally:
            control.close_all(message.fds)

    def collect(self) -> list[tuple[int, int]]:
        """Collect children that have ended, some at a time, and tell about those that are execs.

        Returns:
            Pid and wait status of each.
        """
        collected = []
        for _ in range(_COLLECTED_AT_ONCE):
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not pid:
                break
            collected.append((pid, status))
            if entry := self._by_pid.pop(pid, None):
                self._end(entry, status, usage)
        return collected

    def release(self, key: int) -> None:
        """Forget an exec; its cgroup goes when it is empty."""
        if entry := self._entries.pop(key, None):
            self._cgroups.give_back(entry.cgroup)
            entry.cgroup = ""

    def _end(self, entry: Entry, status: int, usage: Any) -> None:
        entry.running = False
        alone = entry.enclosed and self._cgroups.is_empty(entry.cgroup)
        body = {
            "status": status,
            "usage": _own_usage(usage),
            "at_ns": time.time_ns(),
            "alone": alone,
            "oom_kills": self._cgroups.oom_kills(entry.cgroup) if self._cgroups.counts_memory else 0,
        }
        self._tell(Message(Kind.EXITED, entry.key, body))
        if alone:
            # There is nothing left to ask about, so nobody needs to say that nothing will be asked.
            self.release(entry.key)


def _own_usage(usage: Any) -> list[float]:
    """Return what wait4 says, without a peak of memory that is init's: a child begins with the size of its parent."""
    values = list(usage[:16])
    if values[_MAX_RSS] <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
        values[_MAX_RSS] = 0
    return values
