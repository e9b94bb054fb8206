"""Takes tar archives apart, in pieces of any size.

Reads ustar, pax and GNU archives, sparse files of all four kinds among them, and is made for hostile ones: nothing
that an archive says makes it hold more than a few megabytes, or compute more than its length is worth.
"""

from __future__ import annotations

import enum
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from arenero.errors import InvalidArgument
from arenero.execd.tar import BLOCK_BYTES, HIGHEST_NUMBER, Extents, Member, MemberKind, checksum, padding

MOST_EXTENSION_BYTES: Final = 1024 * 1024
"""Longest extended header, GNU long name, or map of a sparse file."""
MOST_EXTENSIONS: Final = 16
"""Extended headers before one member."""
_MOST_DIGITS: Final = 20
_PAX: Final = (b"x", b"X")
_GNU_LONG_NAME: Final = b"L"
_GNU_LONG_LINK: Final = b"K"
_GNU_SPARSE: Final = b"S"
_GLOBAL: Final = b"g"
_FILES: Final = (b"0", b"\0", b"7", _GNU_SPARSE)
_GNU_MAP_ENTRY_BYTES: Final = 24


class Signal(enum.Enum):
    """What the reader says besides members and content."""

    MEMBER_END = 0
    """The member is complete."""
    HUNGRY = 1
    """Internal: nothing more without more input."""


@dataclass(frozen=True, slots=True)
class Content:
    """A piece of a file's content and its place in the file."""

    offset: int
    data: memoryview


Event = Member | Content | Signal
_Reading = Generator[Event, None, None]


@dataclass(slots=True)
class _Extensions:
    """What the headers before a member say about it."""

    records: dict[bytes, bytes] = field(default_factory=dict)
    sparse_numbers: list[int] = field(default_factory=list)
    """Of the oldest pax way, which repeats its keys."""
    long_name: bytes | None = None
    long_link: bytes | None = None


