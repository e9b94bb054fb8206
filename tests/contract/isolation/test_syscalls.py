"""Thin wrappers of system calls on this kernel."""

import errno
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from arenero.isolation import syscalls
from tests.contract.isolation.running import trial


def closes_all_but() -> Any:
    fds = [os.open("/dev/null", os.O_RDONLY) for _ in range(10)]
    kept = frozenset({0, 1, 2, fds[3], fds[7]})
    syscalls.close_all_but(kept)
    still = [fd for fd in fds if Path(f"/proc/self/fd/{fd}").is_symlink()]
    return still == sorted(kept - {0, 1, 2})


def reports_an_exit_to_a_stranger() -> Any:
    pid = os.fork()
    if pid == 0:
        os.read(os.pipe()[0], 1)
    fd = syscalls.pidfd_open(pid)
    running = syscalls.pidfd_exit_status(fd)
    syscalls.pidfd_send_signal(fd, signal.SIGTERM)
    _, status = os.waitpid(pid, 0)
    return [running, syscalls.pidfd_exit_status(fd), status]


def names_itself() -> Any:
    syscalls.set_process_name("a name that is too long")
    return Path("/proc/self/comm").read_text()


def test_all_descriptors_but_the_named_ones_are_closed() -> None:
    assert trial(closes_all_but)


def test_an_exit_is_told_to_whoever_holds_the_descriptor() -> None:
    running, seen, real = trial(reports_an_exit_to_a_stranger)
    assert running is None
    assert seen in (real, None)


def test_a_process_name_is_cut() -> None:
    assert trial(names_itself) == "a name that is \n"


def test_an_error_names_call_and_subject() -> None:
    with pytest.raises(FileNotFoundError, match=r"openat2\(no/such\)"):
        syscalls.openat2(syscalls.AT_FDCWD, "no/such", os.O_RDONLY)


def test_openat2_stays_beneath(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "out").symlink_to("/etc")
    top = os.open(tmp_path / "inside", os.O_RDONLY)
    try:
        for path, code in (("../out", errno.EXDEV), ("/etc", errno.EXDEV)):
            with pytest.raises(OSError, match="openat2") as refusal:
                syscalls.openat2(top, path, os.O_RDONLY, resolve=syscalls.RESOLVE_BENEATH)
            assert refusal.value.errno == code
    finally:
        os.close(top)


def test_a_process_that_is_gone_has_no_descriptor() -> None:
    with pytest.raises(ProcessLookupError):
        syscalls.pidfd_open(2**22)


def test_a_machine_without_numbers_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syscalls, "MACHINE", "s390x")
    with pytest.raises(OSError, match="no system call numbers are known for s390x"):
        syscalls.call("setns", 0, 0)
