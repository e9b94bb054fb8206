"""The last bytes of an endless run of bytes: the newest in memory, older ones in a file where there may be one.

Offsets count from the first byte ever. Bytes are kept in *blocks*, as they came: a large one is never copied, small
ones grow together. When the file can't take more (disk full, budget spent) it is given up with all that is in it: what
is kept is always one stretch that ends with the newest byte.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Final

from arenero.execd.spool import SpoolFile

MEMORY_BYTES: Final = 2 * 1024 * 1024
"""Kept in memory while a file takes the rest: what a reader that keeps up has yet to read."""
SETTLED_BYTES: Final = 64 * 1024
"""The same once nothing more comes."""
_GROWN_BYTES: Final = 64 * 1024
_OWN_BLOCK_BYTES: Final = 16 * 1024

OpenFile = Callable[[int], SpoolFile | None]
"""Opens a file that holds so many bytes; None when there can be none."""


class ByteBuffer:
    """Keeps the last `limit_bytes`, and with `open_file` only a part of them in memory."""

    def __init__(self, limit_bytes: int, open_file: OpenFile | None = None) -> None:
        self._limit_bytes = limit_bytes
        self._memory_bytes = min(MEMORY_BYTES, limit_bytes) if open_file else limit_bytes
        self._open_file = open_file
        self._file: SpoolFile | None = None
        self._blocks: list[bytes | bytearray] = []
        self._block_starts: list[int] = []
        self._floor = 0
        self.end = 0
        """Bytes that were ever appended."""

    @property
    def start(self) -> int:
        """Offset of the oldest byte that is kept."""
        return max(self._floor, self.end - self._limit_bytes)

    @property
    def memory_start(self) -> int:
        """Offset of the oldest byte in memory."""
        return self._block_starts[0] if self._blocks else self.end

    def append(self, data: bytes) -> None:
        """Add bytes at the end, which may drop the oldest."""
        if not data:
            return
        last = self._blocks[-1] if self._blocks else None
        if isinstance(last, bytearray) and len(last) + len(data) <= _GROWN_BYTES:
            last += data
        else:
            self._blocks.append(data if len(data) >= _OWN_BLOCK_BYTES else bytearray(data))
            self._block_starts.append(self.end)
        self.end += len(data)
        if self.end - self.memory_start > self._memory_bytes:
            self._shrink_to(self._memory_bytes)

    def read(self, offset: int, limit_bytes: int) -> bytes:
        """Return up to so many bytes from an offset between `start` and `end` on; at least one if there is one.

        As many as there are, so that a reader that is behind catches up in large steps; but a block that is large
        already is given as it is, without a copy.
        """
        if offset < self.memory_start:
            return self._read_file(offset, min(limit_bytes, self.memory_start - offset))
        if offset >= self.end:
            return b""
        at = bisect_right(self._block_starts, offset) - 1
        within = offset - self._block_starts[at]
        block = self._blocks[at]
        if not within and limit_bytes // 2 <= len(block) <= limit_bytes and isinstance(block, bytes):
            return block
        pieces = [memoryview(block)[within : within + limit_bytes]]
        wanted = limit_bytes - len(pieces[0])
        while wanted > 0 and (at := at + 1) < len(self._blocks):
            pieces.append(memoryview(self._blocks[at])[:wanted])
            wanted -= len(pieces[-1])
        return b"".join(pieces)

    def settle(self) -> None:
        """Nothing more comes: take as little memory as possible."""
        if self._open_file and self.end - self.memory_start > SETTLED_BYTES:
            self._shrink_to(0)

    def close(self) -> None:
        """Drop everything."""
        self._drop_blocks(len(self._blocks))
        self._floor = self.end
        self._open_file = None
        self._give_file_up()

    def _shrink_to(self, target_bytes: int) -> None:
        """Take the oldest blocks out of memory while at least the target is left without them."""
        count = 0
        while count < len(self._blocks) and self.end - self._block_end(count) >= target_bytes:
            if self._open_file and self._block_end(count) > self.start:
                self._spill(self._block_starts[count], self._blocks[count])
            count += 1
        self._drop_blocks(count)
        if not self._file:
            self._floor = max(self._floor, self.memory_start)

    def _spill(self, offset: int, block: bytes | bytearray) -> None:
        if self._file is None and self._open_file:
            self._file = self._open_file(self._limit_bytes)
        if self._file is None or not self._file.write(offset, block):
            self._open_file = None
            self._give_file_up()

    def _give_file_up(self) -> None:
        if self._file:
            self._file.close()
            self._file = None

    def _read_file(self, offset: int, limit_bytes: int) -> bytes:
        data = self._file.read(offset, limit_bytes) if self._file else b""
        if not data:
            self._give_file_up()
            self._floor = max(self._floor, self.memory_start)
        return data

    def _block_end(self, at: int) -> int:
        return self._block_starts[at] + len(self._blocks[at])

    def _drop_blocks(self, count: int) -> None:
        del self._blocks[:count], self._block_starts[:count]
