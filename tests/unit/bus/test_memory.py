"""What the in-memory log has beyond the contract: time that can be moved, and being away."""

import asyncio

import pytest

from arenero.bus.log import DUPLICATE_WINDOW_S, Appended
from arenero.bus.memory import MemoryEventLog
from arenero.errors import Unavailable
from arenero.testing.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def log(clock: ManualClock) -> MemoryEventLog:
    return MemoryEventLog("sandbox.>", clock=clock)


async def test_message_ids_are_forgotten_after_the_window(log: MemoryEventLog, clock: ManualClock) -> None:
    first = await log.publish("sandbox.a.b.c", b"", message_id="m")
    clock.advance(DUPLICATE_WINDOW_S)
    assert await log.publish("sandbox.a.b.c", b"", message_id="m") == Appended(first.sequence, duplicate=True)
    clock.advance(1)
    assert await log.publish("sandbox.a.b.c", b"", message_id="m") == Appended(first.sequence + 1)


async def test_guarded_repeat_is_known_after_the_window_too(log: MemoryEventLog, clock: ManualClock) -> None:
    async def append() -> Appended:
        return await log.append("sandbox.a.b.c", b"", key_filter="sandbox.a.b.>", expected_revision=0, message_id="m")

    first = await append()
    clock.advance(DUPLICATE_WINDOW_S * 10)
    assert await append() == Appended(first.sequence, duplicate=True)


async def test_entries_have_the_clocks_time(log: MemoryEventLog, clock: ManualClock) -> None:
    clock.advance(5)
    await log.publish("sandbox.a.b.c", b"", message_id="m")
    entry = await log.last("sandbox.a.b.>")
    assert entry is not None
    assert entry.time == clock.now()


async def test_log_that_is_away_refuses_and_forgets_nothing(log: MemoryEventLog) -> None:
    await log.publish("sandbox.a.b.c", b"", message_id="m1")
    log.go_away()
    with pytest.raises(Unavailable):
        await log.publish("sandbox.a.b.c", b"", message_id="m2")
    with pytest.raises(Unavailable):
        await log.last("sandbox.>")
    with pytest.raises(Unavailable):
        await log.follow("sandbox.>")
    await log.come_back()
    assert [entry.message_id for entry in await log.history("sandbox.>")] == ["m1"]


async def test_follower_waits_while_the_log_is_away(log: MemoryEventLog) -> None:
    entries = await log.follow("sandbox.>", from_sequence=1)
    await log.publish("sandbox.a.b.c", b"", message_id="m1")
    log.go_away()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await anext(entries)
    await log.come_back()
    assert (await anext(entries)).message_id == "m1"
