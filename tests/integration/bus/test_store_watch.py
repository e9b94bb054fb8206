"""A full disk: what was acknowledged stays, the rest is refused, and room mends it."""

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from arenero.bus.connection import BusConfig, connect
from arenero.bus.nats import NatsEventLog, ensure_stream
from arenero.bus.server import NatsServer, NatsServerConfig
from arenero.bus.store_watch import StoreWatch
from arenero.bus.streams import STREAMS
from arenero.bus.subjects import Kind
from arenero.errors import Unavailable

SIGN = b"[1] [ERR] Filestore [SANDBOX] Critical write error: write 2.blk: no space left on device\n"
STREAM = STREAMS[Kind.SANDBOX]
KEY = "sandbox.acme.one.>"


@pytest.fixture
def log_file(tmp_path: Path) -> Path:
    path = tmp_path / "nats-server.log"
    path.write_bytes(SIGN)
    return path


def add(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


def test_only_what_is_new_counts(log_file: Path, tmp_path: Path) -> None:
    watch = StoreWatch(log_file, tmp_path, enough_bytes=1)
    assert not watch.should_restart()
    add(log_file, b"[1] [INF] all is well\n")
    assert not watch.should_restart()
    add(log_file, SIGN)
    assert watch.should_restart()
    assert watch.is_broken


def test_sign_that_is_written_in_two_parts_is_seen(log_file: Path, tmp_path: Path) -> None:
    watch = StoreWatch(log_file, tmp_path, enough_bytes=1)
    half = SIGN.index(b"write error")
    add(log_file, SIGN[:half])
    assert not watch.should_restart()
    add(log_file, SIGN[half:])
    assert watch.should_restart()


def test_rotated_log_is_read_from_its_beginning(log_file: Path, tmp_path: Path) -> None:
    add(log_file, b"x" * 1000)
    watch = StoreWatch(log_file, tmp_path, enough_bytes=1)
    log_file.write_bytes(SIGN)
    assert watch.should_restart()


def test_nothing_is_done_while_there_is_no_room(log_file: Path, tmp_path: Path) -> None:
    watch = StoreWatch(log_file, tmp_path, enough_bytes=2**62)
    add(log_file, SIGN)
    assert not watch.should_restart()
    assert watch.is_broken


def test_log_that_is_not_there_yet_is_no_news(tmp_path: Path) -> None:
    assert not StoreWatch(tmp_path / "none.log", tmp_path).should_restart()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """The store's directory, on a disk of 12 MiB."""
    store = tmp_path / "nats-server" / "store"
    store.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", str(store)], check=True)
    yield store
    subprocess.run(["umount", "--lazy", str(store)], check=True)


@pytest.mark.root
async def test_full_disk_refuses_keeps_what_was_acknowledged_and_is_mended_by_room(
    small_disk: Path, tmp_path: Path
) -> None:
    server = NatsServer(NatsServerConfig(tmp_path / "nats-server", max_store_bytes=2**30))
    await server.start()
    acknowledged: list[int] = []
    async with connect(BusConfig(server.url, patience_s=2.5), name="test") as connection:
        await ensure_stream(connection, STREAM)
        log = NatsEventLog(connection, STREAM)

        async def append() -> None:
            number, revision = len(acknowledged), acknowledged[-1] if acknowledged else 0
            receipt = await log.append(
                "sandbox.acme.one.f",
                bytes(256 * 1024),
                key_filter=KEY,
                expected_revision=revision,
                message_id=f"m{number}",
            )
            acknowledged.append(receipt.sequence)

        async def fill() -> None:
            for _ in range(100):
                await append()

        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            ended = group.create_task(server.wait())
            with pytest.raises(Unavailable):
                await fill()
            assert len(acknowledged) > 10
            assert [entry.sequence for entry in await log.history(KEY)] == acknowledged
            assert not ended.done()
            subprocess.run(["mount", "-o", "remount,size=256m", str(small_disk)], check=True)
            await ended
        await server.start()
        await append()
        assert [entry.sequence for entry in await log.history(KEY)] == acknowledged
    await server.stop()
