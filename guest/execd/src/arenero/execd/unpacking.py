"""Unpacks a tar that may be hostile below one directory, and nowhere else.

Every member's place is looked up beneath the directory by the kernel, so neither `..`, nor an absolute name, nor a
link that an earlier member or a running program made leads out of it. Files are always new ones: content is never
written through a name that was there before. Links may not point out of the directory unless that is asked for; devices
and set-id bits are not for archives.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from arenero.errors import ArenError, FailedPrecondition, InvalidArgument, NotFound, PermissionDenied, ResourceExhausted
from arenero.execd import filecalls
from arenero.execd.content import write_all
from arenero.execd.directories import DIRECTORY_MODE, make_at, make_missing
from arenero.execd.faults import blamed_on, escapes, shown
from arenero.execd.ownership import Owners, set_mode
from arenero.execd.paths import Place, Tree, split_name
from arenero.execd.scope import Scope
from arenero.execd.tar import Member, MemberKind
from arenero.execd.tar_reader import Content, Signal, TarReader, invalid
from arenero.execd.temporaries import Temporary

DEFAULT_MOST_ENTRIES: Final = 1_000_000
_MOST_LINKS: Final = 200_000
_MOST_CLOSED_DIRECTORIES: Final = 100_000
_INFLATED_BYTES: Final = 1024 * 1024
_GZIP: Final = 31
_PRIVATE: Final = 0o600
_OWNER_ENTERS: Final = 0o700
_ORDINARY_BITS: Final = 0o1777
_ALL_BITS: Final = 0o7777
_NEW: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FIELD: Final = "data"


@dataclass(frozen=True, slots=True)
class UnpackSpec:
    """Where to unpack, and how."""

    path: bytes
    """Made when missing."""
    owner: str = ""
    group: str = ""
    keep_owners: bool = False
    """Take owners, by number, and set-id bits from the archive."""
    is_compressed: bool = False
    most_entries: int = DEFAULT_MOST_ENTRIES
    most_bytes: int = 0
    """0: what the disk holds."""
    outside_links: bool = False
    """Take links that point out of the directory too; nothing is unpacked through one."""


class Unpacker:
    """Unpacks one archive as it comes. Its methods run in any thread, one at a time."""

    def __init__(self, scope: Scope, spec: UnpackSpec) -> None:
        self._spec = spec
        self._owners = scope.owners_of_new(spec.owner, spec.group)
        self._scope = scope
        self._reader = TarReader()
        self._inflater = _Inflater() if spec.is_compressed else None
        with scope.open_tree() as tree:
            make_missing(tree, spec.path, DIRECTORY_MODE, self._owners, scope)
            fd = tree.open_directory(spec.path)
        self._tree = Tree(fd, base=b"", home=b"", is_confined=True)
        self._file: _NewFile | None = None
        self._links: list[bytes] = []
        self._closed_directories: list[tuple[bytes, int]] = []
        """Directories that their own owner may not write to, and which therefore get their mode last."""
        self.entries = 0
        self.bytes = 0

    def feed(self, pieces: Sequence[bytes]) -> Generator[None, None, None]:
        """Take the next pieces of the archive.

        Raises:
            InvalidArgument: It is no valid archive, or holds a device.
            PermissionDenied: A member would leave the directory, or a link points out of it; reason ESCAPES_ROOT.
            ResourceExhausted: It has more entries or bytes than allowed, or the disk is full.
        """
        for piece in pieces:
            for data in (piece,) if self._inflater is None else self._inflater.inflate(piece):
                for event in self._reader.feed(data):
                    self._handle(event)
                    yield
                yield

    def finish(self) -> Generator[None, None, None]:
        """Check that the archive is complete, and that no link leads out by way of another.

        Raises:
            InvalidArgument: It isn't complete.
            PermissionDenied: A link leads out of the directory, and was removed; reason ESCAPES_ROOT.
        """
        if not self._reader.is_complete:
            raise invalid("it ends before its end mark", fix="send all of it")
        if self._inflater is not None and not self._inflater.is_complete:
            raise invalid("its compressed data ends too early", fix="send all of it")
        for name, mode in reversed(self._closed_directories):
            self._set_directory_mode(name, mode)
            yield
        yield from self._check_links()

    def close(self) -> None:
        """Close what is open. A file that isn't complete is removed, and so are links that lead out."""
        if self._file is not None:
            self._file.abandon()
            self._file = None
        try:
            for _ in self._check_links():
                pass
        except ArenError:
            pass  # Whatever made the archive end here has been told already.
        self._tree.close()

    def _handle(self, event: Member | Content | Signal) -> None:
        if isinstance(event, Content):
            assert self._file is not None
            self._count_bytes(len(event.data))
            with blamed_on(self._file.name, _FIELD):
                write_all(self._file.fd, [event.data], event.offset)
        elif isinstance(event, Member):
            self._count_entry()
            self._begin(event)
        elif self._file is not None:
            file, self._file = self._file, None
            with blamed_on(file.name, _FIELD):
                file.complete(self._owners_of(file.member), self._mode_of(file.member), self._scope)

    def _count_entry(self) -> None:
        self.entries += 1
        if self.entries > self._spec.most_entries:
            raise _too_much(f"more than {self._spec.most_entries} entries")

    def _count_bytes(self, count: int) -> None:
        self.bytes += count
        if self._spec.most_bytes and self.bytes > self._spec.most_bytes:
            raise _too_much(f"more than {self._spec.most_bytes} bytes")

    def _begin(self, member: Member) -> None:
        name = safe_name(member.name)
        if not name:
            if member.kind is not MemberKind.DIRECTORY:
                raise invalid("a member has no name")
            return
        if member.kind in (MemberKind.CHARACTER_DEVICE, MemberKind.BLOCK_DEVICE):
            raise InvalidArgument(f"{shown(name)}: devices are not unpacked", reason="DEVICE_IN_ARCHIVE", field=_FIELD)
        with self._place(name) as place, blamed_on(name, _FIELD):
            if member.kind is MemberKind.DIRECTORY:
                self._make_directory(place, name, member)
            elif member.kind is MemberKind.FILE:
                self._file = _NewFile(place, name, member)
            elif member.kind is MemberKind.SYMLINK:
                self._make_symlink(place, name, member)
            elif member.kind is MemberKind.HARD_LINK:
                self._make_hard_link(place, member)
            else:
                _clear(place, name)
                os.mkfifo(place.name, self._mode_of(member), dir_fd=place.dir_fd)
                self._owners_of(member).apply_to_link(place.dir_fd, place.name, has_rights=self._scope.has_rights)

    def _place(self, name: bytes) -> Place:
        try:
            return self._tree.place(name, _FIELD)
        except NotFound:
            parent, _ = split_name(name)
            make_missing(self._tree, parent, DIRECTORY_MODE, self._owners, self._scope)
            return self._tree.place(name, _FIELD)

    def _make_directory(self, place: Place, name: bytes, member: Member) -> None:
        mode = self._mode_of(member)
        try:
            make_at(place, mode | _OWNER_ENTERS, self._owners_of(member), self._scope)
        except FileExistsError:
            # One that is there stays as it is, also one at the end of a link, as long as it lies below.
            os.close(self._tree.open_directory(name, _FIELD))
            return
        if mode | _OWNER_ENTERS == mode:
            return
        if len(self._closed_directories) >= _MOST_CLOSED_DIRECTORIES:
            raise _too_much(f"more than {_MOST_CLOSED_DIRECTORIES} directories that are closed to their owner")
        self._closed_directories.append((name, mode))

    def _set_directory_mode(self, name: bytes, mode: int) -> None:
        """Give a directory its mode in the end; one that went, or became something else, needs none."""
        try:
            fd = self._tree.open_file(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, _FIELD)
        except ArenError:
            return
        try:
            with blamed_on(name, _FIELD):
                set_mode(fd, mode, has_rights=self._scope.has_rights)
        finally:
            os.close(fd)

    def _make_symlink(self, place: Place, name: bytes, member: Member) -> None:
        if not self._spec.outside_links:
            self._expect_below(name, member.link_target)
        _clear(place, name)
        os.symlink(member.link_target, place.name, dir_fd=place.dir_fd)
        self._owners_of(member).apply_to_link(place.dir_fd, place.name, has_rights=self._scope.has_rights)

    def _expect_below(self, name: bytes, link_target: bytes) -> None:
        """Refuse a link that points out, and remember to look in the end where this one leads by way of others."""
        if not points_below(name, link_target):
            raise escapes(name, _FIELD)
        if len(self._links) >= _MOST_LINKS:
            raise _too_much(f"more than {_MOST_LINKS} symbolic links")
        self._links.append(name)

    def _check_links(self) -> Generator[None, None, None]:
        """Remove the links that lead out of the directory by way of others: which do is known only in the end."""
        refusal = None
        while self._links:
            try:
                self._check_link(self._links.pop())
            except PermissionDenied as error:
                refusal = error
            yield
        if refusal is not None:
            raise refusal

    def _check_link(self, name: bytes) -> None:
        try:
            os.close(self._tree.open_file(name, os.O_PATH | os.O_CLOEXEC, _FIELD))
        except PermissionDenied as error:
            if error.reason != "ESCAPES_ROOT":
                return
            with self._tree.place(name, _FIELD) as place, blamed_on(name, _FIELD):
                _clear(place, name)
            raise
        except ArenError:
            return  # It leads nowhere, or in circles.

    def _make_hard_link(self, place: Place, member: Member) -> None:
        with self._tree.place(safe_name(member.link_target), _FIELD) as original:
            status = filecalls.status(original.dir_fd, original.name)
            if not stat.S_ISREG(status.mode):
                raise invalid("a hard link is to something other than a file")
            if _is_same(place, status):
                return
            _clear(place, place.name)
            os.link(
                original.name,
                place.name,
                src_dir_fd=original.dir_fd,
                dst_dir_fd=place.dir_fd,
                follow_symlinks=False,
            )

    def _owners_of(self, member: Member) -> Owners:
        if not self._spec.keep_owners:
            return self._owners
        return Owners(member.uid, member.gid, is_asked_for=True)

    def _mode_of(self, member: Member) -> int:
        return member.mode & (_ALL_BITS if self._spec.keep_owners else _ORDINARY_BITS)


