"""Which blanks are kept, which go, and how cells get their copies."""

import os
from pathlib import Path

import pytest

from arenero.isolation import disk
from arenero.runtime.local.blanks import MOST, Blanks

SMALL, LARGE = 4096, 2 << 20


def blanks_in(directory: Path, *sizes: int) -> Blanks:
    """Blanks with these sizes, full of something that is recognised, in the order of their use."""
    directory.mkdir(exist_ok=True)
    for at, size in enumerate(sizes):
        path = directory / f"{size}.img"
        path.write_bytes(os.urandom(size))
        os.utime(path, (at, at))
    blanks = Blanks(directory)
    blanks.open()
    return blanks


def test_a_copy_is_like_the_blank_and_the_blank_stays(tmp_path: Path) -> None:
    blanks = blanks_in(tmp_path / "b", SMALL)
    assert not blanks.lacks(SMALL)
    blanks.take(SMALL, tmp_path / "one")
    blanks.take(SMALL, tmp_path / "two")
    blank = (tmp_path / "b" / f"{SMALL}.img").read_bytes()
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() == blank


def test_a_large_blank_is_copied_beforehand_and_the_copy_given_away_once(tmp_path: Path) -> None:
    blanks = blanks_in(tmp_path / "b", LARGE)
    blank = (tmp_path / "b" / f"{LARGE}.img").read_bytes()
    for name in ("one", "two"):
        assert blanks.lacks(LARGE)
        blanks.prepare(LARGE)
        assert not blanks.lacks(LARGE)
        (ready,) = (tmp_path / "b").glob("*.copy")
        inode = ready.stat().st_ino
        blanks.take(LARGE, tmp_path / name)
        assert (tmp_path / name).stat().st_ino == inode
        assert (tmp_path / name).read_bytes() == blank
    assert os.listdir(tmp_path / "b") == [f"{LARGE}.img"]


def test_the_blank_not_used_for_longest_goes(tmp_path: Path) -> None:
    sizes = [SMALL * number for number in range(1, MOST + 1)]
    blanks = blanks_in(tmp_path / "b", *sizes)
    blanks.take(sizes[0], tmp_path / "image")
    (tmp_path / "b" / f"{SMALL * 100}.img").write_bytes(bytes(SMALL))
    blanks.prepare(SMALL * 100)
    assert {int(path.stem) for path in (tmp_path / "b").iterdir()} == {sizes[0], *sizes[2:], SMALL * 100}
    assert blanks.lacks(sizes[1])


def test_the_copy_of_a_large_blank_goes_with_it(tmp_path: Path) -> None:
    blanks = blanks_in(tmp_path / "b", LARGE, *(SMALL * number for number in range(1, MOST)))
    blanks.prepare(LARGE)
    for number in range(1, MOST + 1):
        (tmp_path / "b" / f"{SMALL * number}.img").write_bytes(bytes(SMALL))
        blanks.prepare(SMALL * number)
    assert not list((tmp_path / "b").glob(f"{LARGE}.*"))


def test_too_many_blanks_of_an_earlier_driver_go(tmp_path: Path) -> None:
    sizes = [SMALL * number for number in range(1, MOST + 4)]
    blanks_in(tmp_path / "b", *sizes)
    assert {int(path.stem) for path in (tmp_path / "b").iterdir()} == set(sizes[3:])


def test_what_a_killed_driver_was_making_goes(tmp_path: Path) -> None:
    (tmp_path / "b/.image-abc/content").mkdir(parents=True)
    (tmp_path / "b/.image-abc/image").write_bytes(bytes(SMALL))
    (tmp_path / "b/.image-def").write_bytes(bytes(SMALL))
    (tmp_path / f"b/{LARGE}.copy").write_bytes(bytes(SMALL))
    blanks_in(tmp_path / "b", SMALL)
    assert os.listdir(tmp_path / "b") == [f"{SMALL}.img"]


def test_a_blank_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    blanks = blanks_in(tmp_path / "b")
    assert blanks.lacks(SMALL)
    with pytest.raises(FileNotFoundError):
        blanks.take(SMALL, tmp_path / "image")


@pytest.mark.skipif(disk.find_formatter() is None, reason="needs mkfs.ext4")
def test_a_missing_blank_is_made(tmp_path: Path) -> None:
    blanks = blanks_in(tmp_path / "b")
    blanks.prepare(16 << 20)
    assert not blanks.lacks(16 << 20)
    blanks.take(16 << 20, tmp_path / "image")
    assert (tmp_path / "image").stat().st_size > 16 << 20
