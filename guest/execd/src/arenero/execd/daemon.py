"""What both of execd's own processes do to themselves first, so that the programs they watch over can't reach them.

They keep no descriptor that they don't need, can't be traced or dumped, and run under a user id that no exec may have:
a signal needs the same id or CAP_KILL, and no exec has either. Files that they make still belong to root. Where the
sandbox has only one id, execs share it with the server; then only the kernel's rule that nobody inside can kill
process 1 protects the end of the sandbox.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import traceback
from collections.abc import Callable
from typing import Final, NoReturn

from arenero.execd.plan import InitPlan
from arenero.isolation import capabilities, syscalls

DAEMON_ID: Final = 65_533
"""User and group id of execd itself, where the sandbox has that many."""
INIT_NAME: Final = "arenero-init"
"""What `ps` calls init, and a child of it that has not got to its program yet."""
_PR_SET_KEEPCAPS: Final = 8


def harden(plan: InitPlan) -> None:
    """Prepare this process to be init."""
    syscalls.set_process_name(INIT_NAME)
    kept = descriptors(plan)
    syscalls.close_all_but(frozenset({0, 1, 2, *kept}))
    for fd in kept:
        # They came by inheritance, and no exec may inherit them.
        os.set_inheritable(fd, False)
    if os.getpid() != 1:
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
    if own_id(plan) is not None:
        _leave_root(DAEMON_ID)
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)


def run_server(plan: InitPlan, line: socket.socket, serve: Callable[[InitPlan, socket.socket], int]) -> NoReturn:
    """Be the server, in a child that was just forked."""
    code = 1
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        syscalls.set_process_name("arenero-execd")
        _raise_open_files()
        code = serve(plan, line)
    except BaseException:  # noqa: BLE001 - the only place where a crash can still be told
        note(traceback.format_exc())
    finally:
        os._exit(code)  # noqa: TID251 - forked from init, whose exit handlers are not this one's


def note(text: str) -> None:
    """Write a line to the log that is left when nothing else is: standard error, if anybody still holds it."""
    with contextlib.suppress(OSError):
        os.write(2, f"{text.rstrip()}\n".encode())


def own_id(plan: InitPlan) -> int | None:
    """Return the user id that is execd's alone, or None where the sandbox has none to spare."""
    may_change = capabilities.NUMBERS["SETUID"], capabilities.NUMBERS["SETGID"]
    _, permitted, _ = capabilities.read()
    able = os.geteuid() in (0, DAEMON_ID) and all(permitted >> number & 1 for number in may_change)
    return DAEMON_ID if plan.ids > DAEMON_ID and able else None


def descriptors(plan: InitPlan) -> tuple[int, ...]:
    """Return the descriptors that a plan hands over."""
    named = (plan.cgroup_fd, plan.memory_events_fd, plan.memory_usage_fd, plan.cpu_usage_fd, plan.ready_fd)
    return tuple(fd for fd in named if fd >= 0)


def _leave_root(own: int) -> None:
    """Change all ids but those that files are made under, and keep the capabilities that this process has."""
    syscalls.prctl(_PR_SET_KEEPCAPS, 1)
    os.setgroups(())
    os.setresgid(own, own, own)
    os.setresuid(own, own, own)
    capabilities.raise_effective()
    syscalls.set_filesystem_ids(0, 0)


def _raise_open_files() -> None:
    """Take as many descriptors as are allowed: every running exec needs a few."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
