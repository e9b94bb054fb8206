"""Files for output that is too much for memory. They have no name: nobody else can open them, and none is left over.

A file is a ring: the byte at an offset lies at the offset modulo the file's size. All files together have one budget of
disk.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Final

PLACES: Final = ("/var/tmp", "/tmp", "/dev/shm")


class Spool:
    """Opens the files and keeps their budget."""

    def __init__(self, places: Sequence[str], budget_bytes: int) -> None:
        self._places = tuple(dict.fromkeys(place for place in places if place))
        self._budget_bytes = budget_bytes
        self.used_bytes = 0
        self.make_room: Callable[[], bool] = lambda: False
        """Frees some of the budget; False when nothing can be spared. Set by whoever knows what is old."""

    def open(self, size_bytes: int) -> SpoolFile | None:
        """Return a new file that holds so many bytes, or None where none can be made."""
        for place in self._places:
            try:
                return SpoolFile(_unnamed(place), size_bytes, self)
            except OSError:
                continue
        return None

    def take(self, size_bytes: int) -> bool:
        """Take from the budget; False when it is spent."""
        while self.used_bytes + size_bytes > self._budget_bytes:
            if not self.make_room():
                return False
        self.used_bytes += size_bytes
        return True

    def give_back(self, size_bytes: int) -> None:
        """Undo `take`."""
        self.used_bytes -= size_bytes


class SpoolFile:
    """One ring on disk."""

    def __init__(self, fd: int, size_bytes: int, spool: Spool) -> None:
        self._fd = fd
        self._size_bytes = size_bytes
        self._spool = spool
        self._grown_bytes = 0

    def write(self, offset: int, data: bytes | bytearray) -> bool:
        """Write the bytes that have this offset; False when the disk or the budget doesn't allow it.

        Only the last bytes matter when there are more than the ring holds.
        """
        skipped = max(0, len(data) - self._size_bytes)
        view, offset = memoryview(data)[skipped:], offset + skipped
        try:
            while view:
                at = offset % self._size_bytes
                piece = view[: self._size_bytes - at]
                if not self._grow(at + len(piece)):
                    return False
                written = os.pwrite(self._fd, piece, at)
                view, offset = view[written:], offset + written
        except OSError:
            return False
        return True

    def read(self, offset: int, limit_bytes: int) -> bytes:
        """Return the bytes from an offset on, up to the ring's seam; empty when the disk fails."""
        at = offset % self._size_bytes
        try:
            return os.pread(self._fd, min(limit_bytes, self._size_bytes - at), at)
        except OSError:
            return b""

    def close(self) -> None:
        """Free the disk."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            self._spool.give_back(self._grown_bytes)

    def _grow(self, size_bytes: int) -> bool:
        more = size_bytes - self._grown_bytes
        if more <= 0:
            return True
        if not self._spool.take(more):
            return False
        self._grown_bytes = size_bytes
        return True


def _unnamed(place: str) -> int:
    """Open a file in a directory that no name leads to."""
    try:
        return os.open(place, os.O_TMPFILE | os.O_RDWR | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError:
        # Some file systems know no O_TMPFILE.
        fd, path = tempfile.mkstemp(prefix=".arenero-", dir=place)
        os.unlink(path)
        return fd
