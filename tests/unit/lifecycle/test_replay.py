"""Reading the logs of one tenant: what a filter means, and in which order messages come."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import timedelta

import pytest

from arenero.bus.log import Entry
from arenero.bus.memory import MemoryEventLog
from arenero.bus.subjects import Kind, matches
from arenero.errors import ArenError, InvalidArgument, PermissionDenied, Unavailable, Unsupported
from arenero.lifecycle.replay import BUFFER, EventReader, Heartbeat, Start, select
from arenero.model.ids import TenantId, new_event_id, new_sandbox_id
from arenero.testing.clock import ManualClock

ACME, OTHER = TenantId("acme"), TenantId("other")
BOTH = (Kind.SANDBOX, Kind.ACTIVITY)
BOX, BOX2 = new_sandbox_id(), new_sandbox_id()


class Logs:
    """Both logs, with a clock that stands still."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.state = MemoryEventLog("sandbox.>", clock=self.clock)
        self.activity = MemoryEventLog("activity.>", clock=self.clock)
        self.serving = True

    def reader(self, heartbeat_s: float = 3600.0) -> EventReader:
        logs = {Kind.SANDBOX: self.state, Kind.ACTIVITY: self.activity}
        return EventReader(logs, self.clock, heartbeat_s, lambda: self.serving)

    async def put(self, *subjects: str) -> None:
        """Store messages, a second apart."""
        for subject in subjects:
            log = self.state if subject.startswith("sandbox") else self.activity
            await log.publish(subject, b"", message_id=new_event_id())
            self.clock.advance(1)

    async def replay(self, *patterns: str, start: Start | None = None, limit: int = 0) -> list[str]:
        selections = select(ACME, patterns, None, BOTH)
        found = [e async for e in self.reader().replay(selections, start or Start(), limit)]
        return [short(e) for e in found]


def short(entry: Entry) -> str:
    kind, _, _, fact = entry.subject.split(".")
    return f"{kind[0]}:{fact}"


@pytest.fixture
def logs() -> Logs:
    return Logs()


# --- filters ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    ["sandbox.>", "sandbox.*.terminated", f"sandbox.{BOX}.>", "sandbox", "sandbox.*.*", "activity.>", "sandbox.acme.*"],
)
def test_no_filter_reaches_beyond_the_tenant(pattern: str) -> None:
    for selection in select(OTHER, [pattern], None, BOTH):
        for subject in (f"sandbox.acme.{BOX}.terminated", f"activity.acme.{BOX}.exec_started"):
            assert not matches(selection.subject_filter, subject)
            assert not selection.takes(Entry(subject, 1, ManualClock().now(), b""))


@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        ("", InvalidArgument),
        ("nonsense.>", InvalidArgument),
        (">", InvalidArgument),
        ("*.>", InvalidArgument),
        ("sandbox.>.x", InvalidArgument),
        ("sandbox.a b.x", InvalidArgument),
        ("sandbox..x", InvalidArgument),
        ("sandbox.*.\n", InvalidArgument),
        ("$JS.API.>", InvalidArgument),
        ("key.>", PermissionDenied),
        ("snapshot.>", Unsupported),
        ("pool.>", Unsupported),
        ("vault.>", Unsupported),
    ],
)
def test_a_bad_filter_is_refused_with_its_place(pattern: str, kind: type[ArenError]) -> None:
    with pytest.raises(ArenError) as refusal:
        select(ACME, ["sandbox.>", pattern], None, BOTH)
    assert (type(refusal.value), refusal.value.field) == (kind, "filter.subjects[1]")


def test_a_filter_of_the_other_log_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        select(ACME, ["activity.>"], None, (Kind.SANDBOX,))


def test_the_log_is_asked_for_as_little_as_can_be_said() -> None:
    [one] = select(ACME, ["sandbox.*.terminated"], None, BOTH)
    assert one.subject_filter == "sandbox.acme.*.terminated"
    [several] = select(ACME, ["sandbox.*.terminated", "sandbox.*.failed"], None, BOTH)
    assert several.subject_filter == "sandbox.acme.*.*"
    state, activity = select(ACME, [], BOX, BOTH)
    assert (state.subject_filter, activity.subject_filter) == (f"sandbox.acme.{BOX}.*", f"activity.acme.{BOX}.*")
    [elsewhere] = select(ACME, [f"sandbox.{BOX2}.>"], BOX, BOTH)
    assert elsewhere.patterns == ()


# --- replay -----------------------------------------------------------------------------------------------------------


async def test_replay_gives_the_tenants_messages_of_both_logs_in_time(logs: Logs) -> None:
    await logs.put(f"sandbox.acme.{BOX}.requested", f"activity.acme.{BOX}.exec_started", f"sandbox.other.{BOX}.started")
    await logs.put(f"activity.acme.{BOX}.exec_ended", f"sandbox.acme.{BOX}.started")
    assert await logs.replay() == ["s:requested", "a:exec_started", "a:exec_ended", "s:started"]
    assert await logs.replay("activity.>") == ["a:exec_started", "a:exec_ended"]
    assert await logs.replay("sandbox.*.started", "activity.*.exec_started") == ["a:exec_started", "s:started"]
    assert await logs.replay(limit=2) == ["s:requested", "a:exec_started"]


