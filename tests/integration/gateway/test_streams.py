"""Many streams, slow readers, broken connections: what the gateway does when it is not about one call."""

import asyncio
import time
from dataclasses import replace
from typing import Any

import grpc
import pytest

from arenero.api.common.v1 import error_pb2
from arenero.gateway.config import GatewayConfig
from tests.fixtures.upstream import EOF, hang
from tests.integration.gateway.conftest import Stage
from tests.integration.gateway.proxy.test_relay import RUN, WATCH, collected, detail_of

MIB = 1024 * 1024


async def test_150_streams_on_one_channel_start_within_a_second_and_delay_nobody(stage: Stage) -> None:
    """Case 77: the hundred-and-first stream must not wait for one of the others to end."""
    ticking = asyncio.Event()

    async def watch(context: Any) -> None:
        while True:
            await ticking.wait()
            ticking.clear()
            await context.write(repr(time.perf_counter()).encode())

    stage.execd.scripts["Run"] = hang
    stage.lifecycle.scripts["Watch"] = watch
    began_s = time.perf_counter()
    streams = [stage.answers(RUN)(b"", metadata=stage.metadata()) for _ in range(150)]
    events = stage.answers(WATCH)(b"", metadata=stage.metadata())
    assert await asyncio.gather(*(stream.read() for stream in streams)) == [b"first"] * 150
    assert time.perf_counter() - began_s < 1.0
    delays_s = []
    for _ in range(20):
        ticking.set()
        delays_s.append(await delay_s(events))
    assert sorted(delays_s)[10] < 0.1
    for stream in streams:
        stream.cancel()


async def delay_s(events: Any) -> float:
    sent_s = float(await events.read())
    return time.perf_counter() - sent_s


async def test_1000_streams_at_once(stage: Stage) -> None:
    stage.execd.scripts["Run"] = hang
    streams = [stage.answers(RUN)(b"", metadata=stage.metadata()) for _ in range(1000)]
    assert await asyncio.wait_for(asyncio.gather(*(stream.read() for stream in streams)), 30) == [b"first"] * 1000
    for stream in streams:
        stream.cancel()
    await asyncio.wait_for(asyncio.gather(*(seen.ended.wait() for seen in stage.execd.calls)), 30)


async def test_slow_reader_stops_the_writer(stage: Stage) -> None:
    """What is written and not read must be somewhere: in windows of bounded size, not in the gateway's memory."""
    written = 0

    async def flood(context: Any) -> None:
        nonlocal written
        while True:
            await context.write(bytes(MIB // 4))
            written += MIB // 4

    stage.execd.scripts["Run"] = flood
    stream = stage.answers(RUN)(b"", metadata=stage.metadata())
    await stream.read()
    before = -1
    async with asyncio.timeout(30):
        while before != written:
            before = written
            await asyncio.sleep(0.5)
    assert written < 64 * MIB
    # It goes on where it stopped as soon as somebody reads.
    for _ in range(400):
        assert len(await stream.read()) == MIB // 4
    assert written > before
    stream.cancel()


async def test_slow_writer_of_requests_is_stopped_too(stage: Stage) -> None:
    async def deaf(context: Any) -> None:
        await context.read()
        await asyncio.Event().wait()

    stage.execd.scripts["Write"] = deaf
    call: Any = stage.channel.stream_stream("/arenero.api.execd.v1.FileService/Write")(metadata=stage.metadata())
    written = 0

    async def write() -> None:
        nonlocal written
        while written < 256 * MIB:
            await call.write(bytes(MIB // 4))
            written += MIB // 4

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(write(), 3)
    assert written < 64 * MIB
    call.cancel()


async def test_stalled_stream_does_not_hold_up_another(stage: Stage) -> None:
    async def flood(context: Any) -> None:
        while True:
            await context.write(bytes(MIB // 4))

    async def echo_once(context: Any) -> None:
        await context.write(await context.read())

    stage.execd.scripts.update(Run=flood, Start=echo_once)
    stalled = stage.answers(RUN)(b"", metadata=stage.metadata())
    await stalled.read()
    await asyncio.sleep(0.5)
    unary = stage.unary("/arenero.api.execd.v1.ExecService/Start")
    for _ in range(10):
        assert await asyncio.wait_for(unary(b"hello", metadata=stage.metadata()), 2) == b"hello"
    stalled.cancel()


@pytest.mark.parametrize("frames", [0, 1, 3])
async def test_broken_stream_is_never_a_success(stage: Stage, frames: int) -> None:
    """Case 10, a thousand times over all variants: the connection to execd breaks after some frames."""
    ready = asyncio.Semaphore(0)

    async def run(context: Any) -> None:
        for number in range(frames):
            await context.write(b"frame %d" % number)
        ready.release()
        await asyncio.Event().wait()

    stage.execd.scripts["Run"] = run
    for _ in range(334):
        stream = stage.answers(RUN)(b"", metadata=stage.metadata())
        await asyncio.wait_for(ready.acquire(), 10)
        stage.cable.cut()
        received: list[bytes] = []
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await asyncio.wait_for(read_into(received, stream), 10)
        assert caught.value.code() not in (grpc.StatusCode.OK, grpc.StatusCode.CANCELLED)
        # Not even 'not sent': execd had it.
        assert detail_of(caught.value).outcome == error_pb2.OUTCOME_UNKNOWN
        assert received == [b"frame %d" % number for number in range(len(received))]


async def read_into(received: list[bytes], stream: Any) -> None:
    while (message := await stream.read()) is not EOF:
        received.append(message)


async def test_end_without_a_status_is_never_a_success(stage: Stage) -> None:
    """execd dies the moment after its last frame: all the output is there, and yet it is no success."""

    async def run(context: Any) -> None:
        await context.read()
        await context.write(b"all there is")
        await asyncio.sleep(0.02)
        stage.cable.cut()
        await asyncio.Event().wait()

    stage.execd.scripts["Run"] = run
    stream = stage.answers(RUN)(b"", metadata=stage.metadata())
    assert await stream.read() == b"all there is"
    with pytest.raises(grpc.aio.AioRpcError):
        await collected(stream)


class TestIdle:
    @pytest.fixture
    def gateway_config(self, gateway_config: GatewayConfig) -> GatewayConfig:
        return replace(gateway_config, pool=replace(gateway_config.pool, idle_s=0.5))

    async def test_idle_connection_is_closed_and_opened_again(self, stage: Stage) -> None:
        async def answer(context: Any) -> None:
            await context.write(await context.read())

        stage.execd.scripts["Start"] = answer
        unary = stage.unary("/arenero.api.execd.v1.ExecService/Start")
        assert await unary(b"1", metadata=stage.metadata()) == b"1"
        assert stage.cable.open_connections == 1
        async with asyncio.timeout(10):
            while stage.cable.open_connections:
                await asyncio.sleep(0.05)
        assert await unary(b"2", metadata=stage.metadata()) == b"2"
        assert stage.cable.connections == 2


async def test_busy_sandbox_gets_more_connections_but_not_without_end(stage: Stage) -> None:
    stage.execd.scripts["Run"] = hang
    streams = [stage.answers(RUN)(b"", metadata=stage.metadata()) for _ in range(200)]
    await asyncio.gather(*(stream.read() for stream in streams))
    assert 1 < stage.cable.connections <= 4
    for stream in streams:
        stream.cancel()
