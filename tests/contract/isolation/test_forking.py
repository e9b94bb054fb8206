"""Forked children on this kernel."""

import ctypes
import os
import signal
import time
from typing import Any

import pytest

from arenero.isolation import forking, syscalls
from arenero.isolation.namespaces import Namespace
from tests.contract.isolation.running import trial


def answers() -> Any:
    return forking.ask(lambda: {"pid": os.getpid()})


def raises_an_errno() -> Any:
    def fail() -> None:
        raise OSError(39, "not empty")

    try:
        forking.ask(fail)
    except OSError as error:
        return [error.errno, error.strerror]


def has_a_defect() -> Any:
    try:
        forking.ask(lambda: 1 // 0)
    except RuntimeError as error:
        return "ZeroDivisionError" in str(error)


def dies() -> Any:
    try:
        forking.ask(lambda: os.kill(os.getpid(), signal.SIGKILL))
    except RuntimeError as error:
        return str(error)


def hangs() -> Any:
    start = time.monotonic()
    try:
        forking.ask(lambda: time.sleep(60), timeout_s=0.2)
    except TimeoutError:
        return time.monotonic() - start


def leaves_nothing() -> Any:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        forking.ask(lambda: 1)
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return len(os.listdir("/proc/self/fd")) - before


def is_first_in_its_namespace() -> Any:
    reader, writer = os.pipe()
    pid = forking.fork_into(Namespace.PID | Namespace.UTS)
    if pid == 0:
        syscalls.sethostname("inside")
        grandchild = os.fork()
        if grandchild == 0:
            os._exit(0)  # noqa: TID251 - a forked child
        os.waitpid(grandchild, 0)
        os.write(writer, f"{os.getpid()} {grandchild} {os.uname().nodename}".encode())
        os._exit(0)  # noqa: TID251 - a forked child
    os.waitpid(pid, 0)
    return [os.read(reader, 100).decode(), os.uname().nodename != "inside"]


def pauses() -> Any:
    numbers = (ctypes.c_int * 3)(1, 2, 3)
    with forking.pausing_child(Namespace.USER) as pid:
        other = os.readlink(f"/proc/{pid}/ns/user") != os.readlink("/proc/self/ns/user")
        numbers[0] = 7
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return [other, list(numbers)]


@pytest.mark.parametrize(
    ("attempt", "expected"),
    [
        (raises_an_errno, [39, "not empty"]),
        (has_a_defect, True),
        (dies, "the child died without an answer"),
        (leaves_nothing, 0),
    ],
)
def test_a_question_is_answered_or_fails_in_words(attempt: Any, expected: Any) -> None:
    assert trial(attempt) == expected


def test_a_question_is_asked_of_another_process() -> None:
    assert trial(answers)["pid"] != os.getpid()


def test_a_child_that_hangs_is_killed() -> None:
    assert 0.2 <= trial(hangs) < 5


@pytest.mark.root
def test_a_child_is_born_as_process_1_and_can_fork() -> None:
    assert trial(is_first_in_its_namespace) == ["1 2 inside", True]


def test_a_pausing_child_is_in_its_own_namespace_and_touches_nothing() -> None:
    assert trial(pauses) == [True, [7, 2, 3]]
