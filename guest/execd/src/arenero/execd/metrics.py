"""What the sandbox uses, measured from inside: by its cgroup's counters where the plan hands them over, else by /proc.

Inside, /proc shows the sandbox's processes but the whole machine's processor and memory, so those totals are not used.
Counted by processes, the time of those that have ended is missing; the counters have all of it.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Final

from arenero.execd import procfs
from arenero.execd.plan import InitPlan

_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
_READ_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement."""

    at_ns: int
    cpus: float
    cpu_used_percent: float
    memory_limit_bytes: int
    memory_used_bytes: int
    disk_free_bytes: int
    processes: int


class Meter:
    """Measures for one reader: the share of processor time is that since its last measurement."""

    def __init__(self, plan: InitPlan) -> None:
        self._plan = plan
        self._cpus = plan.cpus or float(len(os.sched_getaffinity(0)))
        self._last: tuple[float, float] | None = None

    def measure(self) -> Sample:
        """Return the present use."""
        own = {os.getpid(), os.getppid()}
        found = [stat for stat in procfs.processes() if stat.pid not in own]
        return Sample(
            at_ns=time.time_ns(),
            cpus=self._cpus,
            cpu_used_percent=self._cpu_percent(found),
            memory_limit_bytes=self._plan.memory_bytes or _machine_memory_bytes(),
            memory_used_bytes=self._memory_bytes(found),
            disk_free_bytes=_disk_free_bytes(),
            processes=len(found),
        )

    def _cpu_percent(self, found: list[procfs.Stat]) -> float:
        now_s, used_s = time.monotonic(), self._cpu_s(found)
        last, self._last = self._last, (now_s, used_s)
        if last is None or now_s <= last[0]:
            return 0.0
        return max(0.0, (used_s - last[1]) / (now_s - last[0]) / self._cpus * 100.0)

    def _cpu_s(self, found: list[procfs.Stat]) -> float:
        text = _read(self._plan.cpu_usage_fd)
        if text.isdigit():
            return int(text) / 1e9
        if text.startswith(b"usage_usec "):
            return int(text.split()[1]) / 1e6
        return sum(stat.cpu_ticks for stat in found) / _TICKS_PER_S

    def _memory_bytes(self, found: list[procfs.Stat]) -> int:
        text = _read(self._plan.memory_usage_fd)
        return int(text) if text.isdigit() else sum(stat.rss_pages for stat in found) * _PAGE_BYTES


def _read(fd: int) -> bytes:
    if fd < 0:
        return b""
    try:
        return os.pread(fd, _READ_BYTES, 0).strip()
    except OSError:
        return b""


def _machine_memory_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * _PAGE_BYTES


def _disk_free_bytes() -> int:
    try:
        found = os.statvfs("/")
    except OSError:
        return 0
    return found.f_bavail * found.f_frsize
