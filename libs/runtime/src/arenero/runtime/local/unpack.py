"""Unpacking an image's layers into one directory, as if every archive were hostile.

Names are resolved below the target directory by the kernel (`openat2` with RESOLVE_IN_ROOT), so neither `..` nor a link
that an earlier entry made leads out; the last part of a name is never followed. Device nodes and other special files
are left out. Layers are applied in order, and what a whiteout names is removed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Final

from arenero.errors import InvalidArgument, ResourceExhausted
from arenero.isolation import syscalls

_WHITEOUT: Final = ".wh."
_OPAQUE: Final = ".wh..wh..opq"
_CHUNK_BYTES: Final = 1 << 20
_HIGHEST_ID: Final = 65_533
_NOBODY: Final = 65_534
_MAX_NAME_BYTES: Final = 4_095
_MAX_DEPTH: Final = 256


@dataclass(slots=True)
class Budget:
    """What is left of the most that an image may unpack to."""

    bytes_left: int
    files_left: int

    def take(self, size_bytes: int) -> None:
        """Count one file.

        Raises:
            ResourceExhausted: The image is larger than allowed.
        """
        self.bytes_left -= size_bytes
        self.files_left -= 1
        if self.bytes_left < 0 or self.files_left < 0:
            raise ResourceExhausted("the image unpacks to more than is allowed", reason="IMAGE_TOO_LARGE")


class Unpacker:
    """Applies layers to a directory.

    Args:
        root: The directory; empty at first, and nobody else's.
        budget: What may be unpacked in all.
        own_ids: Whether to give files to their owners, which only root can.
        shift: Added to every owner.
    """

    def __init__(self, root: str, budget: Budget, *, own_ids: bool, shift: int = 0) -> None:
        self._root_fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._budget = budget
        self._own_ids = own_ids
        self._shift = shift
        if own_ids and shift:
            os.fchown(self._root_fd, shift, shift)

    def close(self) -> None:
        """Let go of the directory."""
        os.close(self._root_fd)

    def apply(self, archive: IO[bytes]) -> None:
        """Apply one layer, an uncompressed tar stream.

        Raises:
            InvalidArgument: It is damaged, or has an entry that can't be meant well.
            ResourceExhausted: It is larger than allowed.
        """
        made: set[str] = set()
        times: list[tuple[str, float, int]] = []
        try:
            with tarfile.open(fileobj=archive, mode="r|") as entries:
                for entry in entries:
                    self._apply_entry(entries, entry, made, times)
        except (tarfile.TarError, EOFError) as error:
            raise InvalidArgument(f"a layer of the image is damaged: {error}", reason="IMAGE_DAMAGED") from error
        for name, mtime, mode in reversed(times):
            self._finish_directory(name, mtime, mode)

    def _apply_entry(
        self,
        entries: tarfile.TarFile,
        entry: tarfile.TarInfo,
        made: set[str],
        times: list[tuple[str, float, int]],
    ) -> None:
        name = _clean(entry.name)
        if not name:
            return
        parent, _, base = name.rpartition("/")
        with self._directory(parent) as parent_fd:
            if base == _OPAQUE:
                self._empty(parent_fd, parent, made)
            elif base.startswith(_WHITEOUT):
                _remove(parent_fd, base.removeprefix(_WHITEOUT))
            else:
                self._budget.take(entry.size if entry.isreg() else 0)
                self._make(entries, entry, parent_fd, base)
                made.add(name)
                if entry.isdir():
                    times.append((name, entry.mtime, entry.mode))

    def _make(self, entries: tarfile.TarFile, entry: tarfile.TarInfo, parent_fd: int, base: str) -> None:
        if entry.isdir():
            _make_directory(parent_fd, base)
            self._own(parent_fd, base, entry)
            return
        if not (entry.isreg() or entry.issym() or entry.islnk()):
            return
        _remove(parent_fd, base)
        if entry.issym():
            os.symlink(entry.linkname, base, dir_fd=parent_fd)
            self._own(parent_fd, base, entry)
        elif entry.islnk():
            self._link(entry, parent_fd, base)
        else:
            self._write(entries, entry, parent_fd, base)

    def _write(self, entries: tarfile.TarFile, entry: tarfile.TarInfo, parent_fd: int, base: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(base, flags, 0o600, dir_fd=parent_fd)
        with os.fdopen(fd, "wb", buffering=0) as target:
            source = entries.extractfile(entry)
            if source is not None:
                shutil.copyfileobj(source, target, _CHUNK_BYTES)
            if self._own_ids:
                os.fchown(target.fileno(), self._id(entry.uid), self._id(entry.gid))
            os.fchmod(target.fileno(), entry.mode & 0o7777)
            os.utime(target.fileno(), (entry.mtime, entry.mtime))

    def _link(self, entry: tarfile.TarInfo, parent_fd: int, base: str) -> None:
        directory, _, old = _clean(entry.linkname).rpartition("/")
        with self._directory(directory, make=False) as old_fd:
            try:
                os.link(old, base, src_dir_fd=old_fd, dst_dir_fd=parent_fd, follow_symlinks=False)
            except OSError as error:
                raise InvalidArgument(
                    f"a hard link of the image leads nowhere: {entry.linkname[:200]!r}", reason="IMAGE_DAMAGED"
                ) from error

    def _own(self, parent_fd: int, base: str, entry: tarfile.TarInfo) -> None:
        if self._own_ids:
            os.chown(base, self._id(entry.uid), self._id(entry.gid), dir_fd=parent_fd, follow_symlinks=False)

    def _id(self, number: int) -> int:
        """Return an owner that a sandbox can have; the highest ones are execd's and nobody's."""
        return self._shift + (number if 0 <= number < _HIGHEST_ID else _NOBODY)

    def _empty(self, parent_fd: int, parent: str, made: set[str]) -> None:
        """Remove what earlier layers put into a directory; what this one put there stays."""
        for base in os.listdir(parent_fd):
            if f"{parent}/{base}".lstrip("/") not in made:
                _remove(parent_fd, base)

    def _finish_directory(self, name: str, mtime: float, mode: int) -> None:
        """Set what must wait until everything is in: the mode may forbid writing, and writing changes the time."""
        with contextlib.suppress(OSError), self._directory(name, make=False) as fd:
            os.fchmod(fd, mode & 0o7777)
            os.utime(fd, (mtime, mtime))

    @contextlib.contextmanager
    def _directory(self, name: str, *, make: bool = True) -> Iterator[int]:
        """Give a descriptor of a directory, made when it is missing; links on the way stay within the root.

        Raises:
            InvalidArgument: Something else is in its place.
        """
        fd = self._open(name or ".", make=make)
        try:
            yield fd
        finally:
            os.close(fd)

    def _open(self, name: str, *, make: bool) -> int:
        resolve = syscalls.RESOLVE_IN_ROOT | syscalls.RESOLVE_NO_MAGICLINKS
        try:
            return syscalls.openat2(self._root_fd, name, os.O_RDONLY | os.O_DIRECTORY, resolve=resolve)
        except FileNotFoundError:
            if not make:
                raise InvalidArgument(f"the image has no {name[:200]!r}", reason="IMAGE_DAMAGED") from None
        except OSError as error:
            raise InvalidArgument(f"{name[:200]!r} in the image: {error.strerror}", reason="IMAGE_DAMAGED") from error
        parent, _, base = name.rpartition("/")
        parent_fd = self._open(parent or ".", make=True)
        try:
            _make_directory(parent_fd, base)
            if self._own_ids and self._shift:
                os.chown(base, self._shift, self._shift, dir_fd=parent_fd, follow_symlinks=False)
        finally:
            os.close(parent_fd)
        return self._open(name, make=False)


def _clean(name: str) -> str:
    """Return an entry's name without leading slashes and dots.

    Raises:
        InvalidArgument: It climbs, or is longer than any path.
    """
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise InvalidArgument(f"an entry of the image would leave it: {name[:200]!r}", reason="IMAGE_HOSTILE")
    if len(name.encode(errors="surrogateescape")) > _MAX_NAME_BYTES or len(parts) > _MAX_DEPTH:
        raise InvalidArgument(f"an entry of the image is too deep: {name[:200]!r}", reason="IMAGE_HOSTILE")
    return "/".join(parts)


def _make_directory(parent_fd: int, base: str) -> None:
    """Make a directory, or keep the one that is there; anything else in its place goes."""
    try:
        kind = os.lstat(base, dir_fd=parent_fd).st_mode
    except FileNotFoundError:
        kind = 0
    if kind and not stat.S_ISDIR(kind):
        os.unlink(base, dir_fd=parent_fd)
    if not stat.S_ISDIR(kind):
        os.mkdir(base, 0o755, dir_fd=parent_fd)


def _remove(parent_fd: int, base: str) -> None:
    """Remove whatever has this name; links are removed, not followed."""
    try:
        kind = os.lstat(base, dir_fd=parent_fd).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(kind):
        shutil.rmtree(base, dir_fd=parent_fd)
    else:
        os.unlink(base, dir_fd=parent_fd)
