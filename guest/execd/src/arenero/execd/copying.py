"""Copies a tree to another file system, for moves that a rename can't do. Holes stay holes, links stay links."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from typing import Final

from arenero.errors import ArenError, FailedPrecondition, Unsupported
from arenero.execd import filecalls
from arenero.execd.content import CALM, copy_content
from arenero.execd.faults import fault, shown
from arenero.execd.ownership import Owners, set_mode
from arenero.execd.walking import OPEN_DIRECTORY

_PRIVATE_FILE: Final = 0o600
_PRIVATE_DIRECTORY: Final = 0o700
_DEEPEST: Final = 128
"""Each level takes two descriptors and a frame."""


def copy_entry(
    source_fd: int, source: bytes, target_fd: int, target: bytes, *, has_rights: bool, depth: int = 0
) -> Generator[None, None, None]:
    """Copy what a name in one directory stands for to a new name in another, with owners, modes and times.

    Raises:
        FileExistsError: The new name is taken.
        Unsupported: It is, or holds, a device or a socket.
        FailedPrecondition: It is nested too deeply.
    """
    if depth > _DEEPEST:
        raise FailedPrecondition(f"{shown(source)}: it is nested too deeply to be copied", reason="NESTED_TOO_DEEPLY")
    status = filecalls.status(source_fd, source)
    owners = Owners(status.uid, status.gid)
    if stat.S_ISLNK(status.mode):
        os.symlink(os.readlink(source, dir_fd=source_fd), target, dir_fd=target_fd)
        _give_link(owners, target_fd, target, has_rights=has_rights)
    elif stat.S_ISREG(status.mode):
        yield from _copy_file(source_fd, source, target_fd, target, has_rights=has_rights)
    elif stat.S_ISDIR(status.mode):
        os.mkdir(target, _PRIVATE_DIRECTORY, dir_fd=target_fd)
        yield from _copy_directory(source_fd, source, target_fd, target, has_rights=has_rights, depth=depth)
    elif stat.S_ISFIFO(status.mode):
        os.mkfifo(target, stat.S_IMODE(status.mode), dir_fd=target_fd)
        _give_link(owners, target_fd, target, has_rights=has_rights)
    else:
        raise Unsupported(f"{shown(source)}: devices and sockets are not copied", reason="NOT_A_REGULAR_FILE")
    yield


def _copy_file(
    source_fd: int, source: bytes, target_fd: int, target: bytes, *, has_rights: bool
) -> Generator[None, None, None]:
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | CALM, dir_fd=source_fd)
    try:
        status = os.fstat(reading)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        writing = os.open(target, flags, _PRIVATE_FILE, dir_fd=target_fd)
        try:
            for _ in copy_content(reading, writing, status.st_size):
                yield
            _settle(writing, status, has_rights=has_rights)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _copy_directory(
    source_fd: int, source: bytes, target_fd: int, target: bytes, *, has_rights: bool, depth: int
) -> Generator[None, None, None]:
    reading = os.open(source, OPEN_DIRECTORY, dir_fd=source_fd)
    try:
        writing = os.open(target, OPEN_DIRECTORY, dir_fd=target_fd)
        try:
            for name in sorted(map(os.fsencode, os.listdir(reading))):
                yield from _copy_below(reading, writing, name, has_rights=has_rights, depth=depth)
            _settle(writing, os.fstat(reading), has_rights=has_rights)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _copy_below(
    reading: int, writing: int, name: bytes, *, has_rights: bool, depth: int
) -> Generator[None, None, None]:
    try:
        yield from copy_entry(reading, name, writing, name, has_rights=has_rights, depth=depth + 1)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _blamed(error, name) from error


def _blamed(error: OSError, name: bytes) -> ArenError:
    return fault(error, name, "source")


def _settle(fd: int, status: os.stat_result, *, has_rights: bool) -> None:
    """Give a copy what its original has. What a user can't give away, or a file system can't hold, it goes without."""
    _give(Owners(status.st_uid, status.st_gid), fd, has_rights=has_rights)
    set_mode(fd, stat.S_IMODE(status.st_mode), has_rights=has_rights)
    try:
        os.utime(fd, ns=(status.st_atime_ns, status.st_mtime_ns))
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS):
            raise


def _give(owners: Owners, fd: int, *, has_rights: bool) -> None:
    try:
        owners.apply(fd, has_rights=has_rights)
    except PermissionError:
        pass


def _give_link(owners: Owners, dir_fd: int, name: bytes, *, has_rights: bool) -> None:
    try:
        owners.apply_to_link(dir_fd, name, has_rights=has_rights)
    except PermissionError:
        pass
