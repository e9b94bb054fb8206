"""Sweeps: orphans go, records of long ago go, creations in flight stay."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from arenero.errors import FailedPrecondition, NotFound, Unavailable
from arenero.lifecycle.keys import key_of
from arenero.lifecycle.sweeper import PURGE_EVERY_S
from arenero.model.ids import new_sandbox_id
from arenero.model.states import SandboxState as S
from arenero.runtime.fake_host import Held, Phase
from arenero.testing.clock import ManualClock
from tests.unit.lifecycle.kit import CALLER, World, make_world, request


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def orphan(world: World) -> str:
    held = Held(new_sandbox_id(), 1, Phase.RUNNING)
    world.host.put(held)
    return held.sandbox_id


async def sweep(world: World) -> None:
    await world.lifecycle.sweeper.sweep(world.config.lifetime.history_s)


async def test_what_has_no_record_is_destroyed_at_the_start(world: World) -> None:
    orphan(world)
    orphan(world)
    async with world.run():
        async with asyncio.timeout(5):
            while world.host.ids():
                await asyncio.sleep(0.001)


async def test_what_has_a_record_that_ended_is_destroyed(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        held = world.host.find(record.id)
        assert held is not None
        await lifecycle.sandboxes.delete(CALLER, record.id)
        world.host.put(held)
        await sweep(world)
        assert not world.host.ids()


async def test_what_lives_stays(world: World) -> None:
    async with world.run():
        records = [await world.create() for _ in range(3)]
        await sweep(world)
        await sweep(world)
        assert world.host.ids() == {record.id for record in records}


@pytest.mark.parametrize("step", ["create", "start"])
async def test_a_creation_in_flight_stays(world: World, step: str) -> None:
    gate = world.driver.faults.block(step)
    async with world.run() as lifecycle:
        record, _ = await lifecycle.sandboxes.create(CALLER, replace(request(), wait=False))
        await asyncio.sleep(0.01)
        for _ in range(3):
            await sweep(world)
        gate.set()
        await world.until(record, S.RUNNING)
        assert world.host.ids() == {record.id}


async def test_a_sandbox_that_only_the_log_knows_yet_stays(world: World) -> None:
    """Another process has recorded it a moment ago, and this index hasn't heard of it."""
    async with world.run() as lifecycle:
        record = await world.create()
        lifecycle.index.remove(key_of(record))
        await lifecycle.sweeper.sweep_driver(world.driver)
        assert world.host.ids() == {record.id}
        assert lifecycle.index.find(key_of(record)) is not None


async def test_what_is_on_this_machine_is_taken_over(world: World) -> None:
    """The machine was renamed: its sandboxes are still its own."""
    async with world.run():
        record = await world.create()
    renamed = replace(world, config=replace(world.config, instance="renamed"))
    renamed.renew_driver()
    async with renamed.run() as lifecycle:
        async with asyncio.timeout(5):
            while (await renamed.read(record)).owner != "renamed":
                await asyncio.sleep(0.001)
        await lifecycle.sandboxes.delete(CALLER, record.id)
        assert not world.host.ids()


async def test_nothing_is_destroyed_while_the_log_cannot_be_asked(world: World) -> None:
    async with world.run():
        world.log.go_away()
        kept = orphan(world)
        await sweep(world)
        assert world.host.ids() == {kept}
        await world.log.come_back()
        await sweep(world)
        assert not world.host.ids()


async def test_a_driver_that_is_away_does_not_end_the_sweeping(world: World) -> None:
    async with world.run():
        await asyncio.sleep(0.01)
        orphan(world)
        world.driver.faults.fail("list_held", Unavailable("the daemon is away"))
        await sweep(world)
        assert world.host.ids()
        await sweep(world)
        assert not world.host.ids()


@pytest.mark.parametrize("error", [Unavailable("stuck"), FailedPrecondition("busy"), ZeroDivisionError()])
async def test_an_orphan_that_resists_does_not_protect_the_others(world: World, error: Exception) -> None:
    async with world.run():
        await asyncio.sleep(0.01)
        orphans = sorted(orphan(world) for _ in range(3))
        world.driver.faults.fail("destroy_orphan", error)
        await sweep(world)
        assert world.host.ids() == {orphans[0]}
        await sweep(world)
        assert not world.host.ids()


async def test_records_of_long_ago_leave_the_log(tmp_path: Path) -> None:
    clock = ManualClock()
    world = make_world(tmp_path, clock=clock)
    async with world.run() as lifecycle:
        old, living = await world.create(), await world.create()
        await lifecycle.sandboxes.delete(CALLER, old.id)
        clock.advance(world.config.lifetime.history_s - PURGE_EVERY_S / 2)
        fresh = await world.create()
        await lifecycle.sandboxes.delete(CALLER, fresh.id)
        await sweep(world)
        assert await world.facts(old.id)
        clock.advance(PURGE_EVERY_S)
        await sweep(world)
        assert not await world.facts(old.id)
        with pytest.raises(NotFound):
            await lifecycle.sandboxes.get(CALLER, old.id)
        assert await world.facts(fresh.id)
        assert (await lifecycle.sandboxes.get(CALLER, living.id)).state is S.RUNNING
    async with world.run() as lifecycle:
        assert {record.id for record in lifecycle.index.all()} == {fresh.id, living.id}
