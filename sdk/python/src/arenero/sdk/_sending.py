"""Streams of the file service: content in pieces on its way up, messages on their way down."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, BinaryIO, Final, TypeAlias

import grpc

from arenero.api.execd.v1 import file_service_pb2
from arenero.api.execd.v1.file_service_pb2_grpc import FileServiceStub
from arenero.sdk._local_files import CHUNK_BYTES, pieces_of
from arenero.sdk._payloads import parse_read, serialized
from arenero.sdk._plane import Plane, Way
from arenero.sdk._writing import end, write
from arenero.sdk.errors import Unauthenticated, Unavailable, typed

MESSAGE_BYTES: Final = 1024 * 1024
"""Sent at once. Each message costs both sides a quarter of a millisecond, besides what its bytes cost."""
_SERVICE: Final = f"/{file_service_pb2.DESCRIPTOR.services_by_name['FileService'].full_name}"
_ANSWERS: Final[Mapping[str, type[Any]]] = {
    "Write": file_service_pb2.WriteResponse,
    "UploadArchive": file_service_pb2.UploadArchiveResponse,
}
Content: TypeAlias = bytes | str | BinaryIO | Iterable[bytes] | AsyncIterable[bytes]


async def chunks_of(content: Content) -> AsyncIterator[bytes]:
    """Cut content into pieces. A file is read in a thread: it may be a pipe."""
    if isinstance(content, str):
        content = content.encode()
    if isinstance(content, bytes | bytearray | memoryview):
        view = memoryview(content).cast("B")
        for begin in range(0, len(view), CHUNK_BYTES):
            yield bytes(view[begin : begin + CHUNK_BYTES])
    elif isinstance(content, AsyncIterable):
        async for piece in content:
            async for chunk in chunks_of(piece):
                yield chunk
    elif hasattr(content, "read"):
        async for piece in pieces_of(content):
            yield piece.encode() if isinstance(piece, str) else piece
    else:
        for piece in content:
            async for chunk in chunks_of(piece):
                yield chunk


def slices(chunk: bytes) -> Iterator[memoryview]:
    """Cut a chunk into what one message carries."""
    view = memoryview(chunk)
    for begin in range(0, len(view) or 1, MESSAGE_BYTES):
        yield view[begin : begin + MESSAGE_BYTES]


async def send(plane: Plane, method: str, messages: AsyncGenerator[Any, None]) -> Any:
    """Send a stream of messages and return the answer. What `messages` raises comes out as it is."""
    try:
        async with plane.uploads:
            return await _send(await _connected(plane, method), messages)
    finally:
        await messages.aclose()


async def _send(call: Any, messages: AsyncGenerator[Any, None]) -> Any:
    try:
        async for message in messages:
            if not await write(call, message):
                break
        with typed():
            await end(call)
            return await call
    finally:
        call.cancel()


async def receive(plane: Plane, method: str, request: Any) -> AsyncIterator[Any]:
    """Stream the messages of an answer."""
    is_begun = False
    while True:
        way = await plane.stream()
        call = _receiver(way, method)(request, metadata=way.metadata)
        try:
            while (message := await _read(call)) is not None:
                is_begun = True
                yield message
            return
        except (Unavailable, Unauthenticated) as error:
            if is_begun or not plane.has_other(way, error):
                raise
        finally:
            call.cancel()


def _sender(way: Way, method: str) -> Any:
    """Return a method that takes a stream of messages, serialized or not."""

    def make(channel: Any) -> Any:
        return channel.stream_unary(
            f"{_SERVICE}/{method}", request_serializer=serialized, response_deserializer=_ANSWERS[method].FromString
        )

    return way.bulk(method, make)


def _receiver(way: Way, method: str) -> Any:
    """Return a method that answers with a stream; of `Read`, the content is read by hand."""
    if method != "Read":
        return way.method(FileServiceStub, method)

    def make(channel: Any) -> Any:
        return channel.unary_stream(
            f"{_SERVICE}/{method}",
            request_serializer=file_service_pb2.ReadRequest.SerializeToString,
            response_deserializer=parse_read,
        )

    return way.bulk(method, make)


async def _connected(plane: Plane, method: str) -> Any:
    """Open a call on a way that works: once content was taken from its source it can't be sent again."""
    while True:
        way = await plane.stream()
        call = _sender(way, method)(metadata=way.metadata)
        try:
            with typed():
                await call.wait_for_connection()
            return call
        except Unavailable as error:
            if not plane.has_other(way, error):
                raise


async def _read(call: Any) -> Any:
    """Return the next message; None at the end of the stream."""
    with typed():
        message = await call.read()
        return None if message is grpc.aio.EOF else message
