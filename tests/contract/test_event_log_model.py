"""Random histories of guarded appends, repeats, purges and reads, over both logs, against a model of ten lines."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arenero.bus.connection import BusConfig, connect
from arenero.bus.log import Appended, EventLog
from arenero.bus.memory import MemoryEventLog
from arenero.bus.nats import NatsEventLog, ensure_stream
from arenero.bus.server import NatsServer, NatsServerConfig
from arenero.bus.streams import Stream
from arenero.errors import Conflict

KEYS = ("a", "b", "c")
FACTS = ("requested", "started", "paused")
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.sampled_from(KEYS), st.sampled_from(FACTS), st.integers(0, 2)),
        st.tuples(st.just("race"), st.sampled_from(KEYS), st.sampled_from(FACTS), st.integers(2, 4)),
        st.tuples(st.just("repeat"), st.sampled_from(KEYS), st.sampled_from(FACTS), st.integers(0, 9)),
        st.tuples(st.just("purge"), st.sampled_from(KEYS), st.just(""), st.just(0)),
    ),
    max_size=25,
)
Operation = tuple[str, str, str, int]


class Model:
    """What a log should hold: entries in order, as (key, fact, message id, expected revision, sequence)."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.entries: list[tuple[str, str, str, int, int]] = []
        self.head = 0
        self._ids = 0

    def revision(self, key: str) -> int:
        return max((entry[4] for entry in self.entries if entry[0] == key), default=0)

    async def apply(self, operation: Operation) -> None:
        name, key, fact, number = operation
        if name == "append":
            await self.append(key, fact, staleness=number)
        elif name == "race":
            await self.race(key, fact, writers=number)
        elif name == "repeat":
            await self.repeat(key, number)
        else:
            assert await self.log.purge(_key(key)) == sum(entry[0] == key for entry in self.entries)
            self.entries = [entry for entry in self.entries if entry[0] != key]

    async def append(self, key: str, fact: str, *, staleness: int) -> None:
        """Append on the newest revision, or on one that is not: that must be refused and change nothing."""
        revision = self.revision(key)
        expected = revision + staleness if staleness != 2 else max(revision - 1, 0)
        message_id = self.new_id()
        if expected != revision:
            with pytest.raises(Conflict):
                await self.write(key, fact, message_id, expected)
            return
        receipt = await self.write(key, fact, message_id, expected)
        self.stored(key, fact, message_id, expected, receipt)

    async def race(self, key: str, fact: str, *, writers: int) -> None:
        """Let several writers append at once: one wins."""
        revision = self.revision(key)
        ids = [self.new_id() for _ in range(writers)]
        results = await asyncio.gather(
            *(self.write(key, fact, message_id, revision) for message_id in ids), return_exceptions=True
        )
        won = [(message_id, r) for message_id, r in zip(ids, results, strict=True) if isinstance(r, Appended)]
        assert len(won) == 1
        assert all(isinstance(result, Conflict | Appended) for result in results)
        self.stored(key, fact, won[0][0], revision, won[0][1])

    async def repeat(self, key: str, number: int) -> None:
        """Send an earlier append of the key once more: it is known, whatever was written since."""
        mine = [entry for entry in self.entries if entry[0] == key]
        if mine:
            _, fact, message_id, expected, sequence = mine[number % len(mine)]
            assert await self.write(key, fact, message_id, expected) == Appended(sequence, duplicate=True)

    async def write(self, key: str, fact: str, message_id: str, expected: int) -> Appended:
        subject = _key(key).replace(">", fact)
        return await self.log.append(
            subject, message_id.encode(), key_filter=_key(key), expected_revision=expected, message_id=message_id
        )

    def stored(self, key: str, fact: str, message_id: str, expected: int, receipt: Appended) -> None:
        assert receipt == Appended(self.head + 1)
        self.head = receipt.sequence
        self.entries.append((key, fact, message_id, expected, receipt.sequence))

    def new_id(self) -> str:
        self._ids += 1
        return f"m{self._ids}"

    async def check(self) -> None:
        """Compare all ways to read with the model."""
        expected = [(f"sandbox.t.{key}.{fact}", m, sequence) for key, fact, m, _, sequence in self.entries]
        assert [(e.subject, e.data.decode(), e.sequence) for e in await self.log.history("sandbox.>")] == expected
        assert await self.log.head() == self.head
        for key in KEYS:
            last = await self.log.last(_key(key))
            assert (last.sequence if last else 0) == self.revision(key)
        latest = {subject: sequence for subject, _, sequence in expected}
        found = [(e.subject, e.sequence) async for e in self.log.latest("sandbox.>")]
        assert found == sorted(latest.items(), key=lambda item: item[1])


def _key(key: str) -> str:
    return f"sandbox.t.{key}.>"


async def run(log: EventLog, operations: list[Operation]) -> None:
    model = Model(log)
    for operation in operations:
        await model.apply(operation)
    await model.check()


@given(operations=OPERATIONS)
@settings(max_examples=200, deadline=None)
def test_memory_log_behaves_as_the_model(operations: list[Operation]) -> None:
    asyncio.run(run(MemoryEventLog("sandbox.>"), operations))


@asynccontextmanager
async def nats_logs(folder: Path) -> AsyncIterator[Callable[[], Awaitable[EventLog]]]:
    """Yield a maker of empty logs: one server, a stream made anew for each."""
    server = NatsServer(NatsServerConfig(folder / "nats-server"))
    await server.start()
    stream = Stream("MODEL", "sandbox.>", "For one example")
    try:
        async with connect(BusConfig(server.url), name="model") as connection:

            async def empty_log() -> EventLog:
                await connection.request("$JS.API.STREAM.DELETE.MODEL", timeout_s=5)
                await ensure_stream(connection, stream)
                return NatsEventLog(connection, stream)

            yield empty_log
    finally:
        await server.stop()


class Examples:
    """Lets hypothesis, which is synchronous, run examples on one loop and one server."""

    def __init__(
        self, runner: asyncio.Runner, logs: AbstractAsyncContextManager[Callable[[], Awaitable[EventLog]]]
    ) -> None:
        self._runner = runner
        self._logs = logs
        self._empty_log = runner.run(logs.__aenter__())

    def run(self, operations: list[Operation]) -> None:
        async def example() -> None:
            await run(await self._empty_log(), operations)

        self._runner.run(example())

    def close(self) -> None:
        self._runner.run(self._logs.__aexit__(None, None, None))


def test_nats_log_behaves_as_the_model(tmp_path: Path) -> None:
    with asyncio.Runner() as runner:
        examples = Examples(runner, nats_logs(tmp_path))

        @given(operations=OPERATIONS)
        @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        def behaves(operations: list[Operation]) -> None:
            examples.run(operations)

        try:
            behaves()
        finally:
            examples.close()
