"""What /proc says about processes."""

from __future__ import annotations

import os

import pytest

from arenero.execd import procfs
from arenero.execd.procfs import Stat

LINE = b"42 (a) b (c\xff) S 7 40 39 0 -1 4194560 1 2 3 4 11 22 0 0 20 0 1 0 9999 1000 55 18446744073709551615 1 1 0\n"


def stat(pid: int, parent: int, session: int = 0) -> Stat:
    return Stat(pid, "x", "S", parent, session, session, 0, 0, 0)


def test_line_is_read_whatever_the_name_is() -> None:
    assert procfs.parse_stat(LINE) == Stat(42, "a) b (c\\xff", "S", 7, 40, 39, 33, 9999, 55)


def test_own_process_is_found() -> None:
    found = procfs.find(os.getpid())
    assert found is not None
    assert (found.pid, found.parent) == (os.getpid(), os.getppid())
    assert os.getpid() in procfs.pids()
    assert os.getpid() in [each.pid for each in procfs.processes()]


def test_process_that_is_gone_is_none() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)  # noqa: TID251 - a forked child
    os.waitpid(pid, 0)
    assert procfs.find(pid) is None


@pytest.mark.parametrize(("state", "ended"), [("S", False), ("R", False), ("Z", True), ("X", True)])
def test_zombie_has_ended(state: str, ended: bool) -> None:
    assert Stat(1, "x", state, 0, 0, 0, 0, 0, 0).ended is ended


def test_descendants_are_all_below_one() -> None:
    tree = [stat(1, 0), stat(2, 1), stat(3, 2), stat(4, 1), stat(5, 99)]
    assert {each.pid for each in procfs.descendants(1, tree)} == {2, 3, 4}
    assert procfs.descendants(5, tree) == []


def test_circle_of_parents_ends() -> None:
    assert {each.pid for each in procfs.descendants(1, [stat(1, 2), stat(2, 1)])} == {1, 2}


def test_family_is_the_session_and_what_is_below_it() -> None:
    tree = [stat(10, 1, 10), stat(11, 10, 10), stat(12, 11, 12), stat(13, 1, 10), stat(14, 1, 14), stat(15, 12, 15)]
    assert {each.pid for each in procfs.family(10, tree)} == {10, 11, 12, 13, 15}


def test_reading_is_bounded() -> None:
    assert len(procfs.read(os.getpid(), "stat", 10)) == 10
