"""How init launches a program: by vfork, as the user, in the exec's cgroup.

A vforked child can't run code of ours, so init itself puts on what the child is to inherit: cgroup, readiness to be
ended for lack of memory, user, working directory. It takes all of that off again before it does anything else. As
process 1 it can't be signalled or traced meanwhile, whoever it looks like, and the saved user id is always its own. The
program gains nothing from init's rights: securebits and `no_new_privs` make every execve lose them.

While the child is on its way to its program, init waits. A program on a dead file system could make that long; the
server kills such a child (see `link`).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from arenero.execd import steps
from arenero.execd.child import ABOVE_TARGETS, launch_by_fork
from arenero.execd.launch import Launch
from arenero.execd.steps import step
from arenero.isolation import capabilities, syscalls

_NO_ROOT_AND_NO_FIXUP: Final = 0b1111
"""SECBIT_NOROOT and SECBIT_NO_SETUID_FIXUP, both locked: user 0 is nothing special to execve, and changing ids changes
no capability."""
_RESET: Final = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
"""What Python ignores, and what may have been ignored where execd was started: shells and nohup do that."""


@dataclass(frozen=True, slots=True)
class _Own:
    """What init is, and returns to."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    permitted: int
    inheritable: int


class Launcher:
    """Launches programs from init. Only for a process with a single thread."""

    def __init__(self, oom_score_adj: int) -> None:
        self._null_fd = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        self._root_fd = os.open("/", os.O_PATH | os.O_CLOEXEC)
        self._oom = _OomScore(oom_score_adj)
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
        self._gives_nothing = _give_nothing()
        _, permitted, inheritable = capabilities.read()
        self._own = _Own(os.getuid(), os.getgid(), tuple(os.getgroups()), permitted, inheritable)

    def launch(self, launch: Launch, fds: tuple[int, ...]) -> int:
        """Return the pid of a child that runs the program in a session of its own.

        Raises:
            Failed: A step failed, and nothing runs.
        """
        with self._oom.raised():
            if launch.rlimits or launch.nice or not self._gives_nothing:
                return launch_by_fork(launch, fds, self._null_fd)
            with self._as_user(launch):
                return self._spawn(launch, fds)

    @contextlib.contextmanager
    def _as_user(self, launch: Launch) -> Iterator[None]:
        own = self._own
        try:
            if (launch.uid, launch.gid) != (own.uid, own.gid) or launch.groups not in (None, own.groups):
                steps.set_ids(launch, own.uid, own.gid)
            capabilities.write(0, own.permitted, own.inheritable)
            steps.enter(launch)
            yield
        finally:
            self._return_to(own)

    def _return_to(self, own: _Own) -> None:
        """Be init again, from wherever a launch got to."""
        capabilities.write(own.permitted, own.permitted, own.inheritable)
        os.setresuid(own.uid, own.uid, own.uid)
        os.setresgid(own.gid, own.gid, own.gid)
        if tuple(os.getgroups()) != own.groups:
            os.setgroups(own.groups)
        os.fchdir(self._root_fd)

    def _spawn(self, launch: Launch, fds: tuple[int, ...]) -> int:
        moved = [step("stdio", fcntl.fcntl, fd, fcntl.F_DUPFD_CLOEXEC, ABOVE_TARGETS) for fd in fds]
        try:
            actions = [(os.POSIX_SPAWN_DUP2, self._null_fd, 0), *_placing(launch, moved)]
            return steps.execute(
                launch,
                lambda path, arguments: os.posix_spawn(
                    path,
                    arguments,
                    launch.env,
                    file_actions=actions,
                    setsid=True,
                    setsigmask=(),
                    setsigdef=_RESET,
                ),
            )
        finally:
            for fd in moved:
                os.close(fd)


class _OomScore:
    """How ready this process is to be ended when memory runs out: raised while it makes a child, which inherits it."""

    def __init__(self, raised: int) -> None:
        self._raised = b"%d" % raised
        self._own = b""
        # What /proc shows of a process that can't be dumped is the host's root's. Nothing of the sandbox runs yet.
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
        try:
            self._fd = os.open("/proc/self/oom_score_adj", os.O_RDWR | os.O_CLOEXEC)
            self._own = os.read(self._fd, 16).strip()
        except OSError:
            # A sandbox without /proc goes without.
            self._fd = -1
        finally:
            syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)

    @contextlib.contextmanager
    def raised(self) -> Iterator[None]:
        self._write(self._raised)
        try:
            yield
        finally:
            self._write(self._own)

    def _write(self, value: bytes) -> None:
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.pwrite(self._fd, value, 0)


def _placing(launch: Launch, fds: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield what gives descriptors their numbers. A terminal is opened by name: so it becomes the controlling one."""
    for fd, numbers in zip(fds, launch.targets, strict=True):
        if launch.terminal and 0 in numbers:
            name = step("terminal", os.ttyname, fd)
            # Once as a trial, since a failure in the child could not be told from one of the program.
            os.close(step("terminal", os.open, name, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
            yield (os.POSIX_SPAWN_OPEN, 0, name, os.O_RDWR, 0)  # type: ignore[misc]
            fd, numbers = 0, tuple(number for number in numbers if number)
        for number in numbers:
            yield (os.POSIX_SPAWN_DUP2, fd, number)


def _give_nothing() -> bool:
    """See to it that no execve from here on gives any capability; False when only the child itself can see to it."""
    _, permitted, _ = capabilities.read()
    if not permitted:
        return True
    try:
        syscalls.prctl(syscalls.PR_SET_SECUREBITS, _NO_ROOT_AND_NO_FIXUP)
        for number in range(len(capabilities.NAMES)):
            syscalls.prctl(syscalls.PR_CAPBSET_DROP, number)
    except OSError as error:
        # EINVAL: the kernel knows fewer capabilities than this list. EPERM: no CAP_SETPCAP.
        return error.errno == errno.EINVAL
    return True
