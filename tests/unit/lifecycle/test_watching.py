"""Watching one sandbox, and many."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from arenero.errors import NotFound, Unavailable
from arenero.lifecycle.feed import Sighting
from arenero.lifecycle.index import SandboxFilter
from arenero.lifecycle.watching import Watching
from arenero.model.ids import TenantId
from arenero.model.states import SandboxState as S
from tests.unit.lifecycle.kit import ACME, CALLER, World, make_world, request
from tests.unit.lifecycle.samples import a_record


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def watching(world: World, serving: list[bool] | None = None) -> Watching:
    flags = serving or [True]
    parts = world.lifecycle
    return Watching(parts.records, parts.index, parts.feed, lambda: flags[0])


async def test_one_is_watched_from_now_to_its_end(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        seen: list[Sighting] = []
        async with asyncio.TaskGroup() as group:

            async def watch() -> None:
                seen.extend([s async for s in watching(world).watch_one(ACME, record.id)])

            group.create_task(watch())
            await asyncio.sleep(0.01)
            await lifecycle.sandboxes.update_metadata(CALLER, record.id, to_set={"a": "b"}, to_remove=[])
            await lifecycle.sandboxes.delete(CALLER, record.id)
        assert [s.fact for s in seen] == ["", "metadata_updated", "stopping", "progressed", "terminated"]
        revisions = [s.record.revision for s in seen]
        assert revisions == sorted(set(revisions))
        assert seen[-1].record.state is S.TERMINATED


async def test_a_creation_is_watched_step_by_step(world: World) -> None:
    gate = world.driver.faults.block("create")
    async with world.run() as lifecycle:
        accepted = request(request_id="r1")
        record, _ = await lifecycle.sandboxes.create(CALLER, type(accepted)(accepted.spec, "r1", wait=False))
        facts: list[str] = []
        async with asyncio.timeout(5), aclosing(watching(world).watch_one(ACME, record.id)) as sightings:  # type: ignore[type-var]
            async for sighting in sightings:
                facts.append(sighting.fact)
                gate.set()
                if sighting.record.state is S.RUNNING:
                    break
        assert facts == ["", "progressed", "progressed", "started"]


async def test_one_that_has_ended_is_told_once(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        await lifecycle.sandboxes.delete(CALLER, record.id)
        seen = [s async for s in watching(world).watch_one(ACME, record.id)]
        assert [(s.record.state, s.fact) for s in seen] == [(S.TERMINATED, "")]


async def test_one_that_is_not_there_is_not_found(world: World) -> None:
    async with world.run():
        record = await world.create()
        for tenant, sandbox_id in ((ACME, a_record().id), (TenantId("other"), record.id)):
            with pytest.raises(NotFound):
                async for _ in watching(world).watch_one(tenant, sandbox_id):
                    pass


async def collect(world: World, wanted: SandboxFilter, count: int, *, by_state: bool) -> list[tuple[str, str]]:
    """Return the first sightings as (name, fact)."""
    found: list[tuple[str, str]] = []
    async with asyncio.timeout(5):
        async with aclosing(watching(world).watch_many(ACME, wanted, by_state=by_state)) as sightings:  # type: ignore[type-var]
            async for sighting in sightings:
                found.append((sighting.record.spec.name, sighting.fact))
                if len(found) == count:
                    break
    return found


async def test_many_are_watched_with_their_ends(world: World) -> None:
    async with world.run() as lifecycle:
        await lifecycle.sandboxes.create(CALLER, request(name="old"))
        async with asyncio.TaskGroup() as group:
            collecting = group.create_task(collect(world, SandboxFilter(name="old"), 4, by_state=False))
            await asyncio.sleep(0.01)
            new = await world.create(name="new")
            await lifecycle.sandboxes.delete(CALLER, new.id)
            [old] = lifecycle.index.matching(ACME, SandboxFilter(name="old"))
            await lifecycle.sandboxes.delete(CALLER, old.id)
        assert collecting.result() == [("old", ""), ("old", "stopping"), ("old", "progressed"), ("old", "terminated")]


async def test_states_that_were_named_are_all_that_is_told(world: World) -> None:
    async with world.run() as lifecycle:
        wanted = SandboxFilter(states=frozenset({S.TERMINATED}))
        async with asyncio.TaskGroup() as group:
            collecting = group.create_task(collect(world, wanted, 1, by_state=True))
            await asyncio.sleep(0.01)
            record = await world.create(name="brief")
            await lifecycle.sandboxes.delete(CALLER, record.id)
        assert collecting.result() == [("brief", "terminated")]


@pytest.mark.looptime
async def test_streams_end_when_the_service_stops(world: World) -> None:
    serving = [True]
    async with world.run():
        record = await world.create()
        watcher = watching(world, serving)
        for sightings in (
            watcher.watch_one(ACME, record.id),
            watcher.watch_many(ACME, SandboxFilter(), by_state=False),
        ):
            serving[0] = True
            await anext(sightings)
            serving[0] = False
            with pytest.raises(Unavailable) as refusal:
                await anext(sightings)
            assert refusal.value.reason == "STOPPING"
