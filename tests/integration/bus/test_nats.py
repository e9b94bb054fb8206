"""What the log promises when things go wrong: lost answers, a full disk, other settings."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from nats.aio.msg import Msg

from arenero.bus import jetstream
from arenero.bus.connection import BusConfig, BusConnection, ConnectionLost, connect
from arenero.bus.log import Appended
from arenero.bus.nats import NatsEventLog, ensure_stream
from arenero.bus.server import NatsServer, NatsServerConfig
from arenero.bus.streams import STREAMS
from arenero.bus.subjects import Kind
from arenero.errors import ArenError, Conflict, FailedPrecondition, OutcomeUnknown, Unavailable

KEY = "sandbox.acme.one.>"
STREAM = STREAMS[Kind.SANDBOX]


async def append(log: NatsEventLog, expected: int, message_id: str, data: bytes = b"x", fact: str = "f") -> Appended:
    return await log.append(
        f"sandbox.acme.one.{fact}", data, key_filter=KEY, expected_revision=expected, message_id=message_id
    )


class Deaf(BusConnection):
    """A connection that loses the answers to the first appends, after the server has stored them."""

    lost = 1

    async def request(
        self,
        subject: str,
        payload: bytes = b"",
        *,
        headers: Mapping[str, str] | None = None,
        timeout_s: float,
        connect_s: float | None = None,
    ) -> Msg:
        answer = await super().request(subject, payload, headers=headers, timeout_s=timeout_s, connect_s=connect_s)
        if subject.startswith("sandbox.") and self.lost > 0:
            self.lost -= 1
            raise ConnectionLost("the answer was lost")
        return answer


@pytest.fixture
async def deaf(server: NatsServer, log: NatsEventLog) -> Deaf:
    connection = Deaf(BusConfig(server.url, patience_s=2.0), name="deaf")
    await connection.open()
    return connection


async def test_lost_answer_is_asked_for_again_and_stores_nothing_twice(deaf: Deaf) -> None:
    log = NatsEventLog(deaf, STREAM)
    assert await append(log, 0, "m1") == Appended(1, duplicate=True)
    assert await append(log, 1, "m2") == Appended(2)
    assert len(await log.history(KEY)) == 2
    await deaf.close()


async def test_lost_answer_counts_as_success_though_others_wrote_since(deaf: Deaf, log: NatsEventLog) -> None:
    class Overtaken(NatsEventLog):
        """Another writer is faster than the second try."""

    deaf.lost = 1
    mine = Overtaken(deaf, STREAM)

    async def overtake() -> None:
        while not await log.last(KEY):
            await asyncio.sleep(0)
        await append(log, 1, "theirs")

    async with asyncio.TaskGroup() as group:
        receipt = group.create_task(append(mine, 0, "mine"))
        group.create_task(overtake())
    assert receipt.result() == Appended(1, duplicate=True)
    assert [entry.message_id for entry in await log.history(KEY)] == ["mine", "theirs"]
    await deaf.close()


async def test_answers_that_stay_lost_are_looked_up(deaf: Deaf, log: NatsEventLog) -> None:
    deaf.lost = 10**9
    assert await append(NatsEventLog(deaf, STREAM), 0, "m1") == Appended(1, duplicate=True)
    assert len(await log.history(KEY)) == 1
    await deaf.close()


async def test_nothing_can_be_said_when_all_answers_stay_lost(
    deaf: Deaf, log: NatsEventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unreadable(*_: object, **__: object) -> None:
        raise Unavailable("away")

    deaf.lost = 10**9
    mine = NatsEventLog(deaf, STREAM)
    monkeypatch.setattr(mine, "history", unreadable)
    with pytest.raises(OutcomeUnknown):
        await append(mine, 0, "m1")
    await deaf.close()


async def test_server_that_is_away_is_unavailable_and_nothing_is_stored_later(
    server: NatsServer, log: NatsEventLog
) -> None:
    async with connect(BusConfig(server.url, patience_s=0.3), name="impatient") as connection:
        impatient = NatsEventLog(connection, STREAM)
        await server.kill()
        while connection.is_connected:
            await asyncio.sleep(0.005)
        with pytest.raises(Unavailable):
            await append(impatient, 0, "m1")
        await server.start()
        await connection.ready(5)
        await asyncio.sleep(0.1)
        assert await impatient.last(KEY) is None


async def test_append_outlasts_a_restart(server: NatsServer, log: NatsEventLog) -> None:
    await append(log, 0, "m1")
    await server.kill()
    async with asyncio.TaskGroup() as group:
        receipt = group.create_task(append(log, 1, "m2"))
        await asyncio.sleep(0.1)
        await server.start()
    assert receipt.result().sequence == 2


async def test_full_store_refuses_and_acknowledges_nothing_that_is_not_there(tmp_path: Path) -> None:
    server = NatsServer(NatsServerConfig(tmp_path / "small", max_store_bytes=1024 * 1024))
    await server.start()
    acknowledged: list[int] = []
    async with connect(BusConfig(server.url), name="test") as connection:
        await ensure_stream(connection, STREAM)
        log = NatsEventLog(connection, STREAM)

        async def fill() -> None:
            for number in range(100):
                revision = acknowledged[-1] if acknowledged else 0
                acknowledged.append((await append(log, revision, f"m{number}", bytes(64 * 1024))).sequence)

        with pytest.raises(Unavailable) as caught:
            await fill()
        assert caught.value.reason == "BUS_STORE"
        assert len(acknowledged) > 5
        assert [entry.sequence for entry in await log.history(KEY)] == acknowledged
        # What was stored can be read, and room can be made.
        assert await log.purge(KEY) == len(acknowledged)
        await append(log, 0, "again", bytes(64 * 1024))
    await server.stop()


async def test_stream_is_made_once_by_many_and_kept(connection: BusConnection) -> None:
    await asyncio.gather(*(ensure_stream(connection, STREAM) for _ in range(5)))
    log = NatsEventLog(connection, STREAM)
    await append(log, 0, "m1")
    await ensure_stream(connection, replace(STREAM, description="Another text"))
    config = (await jetstream.read(connection, "STREAM.INFO.SANDBOX"))["config"]
    assert config["description"] == "Another text"
    assert len(await log.history(KEY)) == 1


async def test_setting_that_can_not_be_changed_is_refused(connection: BusConnection) -> None:
    await ensure_stream(connection, STREAM)
    await ensure_stream(connection, replace(STREAMS[Kind.POOL], name="SANDBOX2", subject_filter="other.>"))
    with pytest.raises(ArenError):
        await ensure_stream(connection, replace(STREAM, subject_filter="other.>"))
    with pytest.raises(FailedPrecondition):
        await jetstream.call(connection, "STREAM.CREATE.SANDBOX", {**STREAM.to_config(), "storage": "memory"})


async def test_stale_revision_after_a_purge_is_a_conflict(log: NatsEventLog) -> None:
    revision = (await append(log, 0, "m1")).sequence
    await log.purge(KEY)
    with pytest.raises(Conflict) as caught:
        await append(log, revision, "m2")
    assert caught.value.metadata["revision"] == "0"


async def test_missing_stream_is_told(connection: BusConnection) -> None:
    log = NatsEventLog(connection, STREAM)
    with pytest.raises(ArenError):
        await log.head()
    with pytest.raises(ArenError):
        await log.follow("sandbox.>")
