"""The last bytes of a run: what is kept, where it lies, and that it is always the newest stretch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from arenero.execd.buffer import MEMORY_BYTES, SETTLED_BYTES, ByteBuffer
from arenero.execd.spool import Spool, SpoolFile

PERIOD = bytes(i * 7 % 251 for i in range(251))


def pattern(start: int, size: int) -> bytes:
    """Bytes that tell their place: a read from the wrong offset can't look right."""
    whole = PERIOD * (size // 251 + 2)
    return whole[start % 251 : start % 251 + size]


def read_all(buffer: ByteBuffer, step: int = 100_000) -> bytes:
    pieces = []
    at = buffer.start
    while at < buffer.end:
        pieces.append(buffer.read(at, step))
        assert pieces[-1]
        at += len(pieces[-1])
    return b"".join(pieces)


def memory_bytes(buffer: ByteBuffer) -> int:
    return buffer.end - buffer.memory_start


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool((str(tmp_path),), 1 << 30)


def test_without_a_file_the_newest_stay_in_memory() -> None:
    buffer = ByteBuffer(1000)
    for at in range(0, 5000, 100):
        buffer.append(pattern(at, 100))
    assert (buffer.start, buffer.end) == (4000, 5000)
    assert read_all(buffer) == pattern(4000, 1000)


def test_small_writes_share_blocks() -> None:
    buffer = ByteBuffer(1 << 20)
    for at in range(100_000):
        buffer.append(pattern(at, 1))
    assert read_all(buffer) == pattern(0, 100_000)
    assert len(buffer._blocks) < 5  # memory per byte matters: a block each would take fifty times as much


def test_large_write_is_given_back_without_a_copy() -> None:
    buffer = ByteBuffer(1 << 20)
    data = pattern(0, 200_000)
    buffer.append(data)
    assert buffer.read(0, 256 * 1024) is data


def test_reader_that_is_behind_gets_many_small_blocks_at_once() -> None:
    buffer = ByteBuffer(1 << 20)
    for at in range(0, 320_000, 20_000):
        buffer.append(pattern(at, 20_000))
    assert buffer.read(10, 256 * 1024) == pattern(10, 256 * 1024)


def test_older_bytes_go_to_the_file(spool: Spool) -> None:
    buffer = ByteBuffer(8 << 20, spool.open)
    for at in range(0, 5 << 20, 1 << 18):
        buffer.append(pattern(at, 1 << 18))
    assert buffer.start == 0
    assert memory_bytes(buffer) <= MEMORY_BYTES + (1 << 18)
    assert spool.used_bytes >= (5 << 20) - MEMORY_BYTES - (1 << 18)
    assert read_all(buffer) == pattern(0, 5 << 20)


def test_file_is_a_ring_of_the_limit(spool: Spool) -> None:
    limit = 2 << 20
    buffer = ByteBuffer(limit, spool.open)
    for at in range(0, 9_000_000, 100_000):
        buffer.append(pattern(at, 100_000))
    assert buffer.start == 9_000_000 - limit
    assert read_all(buffer, 70_001) == pattern(buffer.start, limit)
    assert spool.used_bytes <= limit


def test_full_disk_leaves_what_is_in_memory(tmp_path: Path) -> None:
    spool = Spool((str(tmp_path),), 1 << 20)
    buffer = ByteBuffer(8 << 20, spool.open)
    for at in range(0, 4 << 20, 1 << 17):
        buffer.append(pattern(at, 1 << 17))
    assert spool.used_bytes == 0, "the file was given up with all that was in it"
    assert buffer.start == buffer.memory_start
    assert read_all(buffer) == pattern(buffer.start, buffer.end - buffer.start)


def test_file_that_fails_to_read_is_a_loss_and_not_an_end(spool: Spool) -> None:
    buffer = ByteBuffer(8 << 20, spool.open)
    buffer.append(pattern(0, 3 << 20))
    buffer.append(pattern(3 << 20, MEMORY_BYTES))
    assert buffer.memory_start > 0
    assert buffer._file is not None
    buffer._file.close()
    assert buffer.read(0, 100) == b""
    assert buffer.start == buffer.memory_start


def test_settled_buffer_takes_little_memory_and_loses_nothing(spool: Spool) -> None:
    buffer = ByteBuffer(8 << 20, spool.open)
    buffer.append(pattern(0, 300_000))
    buffer.settle()
    assert memory_bytes(buffer) <= SETTLED_BYTES
    assert read_all(buffer) == pattern(0, 300_000)
    buffer.close()
    assert spool.used_bytes == 0


class BufferMachine(RuleBasedStateMachine):
    """Against a model that keeps everything: what is kept is always the end of it."""

    def __init__(self) -> None:
        super().__init__()
        self.everything = bytearray()
        self.starts = 0

    @initialize(limit=st.integers(1, 200_000), spills=st.booleans())
    def begin(self, limit: int, spills: bool) -> None:
        self.limit = limit
        self.spool = Spool(("/tmp",), 10_000_000)
        self.buffer = ByteBuffer(limit, self.spool.open if spills else None)

    @rule(size=st.integers(0, 300_000))
    def append(self, size: int) -> None:
        data = pattern(len(self.everything), size)
        self.everything += data
        self.buffer.append(data)

    @rule(size=st.integers(1, 300), count=st.integers(1, 200))
    def append_many(self, size: int, count: int) -> None:
        for _ in range(count):
            self.append(size)

    @rule(where=st.floats(0, 1), size=st.integers(1, 300_000))
    def read(self, where: float, size: int) -> None:
        start, end = self.buffer.start, self.buffer.end
        at = start + int((end - start) * where)
        got = self.buffer.read(at, size)
        assert got == self.everything[at : at + len(got)]
        assert len(got) <= size
        assert bool(got) is (at < end)

    @rule()
    @precondition(lambda self: len(self.everything) > 0)
    def settle(self) -> None:
        self.buffer.settle()

    @invariant()
    def keeps_the_newest_up_to_the_limit(self) -> None:
        if self.everything:
            assert self.buffer.end == len(self.everything)
            assert self.buffer.start == max(0, len(self.everything) - self.limit)

    def teardown(self) -> None:
        if hasattr(self, "buffer"):
            self.buffer.close()
            assert self.spool.used_bytes == 0


BufferMachine.TestCase.settings = settings(max_examples=20, stateful_step_count=20, deadline=None)
TestBufferMachine: Any = BufferMachine.TestCase


def test_open_file_that_says_no_is_asked_once() -> None:
    asked = []

    def none(size: int) -> SpoolFile | None:
        asked.append(size)
        return None

    buffer = ByteBuffer(8 << 20, none)
    for at in range(0, 3 << 20, 1 << 18):
        buffer.append(pattern(at, 1 << 18))
    assert asked == [8 << 20]
    assert memory_bytes(buffer) <= MEMORY_BYTES + (1 << 18)
