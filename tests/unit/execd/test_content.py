"""Opening for content, and copying it with its holes."""

import os
import random
import threading
from pathlib import Path

import pytest

from arenero.errors import FailedPrecondition, PermissionDenied
from arenero.execd.content import CALM, check_content, copy_content, data_extents, write_all
from tests.unit.execd.filekit import result


def check(path: str | Path, flags: int = os.O_RDONLY, *, for_writing: bool = False) -> os.stat_result:
    fd = os.open(path, flags | CALM)
    try:
        return check_content(fd, b"asked", for_writing=for_writing)
    finally:
        os.close(fd)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: path.mkdir(), "IS_A_DIRECTORY"),
        (lambda path: os.mkfifo(path), "NOT_A_REGULAR_FILE"),
        (lambda path: path.symlink_to("/dev/zero"), "NOT_A_REGULAR_FILE"),
    ],
)
def test_only_files_have_content(tmp_path: Path, make, reason: str):
    make(tmp_path / "x")
    with pytest.raises(FailedPrecondition) as error:
        check(tmp_path / "x")
    assert error.value.reason == reason


@pytest.mark.parametrize(
    "path", ["/proc/self/mem", "/proc/self/environ", "/proc/thread-self/maps", f"/proc/{os.getpid()}/status"]
)
def test_execds_own_memory_is_off_limits(path: str):
    """A link that a program left in the place of a file must not lead a caller into execd."""
    with pytest.raises(PermissionDenied) as error:
        check(path)
    assert error.value.reason == "SPECIAL_FILE"


def test_own_memory_is_known_under_a_threads_number_too():
    begun, done = threading.Event(), threading.Event()
    numbers = []

    def wait() -> None:
        numbers.append(threading.get_native_id())
        begun.set()
        done.wait(10)

    thread = threading.Thread(target=wait)
    thread.start()
    begun.wait(10)
    try:
        with pytest.raises(PermissionDenied):
            check(f"/proc/{numbers[0]}/status")
    finally:
        done.set()
        thread.join()


def test_rest_of_proc_is_read_but_not_written():
    assert check("/proc/meminfo").st_size == 0
    assert check("/proc/1/status")
    with pytest.raises(PermissionDenied):
        check("/proc/1/status", for_writing=True)


def test_extents_are_where_data_is(tmp_path: Path):
    with open(tmp_path / "f", "wb") as file:
        for offset in (0, 1 << 20, 10 << 20):
            file.seek(offset)
            file.write(b"x" * 4096)
        file.truncate(20 << 20)
    fd = os.open(tmp_path / "f", os.O_RDONLY)
    try:
        written = [(offset, offset + 4096) for offset in (0, 1 << 20, 10 << 20)]
        assert list(data_extents(fd, 0, 20 << 20)) == written
        assert list(data_extents(fd, 2048, (1 << 20) + 10)) == [(2048, 4096), (1 << 20, (1 << 20) + 10)]
        assert list(data_extents(fd, 15 << 20, 20 << 20)) == []
        assert list(data_extents(fd, 30 << 20, 40 << 20)) == []
    finally:
        os.close(fd)


def test_copy_keeps_content_and_holes(tmp_path: Path):
    """Case 37: a copy of a file with 10 GB of holes takes the room of its data."""
    size = 10 << 30
    data = random.Random(1).randbytes(1 << 20)
    with open(tmp_path / "from", "wb") as file:
        file.seek(5 << 30)
        file.write(data)
        file.truncate(size)
    source, target = os.open(tmp_path / "from", os.O_RDONLY), os.open(tmp_path / "to", os.O_RDWR | os.O_CREAT)
    try:
        result(copy_content(source, target, size))
        copied = os.fstat(target)
        assert (copied.st_size, copied.st_blocks * 512 < 2 << 20) == (size, True)
        assert os.pread(target, len(data), 5 << 30) == data
    finally:
        os.close(source)
        os.close(target)


def test_pieces_are_written_one_behind_the_other(tmp_path: Path):
    fd = os.open(tmp_path / "f", os.O_RDWR | os.O_CREAT)
    try:
        write_all(fd, [b"ab", memoryview(b"cd"), b""], 3)
        write_all(fd, [], 0)
        assert os.pread(fd, 100, 0) == b"\0\0\0abcd"
    finally:
        os.close(fd)