class _NewFile:
    """A file that is being unpacked: under its name when that is free, else hidden until it is complete."""

    def __init__(self, place: Place, name: bytes, member: Member) -> None:
        self.name = name
        self.member = member
        self._place = Place(os.dup(place.dir_fd), place.name)
        self._temporary: Temporary | None = None
        try:
            self.fd = self._open()
        except BaseException:
            self._place.close()
            raise

    def _open(self) -> int:
        try:
            return os.open(self._place.name, _NEW, _PRIVATE, dir_fd=self._place.dir_fd)
        except FileExistsError:
            _check_no_directory(self._place, self.name)
        self._temporary = Temporary.create(self._place.dir_fd, replaces=True)
        return self._temporary.fd

    def complete(self, owners: Owners, mode: int, scope: Scope) -> None:
        """Give the file what else it has, and its name."""
        try:
            if os.fstat(self.fd).st_size != self.member.size_bytes:
                os.ftruncate(self.fd, self.member.size_bytes)
            owners.apply(self.fd, has_rights=scope.has_rights)
            set_mode(self.fd, mode, has_rights=scope.has_rights)
            os.utime(self.fd, (self.member.modified_s, self.member.modified_s))
            if self._temporary is not None:
                self._temporary.put(self._place.name, replace=True)
        finally:
            self._close()

    def abandon(self) -> None:
        """Remove what is there of it."""
        try:
            if self._temporary is None and _is_same(self._place, filecalls.status(self.fd, b"")):
                os.unlink(self._place.name, dir_fd=self._place.dir_fd)
        except OSError:
            pass  # It is gone, or its file system is.
        finally:
            self._close()

    def _close(self) -> None:
        if self._temporary is not None:
            self._temporary.close()
        else:
            os.close(self.fd)
        self._place.close()


