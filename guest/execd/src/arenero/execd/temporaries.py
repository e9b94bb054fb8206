"""Files on their way to a name: written where nobody sees them, then put in place in one step.

Where the file system allows it such a file has no name at all until it is complete (O_TMPFILE): a crash leaves
nothing, a snapshot holds no half of it, and no program of the sandbox can get at it. Elsewhere it has a hidden name
beside its target, and what a crash left is swept by the next one in the same directory.
"""

from __future__ import annotations

import errno
import itertools
import os
import stat
import time
from typing import Final

from arenero.execd import filecalls
from arenero.execd.paths import Place

_PREFIX: Final = b".arenero-"
_NEW: Final = b".part"
_REPLACING: Final = b".swap"
"""Names tell whether the file will take another's place, so that a watch can tell a change from a new file."""
STALE_S: Final = 24 * 3600.0
_SWEPT_NAMES: Final = 1000
_NO_NAMELESS_FILES: Final = frozenset(
    {errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL, errno.ENOSYS, errno.EPERM}
)
_FLAGS: Final = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
_PRIVATE: Final = 0o600


def is_temporary(name: bytes) -> bool:
    """Whether a name is one that only this module gives."""
    return name.startswith(_PREFIX) and name.endswith((_NEW, _REPLACING))


def is_replacing(name: bytes) -> bool:
    """Whether a name is of a temporary that will take another file's place."""
    return name.startswith(_PREFIX) and name.endswith(_REPLACING)


class Temporary:
    """A file without its name. Close it in any case; unless it was put in place, it is gone then."""

    def __init__(self, fd: int, dir_fd: int, name: bytes | None) -> None:
        self.fd = fd
        self._dir_fd = dir_fd
        self._name = name
        """None: it has none yet."""

    @classmethod
    def create(cls, dir_fd: int, *, replaces: bool = False) -> Temporary:
        """Make a file that will get its name in a directory, or take another file's.

        Raises:
            OSError: The file system or the directory's permissions don't allow new files.
        """
        own_dir_fd = os.dup(dir_fd)
        try:
            return cls._create_in(own_dir_fd, replaces=replaces)
        except BaseException:
            os.close(own_dir_fd)
            raise

    @classmethod
    def _create_in(cls, dir_fd: int, *, replaces: bool) -> Temporary:
        try:
            return cls(os.open(b".", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, _PRIVATE, dir_fd=dir_fd), dir_fd, None)
        except OSError as error:
            if error.errno not in _NO_NAMELESS_FILES:
                raise
        sweep(dir_fd)
        name = new_name(replaces=replaces)
        return cls(os.open(name, _FLAGS | os.O_CREAT | os.O_EXCL, _PRIVATE, dir_fd=dir_fd), dir_fd, name)

    def put(self, name: bytes, *, replace: bool) -> None:
        """Give the file its name; without `replace` only if it is free.

        Raises:
            FileExistsError: The name is taken.
            OSError: The file system refuses; the file is still there to be copied from.
        """
        if self._name is None:
            if self._link(name, is_last_try=not replace):
                return
            hidden = new_name(replaces=True)
            self._link(hidden, is_last_try=True)
            self._name = hidden
        rename(self._dir_fd, self._name, name, replace=replace)
        self._name = None

    def close(self) -> None:
        """Let go of the file, which is gone unless it was put in place."""
        try:
            if self._name is not None:
                os.unlink(self._name, dir_fd=self._dir_fd)
        except OSError:
            pass  # Somebody removed it, or its directory's file system is gone.
        finally:
            os.close(self.fd)
            os.close(self._dir_fd)

    def _link(self, name: bytes, *, is_last_try: bool) -> bool:
        try:
            os.link(filecalls.through_proc(self.fd), name, dst_dir_fd=self._dir_fd)
        except FileExistsError:
            if is_last_try:
                raise
            return False
        return True


def rename(dir_fd: int, old: bytes, new: bytes, *, replace: bool, new_dir_fd: int | None = None) -> None:
    """Rename, also where the file system can't do it without replacing: then the check comes a moment before.

    Raises:
        FileExistsError: The new name is taken and isn't to be replaced.
        OSError: As rename(2).
    """
    new_dir_fd = dir_fd if new_dir_fd is None else new_dir_fd
    try:
        filecalls.rename(dir_fd, old, new_dir_fd, new, replace=replace)
    except OSError as error:
        if replace or error.errno not in (errno.EINVAL, errno.ENOSYS):
            raise
        if exists(Place(new_dir_fd, new)):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        filecalls.rename(dir_fd, old, new_dir_fd, new, replace=True)


def exists(place: Place) -> bool:
    """Whether a place holds anything, be it a link that leads nowhere."""
    try:
        os.stat(place.name, dir_fd=place.dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def new_name(*, replaces: bool = False) -> bytes:
    """Return a hidden name that nobody can guess."""
    return _PREFIX + os.urandom(12).hex().encode() + (_REPLACING if replaces else _NEW)


def sweep(dir_fd: int, *, stale_s: float = STALE_S) -> int:
    """Remove named temporaries that a crash left in a directory; return how many. Looks at a bounded number of them."""
    removed = 0
    try:
        fd = os.open(b".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=dir_fd)
    except OSError:
        return 0
    try:
        with os.scandir(fd) as scan:
            names = [os.fsencode(entry.name) for entry in itertools.islice(scan, _SWEPT_NAMES)]
        for name in filter(is_temporary, names):
            removed += _remove_if_stale(fd, name, stale_s)
    except OSError:
        pass  # A directory that can't be read has nothing of ours that could be seen either.
    finally:
        os.close(fd)
    return removed


def _remove_if_stale(dir_fd: int, name: bytes, stale_s: float) -> bool:
    try:
        status = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
        is_ours = stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) == _PRIVATE
        if not is_ours or time.time() - status.st_mtime < stale_s:
            return False
        os.unlink(name, dir_fd=dir_fd)
    except OSError:
        return False
    return True
