"""Following over everything that can happen to a connection: each message once, in order."""

import asyncio

import pytest

from arenero.bus import following as module
from arenero.bus import jetstream
from arenero.bus.connection import BusConnection
from arenero.bus.log import Entry, Following
from arenero.bus.nats import NatsEventLog
from arenero.bus.projection import Projection
from arenero.bus.server import NatsServer


async def write(log: NatsEventLog, number: int) -> int:
    appended = await log.publish(f"sandbox.acme.s{number}.f", b"%d" % number, message_id=f"m{number}")
    return appended.sequence


async def take(entries: Following, count: int, timeout_s: float = 20.0) -> list[int]:
    async with asyncio.timeout(timeout_s):
        return [int((await anext(entries)).data) for _ in range(count)]


async def consumers(connection: BusConnection) -> list[str]:
    return [str(name) for name in (await jetstream.read(connection, "CONSUMER.NAMES.SANDBOX"))["consumers"] or []]


async def test_restarts_lose_and_repeat_nothing(server: NatsServer, log: NatsEventLog) -> None:
    total = 400
    entries = await log.follow("sandbox.>", from_sequence=1)

    async def write_all() -> None:
        for number in range(total):
            await write(log, number)

    async def disturb() -> None:
        for _ in range(3):
            await asyncio.sleep(0.1)
            await server.kill()
            await server.start()

    async with asyncio.TaskGroup() as group:
        reading = group.create_task(take(entries, total, timeout_s=60))
        group.create_task(write_all())
        group.create_task(disturb())
    assert reading.result() == list(range(total))
    await entries.close()


async def test_consumer_that_vanishes_is_replaced(connection: BusConnection, log: NatsEventLog) -> None:
    entries = await log.follow("sandbox.>")
    await write(log, 0)
    assert await take(entries, 1) == [0]
    [name] = await consumers(connection)
    await jetstream.call(connection, f"CONSUMER.DELETE.SANDBOX.{name}")
    await write(log, 1)
    assert await take(entries, 1) == [1]
    assert name not in await consumers(connection)
    await entries.close()


async def test_pulls_that_expire_are_renewed(log: NatsEventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PULL_EXPIRES_S", 0.2)
    monkeypatch.setattr(module, "_HEARTBEAT_S", 0.05)
    entries = await log.follow("sandbox.>")
    for number in range(4):
        with pytest.raises(TimeoutError):
            await take(entries, 1, timeout_s=0.3)
        await write(log, number)
        assert await take(entries, 1) == [number]
    await entries.close()


async def test_silent_server_is_left(log: NatsEventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without heartbeats nobody can tell a quiet stream from a dead consumer, so a new one is made."""
    monkeypatch.setattr(module, "_HEARTBEAT_S", 25.0)
    monkeypatch.setattr(module, "_SILENCE_S", 0.1)
    entries = await log.follow("sandbox.>")
    with pytest.raises(TimeoutError):
        await take(entries, 1, timeout_s=0.35)
    await write(log, 0)
    assert await take(entries, 1) == [0]
    await entries.close()


async def test_slow_reader_holds_back_the_server_not_the_memory(connection: BusConnection, log: NatsEventLog) -> None:
    entries = await log.follow("sandbox.>")
    for number in range(2_000):
        await write(log, number)
    assert await take(entries, 1) == [0]
    await asyncio.sleep(0.2)
    [name] = await consumers(connection)
    info = await jetstream.read(connection, f"CONSUMER.INFO.SANDBOX.{name}")
    assert info["num_pending"] >= 2_000 - 400
    assert await take(entries, 1_999) == list(range(1, 2_000))
    await entries.close()


async def test_closing_leaves_no_consumer(connection: BusConnection, log: NatsEventLog) -> None:
    for _ in range(3):
        async with await log.follow("sandbox.>"):
            assert len(await consumers(connection)) == 1
    async with asyncio.timeout(5):
        while await consumers(connection):
            await asyncio.sleep(0.01)


async def test_latest_leaves_no_consumer_when_left_early(connection: BusConnection, log: NatsEventLog) -> None:
    for number in range(600):
        await write(log, number)
    stream = log.latest("sandbox.>")
    assert (await anext(stream)).data == b"0"
    await stream.aclose()  # type: ignore[attr-defined]  # an async generator, typed as an iterator
    async with asyncio.timeout(5):
        while await consumers(connection):
            await asyncio.sleep(0.01)


async def test_projection_survives_restarts(server: NatsServer, log: NatsEventLog) -> None:
    seen: list[int] = []

    def apply(entry: Entry) -> None:
        seen.append(int(entry.data))

    await write(log, 0)
    projection = Projection(log, "sandbox.>", apply)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        running = group.create_task(projection.run())
        await projection.wait_ready()
        for number in (1, 2, 3):
            await server.kill()
            await server.start()
            await projection.wait_for(await write(log, number))
        running.cancel()
    assert seen == [0, 1, 2, 3]
