"""Local files in threads: nothing is lost, no file is closed too early, and nobody waits for a pipe."""

import asyncio
import io
import os
from pathlib import Path
from typing import Any

import pytest

from arenero.sdk._local_files import CHUNK_BYTES, Writing, pieces_of


async def test_file_is_read_to_its_end(tmp_path: Path) -> None:
    content = os.urandom(2 * CHUNK_BYTES + 3)
    path = tmp_path / "file"
    path.write_bytes(content)
    for buffering in (0, -1):
        with path.open("rb", buffering=buffering) as file:
            assert b"".join([piece async for piece in pieces_of(file)]) == content
    assert b"".join([piece async for piece in pieces_of(io.BytesIO(content))]) == content


async def test_reader_that_leaves_leaves_no_read_behind(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(3 * CHUNK_BYTES))
    with path.open("rb") as file:
        pieces: Any = pieces_of(file)
        assert len(await anext(pieces)) == CHUNK_BYTES
        await pieces.aclose()
        at = file.tell()
        await asyncio.sleep(0.02)
        assert file.tell() == at == 2 * CHUNK_BYTES, "one piece ahead, and no more"


async def test_reader_that_is_cancelled_does_not_wait_for_a_pipe() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(aiter(pieces_of(pipe))), 0.02)
        assert loop.time() - began_s < 5
        os.close(writing)


async def test_pieces_are_written_in_their_order(tmp_path: Path) -> None:
    pieces = [os.urandom(size) for size in (1, CHUNK_BYTES, 5, 3 * CHUNK_BYTES, 700_000, 2)]
    path = tmp_path / "file"
    with path.open("wb") as file:
        async with Writing(file) as writing:
            for piece in pieces:
                await writing.write(piece)
    assert path.read_bytes() == b"".join(pieces)


async def test_nothing_is_a_file_too(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as file:
        async with Writing(file):
            pass
    assert path.read_bytes() == b""


async def write_to(path: Path, pieces: list[bytes], then: Exception | None = None) -> None:
    with path.open("wb", buffering=0) as file:
        async with Writing(file) as writing:
            for piece in pieces:
                await writing.write(piece)
            if then is not None:
                raise then


async def test_full_disk_is_told() -> None:
    for pieces in ([b"x"], [bytes(CHUNK_BYTES)] * 3):
        with pytest.raises(OSError, match="No space"):
            await write_to(Path("/dev/full"), pieces)


async def test_what_is_being_written_ends_before_the_file_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(KeyError):
        await write_to(path, [bytes(CHUNK_BYTES)], then=KeyError())
    assert path.stat().st_size == CHUNK_BYTES
