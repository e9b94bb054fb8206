"""Files without a name, or with a hidden one, put in place in one step."""

import os
import time
from pathlib import Path

import pytest

from arenero.execd import filecalls
from arenero.execd.paths import Place
from arenero.execd.temporaries import Temporary, exists, is_replacing, is_temporary, new_name, rename, sweep
from tests.unit.execd.filekit import names_in, no_leaked_descriptors


@pytest.fixture(params=["nameless", "named"])
def way(request, monkeypatch) -> str:
    """Make files without a name, and as on a file system that has none such."""
    if request.param == "named":
        monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY | os.O_WRONLY)
    return str(request.param)


@pytest.fixture
def directory_fd(tmp_path: Path):
    fd = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    yield fd
    os.close(fd)


@pytest.mark.parametrize("exists_before", [False, True])
def test_file_appears_whole_and_in_one_step(way: str, tmp_path: Path, directory_fd: int, exists_before: bool):
    if exists_before:
        (tmp_path / "f").write_bytes(b"old")
    with no_leaked_descriptors():
        temporary = Temporary.create(directory_fd)
        os.write(temporary.fd, b"new")
        assert (tmp_path / "f").exists() == exists_before
        assert (len(names_in(tmp_path)) > exists_before) == (way == "named")
        temporary.put(b"f", replace=True)
        temporary.close()
    assert (tmp_path / "f").read_bytes() == b"new"
    assert names_in(tmp_path) == ["f"]


def test_taken_name_is_left_alone_unless_replacing(way: str, tmp_path: Path, directory_fd: int):
    (tmp_path / "f").write_bytes(b"old")
    temporary = Temporary.create(directory_fd)
    with pytest.raises(FileExistsError):
        temporary.put(b"f", replace=False)
    temporary.close()
    assert (tmp_path / "f").read_bytes() == b"old"
    assert names_in(tmp_path) == ["f"]


def test_nothing_is_left_of_a_file_that_is_given_up(way: str, tmp_path: Path, directory_fd: int):
    with no_leaked_descriptors():
        temporary = Temporary.create(directory_fd)
        os.write(temporary.fd, b"x")
        temporary.close()
    assert names_in(tmp_path) == []


def test_file_survives_when_its_name_is_removed_by_a_program(tmp_path: Path, directory_fd: int, monkeypatch):
    monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY | os.O_WRONLY)
    temporary = Temporary.create(directory_fd)
    for name in names_in(tmp_path):
        (tmp_path / name).unlink()
    with pytest.raises(FileNotFoundError):
        temporary.put(b"f", replace=True)
    temporary.close()


def test_hidden_names_are_known_and_say_what_for():
    plain, replacing = new_name(), new_name(replaces=True)
    assert plain != new_name()
    assert is_temporary(plain)
    assert is_temporary(replacing)
    assert not is_replacing(plain)
    assert is_replacing(replacing)
    assert not is_temporary(b"file.part")
    assert not is_temporary(b".arenero-notes")


def test_only_old_leftovers_of_ours_are_swept(tmp_path: Path, directory_fd: int):
    old, young, other, link = (new_name() for _ in range(4))
    for name, age_s, mode in ((old, 100, 0o600), (young, 0, 0o600), (other, 100, 0o644)):
        path = os.path.join(os.fsencode(tmp_path), name)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, mode))
        os.chmod(path, mode)
        os.utime(path, (time.time() - age_s,) * 2)
    os.symlink("/etc/passwd", os.path.join(os.fsencode(tmp_path), link))
    (tmp_path / "mine").touch()
    assert sweep(directory_fd, stale_s=50) == 1
    assert names_in(tmp_path) == sorted(["mine", *(name.decode() for name in (young, other, link))])


def test_rename_without_replacing_where_the_file_system_cant(tmp_path: Path, directory_fd: int, monkeypatch):
    """What FAT and some FUSE file systems answer: EINVAL."""
    whole = filecalls.rename

    def plain(old_fd: int, old: bytes, new_fd: int, new: bytes, *, replace: bool) -> None:
        if not replace:
            raise OSError(22, "Invalid argument")
        whole(old_fd, old, new_fd, new, replace=True)

    monkeypatch.setattr(filecalls, "rename", plain)
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    with pytest.raises(FileExistsError):
        rename(directory_fd, b"a", b"b", replace=False)
    rename(directory_fd, b"a", b"c", replace=False)
    assert names_in(tmp_path) == ["b", "c"]


def test_link_to_nowhere_exists(tmp_path: Path, directory_fd: int):
    (tmp_path / "x").symlink_to("nowhere")
    assert exists(Place(directory_fd, b"x"))
    assert not exists(Place(directory_fd, b"y"))
