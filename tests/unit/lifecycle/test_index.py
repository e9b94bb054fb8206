"""The index: newest record wins, order is total, waiting works."""

import asyncio
import random
from dataclasses import replace
from datetime import timedelta

import pytest

from arenero.lifecycle.index import LIVE_STATES, Position, SandboxFilter, SandboxIndex, position_of
from arenero.lifecycle.keys import SandboxKey, key_of
from arenero.model.ids import SandboxId, TenantId, new_sandbox_id
from arenero.model.record import Handle, SandboxRecord
from arenero.model.spec import SandboxSpec
from arenero.model.states import SandboxState as S
from tests.unit.lifecycle.samples import EPOCH, a_record

ACME = TenantId("acme")
ALL = SandboxFilter(states=frozenset(S))


def numbered(number: int, **changes: object) -> SandboxRecord:
    """Return the record of a sandbox that was made that many seconds after the epoch."""
    made_at = EPOCH + timedelta(seconds=number)
    return replace(a_record(id=new_sandbox_id(), created_at=made_at), **changes)  # type: ignore[arg-type]


def fill(index: SandboxIndex, records: list[SandboxRecord]) -> None:
    for record in random.Random(1).sample(records, len(records)):
        index.apply(record)


def test_the_later_record_wins_and_the_same_twice_is_once() -> None:
    index = SandboxIndex()
    heard: list[SandboxRecord] = []
    index.listen(heard.append)
    old, new = a_record(revision=1), a_record(revision=2, state=S.STOPPING)
    assert index.apply(new, "evt_2")
    assert not index.apply(old, "evt_1")
    assert not index.apply(new, "evt_2")
    assert index.find(key_of(new)) == new
    assert index.find_by_id(new.id) == new
    assert index.event_id(key_of(new)) == "evt_2"
    assert heard == [new]


def test_a_page_is_newest_first_and_the_next_goes_on_where_it_ended() -> None:
    index, records = SandboxIndex(), [numbered(n) for n in range(25)]
    fill(index, records)
    found: list[SandboxRecord] = []
    after: Position | None = None
    for size in (10, 10, 5):
        page = index.page(ACME, ALL, after=after, size=10)
        assert (len(page.records), page.total) == (size, 25)
        found += page.records
        after = page.following
    assert after is None
    assert found == records[::-1]


def test_equal_times_are_ordered_by_id() -> None:
    index = SandboxIndex()
    fill(index, [numbered(0) for _ in range(20)])
    ids = [record.id for record in index.page(ACME, ALL, after=None, size=20).records]
    assert ids == sorted(ids, reverse=True)


def test_a_list_goes_on_rightly_when_records_come_and_end_meanwhile() -> None:
    index, records = SandboxIndex(), [numbered(n) for n in range(10)]
    fill(index, records)
    first = index.page(ACME, SandboxFilter(), after=None, size=4)
    index.apply(numbered(100))
    index.apply(replace(records[3], revision=99, state=S.TERMINATED))
    rest = index.page(ACME, SandboxFilter(), after=first.following, size=50)
    assert [r.id for r in rest.records] == [records[n].id for n in (5, 4, 2, 1, 0)]
    assert rest.total == 10


def test_live_and_ended_are_merged_in_order() -> None:
    index = SandboxIndex()
    records = [numbered(n, state=S.FAILED if n % 3 == 0 else S.RUNNING) for n in range(12)]
    fill(index, records)
    assert list(index.page(ACME, ALL, after=None, size=50).records) == records[::-1]
    ended = index.page(ACME, SandboxFilter(states=frozenset({S.FAILED})), after=None, size=50)
    assert list(ended.records) == [r for r in records[::-1] if r.state is S.FAILED]
    assert ended.total == 4
    assert index.live_count(ACME) == 8


