"""Spool files: nameless rings within one budget."""

from __future__ import annotations

import os
from pathlib import Path

from arenero.execd.spool import Spool


def test_file_has_no_name(tmp_path: Path) -> None:
    spool = Spool((str(tmp_path),), 1000)
    file = spool.open(100)
    assert file is not None
    assert file.write(0, b"x" * 50)
    assert list(tmp_path.iterdir()) == []
    file.close()
    assert spool.used_bytes == 0


def test_ring_holds_the_last_bytes(tmp_path: Path) -> None:
    file = Spool((str(tmp_path),), 1000).open(10)
    assert file is not None
    assert file.write(0, b"0123456")
    assert file.write(7, b"789abc")
    assert file.read(3, 100) == b"3456789"
    assert file.read(10, 2) == b"ab"
    assert file.write(13, b"x" * 25)
    assert file.read(30, 8) == b"x" * 8
    file.close()


def test_next_place_is_tried_when_one_cannot_be_written(tmp_path: Path) -> None:
    file = Spool(("", "/no/such/place", str(tmp_path)), 1000).open(10)
    assert file is not None
    file.close()
    assert Spool(("/no/such/place",), 1000).open(10) is None


def test_budget_is_shared_and_room_is_made_when_it_can_be(tmp_path: Path) -> None:
    spool = Spool((str(tmp_path),), 100)
    old, new = spool.open(80), spool.open(80)
    assert old is not None
    assert new is not None
    assert old.write(0, b"a" * 80)
    assert not new.write(0, b"b" * 80)

    def make_room() -> bool:
        old.close()
        return True

    spool.make_room = make_room
    assert new.write(0, b"b" * 80)
    assert spool.used_bytes == 80
    new.close()


def test_failing_disk_is_told_and_raises_nothing(tmp_path: Path) -> None:
    file = Spool((str(tmp_path),), 100).open(10)
    assert file is not None
    os.close(file._fd)
    try:
        assert not file.write(0, b"x")
        assert file.read(0, 1) == b""
    finally:
        file._fd = -1
