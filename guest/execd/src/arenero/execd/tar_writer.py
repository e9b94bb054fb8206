"""Puts tar archives together: ustar where it suffices, pax where it doesn't.

Holes of sparse files are left out in the way of GNU tar (format 1.0), which other readers see as a file with a map in
front.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from arenero.execd.tar import BLOCK_BYTES, Member, MemberKind, checksum, padding

END: Final = bytes(2 * BLOCK_BYTES)
"""Marks the end of an archive."""
_LONGEST_NAME: Final = 100
_LONGEST_OWNER: Final = 31
_HIGHEST_ID: Final = 0o7777777
_HIGHEST_SIZE: Final = 0o77777777777


def header(member: Member) -> bytes:
    """Return all that comes before a member's content, the map of a sparse file included."""
    records: dict[bytes, bytes] = {}
    stored = member.size_bytes if member.kind is MemberKind.FILE else 0
    sparse_map = b""
    if member.extents is not None:
        sparse_map = _map(member)
        stored = len(sparse_map) + stored_bytes(member)
        records |= {
            b"GNU.sparse.major": b"1",
            b"GNU.sparse.minor": b"0",
            b"GNU.sparse.name": member.name,
            b"GNU.sparse.realsize": b"%d" % member.size_bytes,
        }
        member = replace(member, name=_stand_in(member.name))
    # What says how names are to be read comes first.
    records = _too_large_for_ustar(member, stored) | records
    return (_extension(records) if records else b"") + _ustar(member, member.kind.value, stored) + sparse_map


def stored_bytes(member: Member) -> int:
    """Return how many bytes of a member's content follow its header, without padding."""
    if member.kind is not MemberKind.FILE:
        return 0
    return member.size_bytes if member.extents is None else sum(length for _, length in member.extents)


def content_end(member: Member) -> bytes:
    """Return what follows a member's content."""
    return bytes(padding(stored_bytes(member)))


def _too_large_for_ustar(member: Member, stored: int) -> dict[bytes, bytes]:
    records: dict[bytes, bytes] = {}
    if not _fits(member.name):
        records[b"path"] = member.name
    if not _fits(member.link_target):
        records[b"linkpath"] = member.link_target
    if not all(_is_text(name) for name in (member.name, member.link_target)):
        records = {b"hdrcharset": b"BINARY"} | records
    for key, number, highest in (
        (b"uid", member.uid, _HIGHEST_ID),
        (b"gid", member.gid, _HIGHEST_ID),
        (b"size", stored, _HIGHEST_SIZE),
        (b"mtime", member.modified_s, _HIGHEST_SIZE),
    ):
        if number > highest:
            records[key] = b"%d" % number
    return records


def _fits(name: bytes) -> bool:
    return len(name) <= _LONGEST_NAME and name.isascii()


def _is_text(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _extension(records: Mapping[bytes, bytes]) -> bytes:
    """Return a pax header with its content."""
    content = b"".join(_record(key, value) for key, value in records.items())
    block = _ustar(Member(b"PaxHeader", MemberKind.FILE), b"x", len(content))
    return block + content + bytes(padding(len(content)))


def _record(key: bytes, value: bytes) -> bytes:
    """Return a record, whose length counts the digits of the length."""
    rest = b" " + key + b"=" + value + b"\n"
    length = len(rest) + 1
    while len(b"%d" % length) + len(rest) != length:
        length = len(b"%d" % length) + len(rest)
    return b"%d" % length + rest


def _map(member: Member) -> bytes:
    extents = [*(member.extents or ()), (member.size_bytes, 0)]
    lines = b"%d\n" % len(extents) + b"".join(b"%d\n%d\n" % extent for extent in extents)
    return lines + bytes(padding(len(lines)))


def _stand_in(name: bytes) -> bytes:
    """Return the name under which a reader that knows no sparse files unpacks one, map and all."""
    directory, _, last = name.rpartition(b"/")
    return b"/".join(part for part in (directory, b"GNUSparseFile.0", last) if part)


def _ustar(member: Member, letter: bytes, stored: int) -> bytes:
    block = bytearray(BLOCK_BYTES)
    fields = (
        (0, member.name[:_LONGEST_NAME]),
        (100, b"%07o" % (member.mode & 0o7777)),
        (108, b"%07o" % min(member.uid, _HIGHEST_ID)),
        (116, b"%07o" % min(member.gid, _HIGHEST_ID)),
        (124, b"%011o" % min(stored, _HIGHEST_SIZE)),
        (136, b"%011o" % min(max(member.modified_s, 0), _HIGHEST_SIZE)),
        (156, letter),
        (157, member.link_target[:_LONGEST_NAME]),
        (257, b"ustar\x0000"),
        (265, member.owner.encode()[:_LONGEST_OWNER]),
        (297, member.group.encode()[:_LONGEST_OWNER]),
    )
    for at, value in fields:
        block[at : at + len(value)] = value
    block[148:156] = b"%06o\0 " % checksum(bytes(block))
    return bytes(block)
