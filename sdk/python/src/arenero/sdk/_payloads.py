"""Messages that are a few numbers and much payload, read and written by hand.

A protobuf runtime copies the payload two or three times on its way between a message and its serialized form; here it
is copied once. What is written is, byte for byte, what the runtime writes; what is read may be written in any way that
the wire format allows, and is then left to the runtime.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from arenero.api.execd.v1 import exec_pb2, file_service_pb2

_VARINT: Final = 0
_BYTES: Final = 2
_KIND_BITS: Final = 3
_LAST_BYTE: Final = 0x80
_LONGEST_VARINT_BYTES: Final = 10
_LEAST_PAYLOAD_BYTES: Final = 512
"""Of less, the copies cost nothing."""
_REUSED_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class OutputPart:
    """A frame that carries output: what an `OutputChunk` says."""

    stream: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class FilePart:
    """A message of `Read` that carries content and nothing else."""

    offset: int
    data: bytes
    end: bool = False


def frame_parser(message: type[Any]) -> Callable[[bytes], Any]:
    """Return what reads the frames of a stream: output as `OutputPart`, anything else as the stream's message."""
    opening = bytes((message.OUTPUT_FIELD_NUMBER << _KIND_BITS | _BYTES,))

    def parse(raw: bytes) -> Any:
        if len(raw) < _LEAST_PAYLOAD_BYTES or not raw.startswith(opening):
            return message.FromString(raw)
        _, begin = split(raw, message.OUTPUT_FIELD_NUMBER)
        length, start = split(raw, exec_pb2.OutputChunk.DATA_FIELD_NUMBER, begin) if begin else (0, 0)
        if not start:
            return message.FromString(raw)
        head = exec_pb2.OutputChunk.FromString(raw[begin : begin + length])
        return OutputPart(head.stream, head.offset, raw[start:])

    return parse


def parse_read(raw: bytes) -> Any:
    """Read a message of `Read`: content as `FilePart`, anything else as the message."""
    message = file_service_pb2.ReadResponse
    length, start = split(raw, message.DATA_FIELD_NUMBER) if len(raw) >= _LEAST_PAYLOAD_BYTES else (0, 0)
    if not start:
        return message.FromString(raw)
    return FilePart(message.FromString(raw[:length]).offset, raw[start:])


def write_request(offset: int, data: bytes | memoryview) -> bytes:
    """Return a serialized message of `Write` with content."""
    head = file_service_pb2.WriteRequest(offset=offset).SerializeToString()
    opening = bytes((file_service_pb2.WriteRequest.DATA_FIELD_NUMBER << _KIND_BITS | _BYTES,))
    return b"".join((head, opening, _as_varint(len(data)), data))


def serialized(message: Any) -> bytes:
    """Serialize a message that isn't yet."""
    return message if isinstance(message, bytes) else message.SerializeToString()


def split(raw: bytes, field: int, begin: int = 0) -> tuple[int, int]:
    """Return the length of what comes before the field with this number, and where its payload begins.

    Both are 0 when the message doesn't end with it, or if anything but numbers comes before it.
    """
    at = begin
    while at < len(raw):
        tag, then = _varint(raw, at)
        value, then = _varint(raw, then)
        if tag == field << _KIND_BITS | _BYTES and then + value == len(raw):
            return at - begin, then
        if then > len(raw) or tag & ((1 << _KIND_BITS) - 1) != _VARINT:
            break
        at = then
    return 0, 0


@cache
def reuse_memory() -> None:
    """Let memory of large messages be used again for the next ones: done once per process, before the first of them.

    By default glibc gives blocks of this size back to the kernel as soon as they are free, which then has to clear the
    pages of the next ones, and that costs more than the message itself. It learns from what is freed: once it has seen
    a large block come and go, which costs nothing as nobody touches it, it keeps as much as that.
    """
    bytes(_REUSED_BYTES)


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


def _as_varint(value: int) -> bytes:
    out = bytearray()
    while value >= _LAST_BYTE:
        out.append(value & (_LAST_BYTE - 1) | _LAST_BYTE)
        value >>= 7
    out.append(value)
    return bytes(out)
