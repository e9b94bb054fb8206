"""Packs trees into a tar while they change: as a stream, never held in memory, holes left out.

A name that goes, a file that shrinks, or one that can't be read doesn't end the archive: it is skipped, or filled up
with zeros to the length that its header has announced, and named at the end.
"""

from __future__ import annotations

import errno
import itertools
import os
import stat
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Final

from arenero.errors import InvalidArgument
from arenero.execd import filecalls, tar_writer
from arenero.execd.content import CALM, COPY_BYTES, data_extents
from arenero.execd.faults import blamed_on, shown
from arenero.execd.filecalls import Status
from arenero.execd.globs import Globs
from arenero.execd.paths import Tree, join
from arenero.execd.scope import Scope
from arenero.execd.tar import Member, MemberKind
from arenero.execd.walking import WalkOptions, walk

MOST_SKIPPED_NAMES: Final = 1000
_PIECE_BYTES: Final = 256 * 1024
_GZIP_LEVEL: Final = 1
"""Archives cross a fast link or stay on the machine: more would take longer than it saves."""
_GZIP: Final = 31
_MOST_LINKED_FILES: Final = 200_000
_MOST_EXTENTS: Final = 20_000
_HAS_HOLES_BYTES: Final = 4096
_ZEROS: Final = bytes(_PIECE_BYTES)


@dataclass(frozen=True, slots=True)
class PackSpec:
    """What to pack."""

    base: bytes
    """Directory that the names are relative to."""
    paths: tuple[bytes, ...] = ()
    """Below it; empty: all."""
    exclude: tuple[str, ...] = ()
    is_compressed: bool = False


@dataclass(frozen=True, slots=True)
class PackEnd:
    """Comes last."""

    entries: int
    skipped: tuple[bytes, ...]
    skipped_count: int


Packed = bytes | PackEnd | None
"""None: nothing new yet."""


def pack(scope: Scope, spec: PackSpec) -> Generator[Packed, None, None]:
    """Give the archive in pieces of some hundred kilobytes, then the end.

    Raises:
        NotFound: The base or one of the paths isn't there.
        PermissionDenied: A path leads out of the base, reason ESCAPES_ROOT.
    """
    packer = _Packer(scope, spec)
    with scope.open_tree() as tree:
        base_fd = tree.open_directory(spec.base, "base")
    with Tree(base_fd, base=b"", home=b"", is_confined=True) as below, blamed_on(spec.base, "base"):
        yield from _in_pieces(packer.archive(base_fd, below), is_compressed=spec.is_compressed)
    yield PackEnd(packer.entries, tuple(packer.skipped), packer.skipped_count)


def _in_pieces(blocks: Iterator[bytes | None], *, is_compressed: bool) -> Iterator[bytes | None]:
    """Join small blocks, and compress them."""
    compress = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP) if is_compressed else None
    gathered = bytearray()
    for block in blocks:
        if block is None:
            yield None
            continue
        gathered += block if compress is None else compress.compress(block)
        if len(gathered) >= _PIECE_BYTES:
            yield bytes(gathered)
            gathered.clear()
        elif compress is not None:
            yield None
    if compress is not None:
        gathered += compress.flush()
    yield bytes(gathered)


