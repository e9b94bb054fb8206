"""What is told about a directory entry. Links are described themselves unless a caller asks for what they lead to."""

from __future__ import annotations

import enum
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from arenero.execd import filecalls
from arenero.execd.accounts import Directory
from arenero.execd.filecalls import Status


class Kind(enum.Enum):
    """The kind of a directory entry."""

    UNKNOWN = 0
    REGULAR = 1
    DIRECTORY = 2
    SYMLINK = 3
    FIFO = 4
    SOCKET = 5
    CHARACTER_DEVICE = 6
    BLOCK_DEVICE = 7


_KINDS: Final[Mapping[int, Kind]] = {
    stat.S_IFREG: Kind.REGULAR,
    stat.S_IFDIR: Kind.DIRECTORY,
    stat.S_IFLNK: Kind.SYMLINK,
    stat.S_IFIFO: Kind.FIFO,
    stat.S_IFSOCK: Kind.SOCKET,
    stat.S_IFCHR: Kind.CHARACTER_DEVICE,
    stat.S_IFBLK: Kind.BLOCK_DEVICE,
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A directory entry with the names of its owners."""

    path: bytes
    kind: Kind
    status: Status
    owner: str
    group: str
    link_target: bytes = b""


def kind_of(mode: int) -> Kind:
    """Return the kind that a mode says."""
    return _KINDS.get(stat.S_IFMT(mode), Kind.UNKNOWN)


def describe(dir_fd: int, name: bytes, path: bytes, directory: Directory, *, follow: bool = False) -> Entry:
    """Describe a name in a directory, or with an empty name the descriptor's own file."""
    return entry_of(filecalls.status(dir_fd, name, follow=follow), path, directory, lambda: _target(dir_fd, name))


def entry_of(status: Status, path: bytes, directory: Directory, link_target: Callable[[], bytes]) -> Entry:
    """Put an entry together; the link's target is asked for only when it is one."""
    kind = kind_of(status.mode)
    return Entry(
        path=path,
        kind=kind,
        status=status,
        owner=directory.user_name(status.uid),
        group=directory.group_name(status.gid),
        link_target=link_target() if kind is Kind.SYMLINK else b"",
    )


def _target(dir_fd: int, name: bytes) -> bytes:
    """Return where a link points to; nothing when it was replaced meanwhile."""
    try:
        return os.readlink(name, dir_fd=dir_fd)
    except OSError:
        return b""