class TarReader:
    """Feed it an archive, and it gives the members and their content in order."""

    def __init__(self) -> None:
        self._input = memoryview(b"")
        self._events = self._archive()
        self.is_complete = False
        """Whether the mark of the archive's end was seen; what follows it is ignored."""

    def feed(self, data: bytes) -> Iterator[Event]:
        """Take the next piece and give what it completes. Use the iterator up before the next piece.

        Raises:
            InvalidArgument: It is no tar, or one that nobody writes in good faith; reason ARCHIVE_INVALID. The reader
                is of no use then.
        """
        self._input = memoryview(data)
        while not self.is_complete and (event := next(self._events, Signal.HUNGRY)) is not Signal.HUNGRY:
            yield event

    def _archive(self) -> _Reading:
        while not self.is_complete:
            yield from self._member()

    def _member(self) -> _Reading:
        extensions = _Extensions()
        for _ in range(MOST_EXTENSIONS + 1):
            block = yield from self._take(BLOCK_BYTES)
            if not block.strip(b"\0"):
                self.is_complete = True
                return
            _check_header(block)
            kind = block[156:157]
            if kind not in (*_PAX, _GLOBAL, _GNU_LONG_NAME, _GNU_LONG_LINK):
                yield from self._described(block, kind, extensions)
                return
            yield from self._extension(kind, _number(block[124:136]), extensions)
        raise invalid("a member has too many extended headers")

    def _extension(self, kind: bytes, size: int, extensions: _Extensions) -> _Reading:
        if size > MOST_EXTENSION_BYTES:
            raise invalid("an extended header is too long")
        content = yield from self._take(size)
        yield from self._take(padding(size))
        if kind == _GNU_LONG_NAME:
            extensions.long_name = content.rstrip(b"\0")
        elif kind == _GNU_LONG_LINK:
            extensions.long_link = content.rstrip(b"\0")
        elif kind in _PAX:
            for key, value in _records(content):
                if key in (b"GNU.sparse.offset", b"GNU.sparse.numbytes"):
                    extensions.sparse_numbers.append(_decimal(value))
                else:
                    extensions.records[key] = value
        # What holds for all members says nothing that is needed here.

    def _described(self, block: bytes, kind: bytes, extensions: _Extensions) -> _Reading:
        member, stored = _member_of(block, kind, extensions)
        records = extensions.records
        taken = 0
        if member.kind is not MemberKind.FILE:
            stored = 0
        elif kind == _GNU_SPARSE:
            numbers = yield from self._gnu_map(block)
            member = replace(member, extents=_extents(numbers, member.size_bytes, stored))
        elif records.get(b"GNU.sparse.major") == b"1":
            numbers, taken = yield from self._map_in_content(stored)
            member = replace(member, extents=_extents(numbers, member.size_bytes, stored - taken))
        elif b"GNU.sparse.map" in records:
            numbers = [_decimal(number) for number in records[b"GNU.sparse.map"].split(b",")]
            member = replace(member, extents=_extents(numbers, member.size_bytes, stored))
        elif extensions.sparse_numbers:
            member = replace(member, extents=_extents(extensions.sparse_numbers, member.size_bytes, stored))
        yield member
        for offset, length in ((0, stored),) if member.extents is None else member.extents:
            yield from self._content(offset, length)
        yield from self._take(padding(stored))
        yield Signal.MEMBER_END

    def _gnu_map(self, block: bytes) -> Generator[Event, None, list[int]]:
        """Read the map that an old GNU header begins, and further blocks go on with."""
        numbers = _map_entries(block[386:482])
        goes_on = block[482]
        while goes_on:
            block = yield from self._take(BLOCK_BYTES)
            numbers += _map_entries(block[:504])
            goes_on = block[504]
            if len(numbers) * _GNU_MAP_ENTRY_BYTES > MOST_EXTENSION_BYTES:
                raise invalid("the map of a sparse file is too long")
        return numbers

    def _map_in_content(self, stored: int) -> Generator[Event, None, tuple[list[int], int]]:
        """Read the map in front of a file's content: how many pairs, and the pairs, each number on a line."""
        text = bytearray()
        wanted = None
        while wanted is None or text.count(b"\n") < wanted:
            if len(text) >= min(MOST_EXTENSION_BYTES, stored):
                raise invalid("the map of a sparse file is too long")
            text += yield from self._take(BLOCK_BYTES)
            if wanted is None and b"\n" in text:
                wanted = 1 + 2 * _decimal(bytes(text.partition(b"\n")[0]))
                if 2 * wanted > MOST_EXTENSION_BYTES:
                    raise invalid("the map of a sparse file is too long")
        return [_decimal(line) for line in bytes(text).split(b"\n")[1:wanted]], len(text)

    def _content(self, offset: int, length: int) -> _Reading:
        while length:
            if not self._input:
                yield Signal.HUNGRY
                continue
            piece, self._input = self._input[:length], self._input[length:]
            yield Content(offset, piece)
            offset += len(piece)
            length -= len(piece)

    def _take(self, count: int) -> Generator[Event, None, bytes]:
        taken = bytearray()
        while len(taken) < count:
            if not self._input:
                yield Signal.HUNGRY
                continue
            missing = count - len(taken)
            taken += self._input[:missing]
            self._input = self._input[missing:]
        return bytes(taken)


def invalid(why: str, *, fix: str = "") -> InvalidArgument:
    """Return the refusal of an archive."""
    return InvalidArgument(f"the archive is not valid: {why}", reason="ARCHIVE_INVALID", field="data", fix=fix)


def _check_header(block: bytes) -> None:
    expected, total = _number(block[148:156]), checksum(block)
    if expected == total:
        return
    # Some old programs added the bytes up as signed ones.
    negative = sum(byte > 127 for at, byte in enumerate(block) if not 148 <= at < 156)
    if expected == total - 256 * negative:
        return
    if block[:2] == b"\x1f\x8b":
        raise invalid("it is compressed", fix="set `compression`")
    raise invalid("a header's checksum is wrong")


def _member_of(block: bytes, letter: bytes, extensions: _Extensions) -> tuple[Member, int]:
    """Return a member as its headers describe it, and how many bytes are stored for it."""
    records = extensions.records
    name = _name(block, extensions)
    stored = _decimal(records[b"size"]) if b"size" in records else _number(block[124:136])
    size = stored
    if letter == _GNU_SPARSE:
        size = _number(block[483:495])
    elif real_size := records.get(b"GNU.sparse.realsize") or records.get(b"GNU.sparse.size"):
        size = _decimal(real_size)
    kind = _kind(letter, name)
    target = records.get(b"linkpath", extensions.long_link)
    member = Member(
        name=name,
        kind=kind,
        mode=_number(block[100:108]) & 0o7777,
        uid=_decimal(records[b"uid"]) if b"uid" in records else _number(block[108:116]),
        gid=_decimal(records[b"gid"]) if b"gid" in records else _number(block[116:124]),
        size_bytes=size if kind is MemberKind.FILE else 0,
        modified_s=_seconds(records[b"mtime"]) if b"mtime" in records else _number(block[136:148]),
        link_target=block[157:257].partition(b"\0")[0] if target is None else target,
    )
    return member, stored


