"""Writes on a call that the server ends before it has read everything."""

import asyncio

import grpc
import pytest

from arenero.api.execd.v1 import exec_service_pb2, file_service_pb2
from arenero.api.execd.v1.exec_service_pb2_grpc import ExecServiceStub
from arenero.api.execd.v1.file_service_pb2_grpc import FileServiceStub
from arenero.sdk import errors
from arenero.sdk._writing import write
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


async def test_messages_before_the_status_are_not_waited_for(wires: WirePair) -> None:
    """The status comes after them, and who waits for it before reading them waits forever."""
    answers = [exec_service_pb2.WriteStdinResponse(acknowledged_offset=number) for number in range(3)]
    wires.execd.on("WriteStdin", answers)
    async with grpc.aio.insecure_channel(wires.execd.address) as channel, asyncio.timeout(10):
        call = ExecServiceStub(channel).WriteStdin()
        while await write(call, exec_service_pb2.WriteStdinRequest(data=bytes(256 * 1024))):
            pass
        read = []
        while (answer := await call.read()) is not grpc.aio.EOF:
            read.append(answer)
        assert read == answers
        assert await call.code() is grpc.StatusCode.OK
