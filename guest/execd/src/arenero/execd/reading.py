"""Reading files in chunks, with or without their holes, and hashing on the way."""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Final

from arenero.errors import InvalidArgument
from arenero.execd.checksums import Checksum
from arenero.execd.content import CALM, check_content, data_extents
from arenero.execd.entries import Entry, describe
from arenero.execd.faults import blamed_on
from arenero.execd.scope import Scope

DEFAULT_CHUNK_BYTES: Final = 1024 * 1024
MOST_CHUNK_BYTES: Final = 4 * 1024 * 1024 - 64 * 1024
"""A little less than the 4 MiB that a message may have by default."""
HIGHEST_OFFSET: Final = 2**63 - 1
_MOST_UNSIZED_BYTES: Final = 16 * 1024 * 1024
"""Files of /proc say that they are empty; so much of them is read."""


@dataclass(frozen=True, slots=True)
class ReadRange:
    """What to read of a file."""

    offset: int = 0
    length: int = 0
    """0: to the end, as it is when the reading begins."""
    is_sparse: bool = False
    """Leave holes out."""
    chunk_bytes: int = DEFAULT_CHUNK_BYTES
    has_checksum: bool = False

    def check(self) -> None:
        """Refuse what no file can have.

        Raises:
            InvalidArgument: A number is out of range.
        """
        if self.offset > HIGHEST_OFFSET or self.length > HIGHEST_OFFSET - self.offset:
            raise InvalidArgument("the range lies beyond the longest file", reason="OUT_OF_RANGE", field="offset")
        if not 0 < self.chunk_bytes <= MOST_CHUNK_BYTES:
            raise InvalidArgument(
                f"chunks have at most {MOST_CHUNK_BYTES} bytes", reason="OUT_OF_RANGE", field="chunk_bytes"
            )


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a file, or the end of the reading."""

    offset: int
    data: bytes = b""
    entry: Entry | None = None
    """The file; with the first chunk."""
    is_end: bool = False
    sha256: bytes = b""


def read(scope: Scope, path: bytes, wanted: ReadRange) -> Generator[Chunk | None, None, None]:
    """Give a file's chunks; the first describes the file too, the last is the end, without data. None: nothing new yet.

    A file that grows meanwhile is read to its former end; one that shrinks ends early.
    """
    wanted.check()
    with scope.open_tree() as tree:
        fd = tree.open_file(path, os.O_RDONLY | CALM)
    try:
        with blamed_on(path):
            check_content(fd, path)
            entry = describe(fd, b"", path, scope.directory)
            is_first = True
            for chunk in _chunks(fd, wanted, _end(entry.status.size_bytes, wanted)):
                if is_first and chunk is not None:
                    is_first = False
                    yield replace(chunk, entry=entry)
                else:
                    yield chunk
    finally:
        os.close(fd)


def _end(size_bytes: int, wanted: ReadRange) -> int:
    size_bytes = size_bytes or _MOST_UNSIZED_BYTES
    return min(size_bytes, wanted.offset + wanted.length) if wanted.length else size_bytes


def _chunks(fd: int, wanted: ReadRange, end: int) -> Generator[Chunk | None, None, None]:
    checksum = Checksum() if wanted.has_checksum else None
    at = wanted.offset
    extents = data_extents(fd, at, end) if wanted.is_sparse else iter([(at, end)])
    for data, hole in extents:
        at = data
        while at < hole and (piece := os.pread(fd, min(wanted.chunk_bytes, hole - at), at)):
            if checksum is not None:
                yield from checksum.skip_to(at - wanted.offset)
                checksum.update(piece)
            yield Chunk(at, piece)
            at += len(piece)
    if wanted.is_sparse:
        # What follows the last data is a hole, unless the file became shorter.
        at = max(at, min(end, os.fstat(fd).st_size))
    if checksum is not None:
        yield from checksum.skip_to(at - wanted.offset)
    yield Chunk(at, is_end=True, sha256=checksum.digest() if checksum is not None else b"")
