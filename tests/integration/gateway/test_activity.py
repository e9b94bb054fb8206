"""Calls into a sandbox are use of it, and the activity log says so."""

import asyncio

from arenero.bus.envelope import unpack
from arenero.bus.nats import NatsEventLog
from arenero.bus.streams import STREAMS
from arenero.bus.subjects import Kind
from tests.fixtures.upstream import echo, hang
from tests.integration.gateway.conftest import Stage
from tests.integration.gateway.proxy.test_relay import RUN, START


async def kinds(stage: Stage) -> set[str]:
    log = NatsEventLog(stage.platform, STREAMS[Kind.ACTIVITY])
    entries = await log.history(f"activity.default.{stage.sandbox_id}.>")
    return {str(unpack(entry).activity.WhichOneof("kind")) for entry in entries}


async def test_calls_and_open_streams_are_activity(stage: Stage) -> None:
    stage.execd.scripts["Run"] = hang
    stream = stage.answers(RUN)(b"", metadata=stage.metadata())
    await stream.read()
    async with asyncio.timeout(5):
        while await kinds(stage) != {"endpoint_accessed", "streams_open"}:
            await asyncio.sleep(0.02)
    stream.cancel()


async def test_looking_is_none(stage: Stage) -> None:
    stage.execd.scripts.update(Hello=echo, Start=echo)
    await stage.unary("/arenero.api.execd.v1.ExecService/Hello")(b"", metadata=stage.metadata())
    await asyncio.sleep(0.3)
    assert await kinds(stage) == set()
    await stage.unary(START)(b"", metadata=stage.metadata())
    async with asyncio.timeout(5):
        while not await kinds(stage):
            await asyncio.sleep(0.02)