async def test_of_equal_times_the_state_comes_first(logs: Logs) -> None:
    await logs.activity.publish(f"activity.acme.{BOX}.exec_started", b"", message_id=new_event_id())
    await logs.state.publish(f"sandbox.acme.{BOX}.started", b"", message_id=new_event_id())
    assert await logs.replay() == ["s:started", "a:exec_started"]


async def test_replay_begins_where_it_is_told(logs: Logs) -> None:
    begin = logs.clock.now()
    await logs.put(f"sandbox.acme.{BOX}.requested", f"activity.acme.{BOX}.exec_started", f"sandbox.acme.{BOX}.started")
    await logs.put(f"activity.acme.{BOX}.exec_ended")
    assert await logs.replay(start=Start(sequence=2)) == ["s:started", "a:exec_ended"]
    assert await logs.replay(start=Start(time=begin + timedelta(seconds=1))) == [
        "a:exec_started",
        "s:started",
        "a:exec_ended",
    ]
    assert await logs.replay(start=Start(sequence=99)) == []


async def test_replay_reads_more_than_a_page(logs: Logs) -> None:
    for number in range(1201):
        fact = "renewed" if number % 2 else "progressed"
        await logs.state.publish(f"sandbox.acme.{BOX}.{fact}", b"", message_id=new_event_id())
    assert len(await logs.replay()) == 1201
    assert len(await logs.replay("sandbox.*.renewed", "sandbox.*.failed")) == 600


# --- follow -----------------------------------------------------------------------------------------------------------


async def take(stream: AsyncIterator[Entry | Heartbeat], count: int) -> list[str]:
    found: list[str] = []
    async with asyncio.timeout(5):
        while len(found) < count:
            item = await anext(stream)
            found.append(f"beat:{item.sequence}" if isinstance(item, Heartbeat) else short(item))
    return found


async def test_follow_begins_with_the_next_message_and_goes_on(logs: Logs) -> None:
    await logs.put(f"sandbox.acme.{BOX}.requested")
    async with aclosing(logs.reader().follow(select(ACME, [], None, BOTH), None)) as stream:  # type: ignore[type-var]
        async with asyncio.TaskGroup() as group:
            taking = group.create_task(take(stream, 3))
            await asyncio.sleep(0.01)
            await logs.put(f"sandbox.other.{BOX}.started", f"sandbox.acme.{BOX}.started")
            await logs.put(f"activity.acme.{BOX}.exec_started", f"sandbox.acme.{BOX}.failed")
        assert sorted(taking.result()) == ["a:exec_started", "s:failed", "s:started"]


@pytest.mark.parametrize(
    ("start", "facts"),
    [
        (Start(), ["s:requested", "s:progressed", "s:started"]),
        (Start(sequence=2), ["s:progressed", "s:started"]),
        (Start(time=ManualClock().now() + timedelta(seconds=2)), ["s:started"]),
    ],
)
async def test_follow_can_begin_in_the_past(logs: Logs, start: Start, facts: list[str]) -> None:
    await logs.put(*(f"sandbox.acme.{BOX}.{fact}" for fact in ("requested", "progressed", "started")))
    selections = select(ACME, [], None, (Kind.SANDBOX,))
    async with aclosing(logs.reader().follow(selections, start)) as stream:  # type: ignore[type-var]
        assert await take(stream, len(facts)) == facts


@pytest.mark.looptime
async def test_silence_is_broken_by_heartbeats_that_never_claim_too_much(logs: Logs) -> None:
    await logs.put(f"sandbox.other.{BOX}.requested", f"sandbox.acme.{BOX}.requested")
    selections = select(ACME, ["sandbox.*.started"], None, BOTH)
    async with aclosing(logs.reader(heartbeat_s=15).follow(selections, None)) as stream:  # type: ignore[type-var]
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        assert isinstance(await anext(stream), Heartbeat)
        assert loop.time() - began_s == pytest.approx(15, abs=0.01)
        await logs.put(f"sandbox.acme.{BOX}.started", f"sandbox.acme.{BOX}.stopping")
        assert isinstance(await anext(stream), Entry)
        assert await anext(stream) == Heartbeat(3)


async def test_a_slow_follower_gets_everything(logs: Logs) -> None:
    selections = select(ACME, [], None, BOTH)
    async with aclosing(logs.reader().follow(selections, Start())) as stream:  # type: ignore[type-var]
        first = asyncio.get_running_loop().create_future()
        for number in range(3 * BUFFER):
            await logs.state.publish(f"sandbox.acme.{BOX}.renewed", b"", message_id=new_event_id())
            if number == 0:
                first.set_result(await anext(stream))
        assert len(await take(stream, 3 * BUFFER - 1)) == 3 * BUFFER - 1


@pytest.mark.looptime
async def test_a_follow_ends_when_the_service_stops(logs: Logs) -> None:
    async with aclosing(logs.reader().follow(select(ACME, [], None, BOTH), None)) as stream:  # type: ignore[type-var]
        asyncio.get_running_loop().call_later(5, setattr, logs, "serving", False)
        with pytest.raises(Unavailable) as refusal:
            await anext(stream)
        assert refusal.value.reason == "STOPPING"


async def test_a_log_that_is_away_refuses_to_begin(logs: Logs) -> None:
    logs.state.go_away()
    with pytest.raises(Unavailable):
        await anext(logs.reader().follow(select(ACME, [], None, BOTH), None))
