"""A server on each kind of address, and a channel to it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from arenero.api.events.v1 import event_service_pb2_grpc
from arenero.api.gateway.v1 import key_service_pb2_grpc
from arenero.api.lifecycle.v1 import sandbox_service_pb2_grpc
from arenero.rpc.client import open_channel
from arenero.rpc.identity import trust_metadata
from arenero.rpc.server import RpcServer, RpcServerConfig
from tests.integration.rpc.servicers import Sandboxes, new_keys


@pytest.fixture
async def sandboxes() -> Sandboxes:
    return Sandboxes()  # type: ignore[abstract]  # the rest stays unimplemented


@pytest.fixture(params=["unix", "tcp"])
async def server(request: pytest.FixtureRequest, tmp_path: Path, sandboxes: Sandboxes) -> AsyncIterator[RpcServer]:
    address = f"unix:{tmp_path}/run/test.sock" if request.param == "unix" else "127.0.0.1:0"
    server = RpcServer(RpcServerConfig(address), authenticate=trust_metadata)
    server.add(key_service_pb2_grpc.add_KeyServiceServicer_to_server, new_keys())
    nothing = event_service_pb2_grpc.EventServiceServicer()  # type: ignore[abstract]
    server.add(event_service_pb2_grpc.add_EventServiceServicer_to_server, nothing)
    server.add(sandbox_service_pb2_grpc.add_SandboxServiceServicer_to_server, sandboxes)
    await server.start()
    await server.health.set_serving(True)
    yield server
    await server.stop(0)


@pytest.fixture
async def channel(server: RpcServer) -> AsyncIterator[grpc.aio.Channel]:
    async with open_channel(server.address) as channel:
        yield channel


@pytest.fixture
def keys(channel: grpc.aio.Channel) -> Any:
    return key_service_pb2_grpc.KeyServiceStub(channel)


@pytest.fixture
def watch(channel: grpc.aio.Channel) -> Any:
    return sandbox_service_pb2_grpc.SandboxServiceStub(channel).Watch
