"""The end of a sandbox, in phases that each have a time limit, so that nothing inside can put it off.

Ask every process to end; after the grace, kill; collect; give the server a moment to send its last frames; exit. A
server that is stopped or dead changes nothing but that nobody sends those frames.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterable
from enum import Enum, IntEnum, auto, unique
from typing import Final

from arenero.execd import procfs

KILL_TIMEOUT_S: Final = 2.0
"""How long killed processes may take to disappear; those in uninterruptible sleep are left to the namespace's end."""
FLUSH_TIMEOUT_S: Final = 1.0
"""How long the server may take to send its last frames."""
TICK_S: Final = 0.02


@unique
class ExitCode(IntEnum):
    """What process 1 exits with."""

    STOPPED = 0
    """Asked to, by Shutdown or by SIGTERM from outside."""
    CRASHED = 70
    """A defect of init itself."""
    SERVER_LOST = 71
    """The server died; its execs can't be reached any more."""
    LEASE_EXPIRED = 72
    """The time to live ran out."""


class Phase(Enum):
    """Where a shutdown is."""

    ASKING = auto()
    KILLING = auto()
    FLUSHING = auto()
    DONE = auto()


class Shutdown:
    """One end of the sandbox. Call `step` often; it says when all is done."""

    def __init__(
        self,
        code: ExitCode,
        deadline_s: float,
        workloads: Callable[[], Iterable[int]],
    ) -> None:
        self.code = code
        self.phase = Phase.ASKING
        self._workloads = workloads
        self._deadline_s = deadline_s
        for pid in workloads():
            _signal(pid, signal.SIGTERM)
            # A stopped process hears of it only when it goes on.
            _signal(pid, signal.SIGCONT)

    def hurry(self, deadline_s: float) -> None:
        """Another reason came up: the earlier of both deadlines holds, and the first reason stays the reason."""
        if self.phase is Phase.ASKING:
            self._deadline_s = min(self._deadline_s, deadline_s)

    def step(self, now_s: float, server_runs: bool) -> Phase:
        """Do what is due and return the phase."""
        if self.phase is Phase.ASKING and (now_s >= self._deadline_s or not list(self._workloads())):
            self._enter(Phase.KILLING, now_s + KILL_TIMEOUT_S)
        if self.phase is Phase.KILLING:
            left = list(self._workloads())
            for pid in left:
                _signal(pid, signal.SIGKILL)
            if not left or now_s >= self._deadline_s:
                self._enter(Phase.FLUSHING, now_s + FLUSH_TIMEOUT_S)
        if self.phase is Phase.FLUSHING and (not server_runs or now_s >= self._deadline_s):
            self._enter(Phase.DONE, now_s)
        return self.phase

    def _enter(self, phase: Phase, deadline_s: float) -> None:
        self.phase = phase
        self._deadline_s = deadline_s


def workloads(own: frozenset[int]) -> list[int]:
    """Return every process below this one but its own: the server, children that are parked, and what those hold."""
    found = procfs.descendants(os.getpid(), procfs.processes())
    return [stat.pid for stat in found if stat.pid not in own and not stat.ended]


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
