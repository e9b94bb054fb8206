"""What a fault means: every kind of start failure by stage and errno, and how a wait status reads."""

from __future__ import annotations

import errno
import os
import signal

import pytest

from arenero.execd.launch import Fault
from arenero.execd.outcome import FailureKind, Usage, WaitStatus, bad_user, explain

K = FailureKind


@pytest.mark.parametrize(
    ("fault", "kind", "name"),
    [
        (Fault("lookup", errno.ENOENT, b"x"), K.NOT_FOUND, "ENOENT"),
        (Fault("execve", errno.ENOENT, b"/x"), K.NOT_FOUND, "ENOENT"),
        (Fault("execve", errno.ENOENT, b"/x", "interpreter"), K.BAD_INTERPRETER, "ENOENT"),
        (Fault("execve", errno.EACCES, b"/x", "mode"), K.NOT_EXECUTABLE, "EACCES"),
        (Fault("execve", errno.EACCES, b"/x", "directory"), K.NOT_EXECUTABLE, "EACCES"),
        (Fault("execve", errno.EACCES, b"/x", "search"), K.PERMISSION, "EACCES"),
        (Fault("execve", errno.ENOEXEC, b"/x", "format"), K.NOT_EXECUTABLE, "ENOEXEC"),
        (Fault("execve", errno.ETXTBSY, b"/x"), K.NOT_EXECUTABLE, "ETXTBSY"),
        (Fault("execve", errno.E2BIG, b"/x"), K.ARGUMENT_LIST_TOO_LONG, "E2BIG"),
        (Fault("execve", errno.EAGAIN, b"/x"), K.LIMIT, "EAGAIN"),
        (Fault("execve", errno.ENOMEM, b"/x"), K.LIMIT, "ENOMEM"),
        (Fault("execve", errno.ELOOP, b"/x"), K.NOT_FOUND, "ELOOP"),
        (Fault("fork", errno.EAGAIN), K.LIMIT, "EAGAIN"),
        (Fault("stdio", errno.EMFILE), K.LIMIT, "EMFILE"),
        (Fault("cgroup", errno.ENOTSUP), K.LIMIT, "ENOTSUP"),
        (Fault("chdir", errno.ENOENT, b"/x"), K.BAD_CWD, "ENOENT"),
        (Fault("chdir", errno.EACCES, b"/x"), K.BAD_CWD, "EACCES"),
        (Fault("setuid", errno.EPERM), K.PERMISSION, "EPERM"),
        (Fault("setuid", errno.EINVAL), K.BAD_USER, "EINVAL"),
        (Fault("setgroups", errno.EINVAL), K.BAD_USER, "EINVAL"),
        (Fault("terminal", errno.EIO), K.UNSPECIFIED, "EIO"),
        (Fault("terminal", errno.EACCES), K.PERMISSION, "EACCES"),
        (Fault("fork", 0), K.UNSPECIFIED, ""),
    ],
)
def test_fault_has_its_kind(fault: Fault, kind: FailureKind, name: str) -> None:
    failure = explain(fault)
    assert (failure.kind, failure.errno_name, failure.stage) == (kind, name, fault.stage)
    assert failure.message.startswith(f"{fault.stage}: ")


@pytest.mark.parametrize(
    ("stage", "capability"),
    [
        ("setuid", "CAP_SETUID"),
        ("setgid", "CAP_SETGID"),
        ("setgroups", "CAP_SETGID"),
        ("rlimit", "CAP_SYS_RESOURCE"),
        ("nice", "CAP_SYS_NICE"),
    ],
)
def test_missing_capability_is_named(stage: str, capability: str) -> None:
    assert capability in explain(Fault(stage, errno.EPERM)).message


def test_message_shows_any_name_and_never_a_huge_one() -> None:
    assert r"'/\\xff\n'" in explain(Fault("execve", errno.ENOENT, b"/\xff\n")).message
    assert len(explain(Fault("execve", errno.E2BIG, b"x" * 100_000)).message) < 400


def test_user_that_is_missing_is_a_failure_of_its_own() -> None:
    assert bad_user("nobody there").kind is FailureKind.BAD_USER


def test_wait_status_tells_signals_from_exits() -> None:
    assert WaitStatus.of(3 << 8) == WaitStatus(3, None, core_dumped=False)
    assert WaitStatus.of(signal.SIGKILL) == WaitStatus(None, 9, core_dumped=False)
    assert WaitStatus.of(signal.SIGQUIT | 0x80) == WaitStatus(None, 3, core_dumped=True)


def test_usage_has_the_kernels_units() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)  # noqa: TID251 - a forked child
    _, _, usage = os.wait4(pid, 0)
    assert Usage.of(list(usage[:16])).max_rss_bytes == usage.ru_maxrss * 1024
