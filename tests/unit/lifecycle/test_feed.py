"""What the log delivers."""

from datetime import datetime
from pathlib import Path

import pytest

from arenero.bus.log import Entry
from arenero.errors import Unavailable
from arenero.lifecycle.codec.event import Envelope, EventCodec
from arenero.lifecycle.facts import MetadataUpdated
from arenero.lifecycle.feed import MAX_BEHIND, Feed
from arenero.lifecycle.index import SandboxIndex
from arenero.lifecycle.keys import key_of
from arenero.lifecycle.records import Records
from arenero.lifecycle.secrets import Sealer
from arenero.model.ids import TenantId, new_sandbox_id
from arenero.model.record import SandboxRecord
from arenero.model.states import SandboxState
from arenero.testing.clock import ManualClock
from tests.unit.lifecycle.kit import ACME, CuttableLog, make_world
from tests.unit.lifecycle.samples import EPOCH, a_record

CODEC = EventCodec(Sealer(bytes(32)))


class Bench:
    """A feed over an index, and entries for it."""

    def __init__(self, *, loaded: bool = True) -> None:
        self.index = SandboxIndex()
        self.decoded = 0
        records = Records(CuttableLog(), self, self.index, ManualClock(), "test")  # type: ignore[arg-type]
        self.feed = Feed(records, self.index)
        if loaded:
            self.feed.end_of_past()

    def decode(self, data: bytes, sequence: int) -> object:
        self.decoded += 1
        return CODEC.decode(data, sequence)

    def take(self, record: SandboxRecord, fact: str = "metadata_updated") -> None:
        self.feed.take(entry_of(record, fact))


def entry_of(record: SandboxRecord, fact: str = "metadata_updated") -> Entry:
    subject = f"sandbox.{record.tenant}.{record.id}.{fact}"
    data = CODEC.encode(Envelope(f"evt_{record.revision}", subject, EPOCH, "x", "y"), MetadataUpdated(), record)
    return Entry(subject, record.revision, datetime.now(EPOCH.tzinfo), data)


def test_of_the_past_only_the_newest_entry_of_each_sandbox_is_read() -> None:
    bench, other = Bench(loaded=False), a_record(id=new_sandbox_id(), revision=4)
    for revision in (1, 2, 3):
        bench.take(a_record(revision=revision))
    bench.take(other)
    assert len(bench.index) == 0
    bench.feed.end_of_past()
    bench.feed.end_of_past()
    assert bench.decoded == 2
    assert bench.index.find(key_of(other)) == other
    assert bench.index.find(key_of(a_record())) == a_record(revision=3)


def test_what_the_index_knows_already_is_not_read_again() -> None:
    bench = Bench()
    bench.index.apply(a_record(revision=5))
    bench.take(a_record(revision=5))
    bench.take(a_record(revision=4))
    assert bench.decoded == 0
    bench.take(a_record(revision=6))
    assert bench.decoded == 1


def test_what_cannot_be_read_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()
    for subject in ("sandbox.acme", "sandbox.acme.x.started", "nonsense.a.b.c"):
        bench.feed.take(Entry(subject, 1, EPOCH, b"\xff"))
    bench.take(a_record(revision=2))
    assert len(bench.index) == 1
    assert caplog.text.count("lifecycle.entry.unreadable") == 3


async def test_watchers_hear_every_record_once_and_in_order_also_their_own_process_s() -> None:
    bench = Bench()
    with bench.feed.watch(ACME, None) as everything, bench.feed.watch(ACME, new_sandbox_id()) as another:
        for revision in (1, 2, 3):
            bench.index.apply(a_record(revision=revision))
            bench.take(a_record(revision=revision), "renewed")
        heard = [await everything.next() for _ in range(3)]
        assert [(s.record.revision, s.fact) for s in heard] == [(1, "renewed"), (2, "renewed"), (3, "renewed")]
        assert everything.queue.empty()
        assert another.queue.empty()
    bench.take(a_record(revision=4))
    assert everything.queue.empty()


async def test_another_tenant_hears_nothing() -> None:
    bench = Bench()
    with bench.feed.watch(TenantId("other"), None) as other:
        bench.take(a_record())
        assert other.queue.empty()


async def test_a_watcher_that_is_too_slow_is_told_to_begin_anew() -> None:
    bench = Bench()
    with bench.feed.watch(ACME, None) as watch:
        for revision in range(1, MAX_BEHIND + 3):
            bench.take(a_record(revision=revision))
        for _ in range(MAX_BEHIND):
            await watch.next()
        with pytest.raises(Unavailable) as refusal:
            await watch.next()
        assert refusal.value.reason == "WATCH_TOO_SLOW"


async def test_a_restart_finds_what_was_appended(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    async with world.run():
        records = [await world.create() for _ in range(5)]
    async with world.run() as lifecycle:
        assert {r.id for r in lifecycle.index.all()} == {r.id for r in records}
        assert {r.state for r in lifecycle.index.all()} == {SandboxState.RUNNING}
