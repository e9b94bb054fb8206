"""A FileService on a real directory, over a Unix socket, and a client of it."""

import os
import secrets
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import grpc

from arenero.api.execd.v1 import file_pb2, file_service_pb2_grpc
from arenero.api.execd.v1 import file_service_pb2 as api
from arenero.execd.accounts import Accounts
from arenero.execd.file_config import FileConfig
from arenero.execd.servicer.files import FileServicer
from arenero.execd.servicer.payloads import parse_write
from arenero.rpc.client import call, open_channel, stream
from arenero.rpc.server import RpcServer, RpcServerConfig
from arenero.rpc.status import from_rpc_error

TIMEOUT_S = 60.0


class FileClient:
    """Calls with a root and a user; errors are those that the server raised."""

    def __init__(self, stub: Any, root: bytes, as_user: str = "") -> None:
        self.stub = stub
        self.root = file_pb2.FileRoot(root=root, as_user=as_user)

    def acting_as(self, user: str) -> "FileClient":
        return FileClient(self.stub, self.root.root, user)

    def within(self, root: Path | bytes) -> "FileClient":
        return FileClient(self.stub, os.fsencode(root), self.root.as_user)

    async def call(self, method: str, **fields: Any) -> Any:
        request = getattr(api, f"{method}Request")(root=self.root, **fields)
        return await call(getattr(self.stub, method), request, timeout_s=TIMEOUT_S)

    def stream(self, method: str, **fields: Any) -> Any:
        request = getattr(api, f"{method}Request")(root=self.root, **fields)
        return stream(getattr(self.stub, method), request)

    async def all(self, method: str, **fields: Any) -> list[Any]:
        return [message async for message in self.stream(method, **fields)]

    async def read(self, path: bytes, **fields: Any) -> bytes:
        messages = await self.all("Read", path=path, **fields)
        assert messages[-1].end
        return b"".join(message.data for message in messages)

    async def write(self, path: bytes, content: bytes = b"", *, chunk: int = 1 << 20, **opening: Any) -> Any:
        chunks = [(at, content[at : at + chunk]) for at in range(0, len(content), chunk)]
        messages = [self.opening(path, **opening), *map(piece, chunks), finish(len(content), sha256(content).digest())]
        return await self.send(messages)

    def opening(self, path: bytes, **opening: Any) -> api.WriteRequest:
        return api.WriteRequest(open=api.WriteOpen(root=self.root, path=path, **opening))

    async def send(self, messages: Iterable[api.WriteRequest]) -> Any:
        return await answer_of(self.stub.Write(iter(messages), timeout=TIMEOUT_S))

    async def upload_archive(self, path: bytes, data: bytes, *, chunk: int = 1 << 20, **opening: Any) -> Any:
        messages = [api.UploadArchiveRequest(open=api.UploadArchiveOpen(root=self.root, path=path, **opening))]
        messages += [api.UploadArchiveRequest(data=data[at : at + chunk]) for at in range(0, len(data), chunk)]
        return await answer_of(self.stub.UploadArchive(iter(messages), timeout=TIMEOUT_S))


async def answer_of(running: Any) -> Any:
    """Await a call that is made once; its errors are those that the server raised."""
    try:
        return await running
    except grpc.RpcError as error:
        raise from_rpc_error(error) from error


def piece(chunk: tuple[int, bytes]) -> api.WriteRequest:
    return api.WriteRequest(offset=chunk[0], data=chunk[1])


def finish(size: int | None = None, checksum: bytes = b"") -> api.WriteRequest:
    return api.WriteRequest(finish=api.WriteFinish(size_bytes=size, sha256=checksum))


@asynccontextmanager
async def served(root: Path, config: FileConfig, etc: Path) -> AsyncIterator[FileClient]:
    """Serve the files below a directory."""

    async def everybody(method: str, metadata: object) -> None:
        return None

    socket = Path("/tmp") / f"arenero-test-{secrets.token_hex(6)}" / "s"
    server = RpcServer(RpcServerConfig(f"unix:{socket}"), authenticate=everybody)
    servicer = FileServicer(config, Accounts(str(etc)))
    server.add(file_service_pb2_grpc.add_FileServiceServicer_to_server, servicer, parsers={"Write": parse_write})
    await server.start()
    await server.health.set_serving(True)
    try:
        async with open_channel(f"unix:{socket}") as channel:
            yield FileClient(file_service_pb2_grpc.FileServiceStub(channel), os.fsencode(root))
    finally:
        await server.stop(0)
        await servicer.close()
        socket.unlink(missing_ok=True)
        socket.parent.rmdir()
