"""A launch by fork: the child does every step itself and ends in execve. Slow, and able to do all.

It is for what init can't undo on itself afterwards (limits of resources, a nice value) and for hosts where init can't
give up its way to capabilities. A fork copies the page tables of all that the zygote had loaded, which costs several
times what `launcher` needs. The child imports nothing, since the root file system is the sandbox's.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import select
import signal
import socket
import termios
import time
from typing import Final, NoReturn

from arenero.execd import control, steps
from arenero.execd.control import Kind, Message
from arenero.execd.launch import Fault, Launch
from arenero.execd.steps import Failed, step
from arenero.isolation import capabilities, syscalls

TIMEOUT_S: Final = 5.0
"""A child that takes longer hangs on a dead file system, and init with it."""
ABOVE_TARGETS: Final = 64
"""Descriptors are moved to here and above before they get their numbers: one's number may be another's target."""
_ABOUT_TO_EXECUTE: Final = b"\0"
"""Sent right before execve: an end of file after it means that the program runs, before it that the child died."""
_SIGNALS_TO_RESET: Final = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})


def launch_by_fork(launch: Launch, fds: tuple[int, ...], null_fd: int) -> int:
    """Return the pid of a child that runs the program. Only for a process with a single thread.

    Raises:
        Failed: A step failed; the child is ending.
    """
    ours, theirs = control.pair()
    with ours:
        with theirs:
            pid = step("fork", os.fork)
            if pid == 0:
                _become(launch, fds, theirs, null_fd)
        fault = _hear(ours)
    if fault is None:
        return pid
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    raise Failed(fault)


def _hear(line: socket.socket) -> Fault | None:
    """Return what the child says went wrong; None once it runs the program."""
    told = False
    deadline_s = time.monotonic() + TIMEOUT_S
    poll = select.poll()
    poll.register(line, select.POLLIN)
    while poll.poll(max(0.0, deadline_s - time.monotonic()) * 1000):
        raw = line.recv(65_536)
        if raw == _ABOUT_TO_EXECUTE:
            told = True
        elif raw:
            return Fault.from_body(control.unpack(raw).body)
        else:
            return None if told else Fault("fork", 0)
    return Fault("execve" if told else "fork", 0)


def _become(launch: Launch, fds: tuple[int, ...], line: socket.socket, null_fd: int) -> NoReturn:
    """Never returns into init's code, whatever happens."""
    try:
        os.setsid()
        _shed(frozenset({1, 2, null_fd, line.fileno(), *fds}))
        step("stdio", _place, (null_fd, *fds), ((0,), *launch.targets))
        if launch.terminal:
            step("terminal", fcntl.ioctl, 0, termios.TIOCSCTTY, 0)
        for number, value in launch.rlimits:
            step("rlimit", resource.setrlimit, number, (value, value))
        if launch.nice:
            step("nice", os.setpriority, os.PRIO_PROCESS, 0, launch.nice)
        steps.set_ids(launch, launch.uid, launch.gid)
        step("capabilities", capabilities.write, 0, 0, 0)
        steps.enter(launch)
        line.send(_ABOUT_TO_EXECUTE)
        steps.execute(launch, lambda path, arguments: os.execve(path, arguments, launch.env))
    except Failed as failed:
        control.send(line, Message(Kind.START_FAILED, 0, failed.fault.to_body()))
    finally:
        os._exit(127)  # noqa: TID251 - a forked child must not run init's exit handlers


def _shed(keep: frozenset[int]) -> None:
    """Give up what init has open, blocks and ignores."""
    syscalls.close_all_but(keep)
    for number in _SIGNALS_TO_RESET:
        if signal.getsignal(number) is not signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _place(fds: tuple[int, ...], targets: tuple[tuple[int, ...], ...]) -> None:
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, ABOVE_TARGETS) for fd in fds]
    for fd, numbers in zip(moved, targets, strict=True):
        for number in numbers:
            os.dup2(fd, number)
