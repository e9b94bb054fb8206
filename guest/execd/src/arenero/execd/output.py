"""What an exec has written: one record of all its streams, read by any number of readers at their own pace.

Every byte has two numbers: its *offset* in its stream, and its *seq*, its place among the bytes of all streams of the
exec, from 1. So the order between streams is known without keeping frames: a *run* is a stretch of one stream that no
other stream interrupts, and only the starts of runs are kept. Bytes leave by the retention rule; a reader whose place
is gone gets a `Gap` that names what it missed. Nothing here waits: a reader is told by a callback that there is more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, unique
from typing import Final

from arenero.execd.buffer import ByteBuffer, OpenFile

CHUNK_BYTES: Final = 1024 * 1024
"""Most bytes of one frame. A frame of 256 KiB costs gRPC nearly twice as much per byte; still larger ones gain little,
and they would hold up heartbeats."""
BLOCK_SLACK_BYTES: Final = (1 << 20) + 2 * CHUNK_BYTES
"""Room beyond the limit of `BLOCK`: what is in the pipe when the exec ends must not push out what nobody has read."""
MAX_RUNS: Final = 4096
"""Starts of runs that are kept per stream. Beyond it, every second one of the older half goes, and with it the exact
order between the streams there."""


@unique
class Stream(IntEnum):
    """An output stream of an exec; the numbers are those of the API."""

    STDOUT = 1
    STDERR = 2
    PTY = 3


@unique
class Retention(IntEnum):
    """What is kept; the numbers are those of the API."""

    KEEP = 1
    RING = 2
    DISCARD = 3
    BLOCK = 4


@dataclass(frozen=True, slots=True)
class OutputPolicy:
    """How much is kept of each stream, and how."""

    retention: Retention = Retention.KEEP
    limit_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes of one stream."""

    stream: Stream
    offset: int
    seq: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes that are gone: from `start` up to, not including, `end`."""

    stream: Stream
    start: int
    end: int


class StreamRecord:
    """One stream: its bytes and where its runs start."""

    def __init__(self, limit_bytes: int, open_file: OpenFile | None) -> None:
        self._bytes = ByteBuffer(limit_bytes, open_file)
        self._run_starts: list[int] = []
        self._run_seqs: list[int] = []
        self.open = True
        """More may come."""

    @property
    def start(self) -> int:
        """Offset of the oldest byte that is kept."""
        return self._bytes.start

    @property
    def end(self) -> int:
        """Bytes that were written so far."""
        return self._bytes.end

    def append(self, data: bytes, seq: int, *, new_run: bool) -> None:
        """Add bytes, the first of which has this seq."""
        if new_run or not self._run_starts:
            self._run_starts.append(self.end)
            self._run_seqs.append(seq)
        self._bytes.append(data)
        if len(self._run_starts) > MAX_RUNS:
            self._thin_out()

    def seq_at(self, offset: int) -> int:
        """Return the seq of a byte that is kept or comes next."""
        run = bisect_right(self._run_starts, offset) - 1
        return self._run_seqs[run] + offset - self._run_starts[run]

    def read(self, offset: int, limit_bytes: int) -> bytes:
        """Return kept bytes from an offset on, within one run, at most so many."""
        run = bisect_right(self._run_starts, offset)
        run_end = self._run_starts[run] if run < len(self._run_starts) else self.end
        return self._bytes.read(offset, min(limit_bytes, run_end - offset))

    def settle(self) -> None:
        """Nothing more comes: take as little memory as possible."""
        self._bytes.settle()

    def close(self) -> None:
        """Forget the bytes."""
        self._bytes.close()

    def _thin_out(self) -> None:
        """Drop the starts of runs that are gone; if that is not enough, every second of the older half."""
        gone = bisect_right(self._run_starts, self.start) - 1
        if gone > 0:
            del self._run_starts[:gone], self._run_seqs[:gone]
        if len(self._run_starts) > MAX_RUNS // 2:
            half = slice(1, MAX_RUNS // 2, 2)
            del self._run_starts[half], self._run_seqs[half]


class OutputRecord:
    """All streams of one exec."""

    def __init__(self, streams: Iterable[Stream], policy: OutputPolicy, open_file: OpenFile | None = None) -> None:
        spills = policy.retention in (Retention.KEEP, Retention.BLOCK)
        slack = BLOCK_SLACK_BYTES if policy.retention is Retention.BLOCK else 0
        self.policy = policy
        self.streams: Mapping[Stream, StreamRecord] = {
            stream: StreamRecord(policy.limit_bytes + slack, open_file if spills else None) for stream in streams
        }
        self.readers: list[Reader] = []
        self.held: list[Callable[[], None]] = []
        """Called after each read: whoever holds the exec back looks again."""
        self._total = 0
        self._last: Stream | None = None
        self._read_up_to: dict[Stream, int] = dict.fromkeys(self.streams, 0)

    @property
    def open(self) -> bool:
        """More may come on some stream."""
        return any(record.open for record in self.streams.values())

    def append(self, stream: Stream, data: bytes) -> None:
        """Add what was read from the exec."""
        self.streams[stream].append(data, self._total + 1, new_run=self._last is not stream)
        self._last = stream
        self._total += len(data)
        self.tell()

    def close_stream(self, stream: Stream) -> None:
        """Nothing more comes on this stream. Readers are not told: to them only the exec's end is an end."""
        self.streams[stream].open = False

    def offsets(self) -> dict[Stream, int]:
        """Return the bytes written so far per stream."""
        return {stream: record.end for stream, record in self.streams.items()}

    def first_kept(self) -> dict[Stream, int]:
        """Return the offset of the oldest kept byte per stream; with `DISCARD`, nothing counts as kept."""
        if self.policy.retention is Retention.DISCARD:
            return self.offsets()
        return {stream: record.start for stream, record in self.streams.items()}

    def dropped(self) -> dict[Stream, int]:
        """Return the bytes per stream that are not kept any more; streams without loss are left out."""
        return {stream: start for stream, start in self.first_kept().items() if start}

    def full(self, stream: Stream) -> bool:
        """Whether the exec must wait because of `BLOCK`: as much as may be kept was not read yet."""
        if self.policy.retention is not Retention.BLOCK:
            return False
        return self.streams[stream].end - self._unread_from(stream) >= self.policy.limit_bytes

    def lag(self, stream: Stream) -> tuple[int, Reader | None]:
        """Return how far the slowest reader of a stream that keeps pace is behind, and that reader."""
        end = self.streams[stream].end
        behind = [(end - r.offsets[stream], r) for r in self.readers if r.keeps_pace and stream in r.offsets]
        return max(behind, key=lambda pair: pair[0], default=(0, None))

    def settle(self) -> None:
        """The exec has ended: take as little memory as possible."""
        for record in self.streams.values():
            record.settle()

    def close(self) -> None:
        """Forget everything; readers come to an end."""
        for record in self.streams.values():
            record.open = False
            record.close()
        self.tell()

    def note_read(self, stream: Stream | None = None, offset: int = 0) -> None:
        """A reader has taken all bytes below this offset, or has left."""
        if stream is not None and offset > self._read_up_to[stream]:
            self._read_up_to[stream] = offset
        for look_again in tuple(self.held):
            look_again()

    def _unread_from(self, stream: Stream) -> int:
        """Return where the unread part starts: at the slowest reader, or without one where the last one stopped."""
        places = [reader.offsets[stream] for reader in self.readers if stream in reader.offsets]
        return min(places, default=self._read_up_to[stream])

    def tell(self) -> None:
        """Wake every reader."""
        for reader in self.readers:
            reader.wake()


