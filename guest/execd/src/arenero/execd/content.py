"""Opening files for their content: regular files only, and never execd's own memory.

A FIFO, a device or a leased file in the place of a file answers at once, with an error: nothing here waits for a
program of the sandbox. Of sparse files the holes are known, so that 10 GB of nothing are neither read nor written.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator, Iterator, Sequence
from typing import Final

from arenero.errors import FailedPrecondition, PermissionDenied
from arenero.execd import filecalls
from arenero.execd.faults import shown

CALM: Final = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Flags with which opening anything neither waits nor takes a terminal."""
COPY_BYTES: Final = 1024 * 1024
_NO_HOLES_HERE: Final = frozenset({errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS})


def check_content(fd: int, path: bytes, *, for_writing: bool = False, field: str = "path") -> os.stat_result:
    """Return the status of a file whose content may be used; the descriptor stays the caller's.

    Raises:
        FailedPrecondition: It is a directory (IS_A_DIRECTORY) or no regular file (NOT_A_REGULAR_FILE).
        PermissionDenied: It is a part of /proc that would reach execd itself, reason SPECIAL_FILE.
    """
    status = os.fstat(fd)
    check_regular(status.st_mode, path, field)
    if filecalls.is_procfs(fd) and (for_writing or _is_own(fd)):
        raise PermissionDenied(
            f"{shown(path)}: files of /proc that reach into execd are off limits", reason="SPECIAL_FILE", field=field
        )
    return status


def check_regular(mode: int, path: bytes, field: str = "path") -> None:
    """Refuse everything but regular files.

    Raises:
        FailedPrecondition: It is a directory (IS_A_DIRECTORY) or no regular file (NOT_A_REGULAR_FILE).
    """
    if stat.S_ISDIR(mode):
        raise FailedPrecondition(f"{shown(path)}: it is a directory", reason="IS_A_DIRECTORY", field=field)
    if not stat.S_ISREG(mode):
        raise FailedPrecondition(f"{shown(path)}: it is not a regular file", reason="NOT_A_REGULAR_FILE", field=field)


def data_extents(fd: int, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Give the ranges that hold data, holes left out; one range where the file system doesn't know."""
    at = begin
    while at < end:
        try:
            data = os.lseek(fd, at, os.SEEK_DATA)
            hole = os.lseek(fd, data, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            if error.errno not in _NO_HOLES_HERE:
                raise
            data, hole = at, end
        if data >= end:
            return
        yield data, min(hole, end)
        at = hole


def copy_content(source_fd: int, target_fd: int, size_bytes: int) -> Generator[int, None, None]:
    """Copy a file's data into an empty one, holes left out; yields the bytes of each step."""
    for begin, end in data_extents(source_fd, 0, size_bytes):
        at = begin
        while at < end and (piece := os.pread(source_fd, min(COPY_BYTES, end - at), at)):
            write_all(target_fd, [piece], at)
            at += len(piece)
            yield len(piece)
    os.ftruncate(target_fd, size_bytes)


def write_all(fd: int, pieces: Sequence[bytes | memoryview], offset: int) -> None:
    """Write pieces one behind the other at an offset, all of them."""
    left = sum(map(len, pieces))
    written = os.pwritev(fd, pieces, offset) if left else 0
    while written < left:
        rest = memoryview(b"".join(pieces))[written:]
        written += os.pwrite(fd, rest, offset + written)


def _is_own(fd: int) -> bool:
    """Whether a file of /proc belongs to this process, under the number of any of its threads."""
    number = os.readlink(filecalls.through_proc(fd)).split(b"/")[2:3]
    return bool(number) and number[0].isdigit() and os.path.exists(b"/proc/self/task/" + number[0])
