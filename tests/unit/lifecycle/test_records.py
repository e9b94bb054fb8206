"""Guarded changes: decided on the newest record, told to the index, never half done."""

import asyncio
from datetime import datetime
from pathlib import Path

import pytest

from arenero.api.events.v1.event_pb2 import Event
from arenero.bus.log import Appended
from arenero.errors import Conflict, NotFound, OutcomeUnknown, Unavailable
from arenero.lifecycle.facts import MetadataUpdated, Requested
from arenero.lifecycle.keys import SandboxKey, key_of
from arenero.lifecycle.records import Change
from arenero.model.ids import TenantId
from arenero.model.record import SandboxRecord
from tests.unit.lifecycle.kit import World, make_world
from tests.unit.lifecycle.samples import a_record


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def touch(record: SandboxRecord, now: datetime) -> Change:
    return Change(MetadataUpdated(("a",)))


async def test_a_change_is_in_log_and_index_with_the_same_revision(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        changed = await lifecycle.records.change(key_of(record), touch, actor="key:key_1")
        assert changed.revision == record.revision + 1
        assert lifecycle.index.find(key_of(record)) == changed
        assert await world.read(record) == changed


async def test_no_change_appends_nothing(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        head = await world.log.head()
        assert await lifecycle.records.change(key_of(record), lambda r, now: None) == record
        assert await world.log.head() == head


async def test_of_many_at_once_all_are_done_one_after_the_other(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        seen: list[int] = []

        def decide(newest: SandboxRecord, now: datetime) -> Change:
            seen.append(newest.revision)
            return Change(MetadataUpdated((str(len(seen)),)))

        changed = await asyncio.gather(*(lifecycle.records.change(key_of(record), decide) for _ in range(20)))
        revisions = [r.revision for r in changed]
        assert sorted(revisions) == list(range(record.revision + 1, record.revision + 21))


async def test_a_lost_race_is_decided_anew_on_the_newest_record(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        await lifecycle.records.change(key_of(record), touch)
        lifecycle.index._records[key_of(record)] = record
        found: list[int] = []

        def decide(newest: SandboxRecord, now: datetime) -> Change:
            found.append(newest.revision)
            return touch(newest, now)

        await lifecycle.records.change(key_of(record), decide)
        assert found == [record.revision, record.revision + 1]


async def test_an_id_is_given_once(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        with pytest.raises(Conflict):
            await lifecycle.records.create(a_record(id=record.id, revision=0), Requested(), actor="x")


async def test_what_is_absent_or_anothers_is_not_found(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        for key in (SandboxKey(TenantId("other"), record.id), key_of(a_record())):
            with pytest.raises(NotFound) as refusal:
                await lifecycle.records.get(key)
            assert refusal.value.reason == "SANDBOX_NOT_FOUND"
            with pytest.raises(NotFound):
                await lifecycle.records.change(key, touch)


async def test_the_log_that_is_away_changes_nothing(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        world.log.go_away()
        with pytest.raises(Unavailable):
            await lifecycle.records.change(key_of(record), touch)
        assert lifecycle.index.find(key_of(record)) == record
        await world.log.come_back()
        assert (await lifecycle.records.change(key_of(record), touch)).revision == record.revision + 1


@pytest.mark.parametrize("stored", [True, False])
async def test_a_lost_answer_is_looked_up(world: World, stored: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        append = world.log.append

        async def lose(subject: str, data: bytes, **guard: object) -> Appended:
            if stored:
                await append(subject, data, **guard)
            raise OutcomeUnknown("no answer")

        monkeypatch.setattr(world.log, "append", lose)
        if stored:
            changed = await lifecycle.records.change(key_of(record), touch)
            assert changed == await world.read(record)
        else:
            with pytest.raises(OutcomeUnknown):
                await lifecycle.records.change(key_of(record), touch)
            assert await world.read(record) == record


async def test_what_the_platform_does_names_its_cause(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        await lifecycle.records.change(key_of(record), touch, actor="key:key_1")
        events = [Event.FromString(e.data) for e in await world.log.history(f"sandbox.acme.{record.id}.*")]
        assert [e.actor for e in events] == ["key:key_test", *["system:reconciler"] * 3, "key:key_1"]
        assert [e.cause for e in events] == ["", *[e.id for e in events[:3]], ""]
        assert {e.source for e in events} == {"lifecycle/here"}
        assert len({e.id for e in events}) == len(events)


async def test_a_decision_that_raises_changes_nothing(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()

        def refuse(newest: SandboxRecord, now: datetime) -> Change:
            raise Conflict("not this revision")

        with pytest.raises(Conflict, match="not this revision"):
            await lifecycle.records.change(key_of(record), refuse)
        assert await world.read(record) == record


async def test_a_purge_forgets(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        await lifecycle.records.purge(key_of(record))
        assert lifecycle.index.find(key_of(record)) is None
        with pytest.raises(NotFound):
            await lifecycle.records.read(key_of(record))
