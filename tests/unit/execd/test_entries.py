"""Describing entries."""

import os
import socket
from pathlib import Path

import pytest

from arenero.execd.entries import Kind, describe, kind_of
from tests.unit.execd.filekit import USERS


@pytest.fixture
def directory_fd(tmp_path: Path):
    fd = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def test_every_kind_is_told(tmp_path: Path, directory_fd: int, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "dir").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        kinds = {name: describe(directory_fd, name.encode(), b"", USERS).kind for name in os.listdir(tmp_path)}
    assert kinds == {
        "file": Kind.REGULAR,
        "dir": Kind.DIRECTORY,
        "link": Kind.SYMLINK,
        "fifo": Kind.FIFO,
        "socket": Kind.SOCKET,
    }
    assert kind_of(os.stat("/dev/null").st_mode) is Kind.CHARACTER_DEVICE
    assert kind_of(0) is Kind.UNKNOWN


def test_link_is_described_itself_unless_followed(tmp_path: Path, directory_fd: int):
    """Case 38: lstat shows links as links."""
    (tmp_path / "file").write_text("four")
    (tmp_path / "link").symlink_to("file")
    link = describe(directory_fd, b"link", b"as asked", USERS)
    assert (link.path, link.kind, link.link_target) == (b"as asked", Kind.SYMLINK, b"file")
    followed = describe(directory_fd, b"link", b"", USERS, follow=True)
    assert (followed.kind, followed.status.size_bytes, followed.link_target) == (Kind.REGULAR, 4, b"")


@pytest.mark.root
def test_owners_have_their_names(tmp_path: Path, directory_fd: int):
    (tmp_path / "file").touch()
    os.chown(tmp_path / "file", 4001, 4100)
    entry = describe(directory_fd, b"file", b"", USERS)
    assert (entry.owner, entry.group) == ("alice", "team")
    os.chown(tmp_path / "file", 5000, 5000)
    entry = describe(directory_fd, b"file", b"", USERS)
    assert (entry.owner, entry.group, entry.status.uid) == ("", "", 5000)