class Reader:
    """One reader's place in a record. Its `wake` is replaced by whoever waits for more."""

    def __init__(self, record: OutputRecord, offsets: Mapping[Stream, int]) -> None:
        self.offsets = dict(offsets)
        self.keeps_pace = True
        """It reads fast enough that the exec may be held back a little for it."""
        self.wake: Callable[[], None] = lambda: None
        self._record = record
        self._last_seq = 0
        record.readers.append(self)

    def close(self) -> None:
        """Stop reading."""
        if self in self._record.readers:
            self._record.readers.remove(self)
            self._record.note_read()

    def read(self, limit_bytes: int = CHUNK_BYTES) -> Chunk | Gap | None:
        """Return what comes next, in the order of seq; None when there is nothing more for now."""
        best: Stream | None = None
        best_seq = 0
        for stream, offset in self.offsets.items():
            record = self._record.streams[stream]
            if offset < record.start:
                self.offsets[stream] = record.start
                return Gap(stream, offset, record.start)
            if offset >= record.end:
                continue
            seq = record.seq_at(offset) if len(self.offsets) > 1 else 0
            if best is None or seq < best_seq:
                best, best_seq = stream, seq
        if best is None:
            return None
        return self._take(best, limit_bytes)

    def at_end(self) -> bool:
        """Whether all that there will ever be was read."""
        return not any(
            record.open or self.offsets[stream] < record.end
            for stream, record in self._record.streams.items()
            if stream in self.offsets
        )

    def _take(self, stream: Stream, limit_bytes: int) -> Chunk | Gap | None:
        record, offset = self._record.streams[stream], self.offsets[stream]
        data = record.read(offset, limit_bytes)
        if not data:
            # The file failed just now, and what was in it is gone.
            return self.read(limit_bytes)
        self.offsets[stream] = offset + len(data)
        # Where starts of runs were dropped meanwhile, a seq may have become one that was passed already.
        self._last_seq = max(record.seq_at(offset), self._last_seq + 1)
        self._record.note_read(stream, offset + len(data))
        return Chunk(stream, offset, self._last_seq, data)
