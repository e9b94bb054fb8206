"""From our values to messages: nothing is lost on the way."""

from __future__ import annotations

import pytest

from arenero.api.execd.v1 import exec_pb2
from arenero.api.execd.v1 import exec_service_pb2 as api
from arenero.execd import inventory
from arenero.execd.follow import Beat, StdinBroken
from arenero.execd.outcome import Cause, Ended, FailureKind, StartFailure, Usage
from arenero.execd.output import Chunk, Gap, Stream
from arenero.execd.servicer import frames


def test_time_keeps_its_nanoseconds() -> None:
    assert frames.timestamp(1_700_000_000_123_456_789).ToNanoseconds() == 1_700_000_000_123_456_789
    assert frames.duration(1.5).ToNanoseconds() == 1_500_000_000


def test_output_is_the_same_in_every_stream() -> None:
    chunk = Chunk(Stream.STDERR, 5, 9, b"\xff")
    expected = exec_pb2.OutputChunk(stream=exec_pb2.OUTPUT_STREAM_STDERR, offset=5, seq=9, data=b"\xff")
    assert frames.run_response(chunk) == api.RunResponse(output=expected).SerializeToString()
    assert frames.attach_response(chunk) == api.AttachResponse(output=expected).SerializeToString()
    assert frames.interact_response(chunk) == api.InteractResponse(output=expected).SerializeToString()


def test_rare_frames_have_their_own_fields() -> None:
    gap = frames.run_response(Gap(Stream.PTY, 1, 2)).gap
    assert (gap.stream, gap.from_offset, gap.to_offset) == (exec_pb2.OUTPUT_STREAM_PTY, 1, 2)
    beat = frames.attach_response(Beat(10**18, {Stream.STDOUT: 7}, running=True)).heartbeat
    assert (beat.time.ToNanoseconds(), beat.offsets[0].offset, beat.running) == (10**18, 7, True)
    assert frames.interact_response(StdinBroken()).stdin_broken


@pytest.mark.parametrize(
    ("end", "result"),
    [
        (Ended(exit_code=0), "exit_code"),
        (Ended(exit_code=255), "exit_code"),
        (Ended(signal=9, core_dumped=True), "signal"),
        (
            Ended(failure=StartFailure(FailureKind.LIMIT, "EAGAIN", "fork", "no"), cause=Cause.START_FAILED),
            "start_failure",
        ),
    ],
)
def test_end_says_which_kind_it_is(end: Ended, result: str) -> None:
    message = frames.run_response(end).ended
    assert message.WhichOneof("result") == result
    assert (message.exit_code, message.signal) == (end.exit_code or 0, end.signal or 0)
    assert int(message.cause) == end.cause
    assert not message.HasField("usage"), "unknown is not zero"


def test_end_carries_its_facts() -> None:
    end = Ended(
        exit_code=1,
        offsets={Stream.STDOUT: 10},
        dropped={Stream.STDOUT: 3},
        usage=Usage(1.5, 0.25, 4096, 1, 2, 3),
        started_ns=1,
        ended_ns=2,
        stdio_held_open=True,
        escapees_possible=True,
    )
    message = frames.ended(end)
    assert (message.final_offsets[0].offset, message.dropped[0].offset) == (10, 3)
    assert message.usage.user_time.ToNanoseconds() == 1_500_000_000
    assert message.usage.max_rss_bytes == 4096
    assert message.stdio_held_open
    assert message.escapees_possible


def test_process_and_port_are_shown() -> None:
    process = frames.process(inventory.Process(2, 1, 1000, "S", "sh", (b"sh", b"\xff"), 4096, 0.5, "id"))
    assert (process.pid, process.args[1], process.cpu_time.ToNanoseconds()) == (2, b"\xff", 500_000_000)
    port = frames.port(inventory.Port("tcp6", "::1", 80, 0))
    assert (port.protocol, port.address, port.port) == ("tcp6", "::1", 80)
