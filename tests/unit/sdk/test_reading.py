"""What a reader of an exec's output gets when connections break."""

import asyncio
from typing import Any

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from arenero.sdk import Exit, Gap, Output
from arenero.sdk.errors import FailedPrecondition, NotFound, OutcomeUnknown, StartFailed
from tests.unit.sdk.wire import (
    BROKEN,
    STDERR,
    Refused,
    WirePair,
    attach_ended,
    attached,
    detail,
    gap,
    more,
    out,
    places_of,
    run_ended,
    started,
    wire_pair,
)


async def frames_of(wires: WirePair, reconnect_s: float = 5.0) -> list[Output | Gap | Exit]:
    async with wires.sandbox(reconnect_s=reconnect_s) as sandbox:
        return [frame async for frame in sandbox.stream("true")]


def text_of(frames: list[Output | Gap | Exit], stream: str = "stdout") -> bytes:
    return b"".join(frame.data for frame in frames if isinstance(frame, Output) and frame.stream == stream)


async def test_broken_stream_goes_on_where_it_broke(wires: WirePair) -> None:
    wires.execd.on("Run", [started(), out(0, b"one"), out(0, b"err", STDERR), out(3, b"two"), BROKEN])
    wires.execd.on("Attach", [attached(), more(6, b"three"), attach_ended(stdout=11, stderr=3)])
    frames = await frames_of(wires)
    assert text_of(frames) == b"onetwothree"
    assert text_of(frames, "stderr") == b"err"
    assert isinstance(frames[-1], Exit)
    assert frames[-1].ok
    [call] = wires.execd.called("Attach")
    assert places_of(call.request.offsets.offsets) == {"stdout": 6, "stderr": 3, "pty": 0}
    assert call.request.exec_id == wires.execd.called("Run")[0].request.exec_id


async def test_command_runs_once_when_the_connection_breaks_before_its_first_frame(wires: WirePair) -> None:
    wires.execd.on("Run", BROKEN, [started(), out(0, b"x"), run_ended(stdout=1)])
    frames = await frames_of(wires)
    assert text_of(frames) == b"x"
    first, second = wires.execd.called("Run")
    assert first.request == second.request
    assert first.request.exec_id


async def test_end_without_end_frame_is_no_end(wires: WirePair) -> None:
    wires.execd.on("Run", [started(), out(0, b"part")])
    wires.execd.on("Attach", [attached(), more(4, b"rest"), attach_ended(3, stdout=8)])
    frames = await frames_of(wires)
    assert text_of(frames) == b"partrest"
    assert isinstance(frames[-1], Exit)
    assert frames[-1].exit_code == 3


async def test_outcome_is_unknown_when_no_connection_gets_to_the_end(wires: WirePair) -> None:
    wires.execd.on("Run", [started(), out(0, b"part")])
    wires.execd.on("Attach", [attached()])
    async with wires.sandbox(reconnect_s=0.3) as sandbox:
        frames = sandbox.stream("true")
        assert await anext(frames) == Output("stdout", b"part", 0)
        with pytest.raises(OutcomeUnknown, match="lost the connection to exec"):
            await anext(frames)


async def test_outcome_is_unknown_when_the_exec_is_forgotten_meanwhile(wires: WirePair) -> None:
    wires.execd.on("Run", [started(), BROKEN])
    wires.execd.on("Attach", Refused(grpc.StatusCode.NOT_FOUND, "no such exec", detail("EXEC_NOT_FOUND")))
    with pytest.raises(OutcomeUnknown, match="no such exec") as raised:
        await frames_of(wires)
    assert isinstance(raised.value.__cause__, NotFound)


async def test_refusal_is_raised_as_it_is_when_nothing_ran(wires: WirePair) -> None:
    wires.execd.on("Run", Refused(grpc.StatusCode.FAILED_PRECONDITION, "stopping", detail("STOPPING")))
    with pytest.raises(FailedPrecondition) as raised:
        await frames_of(wires)
    assert raised.value.reason == "STOPPING"
    assert len(wires.execd.called("Run")) == 1


async def test_start_failure_is_raised_with_all_it_tells(wires: WirePair) -> None:
    failure = exec_pb2.StartFailure(
        kind=exec_pb2.START_FAILURE_KIND_NOT_FOUND, errno_name="ENOENT", stage="execve", message="no such program"
    )
    wires.execd.on("Run", [exec_service_pb2.RunResponse(ended=exec_pb2.ExecEnded(start_failure=failure))])
    with pytest.raises(StartFailed, match="no such program") as raised:
        await frames_of(wires)
    assert (raised.value.kind, raised.value.errno_name, raised.value.stage) == ("NOT_FOUND", "ENOENT", "execve")


async def test_bytes_sent_again_are_shown_once(wires: WirePair) -> None:
    wires.execd.on("Run", [started(), out(0, b"abcdef"), BROKEN])
    wires.execd.on("Attach", [attached(), more(2, b"cdefgh"), more(0, b"abc"), more(8, b"!"), attach_ended(stdout=9)])
    frames = await frames_of(wires)
    assert text_of(frames) == b"abcdefgh!"
    assert not [frame for frame in frames if isinstance(frame, Gap)]


