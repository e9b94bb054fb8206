"""Terminals."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
from collections.abc import Iterator

import pytest

from arenero.execd import pty
from arenero.execd.spec import Size


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    ours, theirs = pty.open_terminal(Size(43, 132, 800, 600), os.getuid())
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def size_of(fd: int) -> tuple[int, ...]:
    return struct.unpack("HHHH", fcntl.ioctl(fd, termios.TIOCGWINSZ, bytes(8)))


def test_size_is_there_from_the_start_and_can_be_changed(terminal: tuple[int, int]) -> None:
    assert size_of(terminal[1]) == (43, 132, 800, 600)
    pty.resize(terminal[0], Size(50, 200))
    assert size_of(terminal[1]) == (50, 200, 0, 0)


def test_terminal_belongs_to_its_user(terminal: tuple[int, int]) -> None:
    found = os.fstat(terminal[1])
    assert found.st_uid == os.getuid()
    assert found.st_mode & 0o777 == 0o620


def test_terminal_nobody_controls_has_no_foreground(terminal: tuple[int, int]) -> None:
    assert pty.foreground_group(terminal[0]) == 0
    assert pty.foreground_group(-1) == 0


def test_end_of_file_is_the_character_that_is_set(terminal: tuple[int, int]) -> None:
    assert pty.end_of_file(terminal[0]) == b"\x04"
    attributes = termios.tcgetattr(terminal[1])
    attributes[6][termios.VEOF] = b"\x05"
    termios.tcsetattr(terminal[1], termios.TCSANOW, attributes)
    assert pty.end_of_file(terminal[0]) == b"\x05"
    assert pty.end_of_file(-1) == b"\x04"
