"""What execd answers for, and that what nobody calls is never made."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from arenero.api.execd.v1 import code_service_pb2, lease_service_pb2
from arenero.api.execd.v1.code_service_pb2_grpc import CodeServiceStub
from arenero.api.execd.v1.lease_service_pb2_grpc import LeaseServiceServicer, LeaseServiceStub
from arenero.execd.servicer.registering import register
from arenero.rpc.client import open_channel
from arenero.rpc.server import RpcServer, RpcServerConfig

SERVICES = {"ExecService", "FileService", "LeaseService", "CodeService", "IsolationService"}


class Lease(LeaseServiceServicer):
    async def Shutdown(self, request: Any, context: Any) -> lease_service_pb2.ShutdownResponse:  # noqa: N802
        return lease_service_pb2.ShutdownResponse()


@pytest.fixture
def made() -> list[str]:
    return []


@pytest.fixture
async def channel(tmp_path: Path, made: list[str]) -> AsyncIterator[grpc.aio.Channel]:
    def never() -> Any:
        raise AssertionError("nobody has called it")

    def lease() -> Any:
        made.append("lease")
        return Lease()  # type: ignore[abstract]  # the rest stays unimplemented

    async def anybody(method: str, metadata: Any) -> None:
        return None

    server = RpcServer(RpcServerConfig(f"unix:{tmp_path}/s"), authenticate=anybody)
    register(server, execs=never, files=never, lease=lease)
    assert {name.rpartition(".")[2] for name in server.services} == SERVICES
    await server.start()
    await server.health.set_serving(True)
    async with open_channel(server.address) as channel:
        yield channel
    await server.stop(0)


async def test_service_is_made_once_when_it_is_called(channel: grpc.aio.Channel, made: list[str]) -> None:
    assert made == []
    for _ in range(3):
        await LeaseServiceStub(channel).Shutdown(lease_service_pb2.ShutdownRequest())
    assert made == ["lease"]


async def test_what_there_is_not_is_answered_with_a_reason(channel: grpc.aio.Channel) -> None:
    with pytest.raises(grpc.aio.AioRpcError, match="no code contexts") as caught:
        await CodeServiceStub(channel).ListLanguages(code_service_pb2.ListLanguagesRequest())
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
