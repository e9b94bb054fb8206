"""The system calls that Python lacks, on a real file system."""

import os
import stat
import threading
from pathlib import Path

import pytest

from arenero.execd import filecalls


@pytest.fixture
def directory_fd(tmp_path: Path):
    fd = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def test_status_says_what_stat_says(tmp_path: Path, directory_fd: int):
    (tmp_path / "file").write_bytes(b"x" * 5000)
    os.truncate(tmp_path / "file", 1_000_000)
    expected = os.lstat(tmp_path / "file")
    status = filecalls.status(directory_fd, b"file")
    assert (status.mode, status.links, status.uid, status.gid) == (
        expected.st_mode,
        expected.st_nlink,
        expected.st_uid,
        expected.st_gid,
    )
    assert (status.inode, status.device, status.size_bytes) == (expected.st_ino, expected.st_dev, expected.st_size)
    assert status.disk_bytes == expected.st_blocks * 512 < 1_000_000
    assert (status.accessed_ns, status.modified_ns, status.changed_ns) == (
        expected.st_atime_ns,
        expected.st_mtime_ns,
        expected.st_ctime_ns,
    )


def test_status_is_of_the_link_unless_followed(tmp_path: Path, directory_fd: int):
    (tmp_path / "dir").mkdir()
    (tmp_path / "link").symlink_to("dir")
    assert stat.S_ISLNK(filecalls.status(directory_fd, b"link").mode)
    assert stat.S_ISDIR(filecalls.status(directory_fd, b"link", follow=True).mode)


def test_status_without_a_name_is_of_the_descriptor(tmp_path: Path, directory_fd: int):
    assert filecalls.status(directory_fd, b"").inode == tmp_path.stat().st_ino


def test_errors_have_their_errno(directory_fd: int):
    for call in (
        lambda: filecalls.status(directory_fd, b"none"),
        lambda: filecalls.rename(directory_fd, b"none", directory_fd, b"x", replace=True),
    ):
        with pytest.raises(FileNotFoundError):
            call()
    with pytest.raises(OSError, match="Bad file descriptor"):
        filecalls.is_procfs(10**6)


def test_rename_replaces_only_when_told(tmp_path: Path, directory_fd: int):
    (tmp_path / "old").write_text("new")
    (tmp_path / "taken").write_text("x")
    with pytest.raises(FileExistsError):
        filecalls.rename(directory_fd, b"old", directory_fd, b"taken", replace=False)
    filecalls.rename(directory_fd, b"old", directory_fd, b"taken", replace=True)
    assert (tmp_path / "taken").read_text() == "new"


def test_procfs_is_known(tmp_path: Path):
    for path, expected in (("/proc/self/status", True), (tmp_path, False)):
        fd = os.open(path, os.O_RDONLY)
        assert filecalls.is_procfs(fd) is expected
        os.close(fd)


def test_mode_is_changed_through_a_descriptor_that_can_do_nothing(tmp_path: Path):
    (tmp_path / "file").touch()
    fd = os.open(tmp_path / "file", os.O_PATH)
    filecalls.chmod(fd, 0o640)
    os.close(fd)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_events_of_a_watched_directory(tmp_path: Path, directory_fd: int):
    queue = filecalls.inotify_init()
    try:
        watch = filecalls.inotify_add_watch(queue, directory_fd, filecalls.IN_CREATE | filecalls.IN_DELETE)
        (tmp_path / "some name").mkdir()
        (tmp_path / "some name").rmdir()
        events = filecalls.inotify_events(os.read(queue, 4096))
        assert [(event.watch, event.mask, event.name) for event in events] == [
            (watch, filecalls.IN_CREATE | filecalls.IN_ISDIR, b"some name"),
            (watch, filecalls.IN_DELETE | filecalls.IN_ISDIR, b"some name"),
        ]
        filecalls.inotify_rm_watch(queue, watch)
        filecalls.inotify_rm_watch(queue, watch)
        assert filecalls.inotify_events(os.read(queue, 4096)) == [(watch, filecalls.IN_IGNORED, 0, b"")]
        with pytest.raises(BlockingIOError):
            os.read(queue, 4096)
    finally:
        os.close(queue)


def test_only_directories_are_watched(tmp_path: Path):
    (tmp_path / "file").touch()
    queue = filecalls.inotify_init()
    fd = os.open(tmp_path / "file", os.O_RDONLY)
    try:
        with pytest.raises(NotADirectoryError):
            filecalls.inotify_add_watch(queue, fd, filecalls.IN_MODIFY)
    finally:
        os.close(fd)
        os.close(queue)


@pytest.mark.root
def test_identity_of_one_thread_is_not_that_of_others():
    seen: dict[str, object] = {}
    changed, looked = threading.Event(), threading.Event()

    def other() -> None:
        filecalls.set_thread_groups((4100, 4200))
        filecalls.set_filesystem_ids(4001, 4002)
        seen["thread"] = (filecalls.filesystem_ids(), os.getgroups())
        changed.set()
        looked.wait(10)

    before = (filecalls.filesystem_ids(), os.getgroups())
    thread = threading.Thread(target=other)
    thread.start()
    changed.wait(10)
    try:
        assert (filecalls.filesystem_ids(), os.getgroups()) == before
    finally:
        looked.set()
        thread.join()
    assert seen["thread"] == ((4001, 4002), [4100, 4200])


def test_regular_files_are_told_apart(tmp_path: Path):
    os.mkfifo(tmp_path / "fifo")
    assert filecalls.is_regular(os.stat(__file__).st_mode)
    assert not filecalls.is_regular((tmp_path / "fifo").stat().st_mode)
