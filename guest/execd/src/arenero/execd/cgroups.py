"""A cgroup for every exec, so that its processes can be found, limited and killed whole, however they fork.

All paths are below one directory descriptor that the sandbox's programs can't reach. Where there is none (`root_fd`
-1), no cgroup can be made.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Iterator
from typing import Final

from arenero.execd.launch import Limits

_HOME: Final = "init"
_REMOVED_AT_ONCE: Final = 16
_CPU_PERIOD_US: Final = 100_000
_READ_BYTES: Final = 65_536


class ExecCgroups:
    """Makes, asks, kills and removes them. Their names are never used twice; the empty name stands for none."""

    def __init__(self, root_fd: int, controllers: tuple[str, ...] = ()) -> None:
        self._root_fd = root_fd
        self._made = 0
        self._spare = ""
        self._left: list[str] = []
        self.controllers = frozenset(controllers)
        self.available = root_fd >= 0 and self._go_home()
        self.counts_memory = self.available and "memory" in self.controllers

    @property
    def has_chores(self) -> bool:
        """There is something for `do_chores` to do."""
        return bool(self._left) or (self.available and not self._spare)

    def do_chores(self) -> None:
        """Make one ahead of time, and remove some that are not needed any more."""
        if self.available and not self._spare:
            self._spare = self._make()
            self.available = bool(self._spare)
        for name in self._left[:_REMOVED_AT_ONCE]:
            self._left.remove(name)
            if not self._remove(name):
                self._left.append(name)

    def take(self) -> str:
        """Return a new one; the empty name where there can be none."""
        name, self._spare = self._spare, ""
        return name or (self._make() if self.available else "")

    def give_back(self, name: str) -> None:
        """It is not needed any more; it is removed once it is empty."""
        if name:
            self._left.append(name)

    @contextlib.contextmanager
    def inside(self, name: str) -> Iterator[bool]:
        """Be in a cgroup for the block, so that a child is born there; False when that is not possible.

        Nothing may kill the cgroup meanwhile. The single thread of init sees to that.
        """
        if not name:
            yield False
            return
        try:
            self._write(name, "cgroup.procs", "0")
        except OSError:
            yield False
            return
        try:
            yield True
        finally:
            self._write(_HOME, "cgroup.procs", "0")

    def limit(self, name: str, limits: Limits) -> None:
        """Set limits.

        Raises:
            OSError: ENOTSUP when there is no cgroup or it lacks the controller.
        """
        if limits.cpus:
            self._set(name, "cpu", "cpu.max", f"{max(1_000, int(limits.cpus * _CPU_PERIOD_US))} {_CPU_PERIOD_US}")
        if limits.memory_bytes:
            self._set(name, "memory", "memory.max", str(limits.memory_bytes))
        if limits.pids:
            self._set(name, "pids", "pids.max", str(limits.pids))

    def is_empty(self, name: str) -> bool:
        """Whether no process is left in it."""
        if not name:
            return True
        try:
            return b"populated 0" in self._read(name, "cgroup.events")
        except FileNotFoundError:
            return True
        except OSError:
            return False

    def pids(self, name: str) -> list[int]:
        """Return the processes in it, those that ended and were not collected included."""
        try:
            return [int(line) for line in self._read(name, "cgroup.procs").split()]
        except OSError:
            return []

    def kill(self, name: str) -> None:
        """Send SIGKILL to every process in it, new ones included where the kernel knows how (5.14 and later)."""
        if not name:
            return
        try:
            self._write(name, "cgroup.kill", "1")
        except OSError:
            with self._frozen(name):
                for pid in self.pids(name):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)

    def oom_kills(self, name: str) -> int:
        """Return how many of its processes were ended for lack of memory; 0 without the memory controller."""
        try:
            return count_oom_kills(self._read(name, "memory.events"))
        except OSError:
            return 0

    @contextlib.contextmanager
    def _frozen(self, name: str) -> Iterator[None]:
        """Let nothing in it run, so that it can't fork faster than it is killed. A frozen process dies when thawed."""
        with contextlib.suppress(OSError):
            self._write(name, "cgroup.freeze", "1")
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                self._write(name, "cgroup.freeze", "0")

    def _go_home(self) -> bool:
        """Enter the cgroup that init lives in. A descriptor alone doesn't say whether this process may do so."""
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(_HOME, 0o700, dir_fd=self._root_fd)
            self._write(_HOME, "cgroup.procs", "0")
        except OSError:
            return False
        return True

    def _make(self) -> str:
        """Return the name of a new one; the empty name when there can be none."""
        while True:
            self._made += 1
            name = f"exec-{self._made}"
            try:
                os.mkdir(name, 0o700, dir_fd=self._root_fd)
            except FileExistsError:
                # An execd before this one has left it.
                continue
            except OSError:
                return ""
            return name

    def _remove(self, name: str) -> bool:
        try:
            os.rmdir(name, dir_fd=self._root_fd)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def _set(self, name: str, controller: str, file: str, value: str) -> None:
        if not name or controller not in self.controllers:
            raise OSError(errno.ENOTSUP, f"the sandbox has no {controller} controller for its execs")
        self._write(name, file, value)

    def _read(self, name: str, file: str) -> bytes:
        if not name:
            raise OSError(errno.ENOTSUP, "no cgroup")
        fd = os.open(f"{name}/{file}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._root_fd)
        try:
            return _read_all(fd)
        finally:
            os.close(fd)

    def _write(self, name: str, file: str, value: str) -> None:
        fd = os.open(f"{name}/{file}", os.O_WRONLY | os.O_CLOEXEC, dir_fd=self._root_fd)
        try:
            os.write(fd, value.encode())
        finally:
            os.close(fd)


def kill_all(root_fd: int) -> None:
    """Kill what is in any exec's cgroup: for who has outlived init."""
    if root_fd < 0:
        return
    for name in os.listdir(root_fd):
        with contextlib.suppress(OSError):
            fd = os.open(f"{name}/cgroup.kill", os.O_WRONLY | os.O_CLOEXEC, dir_fd=root_fd)
            try:
                if name != _HOME:
                    os.write(fd, b"1")
            finally:
                os.close(fd)


def count_oom_kills(counters: bytes) -> int:
    """Read the line `oom_kill N` of `memory.events` (v2) or `memory.oom_control` (v1); 0 when there is none."""
    for line in counters.splitlines():
        name, _, value = line.partition(b" ")
        if name == b"oom_kill" and value.isdigit():
            return int(value)
    return 0


def _read_all(fd: int) -> bytes:
    parts = []
    while part := os.read(fd, _READ_BYTES):
        parts.append(part)
    return b"".join(parts)
