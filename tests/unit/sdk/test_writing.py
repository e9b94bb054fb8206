"""Writes on a call that the server ends before it has read everything."""

import asyncio

import grpc
import pytest

from arenero.api.execd.v1 import file_service_pb2
from arenero.api.execd.v1.file_service_pb2_grpc import FileServiceStub
from arenero.sdk import errors
from arenero.sdk._writing import keep_status, write
from tests.unit.sdk.wire import Refused, WirePair, detail


@pytest.mark.parametrize("attempt", range(5))
async def test_status_of_the_server_survives_writes_that_fail(wires: WirePair, attempt: int) -> None:
    """Which of the two comes first is chance, so it is tried a few times."""
    wires.execd.on("Write", Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "disk full", detail("DISK_FULL")))
    chunk = file_service_pb2.WriteRequest(data=bytes(256 * 1024))
    async with grpc.aio.insecure_channel(wires.execd.address) as channel:
        call = FileServiceStub(channel).Write()
        async with asyncio.timeout(10):
            while await write(call, chunk):
                pass
        with pytest.raises(errors.ResourceExhausted) as raised, errors.typed():
            await call
    assert raised.value.reason == "DISK_FULL"


async def test_write_is_refused_when_the_call_is_over(wires: WirePair) -> None:
    wires.execd.on("Write", file_service_pb2.WriteResponse(received_bytes=3))
    async with grpc.aio.insecure_channel(wires.execd.address) as channel:
        call = FileServiceStub(channel).Write()
        assert await write(call, file_service_pb2.WriteRequest(data=b"x"))
        await call.done_writing()
        assert (await call).received_bytes == 3
        assert not await write(call, file_service_pb2.WriteRequest(data=b"x"))


async def test_status_is_made_up_when_none_comes(wires: WirePair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arenero.sdk._writing._STATUS_WAIT_S", 0.05)

    async def hang(requests):
        await asyncio.Event().wait()
        return file_service_pb2.WriteResponse()

    wires.execd.on("Write", hang)
    async with grpc.aio.insecure_channel(wires.execd.address) as channel:
        call = FileServiceStub(channel).Write()
        keep_status(call)
        await call.wait_for_connection()
        call._cython_call.set_internal_error("refused by Core")  # type: ignore[attr-defined]
        async with asyncio.timeout(10):
            assert await call.code() is grpc.StatusCode.INTERNAL
