"""SHA-256 of content that comes in pieces, holes between them counting as zeros."""

from __future__ import annotations

from collections.abc import Generator
from hashlib import sha256
from typing import Final

_ZEROS: Final = bytes(1024 * 1024)


class Checksum:
    """Hashes pieces in ascending order."""

    def __init__(self) -> None:
        self._hash = sha256()
        self._position = 0

    @property
    def position(self) -> int:
        """How far the content is hashed, in bytes."""
        return self._position

    def update(self, data: bytes | memoryview) -> None:
        """Take the next piece."""
        self._hash.update(data)
        self._position += len(data)

    def skip_to(self, offset: int) -> Generator[None, None, None]:
        """Take zeros up to an offset, in steps: a hole costs nothing on disk, but may be longer than anyone waits."""
        while self._position < offset:
            gap = min(offset - self._position, len(_ZEROS))
            self.update(_ZEROS if gap == len(_ZEROS) else _ZEROS[:gap])
            yield

    def digest(self) -> bytes:
        """Return the checksum of all that was taken."""
        return self._hash.digest()
