"""The parts of spawning that are used on their own: records, and work done as root of a user namespace."""

import os
from pathlib import Path
from typing import Any

import pytest

from arenero.execd.spawning import as_mapped_root, start_ticks, write_record
from arenero.isolation.namespaces import IdMap
from tests.contract.isolation.running import trial


def test_a_record_tells_a_process_by_its_start(tmp_path: Path) -> None:
    write_record(str(tmp_path / "record"), os.getpid())
    pid, ticks = map(int, (tmp_path / "record").read_text().split())
    assert (pid, ticks) == (os.getpid(), start_ticks(os.getpid()))
    assert oct((tmp_path / "record").stat().st_mode & 0o777) == "0o600"


def test_a_process_that_is_gone_has_no_start() -> None:
    with pytest.raises(FileNotFoundError):
        start_ticks(2**22)


def acts_as_root(directory: str) -> Any:
    uid, gid = os.geteuid(), os.getegid()

    def act() -> int:
        Path(directory, "made").mkdir()
        return os.geteuid() + 1

    answer = as_mapped_root((IdMap(0, uid, 1),), (IdMap(0, gid, 1),), act)
    return [answer, Path(directory, "made").stat().st_uid, os.geteuid()]


def passes_errors_on(directory: str) -> Any:
    def act() -> int:
        os.rmdir(f"{directory}/none")
        return 0

    try:
        as_mapped_root((IdMap(0, os.geteuid(), 1),), (IdMap(0, os.getegid(), 1),), act)
    except OSError as error:
        return error.errno


def test_work_is_done_as_root_of_a_namespace(tmp_path: Path) -> None:
    answer, owner, still = trial(acts_as_root, str(tmp_path))
    assert (answer, owner) == (1, still)


def test_its_errors_are_passed_on(tmp_path: Path) -> None:
    assert trial(passes_errors_on, str(tmp_path)) == 2
