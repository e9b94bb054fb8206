"""nats-server is killed while many write: what was acknowledged is there, once, and the state of every key is exact."""

import asyncio
from pathlib import Path

import pytest

from arenero.bus.connection import BusConfig, connect
from arenero.bus.log import Appended
from arenero.bus.nats import NatsEventLog, ensure_stream
from arenero.bus.server import NatsServer, NatsServerConfig
from arenero.bus.streams import STREAMS
from arenero.bus.subjects import Kind

WRITERS = 16
APPENDS = 1_000
KILLS = 4
STREAM = STREAMS[Kind.SANDBOX]


class Progress:
    """What was acknowledged so far, over all writers."""

    def __init__(self) -> None:
        self.receipts: dict[str, Appended] = {}
        self._grown = asyncio.Event()

    def add(self, message_id: str, receipt: Appended) -> None:
        self.receipts[message_id] = receipt
        self._grown.set()

    async def reached(self, count: int) -> None:
        while len(self.receipts) < count:
            self._grown.clear()
            await self._grown.wait()


async def write(log: NatsEventLog, writer: int, progress: Progress) -> None:
    """Append to a key of its own, each on top of the last."""
    revision = 0
    for number in range(APPENDS // WRITERS + 1):
        message_id = f"w{writer}-{number}"
        receipt = await log.append(
            f"sandbox.acme.w{writer}.f{number % 3}",
            message_id.encode(),
            key_filter=f"sandbox.acme.w{writer}.>",
            expected_revision=revision,
            message_id=message_id,
        )
        revision = receipt.sequence
        progress.add(message_id, receipt)


async def kill_again_and_again(server: NatsServer, progress: Progress) -> None:
    for number in range(1, KILLS + 1):
        await progress.reached(number * APPENDS // (KILLS + 1))
        await server.kill()
        await server.start()


@pytest.mark.parametrize("sync_always", [False, True])
async def test_every_acknowledged_append_survives_kills(tmp_path: Path, sync_always: bool) -> None:
    server = NatsServer(NatsServerConfig(tmp_path / "nats-server", sync_always=sync_always))
    await server.start()
    progress = Progress()
    async with connect(BusConfig(server.url, patience_s=30), name="test") as connection:
        await ensure_stream(connection, STREAM)
        log = NatsEventLog(connection, STREAM)
        async with asyncio.timeout(90), asyncio.TaskGroup() as group:
            group.create_task(kill_again_and_again(server, progress))
            for writer in range(WRITERS):
                group.create_task(write(log, writer, progress))
        await server.kill()
        await server.start()
        stored = await log.history("sandbox.>", limit=10 * APPENDS)
    await server.stop()
    assert len(progress.receipts) >= APPENDS
    assert {entry.message_id: entry.sequence for entry in stored} == {
        message_id: receipt.sequence for message_id, receipt in progress.receipts.items()
    }
    assert len(stored) == len(progress.receipts), "something was stored twice"
    assert [entry.sequence for entry in stored] == sorted(entry.sequence for entry in stored)
