"""The record of an exec's output: order over streams, gaps, retention, and readers of every pace."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from arenero.execd.output import (
    BLOCK_SLACK_BYTES,
    CHUNK_BYTES,
    MAX_RUNS,
    Chunk,
    Gap,
    OutputPolicy,
    OutputRecord,
    Reader,
    Retention,
    Stream,
)
from arenero.execd.spool import Spool

OUT, ERR, PTY = Stream.STDOUT, Stream.STDERR, Stream.PTY
START = {OUT: 0, ERR: 0}


def record(retention: Retention = Retention.RING, limit: int = 1000) -> OutputRecord:
    return OutputRecord((OUT, ERR), OutputPolicy(retention, limit))


def drain(reader: Reader, limit: int = CHUNK_BYTES) -> list[Chunk | Gap]:
    found = []
    while (frame := reader.read(limit)) is not None:
        found.append(frame)
    return found


def test_order_between_streams_is_that_of_their_seq() -> None:
    output = record()
    for stream, data in ((OUT, b"a"), (ERR, b"bb"), (OUT, b"ccc"), (OUT, b"d"), (ERR, b"e")):
        output.append(stream, data)
    assert drain(Reader(output, START)) == [
        Chunk(OUT, 0, 1, b"a"),
        Chunk(ERR, 0, 2, b"bb"),
        Chunk(OUT, 1, 4, b"cccd"),
        Chunk(ERR, 2, 8, b"e"),
    ]


def test_chunk_that_is_cut_keeps_its_seq_by_byte() -> None:
    output = record()
    output.append(OUT, b"0123456789")
    assert [(c.offset, c.seq, c.data) for c in drain(Reader(output, START), 4) if isinstance(c, Chunk)] == [
        (0, 1, b"0123"),
        (4, 5, b"4567"),
        (8, 9, b"89"),
    ]


def test_missing_bytes_come_as_a_gap_that_names_them() -> None:
    output = record(limit=10)
    output.append(OUT, b"x" * 25)
    output.append(ERR, b"e")
    assert drain(Reader(output, START)) == [Gap(OUT, 0, 15), Chunk(OUT, 15, 16, b"x" * 10), Chunk(ERR, 0, 26, b"e")]
    assert output.dropped() == {OUT: 15}


def test_reader_that_falls_behind_gets_a_gap_in_the_middle() -> None:
    output = record(limit=10)
    reader = Reader(output, START)
    output.append(OUT, b"first")
    assert drain(reader) == [Chunk(OUT, 0, 1, b"first")]
    output.append(OUT, b"y" * 20)
    assert drain(reader) == [Gap(OUT, 5, 15), Chunk(OUT, 15, 16, b"y" * 10)]


def test_flood_on_one_stream_drops_nothing_of_the_other() -> None:
    output = record(limit=10)
    output.append(ERR, b"boom")
    output.append(OUT, b"z" * 1000)
    assert output.first_kept() == {OUT: 990, ERR: 0}


def test_discard_keeps_nothing_that_counts() -> None:
    output = record(Retention.DISCARD)
    output.append(OUT, b"gone")
    assert output.first_kept() == {OUT: 4, ERR: 0}
    assert output.dropped() == {OUT: 4}


def test_reader_of_one_stream_sees_only_that() -> None:
    output = record()
    output.append(OUT, b"a")
    output.append(ERR, b"b")
    assert drain(Reader(output, {ERR: 0})) == [Chunk(ERR, 0, 2, b"b")]


def test_reader_is_at_its_end_only_when_all_was_read_and_no_more_comes() -> None:
    output = record()
    reader = Reader(output, START)
    output.append(OUT, b"a")
    output.close_stream(OUT)
    assert not reader.at_end()
    drain(reader)
    assert not reader.at_end(), "standard error is open"
    output.close_stream(ERR)
    assert reader.at_end()


def test_block_is_full_until_someone_has_read() -> None:
    output = record(Retention.BLOCK, 100)
    output.append(OUT, b"x" * 99)
    assert not output.full(OUT)
    output.append(OUT, b"x")
    assert output.full(OUT)
    reader = Reader(output, START)
    asked = []
    output.held.append(lambda: asked.append(output.full(OUT)))
    assert reader.read(50) == Chunk(OUT, 0, 1, b"x" * 50)
    assert asked == [False]
    output.append(OUT, b"x" * 50)
    assert output.full(OUT)
    reader.close()
    assert output.full(OUT), "what nobody has read stays unread"


def test_block_has_room_for_what_is_in_the_pipe_at_the_end() -> None:
    output = record(Retention.BLOCK, 100)
    output.append(OUT, b"x" * 100)
    output.append(OUT, b"y" * (BLOCK_SLACK_BYTES - 1))
    assert output.first_kept()[OUT] == 0


def test_slowest_reader_sets_how_far_block_may_go() -> None:
    output = record(Retention.BLOCK, 100)
    fast, slow = Reader(output, START), Reader(output, START)
    output.append(OUT, b"x" * 100)
    drain(fast)
    assert output.full(OUT)
    drain(slow)
    assert not output.full(OUT)


def test_lag_is_that_of_the_slowest_reader_that_keeps_pace() -> None:
    output = record()
    fast, slow = Reader(output, START), Reader(output, START)
    output.append(OUT, b"x" * 100)
    drain(fast)
    assert output.lag(OUT) == (100, slow)
    slow.keeps_pace = False
    assert output.lag(OUT) == (0, fast)


def test_writers_that_alternate_for_ever_take_bounded_memory_and_lose_no_byte() -> None:
    output = record(limit=10 * MAX_RUNS)
    for _ in range(4 * MAX_RUNS):
        output.append(OUT, b"o")
        output.append(ERR, b"e")
    for stream in (OUT, ERR):
        assert len(output.streams[stream]._run_starts) <= MAX_RUNS
    frames = drain(Reader(output, START))
    chunks = [frame for frame in frames if isinstance(frame, Chunk)]
    assert frames == chunks
    assert b"".join(c.data for c in chunks if c.stream is OUT) == b"o" * 4 * MAX_RUNS
    assert b"".join(c.data for c in chunks if c.stream is ERR) == b"e" * 4 * MAX_RUNS
    assert [c.seq for c in chunks] == sorted({c.seq for c in chunks})


def test_seq_only_grows_for_a_reader_that_was_there_when_starts_of_runs_were_dropped() -> None:
    output = record(limit=10 * MAX_RUNS)
    reader, seqs = Reader(output, START), []
    for turn in range(2 * MAX_RUNS):
        output.append(OUT, b"o")
        output.append(ERR, b"e")
        if turn % 2:
            seqs += [chunk.seq for chunk in drain(reader, 1)[:3] if isinstance(chunk, Chunk)]
    assert seqs == sorted(set(seqs))


class RecordMachine(RuleBasedStateMachine):
    """Readers begin anywhere at any time; each sees every byte or a gap in its place, in order, and nothing twice."""

    def __init__(self) -> None:
        super().__init__()
        self.written = {OUT: bytearray(), ERR: bytearray()}
        self.readers: list[tuple[Reader, dict[Stream, int], list[int]]] = []

    @initialize(retention=st.sampled_from(list(Retention)), limit=st.integers(1, 3000))
    def begin(self, retention: Retention, limit: int) -> None:
        self.spool = Spool(("/tmp",), 1 << 24)
        self.output = OutputRecord((OUT, ERR), OutputPolicy(retention, limit), self.spool.open)

    @rule(stream=st.sampled_from((OUT, ERR)), size=st.integers(1, 2000))
    def write(self, stream: Stream, size: int) -> None:
        data = os.urandom(size)
        self.written[stream] += data
        self.output.append(stream, data)

    @rule(out=st.floats(0, 1), err=st.floats(0, 1))
    def attach(self, out: float, err: float) -> None:
        ends = self.output.offsets()
        places = {OUT: int(ends[OUT] * out), ERR: int(ends[ERR] * err)}
        self.readers.append((Reader(self.output, places), dict(places), [0]))

    @rule(which=st.integers(0, 5), count=st.integers(1, 20), limit=st.integers(1, 700))
    def read(self, which: int, count: int, limit: int) -> None:
        if not self.readers:
            return
        reader, places, last_seq = self.readers[which % len(self.readers)]
        for _ in range(count):
            frame = reader.read(limit)
            if frame is None:
                assert places == self.output.offsets()
                return
            if isinstance(frame, Gap):
                assert frame.start == places[frame.stream] < frame.end
                places[frame.stream] = frame.end
                continue
            assert frame.offset == places[frame.stream]
            assert 0 < len(frame.data) <= limit
            assert frame.data == self.written[frame.stream][frame.offset : frame.offset + len(frame.data)]
            places[frame.stream] += len(frame.data)
            # A byte that was skipped by a gap elsewhere may lie before; within what is read, seq only grows.
            assert frame.seq > last_seq[0]
            last_seq[0] = frame.seq

    @rule(which=st.integers(0, 5))
    def leave(self, which: int) -> None:
        if self.readers:
            self.readers.pop(which % len(self.readers))[0].close()

    def teardown(self) -> None:
        if hasattr(self, "output"):
            self.output.close()
            assert self.spool.used_bytes == 0


RecordMachine.TestCase.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
TestRecordMachine: Any = RecordMachine.TestCase


@pytest.mark.parametrize("retention", list(Retention))
def test_closed_record_ends_its_readers(retention: Retention) -> None:
    output = record(retention)
    reader = Reader(output, START)
    woken = []
    reader.wake = lambda: woken.append(True)
    output.append(OUT, b"x")
    output.close()
    drain(reader)
    assert reader.at_end()
    assert woken
