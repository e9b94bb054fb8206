"""Local files, read and written in threads while the event loop moves what was read or is to be written."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

CHUNK_BYTES: Final = 4 * 1024 * 1024
"""Handed to a thread at once: that costs as much for a byte as for all of them."""


async def pieces_of(file: Any) -> AsyncIterator[Any]:
    """Read a file to its end. Of a regular one the next piece is read already while the last one is used."""
    if not _is_regular(file):
        while piece := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield piece
        return
    loop = asyncio.get_running_loop()
    reading = loop.run_in_executor(None, file.read, CHUNK_BYTES)
    try:
        while piece := await _done(reading):
            reading = loop.run_in_executor(None, file.read, CHUNK_BYTES)
            yield piece
    finally:
        await _left(reading)


class Writing:
    """Writes pieces to a file. What failed is raised by one of the next calls or at the end. Use as `async with`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._pieces: list[bytes] = []
        self._size_bytes = 0
        self._writing: asyncio.Future[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            await self._begin()
            await self._written()
        elif self._writing is not None:
            await _left(self._writing)

    async def write(self, piece: bytes) -> None:
        """Take a piece; waits while there is much to be written already."""
        self._pieces.append(piece)
        self._size_bytes += len(piece)
        if self._size_bytes >= CHUNK_BYTES:
            await self._begin()

    async def _begin(self) -> None:
        await self._written()
        self._writing = asyncio.get_running_loop().run_in_executor(None, self._file.writelines, self._pieces)
        self._pieces, self._size_bytes = [], 0

    async def _written(self) -> None:
        if self._writing is not None:
            await _done(self._writing)
            self._writing = None


async def _done(work: asyncio.Future[Any]) -> Any:
    """Return what a thread's work gave. Unlike an await of itself, being cancelled doesn't forget it."""
    await asyncio.wait([work])
    return work.result()


async def _left(work: asyncio.Future[Any]) -> None:
    """Let a thread come to the end of its work, however that is, so that its file can be closed."""
    await asyncio.wait([work])
    work.exception()


def _is_regular(file: Any) -> bool:
    """Whether a file is one whose reads end soon."""
    try:
        return stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    except (AttributeError, OSError, ValueError):
        return False
