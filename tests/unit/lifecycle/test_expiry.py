"""Deadlines: each wakes once, in time, also when it was moved or the clock jumps."""

import asyncio
from datetime import datetime, timedelta

import pytest

from arenero.lifecycle.expiry import MAX_NAP_S, ExpiryTimer
from arenero.lifecycle.index import SandboxIndex
from arenero.lifecycle.keys import SandboxKey, key_of
from arenero.model.ids import new_sandbox_id
from arenero.model.record import SandboxRecord
from arenero.model.states import SandboxState
from arenero.testing.clock import ManualClock
from tests.unit.lifecycle.kit import LoopClock
from tests.unit.lifecycle.samples import a_record

pytestmark = pytest.mark.looptime


def living(expires_at: datetime | None, revision: int = 1, **changes: object) -> SandboxRecord:
    fields = {"id": new_sandbox_id(), "expires_at": expires_at, "revision": revision, **changes}
    return a_record(**fields)


class Woken:
    """Notes who was woken when."""

    def __init__(self, clock: LoopClock) -> None:
        self.clock = clock
        self.at_s: dict[SandboxKey, list[float]] = {}

    def __call__(self, key: SandboxKey) -> None:
        self.at_s.setdefault(key, []).append(self.clock.monotonic_s())


async def run_for(timer: ExpiryTimer, seconds: float) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(timer.run(), seconds)


async def test_each_is_woken_at_its_deadline() -> None:
    clock, index = LoopClock(), SandboxIndex()
    woken = Woken(clock)
    timer = ExpiryTimer(index, clock, woken)
    start_s = clock.monotonic_s()
    records = [living(clock.now() + timedelta(seconds=s)) for s in (30, 0.25, 7, 7)]
    for record in [*records, living(None)]:
        index.apply(record)
    await run_for(timer, 60)
    waited = {key: [round(at - start_s, 3) for at in ats] for key, ats in woken.at_s.items()}
    assert waited == {key_of(r): [s] for r, s in zip(records, (30, 0.25, 7, 7), strict=True)}


async def test_a_sooner_deadline_is_noticed_during_the_wait() -> None:
    clock, index = LoopClock(), SandboxIndex()
    woken = Woken(clock)
    timer = ExpiryTimer(index, clock, woken)
    index.apply(living(clock.now() + timedelta(seconds=100)))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(timer.run())
        await asyncio.sleep(1)
        soon = living(clock.now() + timedelta(seconds=0.5))
        index.apply(soon)
        await asyncio.sleep(0.6)
        assert list(woken.at_s) == [key_of(soon)]
        running.cancel()


async def test_a_moved_deadline_does_not_wake_at_the_old_one() -> None:
    clock, index = LoopClock(), SandboxIndex()
    woken = Woken(clock)
    timer = ExpiryTimer(index, clock, woken)
    start_s = clock.monotonic_s()
    record = living(clock.now() + timedelta(seconds=5))
    index.apply(record)
    index.apply(a_record(id=record.id, revision=2, expires_at=clock.now() + timedelta(seconds=20)))
    await run_for(timer, 30)
    assert [round(at - start_s, 3) for at in woken.at_s[key_of(record)]] == [20]


async def test_what_has_ended_does_not_wake() -> None:
    clock, index = LoopClock(), SandboxIndex()
    woken = Woken(clock)
    timer = ExpiryTimer(index, clock, woken)
    record = living(clock.now() + timedelta(seconds=5))
    index.apply(record)
    index.apply(a_record(id=record.id, revision=2, state=SandboxState.TERMINATED, expires_at=record.expires_at))
    await run_for(timer, 30)
    assert not woken.at_s


async def test_a_jump_of_the_clock_is_noticed_within_a_nap() -> None:
    clock, index = ManualClock(), SandboxIndex()
    woken: list[SandboxKey] = []
    timer = ExpiryTimer(index, clock, woken.append)
    record = living(clock.now() + timedelta(hours=1))
    index.apply(record)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(timer.run())
        await asyncio.sleep(1)
        clock.jump(7200)
        await asyncio.sleep(MAX_NAP_S)
        assert woken == [key_of(record)]
        running.cancel()


async def test_moving_a_deadline_for_ever_does_not_fill_the_memory() -> None:
    clock, index = LoopClock(), SandboxIndex()
    timer = ExpiryTimer(index, clock, lambda key: None)
    sandbox_id = new_sandbox_id()
    for revision in range(1, 5_000):
        index.apply(a_record(id=sandbox_id, revision=revision, expires_at=clock.now() + timedelta(seconds=revision)))
    assert len(timer) < 1100
