"""Not waiting forever for the other side."""

import asyncio
import time

import grpc
import pytest

from arenero.api.execd.v1 import exec_service_pb2
from arenero.api.lifecycle.v1 import sandbox_service_pb2
from arenero.sdk import Exit
from arenero.sdk._deadline import Deadline
from arenero.sdk.errors import NO_ANSWER, DeadlineExceeded
from tests.unit.sdk.wire import SANDBOX_ID, Refused, WirePair, detail, out, run_ended, started


async def after(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "answer"


@pytest.mark.looptime
async def test_command_without_a_limit_is_waited_for() -> None:
    assert await Deadline().wait(after(10_000)) == "answer"


@pytest.mark.looptime
async def test_silence_after_the_limit_is_an_error(looptime) -> None:
    deadline = Deadline(60)
    with pytest.raises(DeadlineExceeded, match="the time limit of 60 s has passed") as raised:
        await deadline.wait(after(10_000))
    assert raised.value.reason == NO_ANSWER
    assert looptime == pytest.approx(60 + 2 + 0.5 + 10, abs=0.1)


@pytest.mark.looptime
async def test_what_a_command_is_left_after_its_limit_counts(looptime) -> None:
    with pytest.raises(DeadlineExceeded):
        await Deadline(1, kill_grace_s=30, drain_timeout_s=5).wait(after(10_000))
    assert looptime == pytest.approx(1 + 30 + 5 + 10, abs=0.1)


@pytest.mark.looptime
async def test_who_reads_slowly_gets_what_is_there() -> None:
    """Long after its end the output of a command is still to be had."""
    deadline = Deadline(1)
    assert await deadline.wait(after(0.5)) == "answer"
    await asyncio.sleep(1000)
    assert await deadline.wait(after(0)) == "answer"
    assert await deadline.wait(after(9)) == "answer"


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_SILENCE_S", "_KILL_GRACE_S", "_DRAIN_S"):
        monkeypatch.setattr(f"arenero.sdk._deadline.{name}", 0.05)


async def silent_after_output(request):
    yield started()
    yield out(0, b"x")
    await asyncio.Event().wait()


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize("direct", [True, False], ids=["direct", "gateway"])
async def test_command_of_a_silent_execd_ends_with_its_limit(wires: WirePair, direct: bool) -> None:
    (wires.execd if direct else wires.gateway).on("Run", silent_after_output)
    async with wires.sandbox(direct=direct) as sandbox:
        with pytest.raises(DeadlineExceeded) as raised:
            await sandbox.exec("x", timeout_s=0.05)
        assert raised.value.reason == NO_ANSWER
        with pytest.raises(DeadlineExceeded):
            _ = [frame async for frame in sandbox.stream("x", timeout_s=0.05)]


@pytest.mark.usefixtures("_soon")
async def test_process_and_terminal_of_a_silent_execd_end_with_the_limit(wires: WirePair) -> None:
    async def hang(request):
        await asyncio.Event().wait()
        return exec_service_pb2.StartResponse()

    async def nothing(requests):
        await asyncio.Event().wait()
        yield

    wires.execd.on("Start", exec_service_pb2.StartResponse(started={"exec": {"exec_id": "e"}}), hang)
    wires.execd.on("Wait", hang)
    wires.execd.on("Attach", nothing)
    wires.execd.on("Interact", nothing)
    async with wires.sandbox() as sandbox:
        process = await sandbox.start("x", timeout_s=0.05)
        for call in (process.wait(), process.result(), sandbox.start("y", timeout_s=0.05)):
            with pytest.raises(DeadlineExceeded):
                await call
        with pytest.raises(DeadlineExceeded):
            await sandbox.terminal("x", timeout_s=0.05)


@pytest.mark.usefixtures("_soon")
async def test_end_that_execd_tells_is_what_counts(wires: WirePair) -> None:
    wires.execd.on("Run", [started(), out(0, b"x"), run_ended(stdout=1)])
    async with wires.sandbox() as sandbox:
        frames = [frame async for frame in sandbox.stream("x", timeout_s=0.01)]
    assert isinstance(frames[-1], Exit)


async def test_platform_that_takes_a_call_and_says_nothing_is_an_error(wires: WirePair) -> None:
    async def hang(request):
        await asyncio.Event().wait()
        return sandbox_service_pb2.GetResponse()

    wires.gateway.on("Get", hang)
    async with wires.client(answer_s=0.1) as client:
        with pytest.raises(DeadlineExceeded, match=r"the platform has not answered within 0\.1 s") as raised:
            await client.get(SANDBOX_ID)
    assert (raised.value.reason, bool(raised.value.fix)) == (NO_ANSWER, True)


async def test_deadline_of_the_platforms_own_is_left_as_it_is(wires: WirePair) -> None:
    wires.gateway.on("Get", Refused(grpc.StatusCode.DEADLINE_EXCEEDED, "it took too long", detail("START_TIMEOUT")))
    async with wires.client() as client:
        with pytest.raises(DeadlineExceeded, match="it took too long") as raised:
            await client.get(SANDBOX_ID)
    assert raised.value.reason == "START_TIMEOUT"


async def test_events_that_do_not_come_are_an_error(wires: WirePair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arenero.sdk.client._FOLLOW_SILENCE_S", 0.1)

    async def nothing(request):
        await asyncio.Event().wait()
        yield

    wires.gateway.on("Replay", nothing)
    wires.gateway.on("Follow", nothing)
    began_s = time.monotonic()
    async with wires.client(answer_s=0.1) as client:
        for stream in (client.replay(), client.follow()):
            with pytest.raises(DeadlineExceeded):
                await anext(stream)
    assert time.monotonic() - began_s < 20
