"""A projection is complete when it says so, never goes back, and survives a log that is away."""

import asyncio

import pytest

from arenero.bus.log import Entry
from arenero.bus.memory import MemoryEventLog
from arenero.bus.projection import Projection


class State:
    """What a service would keep: the last entry of each key."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.last: dict[str, int] = {}

    def apply(self, entry: Entry) -> None:
        key = entry.subject.split(".")[2]
        self.seen.append(entry.sequence)
        self.last[key] = entry.sequence


async def write(log: MemoryEventLog, key: str, fact: str = "f", revision: int = 0) -> int:
    appended = await log.append(
        f"sandbox.acme.{key}.{fact}",
        b"",
        key_filter=f"sandbox.acme.{key}.>",
        expected_revision=revision,
        message_id=f"{key}-{fact}-{revision}",
    )
    return appended.sequence


@pytest.fixture
def log() -> MemoryEventLog:
    return MemoryEventLog("sandbox.>")


async def test_empty_log_is_ready_at_once(log: MemoryEventLog) -> None:
    projection = Projection(log, "sandbox.>", State().apply)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        running = group.create_task(projection.run())
        await projection.wait_ready()
        running.cancel()
    assert projection.revision_seen == 0


async def test_ready_means_that_all_that_was_stored_is_there(log: MemoryEventLog) -> None:
    state = State()
    first = await write(log, "one", "a")
    await write(log, "two")
    last = await write(log, "one", "b", first)
    projection = Projection(log, "sandbox.>", state.apply)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        running = group.create_task(projection.run())
        await projection.wait_ready()
        assert state.last == {"one": last, "two": 2}
        running.cancel()


async def test_what_is_written_while_loading_comes_once_and_in_order() -> None:
    class Busy(MemoryEventLog):
        """Another writer appends right after the load has asked for the end of the log."""

        async def head(self) -> int:
            head = await super().head()
            if head == 2:
                await write(self, "one", "a", revision=1)
                await write(self, "three")
            return head

    log = Busy("sandbox.>")
    state = State()
    await write(log, "one", "a")
    await write(log, "two")
    projection = Projection(log, "sandbox.>", state.apply)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        running = group.create_task(projection.run())
        await projection.wait_ready()
        running.cancel()
    assert state.seen == [2, 3, 4]
    assert state.last == {"one": 3, "two": 2, "three": 4}


async def test_own_write_is_read_once_waited_for(log: MemoryEventLog) -> None:
    state = State()
    projection = Projection(log, "sandbox.>", state.apply)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        running = group.create_task(projection.run())
        await projection.wait_ready()
        sequences = await asyncio.gather(*(write(log, f"k{number}") for number in range(50)))
        await asyncio.gather(*(projection.wait_for(sequence) for sequence in reversed(sequences)))
        assert len(state.last) == 50
        await projection.wait_for(1)
        running.cancel()


async def test_cancelled_wait_leaves_the_others(log: MemoryEventLog) -> None:
    projection = Projection(log, "sandbox.>", State().apply)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        running = group.create_task(projection.run())
        await projection.wait_ready()
        impatient = group.create_task(projection.wait_for(1))
        patient = group.create_task(projection.wait_for(1))
        await asyncio.sleep(0)
        impatient.cancel()
        await write(log, "one")
        await patient
        running.cancel()


async def test_log_that_is_away_at_the_start_is_waited_for(
    log: MemoryEventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arenero.bus.projection._RETRY_S", 0.001)
    await write(log, "one")
    log.go_away()
    state = State()
    projection = Projection(log, "sandbox.>", state.apply)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        running = group.create_task(projection.run())
        await asyncio.sleep(0.01)
        assert not projection.is_ready
        await log.come_back()
        await projection.wait_ready()
        running.cancel()
    assert state.last == {"one": 1}
