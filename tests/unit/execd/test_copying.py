"""Copying entries to another directory."""

import os
import socket
from pathlib import Path

import pytest

from arenero.errors import FailedPrecondition, Unsupported
from arenero.execd.copying import copy_entry
from arenero.execd.identity import acting_as
from tests.unit.execd.filekit import ALICE, no_leaked_descriptors, result, shared_directory


def copy(source: Path, target: Path, *, has_rights: bool = True) -> None:
    fds = [os.open(path.parent, os.O_PATH) for path in (source, target)]
    try:
        with no_leaked_descriptors():
            steps = copy_entry(
                fds[0], os.fsencode(source.name), fds[1], os.fsencode(target.name), has_rights=has_rights
            )
            result(steps)
    finally:
        for fd in fds:
            os.close(fd)


@pytest.mark.root
def test_owner_mode_and_time_go_along(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/f").write_text("x")
    os.chown(tmp_path / "a/f", 4001, 4100)
    (tmp_path / "a/f").chmod(0o2710)
    os.utime(tmp_path / "a/f", ns=(1, 2))
    os.chown(tmp_path / "a", 4002, 4002)
    copy(tmp_path / "a", tmp_path / "b")
    copied = (tmp_path / "b/f").stat()
    assert (copied.st_uid, copied.st_gid, copied.st_mode & 0o7777, copied.st_mtime_ns) == (4001, 4100, 0o2710, 2)
    assert (tmp_path / "b").stat().st_uid == 4002


def test_taken_name_is_not_copied_over(tmp_path: Path):
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    with pytest.raises(FileExistsError):
        copy(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "b"


def test_socket_is_not_copied(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")
        with pytest.raises(Unsupported):
            copy(tmp_path / "s", tmp_path / "t")


def test_too_deep_a_tree_is_refused(tmp_path: Path):
    path = tmp_path / "a"
    for _ in range(135):
        path = path / "d"
    path.mkdir(parents=True)
    with pytest.raises(FailedPrecondition) as error:
        copy(tmp_path / "a", tmp_path / "b")
    assert error.value.reason == "NESTED_TOO_DEEPLY"


@pytest.mark.root
def test_user_copies_what_they_can_and_it_becomes_theirs():
    with shared_directory(0o777) as directory:
        (directory / "roots").write_text("x")
        (directory / "roots").chmod(0o644)
        with acting_as(ALICE):
            copy(directory / "roots", directory / "copy", has_rights=False)
        assert (directory / "copy").stat().st_uid == 4001
