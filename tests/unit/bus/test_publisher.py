"""Activity is counted rather than repeated, kept while the log is away, and bounded."""

import asyncio

import pytest

from arenero.api.events.v1.activity_events_pb2 import ActivityEvent, EgressDenied, ExecStarted
from arenero.api.events.v1.event_pb2 import Event
from arenero.bus.envelope import unpack
from arenero.bus.memory import MemoryEventLog
from arenero.bus.publisher import ActivityPublisher
from arenero.model.ids import SandboxId, TenantId
from arenero.testing.clock import ManualClock

ACME = TenantId("acme")
BOX = SandboxId("sbx_1")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def log(clock: ManualClock) -> MemoryEventLog:
    return MemoryEventLog("activity.>", clock=clock)


@pytest.fixture
def publisher(log: MemoryEventLog, clock: ManualClock) -> ActivityPublisher:
    return ActivityPublisher(log, source="gateway/h", clock=clock, window_s=0.01, max_notes=100)


def denied(host: str = "evil.example") -> ActivityEvent:
    return ActivityEvent(egress_denied=EgressDenied(host=host, port=443))


async def stored(log: MemoryEventLog) -> list[Event]:
    return [unpack(entry) for entry in await log.history("activity.>")]


async def test_each_note_is_an_event_of_its_own(log: MemoryEventLog, publisher: ActivityPublisher) -> None:
    for number in range(3):
        started = ActivityEvent(exec_started=ExecStarted(exec_id=str(number)))
        publisher.note(ACME, BOX, started, actor="key:key_1")
    await publisher.flush()
    events = await stored(log)
    assert [event.activity.exec_started.exec_id for event in events] == ["0", "1", "2"]
    assert {event.subject for event in events} == {"activity.acme.sbx_1.exec_started"}
    assert {(event.actor, event.source, event.activity.sandbox_id) for event in events} == {
        ("key:key_1", "gateway/h", "sbx_1")
    }


async def test_same_notes_are_counted(log: MemoryEventLog, publisher: ActivityPublisher, clock: ManualClock) -> None:
    began = clock.now()
    for _ in range(1000):
        publisher.note(ACME, BOX, denied(), actor="sandbox", same_as="evil.example:443")
        clock.advance(0.5)
    publisher.note(ACME, BOX, denied("other.example"), actor="sandbox", same_as="other.example:443")
    publisher.note(ACME, SandboxId("sbx_2"), denied(), actor="sandbox", same_as="evil.example:443")
    await publisher.flush()
    first, *others = await stored(log)
    assert first.activity.count == 1000
    assert first.activity.first_at.ToDatetime(began.tzinfo) == began
    assert first.time.ToDatetime(began.tzinfo) > began
    assert [(event.activity.count, event.activity.HasField("first_at")) for event in others] == [(1, False), (1, False)]


async def test_notes_wait_for_a_log_that_is_away_and_arrive_once(
    log: MemoryEventLog, publisher: ActivityPublisher
) -> None:
    log.go_away()
    for _ in range(3):
        publisher.note(ACME, BOX, denied(), actor="sandbox")
        await publisher.flush()
    await log.come_back()
    await publisher.flush()
    await publisher.flush()
    assert len(await stored(log)) == 3
    assert publisher.dropped == 0


async def test_notes_are_bounded_also_while_the_log_is_away(log: MemoryEventLog, publisher: ActivityPublisher) -> None:
    log.go_away()
    for _ in range(250):
        publisher.note(ACME, BOX, denied(), actor="sandbox")
        await publisher.flush()
    assert publisher.dropped == 150
    await log.come_back()
    await publisher.flush()
    assert len(await stored(log)) == 100


async def test_run_publishes_each_window_and_once_more_at_the_end(
    log: MemoryEventLog, publisher: ActivityPublisher
) -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        running = group.create_task(publisher.run())
        publisher.note(ACME, BOX, denied(), actor="sandbox")
        while not await stored(log):
            await asyncio.sleep(0.005)
        publisher.note(ACME, BOX, denied(), actor="sandbox")
        running.cancel()
    assert len(await stored(log)) == 2


def test_activity_must_say_something(publisher: ActivityPublisher) -> None:
    with pytest.raises(ValueError, match="kind"):
        publisher.note(ACME, BOX, ActivityEvent(), actor="")