def _name(block: bytes, extensions: _Extensions) -> bytes:
    for key in (b"GNU.sparse.name", b"path"):
        if key in extensions.records:
            return extensions.records[key]
    if extensions.long_name is not None:
        return extensions.long_name
    name = block[:100].partition(b"\0")[0]
    # GNU's own format has other things where ustar has the first part of a long name.
    prefix = block[345:500].partition(b"\0")[0] if block[257:263] == b"ustar\0" else b""
    return prefix + b"/" + name if prefix else name


def _kind(letter: bytes, name: bytes) -> MemberKind:
    if letter in _FILES:
        # Archives from before there was a letter for directories.
        return MemberKind.DIRECTORY if name.endswith(b"/") else MemberKind.FILE
    try:
        return MemberKind(letter)
    except ValueError:
        raise invalid(f"a member is of an unknown kind, {letter!r}") from None


def _records(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Read records of length, blank, key, equals sign, value and newline."""
    at = 0
    while at < len(content):
        space = content.find(b" ", at, at + _MOST_DIGITS)
        length = _decimal(content[at:space]) if space > 0 else 0
        record = content[at : at + length]
        key, equals, value = record[space + 1 - at :].partition(b"=")
        if length <= space - at or not record.endswith(b"\n") or not equals or len(record) != length:
            raise invalid("an extended header makes no sense")
        yield key, value[:-1]
        at += length


def _number(field_bytes: bytes) -> int:
    """Read a header's number: octal digits, or binary where the first bit is set. Negative ones count as 0."""
    if field_bytes[0] & 0x80:
        value = int.from_bytes(bytes([field_bytes[0] & 0x7F]) + field_bytes[1:], "big")
        return 0 if field_bytes[0] & 0x40 else _bounded(value)
    digits = field_bytes.partition(b"\0")[0].strip()
    if not digits:
        return 0
    if not digits.isdigit() or b"8" in digits or b"9" in digits:
        raise invalid("a header has a number that is none")
    return _bounded(int(digits, 8))


def _decimal(digits: bytes) -> int:
    if not digits.isdigit() or len(digits) > _MOST_DIGITS:
        raise invalid("an extended header has a number that is none")
    return _bounded(int(digits))


def _seconds(text: bytes) -> int:
    """Read a time; parts of a second are dropped, and what lies before 1970 is 1970."""
    whole = text.partition(b".")[0]
    return 0 if whole.startswith(b"-") else _decimal(whole)


def _bounded(value: int) -> int:
    if value > HIGHEST_NUMBER:
        raise invalid("a number is too large")
    return value


def _map_entries(area: bytes) -> list[int]:
    """Read the pairs of an old GNU sparse map; the first empty one ends it."""
    numbers: list[int] = []
    for at in range(0, len(area) - _GNU_MAP_ENTRY_BYTES + 1, _GNU_MAP_ENTRY_BYTES):
        if not area[at]:
            break
        numbers += (_number(area[at : at + 12]), _number(area[at + 12 : at + 24]))
    return numbers


def _extents(numbers: Iterable[int], size_bytes: int, stored: int) -> Extents:
    """Return a sparse file's stretches of data, which must ascend, lie in the file, and be what is stored.

    GNU tar ends a map with an empty stretch at the file's end.
    """
    flat = list(numbers)
    if len(flat) % 2:
        raise invalid("the map of a sparse file is not made of pairs")
    extents = tuple((offset, length) for offset, length in zip(flat[::2], flat[1::2], strict=True) if length)
    end = 0
    for offset, length in extents:
        if offset < end or offset + length > size_bytes:
            raise invalid("the map of a sparse file makes no sense")
        end = offset + length
    if sum(length for _, length in extents) != stored:
        raise invalid("the map of a sparse file is not what is stored")
    return extents