class _Inflater:
    """Unpacks gzip, one or several members, into pieces of bounded size."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(_GZIP)
        self._has_begun = False

    @property
    def is_complete(self) -> bool:
        """Whether the compressed data may end here."""
        return self._inflate.eof or not self._has_begun

    def inflate(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._inflate.eof:
                data = data.lstrip(b"\0")
                if not data:
                    return
                self._inflate = zlib.decompressobj(_GZIP)
            self._has_begun = True
            try:
                yield self._inflate.decompress(data, _INFLATED_BYTES)
            except zlib.error as error:
                raise invalid("its compressed data is damaged, or it is not compressed with gzip") from error
            data = self._inflate.unconsumed_tail or self._inflate.unused_data


def safe_name(name: bytes) -> bytes:
    """Return a member's name without what means nothing; empty for the directory itself.

    Raises:
        PermissionDenied: It is absolute or goes up, reason ESCAPES_ROOT.
        InvalidArgument: It holds a NUL.
    """
    if name.startswith(b"/"):
        raise escapes(name, _FIELD)
    if b"\0" in name:
        raise invalid("a name holds a NUL byte")
    parts = [part for part in name.split(b"/") if part not in (b"", b".")]
    if b".." in parts:
        raise escapes(name, _FIELD)
    return b"/".join(parts)


def points_below(name: bytes, target: bytes) -> bool:
    """Whether a link's target, read as text, stays below the directory that the link's name is relative to."""
    if target.startswith(b"/"):
        return False
    depth = name.count(b"/")
    for part in target.split(b"/"):
        if part == b"..":
            depth -= 1
        elif part not in (b"", b"."):
            depth += 1
        if depth < 0:
            return False
    return True


def _clear(place: Place, name: bytes) -> None:
    """Make a name free; a directory is never removed for something else."""
    _check_no_directory(place, name)
    try:
        os.unlink(place.name, dir_fd=place.dir_fd)
    except FileNotFoundError:
        pass


def _check_no_directory(place: Place, name: bytes) -> None:
    try:
        status = filecalls.status(place.dir_fd, place.name)
    except FileNotFoundError:
        return
    if stat.S_ISDIR(status.mode):
        raise FailedPrecondition(f"{shown(name)}: a directory is in its place", reason="IS_A_DIRECTORY", field=_FIELD)


def _is_same(place: Place, status: filecalls.Status) -> bool:
    try:
        there = filecalls.status(place.dir_fd, place.name)
    except FileNotFoundError:
        return False
    return (there.device, there.inode) == (status.device, status.inode)


def _too_much(what: str) -> ResourceExhausted:
    return ResourceExhausted(f"the archive has {what}", reason="ARCHIVE_TOO_LARGE", field=_FIELD)
