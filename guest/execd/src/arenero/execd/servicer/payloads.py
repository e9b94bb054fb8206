"""Messages that are a few numbers and much payload, written and read by hand.

A protobuf runtime copies the payload two or three times on its way between a message and its serialized form. Here it
is copied once to be sent, and not at all to be received. What is written is, byte for byte, what the runtime writes;
what is read may be written in any way that the wire format allows, and is then left to the runtime.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar, cast

from arenero.api.execd.v1 import file_service_pb2
from arenero.execd import reading
from arenero.execd.output import Chunk

_Message = TypeVar("_Message")
_VARINT: Final = 0
_BYTES: Final = 2
_KIND_BITS: Final = 3
_LAST_BYTE: Final = 0x80
_LONGEST_VARINT_BYTES: Final = 10
_LEAST_PAYLOAD_BYTES: Final = 512
"""Of less, the copies cost nothing."""


@dataclass(frozen=True, slots=True)
class Part:
    """A message of `Write` that carries content and nothing else."""

    offset: int
    data: memoryview


def as_message(kind: type[_Message], serialized: bytes) -> _Message:
    """Let a serialized message stand where a message is asked for: the server takes both, generated types know one."""
    return cast("_Message", serialized)


def output_frame(field: int, chunk: Chunk) -> bytes:
    """Return a message whose field of this number is an `OutputChunk`, as all streams of output have them."""
    head = _number(1, chunk.stream) + _number(2, chunk.offset) + _number(3, chunk.seq) + _opening(4, len(chunk.data))
    return b"".join((_opening(field, len(head) + len(chunk.data)), head, chunk.data))


def content(chunk: reading.Chunk) -> bytes:
    """Return a `ReadResponse` with this part of a file and nothing else."""
    return b"".join((_number(2, chunk.offset), _opening(3, len(chunk.data)), chunk.data))


def parse_write(raw: bytes) -> Part | file_service_pb2.WriteRequest:
    """Read a message of `Write`."""
    head_bytes, start = split(raw, 3) if len(raw) >= _LEAST_PAYLOAD_BYTES else (0, 0)
    if not start:
        return file_service_pb2.WriteRequest.FromString(raw)
    return Part(file_service_pb2.WriteRequest.FromString(raw[:head_bytes]).offset, memoryview(raw)[start:])


def split(raw: bytes, field: int) -> tuple[int, int]:
    """Return the length of what comes before the field with this number, and where its payload begins.

    Both are 0 when the message doesn't end with it, or if anything but numbers comes before it.
    """
    at = 0
    while at < len(raw):
        tag, then = _varint(raw, at)
        value, then = _varint(raw, then)
        if tag == field << _KIND_BITS | _BYTES and then + value == len(raw):
            return at, then
        if then > len(raw) or tag & ((1 << _KIND_BITS) - 1) != _VARINT:
            break
        at = then
    return 0, 0


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    """Return a number and where it ends; beyond the end of the message when it is none."""
    value = 0
    for shift in range(0, 7 * _LONGEST_VARINT_BYTES, 7):
        if at >= len(raw):
            break
        value |= (raw[at] & (_LAST_BYTE - 1)) << shift
        at += 1
        if raw[at - 1] < _LAST_BYTE:
            return value, at
    return 0, len(raw) + 1


def _number(field: int, value: int) -> bytes:
    return bytes((field << _KIND_BITS | _VARINT,)) + _as_varint(value) if value else b""


def _opening(field: int, length: int) -> bytes:
    """Return what comes before so many bytes."""
    return bytes((field << _KIND_BITS | _BYTES,)) + _as_varint(length)


def _as_varint(value: int) -> bytes:
    out = bytearray()
    while value >= _LAST_BYTE:
        out.append(value & (_LAST_BYTE - 1) | _LAST_BYTE)
        value >>= 7
    out.append(value)
    return bytes(out)
