"""Walks a tree of directories that changes under the walk and may be hostile.

Every directory is opened from its parent's descriptor without following links, so a directory that is swapped for a
link is not entered. Depth costs no descriptors beyond a few: the way back up goes through `..`, and only if that is
still the directory that the walk came from.
"""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Final

from arenero.errors import Conflict, ResourceExhausted
from arenero.execd.paths import join

DEEPEST: Final = 512
"""Levels that paths are built for; a path of so many names is near the longest that the kernel takes."""
MOST_NAMES: Final = 1_500_000
"""Entries of one directory that are held in memory at once."""
_MOST_OPEN: Final = 32
OPEN_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(slots=True)
class Visit:
    """One entry that a walk came to. Its descriptor is good until the walk goes on."""

    dir_fd: int
    name: bytes
    path: bytes
    """Below the walk's start; empty in a walk without paths."""
    depth: int
    """1 for the entries of the start."""
    is_directory: bool
    is_leaving: bool = False
    """The second visit of a directory, after all below it."""
    skip: bool = False
    """Set by whoever walks: don't enter this directory."""


@dataclass(frozen=True, slots=True)
class WalkOptions:
    """How a tree is walked."""

    depth: int = DEEPEST
    """Levels below the start; 0: no limit, for walks without paths."""
    is_sorted: bool = True
    """By the bytes of the names, each directory before what is in it."""
    has_paths: bool = True
    leaves: bool = False
    """Visit directories a second time after all below them."""
    failed: Callable[[bytes, OSError], None] = lambda path, error: None
    """Is told which directories couldn't be read, with their paths."""


def walk(start_fd: int, options: WalkOptions = WalkOptions()) -> Iterator[Visit]:
    """Visit all entries below an open directory; the descriptor stays the caller's.

    Raises:
        Conflict: A directory was moved while the walk was below it, reason TREE_CHANGED.
        ResourceExhausted: A directory has more entries than fit in memory, reason DIRECTORY_TOO_LARGE.
        OSError: The start can't be read.
    """
    levels = _Levels(start_fd, options)
    try:
        while levels:
            level = levels.top
            following = next(level.names, None)
            if following is None:
                yield from _leave(levels, options)
                continue
            name, is_directory = following
            path = join(level.path, name) if options.has_paths else b""
            visit = Visit(level.fd, name, path, len(levels), is_directory)
            yield visit
            if is_directory and not visit.skip:
                levels.enter(name, path)
    finally:
        levels.close()


def _leave(levels: _Levels, options: WalkOptions) -> Generator[Visit, None, None]:
    left = levels.leave()
    if levels and options.leaves:
        level = levels.top
        yield Visit(level.fd, left.name, left.path, len(levels), is_directory=True, is_leaving=True)


@dataclass(slots=True)
class _Level:
    name: bytes
    path: bytes
    fd: int
    """-1 while closed to save descriptors."""
    identity: tuple[int, int]
    names: Iterator[tuple[bytes, bool]]


class _Levels:
    """The directories between the start and where the walk is."""

    def __init__(self, start_fd: int, options: WalkOptions) -> None:
        self._options = options
        self._levels: list[_Level] = []
        # Opened anew: the caller's may be an O_PATH one, and reading moves a shared position.
        self._push(os.open(b".", OPEN_DIRECTORY, dir_fd=start_fd), b"", b"")

    def __len__(self) -> int:
        return len(self._levels)

    @property
    def top(self) -> _Level:
        return self._levels[-1]

    def enter(self, name: bytes, path: bytes) -> None:
        if self._options.depth and len(self._levels) >= self._options.depth:
            if self._options.depth >= DEEPEST:
                self._options.failed(path, OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG)))
            return
        try:
            fd = os.open(name, OPEN_DIRECTORY, dir_fd=self.top.fd)
        except OSError as error:
            # ENOENT, ENOTDIR: it went, or is no directory any more. Neither is worth a word.
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                self._options.failed(path, error)
            return
        if len(self._levels) >= _MOST_OPEN:
            self._suspend(self._levels[-_MOST_OPEN])
        self._push(fd, name, path)

    def leave(self) -> _Level:
        """Go up one level, to the very directory that the walk came from."""
        left = self._levels.pop()
        try:
            if self._levels and self.top.fd < 0:
                self.top.fd = self._parent_of(left)
        finally:
            os.close(left.fd)
        return left

    def close(self) -> None:
        for level in self._levels:
            self._suspend(level)
        self._levels.clear()

    def _push(self, fd: int, name: bytes, path: bytes) -> None:
        try:
            status = os.fstat(fd)
            names = _names(fd, is_sorted=self._options.is_sorted)
        except OSError as error:
            os.close(fd)
            if not self._levels:
                raise
            self._options.failed(path, error)
            return
        except BaseException:
            os.close(fd)
            raise
        self._levels.append(_Level(name, path, fd, (status.st_dev, status.st_ino), names))

    def _parent_of(self, left: _Level) -> int:
        fd = os.open(b"..", OPEN_DIRECTORY, dir_fd=left.fd)
        status = os.fstat(fd)
        if (status.st_dev, status.st_ino) != self.top.identity:
            os.close(fd)
            raise Conflict("a directory was moved away while it was being walked", reason="TREE_CHANGED")
        return fd

    @staticmethod
    def _suspend(level: _Level) -> None:
        if level.fd >= 0:
            os.close(level.fd)
            level.fd = -1


def _names(fd: int, *, is_sorted: bool) -> Iterator[tuple[bytes, bool]]:
    """Return names and whether each is a directory."""
    names: list[bytes] = []
    directories: set[bytes] = set()
    with os.scandir(fd) as scan:
        for entry in itertools.islice(scan, MOST_NAMES + 1):
            name = os.fsencode(entry.name)
            names.append(name)
            if entry.is_dir(follow_symlinks=False):
                directories.add(name)
    if len(names) > MOST_NAMES:
        raise ResourceExhausted(f"a directory has more than {MOST_NAMES} entries", reason="DIRECTORY_TOO_LARGE")
    if is_sorted:
        names.sort()
    return ((name, name in directories) for name in names)