class _Packer:
    def __init__(self, scope: Scope, spec: PackSpec) -> None:
        self._directory = scope.directory
        self._spec = spec
        self._exclude = Globs(spec.exclude, "exclude")
        self._linked: dict[tuple[int, int], bytes] = {}
        """Names of packed files that have other names too."""
        self.entries = 0
        self.skipped: list[bytes] = []
        self.skipped_count = 0

    def archive(self, base_fd: int, below: Tree) -> Iterator[bytes | None]:
        if not self._spec.paths:
            yield from self._below(base_fd, b"")
        for path in self._spec.paths:
            name = _member_name(path)
            if not name:
                yield from self._below(base_fd, b"")
                continue
            with below.place(name, "paths") as place, blamed_on(path, "paths"):
                filecalls.status(place.dir_fd, place.name)  # what isn't there at all is an error, not a hole
                if (yield from self._entry(place.dir_fd, place.name, name)):
                    yield from self._directory_at(place.dir_fd, place.name, name)
        yield tar_writer.END

    def _directory_at(self, dir_fd: int, name: bytes, path: bytes) -> Iterator[bytes | None]:
        fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd)
        try:
            yield from self._below(fd, path)
        finally:
            os.close(fd)

    def _below(self, fd: int, prefix: bytes) -> Iterator[bytes | None]:
        for visit in walk(fd, WalkOptions(failed=lambda path, _: self._skip(join(prefix, path)))):
            path = join(prefix, visit.path)
            if self._exclude.match(path):
                visit.skip = True
            elif not (yield from self._entry(visit.dir_fd, visit.name, path)):
                # Something else has taken a directory's place since it was listed, perhaps a link: whoever unpacks
                # entries below that name would be led through it.
                visit.skip = True
            yield None

    def _skip(self, path: bytes) -> None:
        self.skipped_count += 1
        if len(self.skipped) < MOST_SKIPPED_NAMES:
            self.skipped.append(path)

    def _entry(self, dir_fd: int, name: bytes, path: bytes) -> Generator[bytes, None, bool]:
        """Pack one entry without what is below it; return whether it went in as a directory."""
        try:
            status = filecalls.status(dir_fd, name)
            if stat.S_ISREG(status.mode):
                yield from self._file(dir_fd, name, path)
            elif (member := self._contentless(status, dir_fd, name, path)) is not None:
                self.entries += 1
                yield tar_writer.header(member)
                return member.kind is MemberKind.DIRECTORY
            else:
                self._skip(path)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                raise
            self._skip(path)
        return False

    def _contentless(self, status: Status, dir_fd: int, name: bytes, path: bytes) -> Member | None:
        """Return the member of what has no content; None for sockets and devices."""
        if stat.S_ISDIR(status.mode):
            return self._member(status, path + b"/", MemberKind.DIRECTORY)
        if stat.S_ISFIFO(status.mode):
            return self._member(status, path, MemberKind.FIFO)
        if stat.S_ISLNK(status.mode):
            return self._member(status, path, MemberKind.SYMLINK, link_target=os.readlink(name, dir_fd=dir_fd))
        return None

    def _member(
        self, status: Status, path: bytes, kind: MemberKind, *, size_bytes: int = 0, link_target: bytes = b""
    ) -> Member:
        return Member(
            name=path,
            kind=kind,
            mode=stat.S_IMODE(status.mode),
            uid=status.uid,
            gid=status.gid,
            size_bytes=size_bytes,
            modified_s=max(status.modified_ns, 0) // 1_000_000_000,
            link_target=link_target,
            owner=self._directory.user_name(status.uid),
            group=self._directory.group_name(status.gid),
        )

    def _file(self, dir_fd: int, name: bytes, path: bytes) -> Iterator[bytes]:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | CALM, dir_fd=dir_fd)
        try:
            status = filecalls.status(fd, b"")
            if not stat.S_ISREG(status.mode):
                self._skip(path)
                return
            if (first := self._first_name(status, path)) is not None:
                self.entries += 1
                yield tar_writer.header(self._member(status, path, MemberKind.HARD_LINK, link_target=first))
                return
            yield from self._content(fd, status, path)
        finally:
            os.close(fd)

    def _first_name(self, status: Status, path: bytes) -> bytes | None:
        """Return the name under which the very same file is in the archive already."""
        if status.links < 2:
            return None
        key = (status.device, status.inode)
        if key not in self._linked and len(self._linked) < _MOST_LINKED_FILES:
            self._linked[key] = path
            return None
        return self._linked.get(key)

    def _content(self, fd: int, status: Status, path: bytes) -> Iterator[bytes]:
        member = self._member(status, path, MemberKind.FILE, size_bytes=status.size_bytes)
        member = _with_holes(member, fd, status)
        self.entries += 1
        yield tar_writer.header(member)
        missing = 0
        for offset, length in ((0, member.size_bytes),) if member.extents is None else member.extents:
            for piece in _pieces(fd, offset, length):
                yield piece
                length -= len(piece)
            missing += length
            yield from _zeros(length)
        if missing:
            self._skip(path)
        yield tar_writer.content_end(member)


def _with_holes(member: Member, fd: int, status: Status) -> Member:
    """Leave a file's holes out, where it has such and not too many to list."""
    if status.disk_bytes + _HAS_HOLES_BYTES > status.size_bytes:
        return member
    extents = tuple(
        (begin, end - begin)
        for begin, end in itertools.islice(data_extents(fd, 0, status.size_bytes), _MOST_EXTENTS + 1)
    )
    if len(extents) > _MOST_EXTENTS:
        return member
    return replace(member, extents=extents)


def _pieces(fd: int, offset: int, length: int) -> Iterator[bytes]:
    try:
        while length > 0 and (piece := os.pread(fd, min(COPY_BYTES, length), offset)):
            yield piece
            offset += len(piece)
            length -= len(piece)
    except OSError:
        return  # Its header is out: the rest becomes zeros, and the file is named as one that went wrong.


def _zeros(length: int) -> Iterator[bytes]:
    while length > 0:
        yield _ZEROS[: min(length, len(_ZEROS))]
        length -= len(_ZEROS)


def _member_name(path: bytes) -> bytes:
    """Return a path below the base as its name in the archive; empty for the base itself.

    Raises:
        InvalidArgument: It goes up.
    """
    parts = [part for part in path.split(b"/") if part not in (b"", b".")]
    if path.startswith(b"/") or b".." in parts:
        raise InvalidArgument(
            f"{shown(path)}: paths to pack lie below the base and don't go up", reason="INVALID_PATH", field="paths"
        )
    return b"/".join(parts)
