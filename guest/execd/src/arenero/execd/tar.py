"""Tar archives as members and content; no files here.

What both directions share. `tar_reader` takes archives apart, `tar_writer` puts them together. Names are bytes.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

BLOCK_BYTES: Final = 512
HIGHEST_NUMBER: Final = 2**63 - 1

Extents = tuple[tuple[int, int], ...]
"""Offset and length of each stretch of data in a sparse file, in ascending order."""


class MemberKind(enum.Enum):
    """What a member is; the value is its letter in the header."""

    FILE = b"0"
    HARD_LINK = b"1"
    SYMLINK = b"2"
    CHARACTER_DEVICE = b"3"
    BLOCK_DEVICE = b"4"
    DIRECTORY = b"5"
    FIFO = b"6"


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an archive."""

    name: bytes
    kind: MemberKind
    mode: int = 0o644
    uid: int = 0
    gid: int = 0
    size_bytes: int = 0
    """Of the file, with its holes."""
    modified_s: int = 0
    link_target: bytes = b""
    owner: str = ""
    group: str = ""
    extents: Extents | None = None
    """None: it has no holes."""


def padding(size_bytes: int) -> int:
    """Return how many bytes fill the last block."""
    return -size_bytes % BLOCK_BYTES


def checksum(block: bytes) -> int:
    """Return the sum that a header holds of itself."""
    return sum(block[:148]) + sum(block[156:512]) + 8 * ord(" ")
