"""Which way data calls go: straight to execd, or through the gateway."""

import asyncio
import time

import grpc
import pytest

from arenero.api.execd.v1 import exec_service_pb2
from arenero.api.lifecycle.v1 import sandbox_service_pb2
from arenero.sdk import Sandbox
from arenero.sdk._plane import Patience, endpoint_of
from arenero.sdk.errors import NotFound, Unauthenticated
from tests.unit.sdk.wire import Refused, WirePair, detail, record

PORTS = exec_service_pb2.ListPortsResponse()
REFUSED_TOKEN = Refused(grpc.StatusCode.UNAUTHENTICATED, "the token is too old", detail("TOKEN_EXPIRED"))


def found(wires: WirePair, token: str, ttl_s: float | None = 3600.0) -> sandbox_service_pb2.GetEndpointResponse:
    return sandbox_service_pb2.GetEndpointResponse(endpoint=wires.endpoint(token, ttl_s))


async def test_call_goes_straight_to_execd_with_its_token(wires: WirePair) -> None:
    wires.execd.on("ListPorts", PORTS)
    async with wires.sandbox() as sandbox:
        await sandbox.ports()
        await sandbox.ports()
        assert sandbox.is_direct
    first, _ = wires.execd.called("ListPorts")
    assert first.metadata["authorization"] == "Bearer token-1"
    assert "arenero-sandbox-id" not in first.metadata
    assert len(wires.gateway.called("GetEndpoint")) == 1


async def test_endpoint_that_came_with_the_creation_is_used(wires: WirePair) -> None:
    wires.execd.on("ListPorts", PORTS)
    wires.gateway.on("Create", sandbox_service_pb2.CreateResponse(sandbox=record(), execd=wires.endpoint("created")))
    async with wires.client() as client, Sandbox.create(client=client) as sandbox:
        await sandbox.ports()
    assert wires.execd.called("ListPorts")[0].metadata["authorization"] == "Bearer created"
    assert not wires.gateway.called("GetEndpoint")


async def test_call_goes_through_the_gateway_when_that_is_wanted(wires: WirePair) -> None:
    wires.gateway.on("ListPorts", PORTS)
    async with wires.sandbox(direct=False) as sandbox:
        await sandbox.ports()
        assert not sandbox.is_direct
    [call] = wires.gateway.called("ListPorts")
    assert call.metadata["authorization"] == "Bearer key-1"
    assert call.metadata["arenero-sandbox-id"] == sandbox.id
    assert not wires.gateway.called("GetEndpoint")


async def test_call_goes_through_the_gateway_when_the_socket_is_not_here(wires: WirePair) -> None:
    wires.gateway.on("ListPorts", PORTS)
    wires.gateway.on(
        "GetEndpoint",
        sandbox_service_pb2.GetEndpointResponse(
            endpoint=sandbox_service_pb2.Endpoint(address="10.0.0.3:44772", token="t")
        ),
    )
    async with wires.sandbox() as sandbox:
        await sandbox.ports()
        assert not sandbox.is_direct


async def test_call_goes_through_the_gateway_when_execd_does_not_answer(wires: WirePair) -> None:
    """The socket's file is there, its server isn't: what a crash leaves."""
    await wires.execd.stop()
    wires.execd.path.touch()
    wires.gateway.on("ListPorts", PORTS)
    async with wires.sandbox() as sandbox:
        await sandbox.ports()
        await sandbox.ports()
        assert not sandbox.is_direct
    assert len(wires.gateway.called("ListPorts")) == 2
    assert len(wires.gateway.called("GetEndpoint")) == 1


async def test_call_goes_through_the_gateway_when_the_endpoint_is_not_to_be_had(wires: WirePair) -> None:
    """A sandbox that sleeps has none; the gateway wakes it."""
    wires.gateway.on("GetEndpoint", Refused(grpc.StatusCode.FAILED_PRECONDITION, "paused", detail("NOT_RUNNING")))
    wires.gateway.on("ListPorts", PORTS)
    async with wires.sandbox() as sandbox:
        await sandbox.ports()
    assert wires.gateway.called("ListPorts")


