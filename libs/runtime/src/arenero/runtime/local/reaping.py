"""Ending every process of a cell, and knowing that none is left.

With namespaces the kernel helps twice: the end of the first process ends its PID namespace, and the control group names
whatever is left. So to wait for the end is to wait for that process, and to look round once afterwards. Under rules
alone there may be neither; then the cell's own user id marks its processes, or, where all share one user, the tree
below the first process.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator
from typing import Final

from arenero.errors import Unavailable
from arenero.isolation import syscalls
from arenero.isolation.cgroups import Group
from arenero.isolation.namespaces import to_outside
from arenero.runtime.local.cells import Cell
from arenero.runtime.local.mode import Mode, Way
from arenero.runtime.local.watching import Watches, start_time

_LONG_S: Final = 0.05
"""What is killed ends sooner, unless something new was born meanwhile."""


class Reaper:
    """Kills.

    Args:
        mode: How sandboxes are isolated here.
        watches: Tell when a first process has ended.
        timeout_s: How long killed processes may take to disappear.
    """

    def __init__(self, mode: Mode, watches: Watches, timeout_s: float) -> None:
        self._mode = mode
        self._watches = watches
        self._timeout_s = timeout_s

    def is_over(self, cell: Cell, group: Group) -> bool:
        """Whether it is certain that a cell's processes have all ended; where it isn't, it costs little to kill again.

        Nothing is born in a PID namespace whose first process has ended.
        """
        process = cell.process()
        if process is None or self._mode.way is Way.RULES or not group.unified:
            return False
        return start_time(process[0]) != process[1] and not group.is_populated()

    def kill(self, cell: Cell, group: Group) -> int:
        """Send SIGKILL to every process of a cell; return how many were still there."""
        left = group.kill()
        process = cell.process()
        if process is not None and start_time(process[0]) == process[1]:
            left += 1
            if self._mode.way is Way.RULES:
                # Its children would be adopted by somebody else, so they go first.
                left += _kill_all(_descendants(process[0]))
            _kill_exactly(*process)
        if self._mode.way is Way.RULES and os.geteuid() == 0:
            left += _kill_all(_of_user(to_outside(self._mode.maps(cell.slot)[0], 0)))
        return left

    async def end(self, cell: Cell, group: Group, *, killed: bool = False) -> None:
        """Kill until nothing is left.

        Args:
            cell: Whose processes.
            group: Its control group.
            killed: That was just done once.

        Raises:
            Unavailable: Something can't be killed in time, most likely stuck in the kernel.
        """
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        pause_s = 0.001
        if killed:
            await self._first_has_ended(cell)
        while not self.is_over(cell, group) and (self.kill(cell, group) or group.is_populated()):
            if asyncio.get_running_loop().time() > deadline:
                raise Unavailable(f"processes of {cell.name} don't end", reason="PROCESSES_STUCK", retry_after_s=5.0)
            if not await self._first_has_ended(cell):
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 1.5, 0.02)

    async def _first_has_ended(self, cell: Cell) -> bool:
        """Wait for the end of a cell's first process; False when that took long, or there was nothing to wait for."""
        process = cell.process()
        watch = self._watches.add(*process) if process else None
        if watch is None or watch.ended.is_set():
            return False
        try:
            async with asyncio.timeout(_LONG_S):
                await watch.ended.wait()
        except TimeoutError:
            return False
        return True

    async def end_group(self, group: Group) -> None:
        """Kill whatever is in a control group that belongs to no cell, and remove it."""
        group.kill()
        await self.remove_group(group)

    async def remove_group(self, group: Group) -> None:
        """Remove an empty control group; the kernel may take a moment to let go of the last process.

        Raises:
            Unavailable: It does not let go.
        """
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        while not group.remove():
            if asyncio.get_running_loop().time() > deadline:
                raise Unavailable(f"{group.paths} can't be removed", reason="CGROUP_STUCK", retry_after_s=5.0)
            group.kill()
            await asyncio.sleep(0.002)


def _kill_exactly(pid: int, start_ticks: int) -> None:
    """Kill a process unless its pid has come to mean another one."""
    try:
        pidfd = syscalls.pidfd_open(pid)
    except OSError:
        return
    try:
        if start_time(pid) == start_ticks:
            with contextlib.suppress(ProcessLookupError):
                syscalls.pidfd_send_signal(pidfd, signal.SIGKILL)
    finally:
        os.close(pidfd)


def _kill_all(pids: Iterator[int]) -> int:
    """Stop, then kill: what is stopped forks no more while the list is read."""
    found = list(pids)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
    return len(found)


def _descendants(root: int) -> Iterator[int]:
    children: dict[int, list[int]] = {}
    for pid, fields in _processes():
        children.setdefault(int(fields[1]), []).append(pid)
    wave = children.get(root, [])
    while wave:
        yield from wave
        wave = [child for pid in wave for child in children.get(pid, [])]


def _of_user(uid: int) -> Iterator[int]:
    if uid in (0, os.geteuid()):
        return  # a user that is no cell's own marks nothing: its processes are the host's, this one among them
    for pid, _ in _processes():
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{pid}/task").st_uid == uid or _real_uid(pid) == uid:
                yield pid


def _real_uid(pid: int) -> int:
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as stream:
        for line in stream:
            if line.startswith("Uid:"):
                return int(line.split()[1])
    return -1


def _processes() -> Iterator[tuple[int, list[str]]]:
    """Give every process that has not ended, with its fields from the state on."""
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stream:
            fields = stream.read().rpartition(")")[2].split()
            if fields and fields[0] not in "ZX":
                yield int(name), fields
