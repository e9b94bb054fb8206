"""The steps of a launch: how the program is found, and what is wrong when it is not."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from arenero.execd import steps
from arenero.execd.launch import Fault, Launch
from arenero.execd.steps import Failed, step


def execute(programs: list[tuple[str, str]], refusals: dict[str, int], *, searched: bool = False) -> tuple[bytes, Any]:
    """Try programs where running one fails with the errno given for it, and otherwise returns what was run."""

    def run(path: bytes, arguments: tuple[bytes, ...]) -> tuple[bytes, Any]:
        if code := refusals.get(path.decode()):
            raise OSError(code, os.strerror(code))
        return path, arguments

    found = tuple((path.encode(), name.encode()) for path, name in programs)
    return steps.execute(Launch(programs=found, arguments=(b"arg",), searched=searched), run)


def fault(*arguments: Any, **options: Any) -> Fault:
    with pytest.raises(Failed) as caught:
        execute(*arguments, **options)
    return caught.value.fault


def test_first_place_that_holds_it_is_run_under_its_name() -> None:
    assert execute([("/no", "a"), ("/yes", "b")], {"/no": errno.ENOENT}) == (b"/yes", (b"b", b"arg"))


def test_place_that_does_not_exist_is_skipped_in_a_search(tmp_path: Path) -> None:
    (tmp_path / "prog").touch()
    places = [("/no/prog", "prog"), (f"{tmp_path}/prog", "prog")]
    assert execute(places, {"/no/prog": errno.EIO}, searched=True)[0] == f"{tmp_path}/prog".encode()


def test_nothing_found_names_what_was_looked_for() -> None:
    assert fault([("/no/prog", "prog")], {}, searched=True) == Fault("lookup", errno.ENOENT, b"prog")
    assert fault([("/no/prog", "x")], {"/no/prog": errno.ENOENT}) == Fault("execve", errno.ENOENT, b"/no/prog")


def test_refusal_is_told_only_when_no_later_place_runs(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.touch(0o644)
    refusals = {str(closed): errno.EACCES}
    assert execute([(str(closed), "x"), ("/yes", "x")], refusals)[0] == b"/yes"
    found = fault([(str(closed), "x"), ("/no", "x")], refusals | {"/no": errno.ENOENT})
    assert found == Fault("execve", errno.EACCES, str(closed).encode(), "mode")


def test_other_refusals_end_the_search(tmp_path: Path) -> None:
    (tmp_path / "text").touch(0o755)
    path = str(tmp_path / "text")
    assert fault([(path, "x"), ("/yes", "x")], {path: errno.ENOEXEC}).finding == "format"
    assert fault([(path, "x"), ("/yes", "x")], {path: errno.ENOENT}).finding == "interpreter"
    assert fault([(path, "x"), ("/yes", "x")], {path: errno.E2BIG}).errno == errno.E2BIG


def test_directory_is_no_program(tmp_path: Path) -> None:
    assert steps.examine(os.fsencode(tmp_path), errno.EACCES) == "directory"
    assert steps.examine(b"/no/such", errno.ENOENT) == ""


def test_step_carries_what_the_system_said() -> None:
    assert step("chdir", lambda: 5) == 5
    with pytest.raises(Failed) as caught:
        step("chdir", os.chdir, "/no/such", subject=b"/no/such")
    assert caught.value.fault == Fault("chdir", errno.ENOENT, b"/no/such")


def test_pythons_word_for_a_refused_limit_is_understood() -> None:
    def refused() -> None:
        raise ValueError("not allowed to raise maximum limit")

    with pytest.raises(Failed) as caught:
        step("rlimit", refused)
    assert caught.value.fault == Fault("rlimit", errno.EPERM)
