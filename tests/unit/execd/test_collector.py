"""Reading output from real pipes into a record: to the end, held back only as the record asks."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from arenero.execd import collector as module
from arenero.execd.collector import Collector
from arenero.execd.output import Chunk, OutputPolicy, OutputRecord, Reader, Retention, Stream

OUT = Stream.STDOUT


@dataclass
class Piped:
    """A collector, the pipe's other end, and what was called."""

    record: OutputRecord
    writer: int
    collector: Collector
    called: list[str] = field(default_factory=list)


def collect(policy: OutputPolicy) -> Piped:
    reader, writer = os.pipe()
    record = OutputRecord((OUT,), policy)
    called: list[str] = []
    collector = Collector(reader, OUT, record, lambda: called.append("output"), lambda: called.append("end"))
    os.set_blocking(writer, False)
    return Piped(record, writer, collector, called)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.001)


async def settled() -> None:
    """Let everything happen that is ready to."""
    for _ in range(20):
        await asyncio.sleep(0)


def write_all(piped: Piped) -> int:
    """Write until the pipe is full; return how much."""
    total = 0
    try:
        while True:
            total += os.write(piped.writer, b"x" * 65_536)
    except BlockingIOError:
        return total


async def test_everything_is_collected_and_the_end_is_told_once() -> None:
    piped = collect(OutputPolicy())
    os.write(piped.writer, b"some")
    os.close(piped.writer)
    await until(lambda: piped.collector.ended)
    assert piped.called == ["output", "end"]
    assert Reader(piped.record, {OUT: 0}).read() == Chunk(OUT, 0, 1, b"some")
    assert not piped.record.open


async def test_pull_takes_what_is_there_at_once() -> None:
    piped = collect(OutputPolicy())
    os.write(piped.writer, b"last words")
    os.close(piped.writer)
    piped.collector.pull()
    assert piped.collector.ended
    assert piped.record.offsets() == {OUT: 10}


async def test_busy_pipe_is_made_wide() -> None:
    piped = collect(OutputPolicy(Retention.RING, 1 << 20))
    narrow = write_all(piped)
    for _ in range(5):
        await settled()
        write_all(piped)
    await until(lambda: piped.record.offsets()[OUT] > 3 * narrow)
    await settled()
    assert write_all(piped) > narrow
    piped.collector.close()
    os.close(piped.writer)


async def test_block_holds_the_writer_until_someone_reads() -> None:
    piped = collect(OutputPolicy(Retention.BLOCK, 100_000))
    written = 0
    for _ in range(100):
        written += write_all(piped)
        await settled()
    assert written < 3_000_000
    reader = Reader(piped.record, {OUT: 0})
    taken = 0
    while taken < 10_000_000:
        while (chunk := reader.read()) is not None:
            assert isinstance(chunk, Chunk)
            taken += len(chunk.data)
        write_all(piped)
        await asyncio.sleep(0)
    os.close(piped.writer)
    await until(lambda: reader.read() is None and piped.collector.ended)


async def test_keep_waits_for_a_reader_that_keeps_pace_and_loses_nothing() -> None:
    limit = 2 * module._PATIENT_BYTES
    piped = collect(OutputPolicy(Retention.KEEP, limit))
    reader = Reader(piped.record, {OUT: 0})
    written = taken = 0
    while taken < 5 * limit:
        written += write_all(piped)
        await asyncio.sleep(0)
        for _ in range(2):
            if (chunk := reader.read()) is not None:
                assert isinstance(chunk, Chunk), "a gap"
                taken += len(chunk.data)
    assert reader.keeps_pace
    piped.collector.close()
    os.close(piped.writer)


async def test_exec_stays_near_a_reader_that_reads_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NEAR_PATIENCE_S", 60.0)
    piped = collect(OutputPolicy())
    reader = Reader(piped.record, {OUT: 0})
    behind = taken = 0
    while taken < 32 << 20:
        write_all(piped)
        await settled()
        behind = max(behind, piped.record.offsets()[OUT] - taken)
        while (chunk := reader.read()) is not None:
            assert isinstance(chunk, Chunk)
            taken += len(chunk.data)
            await settled()
    assert behind <= 2 * module.NEAR_BYTES
    piped.collector.close()
    os.close(piped.writer)


async def test_exec_waits_once_for_a_reader_that_does_not_come_near(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NEAR_PATIENCE_S", 0.05)
    piped = collect(OutputPolicy())
    reader = Reader(piped.record, {OUT: 0})
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    async with asyncio.timeout(10):
        while piped.record.offsets()[OUT] < 16 << 20:
            write_all(piped)
            await asyncio.sleep(0.0005)
    assert loop.time() - began_s > 0.05
    assert not piped.collector._is_near
    while reader.read() is not None:
        pass
    await until(lambda: write_all(piped) > 0 and piped.collector._is_near)
    assert reader.keeps_pace
    piped.collector.close()
    os.close(piped.writer)


async def test_keep_loses_patience_with_a_reader_that_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.02)
    limit = 2 * module._PATIENT_BYTES
    piped = collect(OutputPolicy(Retention.KEEP, limit))
    reader = Reader(piped.record, {OUT: 0})
    async with asyncio.timeout(10):
        while piped.record.offsets()[OUT] < 2 * limit:
            write_all(piped)
            await asyncio.sleep(0.0005)
    assert not reader.keeps_pace
    piped.collector.close()
    os.close(piped.writer)


async def test_discarding_collector_reads_on_so_that_the_writer_lives() -> None:
    piped = collect(OutputPolicy())
    piped.collector.discard()
    for _ in range(50):
        write_all(piped)
        await settled()
    assert piped.record.offsets() == {OUT: 0}
    os.close(piped.writer)
    await until(lambda: piped.collector.ended)
    assert piped.called == ["end"]


async def test_closed_collector_ends_the_writer() -> None:
    piped = collect(OutputPolicy())
    piped.collector.close()
    with pytest.raises(BrokenPipeError):
        os.write(piped.writer, b"x")
    os.close(piped.writer)