async def test_error_is_raised_when_there_is_no_such_sandbox(wires: WirePair) -> None:
    wires.gateway.on("GetEndpoint", Refused(grpc.StatusCode.NOT_FOUND, "gone", detail("SANDBOX_NOT_FOUND")))
    async with wires.sandbox() as sandbox:
        with pytest.raises(NotFound, match="gone"):
            await sandbox.ports()


async def test_token_is_renewed_before_it_ends(wires: WirePair) -> None:
    wires.gateway.on("GetEndpoint", found(wires, "old", ttl_s=30), found(wires, "new"))
    wires.execd.on("ListPorts", PORTS)
    async with wires.sandbox() as sandbox:
        for _ in range(3):
            await sandbox.ports()
    tokens = [call.metadata["authorization"] for call in wires.execd.called("ListPorts")]
    assert tokens == ["Bearer old", "Bearer new", "Bearer new"]


async def test_token_is_used_to_its_end_when_it_can_not_be_renewed(wires: WirePair) -> None:
    wires.gateway.on("GetEndpoint", found(wires, "old", ttl_s=30), Refused(grpc.StatusCode.UNAVAILABLE, "down"))
    wires.execd.on("ListPorts", PORTS)
    async with wires.sandbox() as sandbox:
        await sandbox.ports()
        await sandbox.ports()
        assert sandbox.is_direct
    assert len(wires.execd.called("ListPorts")) == 2


async def test_token_is_renewed_when_execd_refuses_it(wires: WirePair) -> None:
    wires.gateway.on("GetEndpoint", found(wires, "old"), found(wires, "new"))
    wires.execd.on("ListPorts", REFUSED_TOKEN, PORTS)
    async with wires.sandbox() as sandbox:
        await sandbox.ports()
        assert sandbox.is_direct
    assert [call.metadata["authorization"] for call in wires.execd.called("ListPorts")] == ["Bearer old", "Bearer new"]


async def test_gateway_is_asked_when_execd_refuses_every_token(wires: WirePair) -> None:
    wires.execd.on("ListPorts", REFUSED_TOKEN)
    wires.gateway.on(
        "ListPorts", Refused(grpc.StatusCode.UNAUTHENTICATED, "that key is revoked", detail("KEY_REVOKED"))
    )
    async with wires.sandbox() as sandbox:
        with pytest.raises(Unauthenticated, match="that key is revoked"):
            await sandbox.ports()
    assert len(wires.execd.called("ListPorts")) == 2


async def test_endpoint_is_asked_for_once_when_many_calls_begin_at_once(wires: WirePair) -> None:
    wires.execd.on("ListPorts", PORTS)
    async with wires.sandbox() as sandbox:
        await asyncio.gather(*(sandbox.ports() for _ in range(50)))
    assert len(wires.gateway.called("GetEndpoint")) == 1
    assert len(wires.execd.called("ListPorts")) == 50


async def test_call_that_changes_nothing_is_repeated_when_the_connection_breaks(wires: WirePair) -> None:
    wires.execd.on("ListPorts", Refused(grpc.StatusCode.UNAVAILABLE, "Socket closed"), PORTS)
    async with wires.sandbox() as sandbox:
        await sandbox.ports()


@pytest.mark.asyncio(loop_scope="function")
@pytest.mark.looptime
async def test_patience_waits_longer_each_time_and_ends_in_time() -> None:
    loop = asyncio.get_running_loop()
    patience, began_s, waits_s = Patience(100.0), loop.time(), []
    for _ in range(6):
        assert await patience.is_left()
        waits_s.append(round(loop.time() - began_s, 1))
        began_s = loop.time()
    assert waits_s == [0.1, 0.2, 0.4, 0.8, 1.6, 2.0]


async def test_patience_is_at_its_end_when_the_next_wait_would_be_too_long() -> None:
    patience = Patience(0.05)
    assert not await patience.is_left()
    patience.renew()
    assert not await Patience(10.0).is_left(at_least_s=60.0)


def test_endpoint_of_unknown_end_is_renewed_soon() -> None:
    assert 60 < endpoint_of("unix:/x", "t", None).expires_at_s - time.time() < 3600


def test_token_is_not_shown() -> None:
    assert "secret" not in repr(endpoint_of("unix:/x", "secret", 0.0))