@pytest.mark.parametrize(
    ("wanted", "matches"),
    [
        (SandboxFilter(name="web"), True),
        (SandboxFilter(name="we"), False),
        (SandboxFilter(runtime="fake"), True),
        (SandboxFilter(runtime="local"), False),
        (SandboxFilter(metadata={"team": "red"}), True),
        (SandboxFilter(metadata={"team": "red", "tier": "1"}), False),
        (SandboxFilter(metadata={"team": "blue"}), False),
        (SandboxFilter(states=frozenset({S.PAUSED})), False),
        (SandboxFilter(), True),
    ],
)
def test_all_that_is_set_must_match(wanted: SandboxFilter, matches: bool) -> None:
    index = SandboxIndex()
    index.apply(a_record(spec=SandboxSpec(name="web", runtime="fake", metadata={"team": "red"})))
    page = index.page(ACME, wanted, after=None, size=10)
    assert (len(page.records), page.total) == (int(matches), int(matches))
    assert len(index.matching(ACME, wanted)) == int(matches)


def test_tenants_do_not_see_each_other() -> None:
    index = SandboxIndex()
    index.apply(a_record())
    other = TenantId("other")
    assert index.page(other, ALL, after=None, size=10).total == 0
    assert index.matching(other, ALL) == ()
    assert index.live_count(other) == 0
    assert index.find(SandboxKey(other, a_record().id)) is None


def test_what_was_removed_is_gone_from_everywhere() -> None:
    index, kept, gone = SandboxIndex(), numbered(1), numbered(2)
    fill(index, [kept, gone])
    index.remove(key_of(gone))
    index.remove(key_of(gone))
    assert index.find_by_id(gone.id) is None
    assert len(index) == 1
    assert index.page(ACME, ALL, after=None, size=10).records == (kept,)


def test_what_may_be_held_is_unfinished() -> None:
    index, handle = SandboxIndex(), Handle("fake", 1)
    running, failed = numbered(1, handle=handle), numbered(2, state=S.FAILED, handle=handle)
    fill(index, [running, failed, numbered(3, state=S.TERMINATED)])
    assert sorted(r.id for r in index.unfinished()) == sorted([running.id, failed.id])
    index.apply(replace(failed, revision=8, handle=None))
    index.remove(key_of(running))
    assert index.unfinished() == ()


def test_live_states_are_those_that_hold_something() -> None:
    assert frozenset(S) - LIVE_STATES == {S.TERMINATED, S.FAILED}
    assert position_of(numbered(1)) < position_of(numbered(2))


async def test_until_returns_at_once_or_when_it_comes_true() -> None:
    index, record = SandboxIndex(), a_record(revision=1, state=S.PENDING)
    index.apply(record)
    assert await index.until(key_of(record), lambda r: r.state is S.PENDING) == record
    async with asyncio.TaskGroup() as group:
        waiting = [group.create_task(index.until(key_of(record), lambda r: r.state is S.RUNNING)) for _ in range(3)]
        await asyncio.sleep(0)
        index.apply(replace(record, revision=2, updated_at=EPOCH))
        waiting[2].cancel()
        await asyncio.sleep(0)
        assert not waiting[0].done()
        running = replace(record, revision=3, state=S.RUNNING)
        index.apply(running)
    assert [task.result() for task in waiting[:2]] == [running, running]


async def test_until_waits_for_a_sandbox_that_is_not_known_yet() -> None:
    index, record = SandboxIndex(), a_record()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(index.until(key_of(record), lambda r: True))
        await asyncio.sleep(0)
        index.apply(record)
    assert waiting.result() == record


def test_ten_thousand_are_kept_in_order() -> None:
    index, records = SandboxIndex(), [numbered(n) for n in range(10_000)]
    fill(index, records)
    page = index.page(ACME, SandboxFilter(), after=None, size=50)
    assert list(page.records) == records[:-51:-1]
    assert page.total == 10_000
    middle = Position(position_of(records[5_000]).created_us, SandboxId(""))
    assert index.page(ACME, SandboxFilter(), after=middle, size=1).records == (records[4_999],)
