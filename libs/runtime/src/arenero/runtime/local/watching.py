"""Waiting for the ends of sandboxes' first processes, which are not our children.

A descriptor of the process (pidfd) becomes readable when it has ended. How it ended is told by the zygote, which is its
parent, or by the kernel where it is new enough; for a sandbox that outlived its zygote on an old kernel it stays
unknown.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from typing import Final

from arenero.isolation import syscalls
from arenero.model.record import ExitFacts

_PATIENCE_S: Final = 1.0
"""How long the parent may take to collect the process after it has ended."""
_TICK_S: Final = 0.005


@dataclass(slots=True)
class Watch:
    """One process that is watched."""

    pid: int
    pidfd: int
    has_teller: bool
    """Its parent is our zygote, which will tell how it ended; not so for one that outlived the zygote that made it."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    status: int | None = None


class Watches:
    """Watches by the pid of the first process, which can't be used again while its descriptor is open."""

    def __init__(self) -> None:
        self._by_pid: dict[int, Watch] = {}

    def add(self, pid: int, start_ticks: int) -> Watch | None:
        """Begin to watch a process; None when it is gone."""
        if watch := self._by_pid.get(pid):
            return watch
        try:
            pidfd = syscalls.pidfd_open(pid)
        except ProcessLookupError:
            return None
        # Checked after the descriptor is open: from here on the pid means this process.
        if start_time(pid) != start_ticks:
            os.close(pidfd)
            return None
        watch = Watch(pid, pidfd, has_teller=_parent(_parent(pid)) == os.getpid())
        self._by_pid[pid] = watch
        asyncio.get_running_loop().add_reader(pidfd, self._on_end, watch)
        return watch

    def tell(self, pid: int, status: int) -> None:
        """Take the parent's word for how a process ended."""
        if watch := self._by_pid.get(pid):
            watch.status = status

    def _on_end(self, watch: Watch) -> None:
        asyncio.get_running_loop().remove_reader(watch.pidfd)
        watch.ended.set()

    async def status(self, watch: Watch) -> int | None:
        """Wait until a process has ended; return its wait status if anybody can tell. Cancelling loses nothing."""
        await watch.ended.wait()
        deadline = asyncio.get_running_loop().time() + (_PATIENCE_S if watch.has_teller else 0)
        while watch.status is None and self._by_pid.get(watch.pid) is watch:
            watch.status = syscalls.pidfd_exit_status(watch.pidfd)
            if watch.status is not None or asyncio.get_running_loop().time() > deadline:
                break
            await asyncio.sleep(_TICK_S)
        return watch.status

    def forget(self, process: tuple[int, int] | None) -> None:
        """Stop watching a process, if it is watched; None is none."""
        if process and (watch := self._by_pid.pop(process[0], None)):
            self._close(watch)
            watch.ended.set()

    def close(self) -> None:
        """Stop watching all of them."""
        while self._by_pid:
            self._close(self._by_pid.popitem()[1])

    def _close(self, watch: Watch) -> None:
        asyncio.get_running_loop().remove_reader(watch.pidfd)
        os.close(watch.pidfd)


def start_time(pid: int) -> int | None:
    """Return when a process started, in clock ticks since the boot; None when it is gone or has ended."""
    fields = _stat(pid)
    return int(fields[19]) if fields and fields[0] not in "ZX" else None


def _parent(pid: int) -> int:
    """Return a process's parent; 0 when there is none."""
    fields = _stat(pid)
    return int(fields[1]) if fields else 0


def _stat(pid: int) -> list[str]:
    """Return the fields of a process from its state on; empty when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
            return stream.read().rpartition(")")[2].split()
    except OSError:
        return []


def exit_facts(status: int | None, oom_kills: int, *, stopped: bool) -> ExitFacts:
    """Return how a first process ended.

    Args:
        status: Its wait status, when it is known.
        oom_kills: How often the kernel killed something of the sandbox for lack of memory.
        stopped: The driver killed it, whatever else happened.
    """
    code = os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None
    number = os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None
    # An exec that was killed for lack of memory is not the sandbox's end: execd goes on, or ends as asked, with 0.
    lost = status is None or number is not None or code not in (0, LEASE_EXPIRED)
    return ExitFacts(code, number, oom_killed=bool(oom_kills and lost and not stopped))


LEASE_EXPIRED: Final = 72
"""What execd's init exits with when the time to live has run out."""
