"""Following an exec: what a stream to a client consists of, as frames, from some place on until the end.

Frames come in the order of seq. A heartbeat goes out whenever its interval has passed, also between two chunks of a
busy output; the end frame comes after the last byte.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final

from arenero.errors import InvalidArgument
from arenero.execd.execution import Exec
from arenero.execd.outcome import Ended
from arenero.execd.output import CHUNK_BYTES, Chunk, Gap, Reader, Retention, Stream


@dataclass(frozen=True, slots=True)
class Beat:
    """A sign of life."""

    at_ns: int
    offsets: Mapping[Stream, int]
    running: bool


@dataclass(frozen=True, slots=True)
class StdinBroken:
    """The process has closed its input."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where to begin: at `offsets`, or `last_bytes` before the present end; else with the first byte.

    What is not kept any more from there on comes as a gap; but of output that is discarded, nothing before now counts.
    """

    offsets: Mapping[Stream, int] = field(default_factory=dict)
    last_bytes: int | None = None
    streams: frozenset[Stream] = frozenset()
    """Only these; empty: all."""

    def resolve(self, exec_: Exec) -> dict[Stream, int]:
        """Return the offset to begin at for every stream to follow.

        Raises:
            InvalidArgument: An offset is past the end of what was written.
        """
        ends = exec_.record.offsets()
        discards = exec_.spec.output.retention is Retention.DISCARD
        places: dict[Stream, int] = {}
        for stream, end in ends.items():
            if self.streams and stream not in self.streams:
                continue
            if self.last_bytes is not None:
                places[stream] = max(0, end - self.last_bytes)
                continue
            places[stream] = self.offsets.get(stream, end if discards else 0)
            if places[stream] > end:
                message = f"is {places[stream]} for {stream.name.lower()}, but only {end} bytes were written"
                raise InvalidArgument(message, reason="OFFSET_PAST_END", field="offsets")
        return places


FROM_START: Final = Place(dict.fromkeys(Stream, 0))
"""The first byte, whatever the retention: for who has started the exec."""
Frame = Chunk | Gap | Beat | StdinBroken | Ended


class Follower:
    """One client's stream. A context manager: inside it, the exec counts it as attached."""

    def __init__(self, exec_: Exec, offsets: Mapping[Stream, int], beat_s: float | None = None) -> None:
        self._exec = exec_
        self._beat_s = beat_s
        self._loop = asyncio.get_running_loop()
        self._beat_due_s = self._loop.time() + (beat_s or 0.0)
        self._more: asyncio.Future[None] | None = None
        self._inserted: deque[Frame] = deque()
        self._interrupted = False
        self._reader = Reader(exec_.record, offsets)
        self._reader.wake = self._wake

    def __enter__(self) -> Follower:
        self._exec.attached += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exec.attached -= 1
        self._reader.close()

    def insert(self, frame: Frame) -> None:
        """Send a frame of another origin next."""
        self._inserted.append(frame)
        self._wake()

    def interrupt(self) -> None:
        """End the stream where it is."""
        self._interrupted = True
        self._wake()

    async def next(self) -> Frame | None:
        """Return the next frame, waiting for it; None when the stream was interrupted."""
        while not self._interrupted:
            frame = self.next_kept()
            if frame is not None:
                return frame
            await self._wait()
        return None

    def next_kept(self) -> Frame | None:
        """Return the next frame if there is one now: what was inserted, a heartbeat that is due, output, or the end."""
        if self._inserted:
            return self._inserted.popleft()
        if self._beat_s is not None and self._loop.time() >= self._beat_due_s:
            self._beat_due_s = self._loop.time() + self._beat_s
            return Beat(time.time_ns(), self._exec.record.offsets(), self._exec.ended is None)
        output = self._reader.read(CHUNK_BYTES)
        if output is None and self._exec.ended is not None and self._reader.at_end():
            return self._exec.ended
        return output

    async def _wait(self) -> None:
        self._more = self._loop.create_future()
        timer = None
        if self._beat_s is not None:
            timer = self._loop.call_at(self._beat_due_s, self._wake)
        try:
            await self._more
        finally:
            self._more = None
            if timer:
                timer.cancel()

    def _wake(self) -> None:
        if self._more is not None and not self._more.done():
            self._more.set_result(None)
