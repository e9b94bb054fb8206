"""Streams of the file service on the ways there are."""

import asyncio
import os

import pytest

from arenero.api.execd.v1 import file_service_pb2
from arenero.sdk._local_files import CHUNK_BYTES
from arenero.sdk._sending import MESSAGE_BYTES, chunks_of, slices
from tests.unit.sdk.wire import WirePair


async def collected(content) -> list[bytes]:
    return [chunk async for chunk in chunks_of(content)]


async def test_large_content_is_cut() -> None:
    sizes = [len(chunk) for chunk in await collected(bytes(CHUNK_BYTES + 1))]
    assert sizes == [CHUNK_BYTES, 1]


def test_messages_are_small_and_lose_nothing() -> None:
    for size in (0, 1, MESSAGE_BYTES, MESSAGE_BYTES + 1, CHUNK_BYTES):
        chunk = os.urandom(size)
        assert b"".join(slices(chunk)) == chunk
        assert max(len(piece) for piece in slices(chunk)) <= MESSAGE_BYTES


async def test_views_of_wider_items_are_sent_as_their_bytes() -> None:
    assert await collected(memoryview(b"\1\2\3\4").cast("H")) == [b"\1\2\3\4"]


async def test_pipe_that_has_nothing_yet_does_not_stop_the_rest() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(collected(pipe))
            await asyncio.sleep(0.05)  # this would not come back if the loop were stopped
            os.write(writing, b"late")
            os.close(writing)
    assert waiting.result() == [b"late"]


async def test_upload_takes_the_way_that_works_before_it_takes_content(wires: WirePair) -> None:
    """A source can be read only once."""
    await wires.execd.stop()
    wires.execd.path.touch()
    taken = bytearray()

    async def take(requests):
        async for request in requests:
            taken.extend(request.data)
        return file_service_pb2.UploadArchiveResponse(entries=1)

    wires.gateway.on("UploadArchive", take)
    async with wires.sandbox() as sandbox:
        await sandbox.files.upload_archive(iter([b"once"]), "d")
    assert bytes(taken) == b"once"


async def test_download_takes_the_way_that_works(wires: WirePair) -> None:
    await wires.execd.stop()
    wires.execd.path.touch()
    wires.gateway.on("Read", [file_service_pb2.ReadResponse(data=b"x", end=True)])
    async with wires.sandbox() as sandbox:
        assert await sandbox.files.read("x") == b"x"


async def test_leaving_a_download_ends_its_call(wires: WirePair) -> None:
    ended = asyncio.Event()

    async def endless(request):
        try:
            while True:
                yield file_service_pb2.ReadResponse(data=b"x")
                await asyncio.sleep(0)
        finally:
            ended.set()

    wires.execd.on("Read", endless)
    async with wires.sandbox() as sandbox:
        stream = sandbox.files.read_stream("x")
        assert await anext(stream) == b"x"
        await stream.aclose()  # type: ignore[attr-defined]
        async with asyncio.timeout(10):
            await ended.wait()
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
