"""Input of a process: at offsets, so that nothing is lost or given twice."""

import grpc
import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from arenero.sdk import Process
from arenero.sdk._stdin import Stdin
from arenero.sdk.errors import FailedPrecondition, OutcomeUnknown
from tests.unit.sdk.wire import BROKEN, Refused, WirePair, detail


class Input:
    """A process's input as execd keeps it: bytes below the acknowledged offset are ignored."""

    def __init__(self, *, already: bytes = b"", break_after: int | None = None) -> None:
        self.taken = bytearray(already)
        self.is_closed = False
        self.messages = 0
        self._break_after = break_after

    async def take(self, requests):
        async for request in requests:
            self.messages += 1
            skip = len(self.taken) - request.offset
            assert skip >= 0, "a hole in the input"
            self.taken.extend(request.data[skip:])
            self.is_closed |= request.end_of_file
            if self._break_after is not None and len(self.taken) >= self._break_after:
                self._break_after = None
                raise BROKEN
            yield exec_service_pb2.WriteStdinResponse(acknowledged_offset=len(self.taken), closed=request.end_of_file)


async def started_process(wires: WirePair, sandbox) -> Process:
    wires.execd.on(
        "Start",
        exec_service_pb2.StartResponse(started=exec_pb2.ExecStarted(exec=exec_pb2.Exec(exec_id="x", pid=9))),
    )
    process: Process = await sandbox.start("cat", stdin=True)
    return process


async def test_pieces_follow_one_another(wires: WirePair) -> None:
    stdin = Input()
    wires.execd.on("WriteStdin", stdin.take)
    async with wires.sandbox() as sandbox:
        process = await started_process(wires, sandbox)
        assert await process.write_stdin("one ") == 4
        assert await process.write_stdin(b"two", end=True) == 7
    assert bytes(stdin.taken) == b"one two"
    assert stdin.is_closed


async def test_much_is_sent_in_pieces(wires: WirePair) -> None:
    stdin = Input()
    wires.execd.on("WriteStdin", stdin.take)
    content = bytes(range(256)) * 5000
    async with wires.sandbox() as sandbox:
        process = await started_process(wires, sandbox)
        await process.write_stdin(content, end=True)
    assert bytes(stdin.taken) == content
    assert stdin.messages == 5
    assert stdin.is_closed


async def test_end_alone_is_sent(wires: WirePair) -> None:
    stdin = Input()
    wires.execd.on("WriteStdin", stdin.take)
    async with wires.sandbox() as sandbox:
        process = await started_process(wires, sandbox)
        assert await process.write_stdin(b"", end=True) == 0
    assert stdin.is_closed


async def test_input_goes_on_where_the_connection_broke(wires: WirePair) -> None:
    stdin = Input(break_after=300_000)
    wires.execd.on("WriteStdin", stdin.take)
    content = bytes(range(256)) * 4000
    async with wires.sandbox() as sandbox:
        process = await started_process(wires, sandbox)
        await process.write_stdin(content, end=True)
    assert bytes(stdin.taken) == content
    assert len(wires.execd.called("WriteStdin")) == 2
    assert stdin.is_closed


async def test_another_client_goes_on_after_what_was_sent_before(wires: WirePair) -> None:
    """Its bytes would be taken for a repetition of the first ones if it began at 0."""
    stdin = Input(already=b"by another ")
    wires.execd.on("WriteStdin", stdin.take)
    async with wires.sandbox() as sandbox:
        assert await sandbox.process("x").write_stdin(b"client") == 17
    assert bytes(stdin.taken) == b"by another client"


@pytest.mark.parametrize("how", ["broken_pipe", "closed"])
async def test_closed_input_is_an_error(wires: WirePair, how: str) -> None:
    async def refuse(requests):
        async for _ in requests:
            yield exec_service_pb2.WriteStdinResponse(acknowledged_offset=0, **{how: True})

    wires.execd.on("WriteStdin", refuse)
    async with wires.sandbox() as sandbox:
        process = await started_process(wires, sandbox)
        with pytest.raises(FailedPrecondition) as raised:
            await process.write_stdin(b"x")
    assert raised.value.reason == "STDIN_CLOSED"


async def test_refusal_while_sending_is_raised(wires: WirePair) -> None:
    wires.execd.on("WriteStdin", Refused(grpc.StatusCode.FAILED_PRECONDITION, "no input", detail("NO_STDIN")))
    async with wires.sandbox() as sandbox:
        process = await started_process(wires, sandbox)
        with pytest.raises(FailedPrecondition) as raised:
            await process.write_stdin(b"x" * 1_000_000)
    assert raised.value.reason == "NO_STDIN"


async def test_outcome_is_unknown_when_nothing_is_acknowledged(wires: WirePair) -> None:
    async def silent(requests):
        async for _ in requests:
            pass
        return
        yield

    wires.execd.on("WriteStdin", silent)
    async with wires.sandbox(reconnect_s=0.2) as sandbox:
        with pytest.raises(OutcomeUnknown, match="not acknowledged"):
            await Stdin(sandbox._plane, "x", offset=0).write(b"x")