async def test_gap_is_told_when_the_platform_tells_it(wires: WirePair) -> None:
    wires.execd.on(
        "Run",
        [
            started(),
            out(0, b"ab"),
            exec_service_pb2.RunResponse(gap=gap(2, 100)),
            out(100, b"cd"),
            run_ended(stdout=102),
        ],
    )
    frames = await frames_of(wires)
    assert Gap("stdout", 2, 100) in frames
    assert text_of(frames) == b"abcd"


async def test_gap_is_told_when_bytes_are_missing_without_a_word(wires: WirePair) -> None:
    wires.execd.on("Run", [started(), out(0, b"ab"), out(5, b"f"), run_ended(stdout=9)])
    frames = await frames_of(wires)
    assert [frame for frame in frames if isinstance(frame, Gap)] == [Gap("stdout", 2, 5), Gap("stdout", 6, 9)]
    assert isinstance(frames[-1], Exit)


async def test_frames_and_streams_of_unknown_kind_are_left_out(wires: WirePair) -> None:
    unknown_frame = exec_service_pb2.RunResponse.FromString(b"\xa2\x06\x00")  # field 100
    wires.execd.on("Run", [started(), unknown_frame, out(0, b"?", 77), out(0, b"x"), run_ended(stdout=1)])
    frames = await frames_of(wires)
    assert text_of(frames) == b"x"
    assert len(frames) == 2


async def test_only_new_output_stays_new_when_resumed(wires: WirePair) -> None:
    wires.execd.on(
        "Attach",
        [attached(stdout=1000, stderr=50), BROKEN],
        [attached(stdout=1004, stderr=50), more(1000, b"late"), attach_ended(stdout=1004, stderr=50)],
    )
    async with wires.sandbox() as sandbox:
        frames = [frame async for frame in sandbox.process("x").output(only_new=True)]
    assert text_of(frames) == b"late"
    first, second = wires.execd.called("Attach")
    assert first.request.now
    assert places_of(second.request.offsets.offsets) == {"stdout": 1000, "stderr": 50}


async def test_last_bytes_begin_at_the_same_place_when_resumed(wires: WirePair) -> None:
    wires.execd.on(
        "Attach",
        [attached(stdout=1000), more(990, b"01234"), BROKEN],
        [attached(stdout=1000), more(995, b"56789"), attach_ended(stdout=1000)],
    )
    async with wires.sandbox() as sandbox:
        frames = [frame async for frame in sandbox.process("x").output(last_bytes=10)]
    assert text_of(frames) == b"0123456789"
    assert places_of(wires.execd.called("Attach")[1].request.offsets.offsets) == {"stdout": 995}


async def test_output_so_far_ends_without_an_end_when_it_still_runs(wires: WirePair) -> None:
    wires.execd.on("Attach", [attached(stdout=2), more(0, b"ab")])
    async with wires.sandbox() as sandbox:
        frames = [frame async for frame in sandbox.process("x").output(follow=False)]
    assert frames == [Output("stdout", b"ab", 0)]
    assert wires.execd.called("Attach")[0].request.no_follow


async def test_stream_goes_on_through_the_gateway_when_execd_is_out_of_reach(wires: WirePair) -> None:
    async def write_and_hang(request):
        yield started()
        yield out(0, b"direct, ")
        await asyncio.Event().wait()

    wires.execd.on("Run", write_and_hang)
    wires.gateway.on("Attach", [attached(), more(8, b"gateway"), attach_ended(stdout=15)])
    frames = []
    async with wires.sandbox() as sandbox:
        async for frame in sandbox.stream("true"):
            frames.append(frame)
            if len(frames) == 1:
                assert sandbox.is_direct
                await wires.execd.stop()
        assert not sandbox.is_direct
    assert text_of(frames) == b"direct, gateway"
    assert wires.gateway.called("Attach")[0].metadata["arenero-sandbox-id"] == sandbox.id


@settings(max_examples=12, deadline=None)
@given(
    content=st.binary(min_size=1, max_size=300),
    breaks=st.lists(st.integers(0, 300), max_size=4),
    overlap=st.integers(0, 5),
    chunk_bytes=st.integers(1, 64),
)
async def test_no_byte_is_lost_or_shown_twice_wherever_it_breaks(
    content: bytes, breaks: list[int], overlap: int, chunk_bytes: int
) -> None:
    places = iter(sorted(place % len(content) for place in breaks))

    def send_from(offset: int, message) -> list[Any]:
        stop = next(places, None)
        frames: list[Any] = []
        while offset < len(content):
            if stop is not None and offset >= stop:
                return [*frames, BROKEN]
            frames.append(message(offset, content[offset : offset + chunk_bytes]))
            offset += chunk_bytes
        return frames

    async def run(request):
        yield started()
        for frame in [*send_from(0, out), run_ended(stdout=len(content))]:
            if isinstance(frame, Refused):
                raise frame
            yield frame

    async def attach(request):
        yield attached()
        begin = max(0, places_of(request.offsets.offsets)["stdout"] - overlap)
        for frame in [*send_from(begin, more), attach_ended(stdout=len(content))]:
            if isinstance(frame, Refused):
                raise frame
            yield frame

    async with wire_pair() as wires:
        wires.execd.on("Run", run)
        wires.execd.on("Attach", attach)
        frames = await frames_of(wires)
    assert text_of(frames) == content
    assert not [frame for frame in frames if isinstance(frame, Gap)]
