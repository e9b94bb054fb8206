"""Connections to one address, as calls need them."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from arenero.errors import Unavailable
from arenero.gateway.proxy.pool import ChannelPool, PoolConfig
from tests.fixtures.upstream import Upstream, echo, serving

CONFIG = PoolConfig(calls_per_connection=2, max_connections=3, idle_s=0.2, patience_s=0.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "service.sock"


@pytest.fixture
async def pool(path: Path) -> AsyncIterator[ChannelPool]:
    pool = ChannelPool(f"unix:{path}", CONFIG, time.monotonic)
    yield pool
    await pool.close()


async def test_calls_share_a_connection_until_it_is_busy(pool: ChannelPool, path: Path) -> None:
    async with serving(Upstream(), path):
        lanes = [await pool.take() for _ in range(9)]
        assert pool.connections == 3
        assert pool.calls == 9
        assert sorted(lane.calls for lane in set(lanes)) == [3, 3, 3]
        for lane in lanes:
            pool.give_back(lane)
        assert pool.calls == 0


async def test_nobody_there_is_said_as_nothing_sent(pool: ChannelPool) -> None:
    began_s = time.monotonic()
    with pytest.raises(Unavailable) as caught:
        await pool.take()
    assert caught.value.reason == "NOT_SENT"
    assert time.monotonic() - began_s < 10
    with pytest.raises(Unavailable):
        await pool.take(patience_s=0)
    assert pool.calls == 0


async def test_service_that_comes_back_in_time_is_waited_for(pool: ChannelPool, path: Path) -> None:
    async with asyncio.TaskGroup() as group:
        taking = group.create_task(pool.take())
        await asyncio.sleep(0.1)
        async with serving(Upstream(), path):
            lane = await taking
            pool.give_back(lane)


async def test_idle_connections_are_closed_and_busy_ones_are_not(pool: ChannelPool, path: Path) -> None:
    async with serving(Upstream(Start=echo), path):
        busy, *idle = [await pool.take() for _ in range(4)]
        for lane in idle:
            pool.give_back(lane)
        await asyncio.sleep(0.3)
        await pool.close_idle()
        assert pool.connections == 1
        answer: bytes = await busy.channel.unary_unary("/any/Start")(b"x")  # type: ignore[arg-type]
        assert answer == b"x"
        await pool.retire()
        assert pool.connections == 1
        pool.give_back(busy)
        await pool.close_idle()
        assert pool.connections == 0
