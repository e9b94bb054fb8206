"""Connections: how calls are spread over them."""

import grpc
import pytest

from arenero.api.lifecycle.v1 import sandbox_service_pb2
from arenero.api.lifecycle.v1.sandbox_service_pb2_grpc import SandboxServiceStub
from arenero.sdk._channels import Channels, metadata, unary
from arenero.sdk.errors import NotFound
from tests.unit.sdk.wire import Refused, WirePair


async def test_short_calls_have_a_channel_of_their_own(wires: WirePair) -> None:
    channels = Channels(wires.gateway.address)
    streams = {id(channels.stream()) for _ in range(20)}
    assert len(streams) == 4
    assert id(channels.short()) not in streams
    assert channels.short() is channels.short()
    await channels.close()


async def test_callables_are_made_once_per_channel(wires: WirePair) -> None:
    channels = Channels(wires.gateway.address)
    made = [channels.method(channels.short(), "a", object) for _ in range(2)]
    assert made[0] is made[1]
    assert channels.method(channels.stream(), "a", object) is not made[0]
    await channels.close()


async def test_closed_channels_open_again_when_used(wires: WirePair) -> None:
    channels = Channels(wires.gateway.address)
    for _ in range(2):
        stub = channels.method(channels.short(), "stub", lambda: SandboxServiceStub(channels.short()))
        await unary(stub.Get, sandbox_service_pb2.GetRequest())
        await channels.close()


async def test_unary_raises_the_typed_error(wires: WirePair) -> None:
    wires.gateway.on("Get", Refused(grpc.StatusCode.NOT_FOUND))
    async with grpc.aio.insecure_channel(wires.gateway.address) as channel:
        with pytest.raises(NotFound):
            await unary(SandboxServiceStub(channel).Get, sandbox_service_pb2.GetRequest())


def test_metadata_has_no_empty_values() -> None:
    assert metadata([("a", "1"), ("b", "")]) == (("a", "1"),)
