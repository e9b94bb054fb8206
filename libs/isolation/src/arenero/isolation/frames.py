"""Messages between the zygote and the driver that started it: JSON objects behind a four-byte length."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any, Final

MAX_FRAME_BYTES: Final = 4 << 20
_LENGTH: Final = struct.Struct("<I")


class FrameTooLong(Exception):
    """The other side announced more than a message may have; nothing it says can be trusted."""


def encode(message: dict[str, Any]) -> bytes:
    """Return a message as it is sent."""
    body = json.dumps(message, separators=(",", ":")).encode()
    return _LENGTH.pack(len(body)) + body


class Decoder:
    """Takes bytes as they come and gives the messages that are complete."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, received: bytes) -> Iterator[dict[str, Any]]:
        """Add bytes; give every message that they complete.

        Raises:
            FrameTooLong: Close the connection.
        """
        self._buffer += received
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > MAX_FRAME_BYTES:
                raise FrameTooLong(f"a message of {length} bytes")
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                return
            body = bytes(self._buffer[_LENGTH.size : end])
            del self._buffer[:end]
            yield json.loads(body)
