"""The frames of a running command as the SDK shows them, and how they are read from the wire.

Frames of a kind, and streams, that this version doesn't know are left out: a newer execd may send them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

from arenero.api.execd.v1 import exec_pb2
from arenero.sdk._payloads import OutputPart
from arenero.sdk.errors import StartFailed

StreamName: TypeAlias = Literal["stdout", "stderr", "pty"]

_STREAM_NAMES: Final[Mapping[int, StreamName]] = {
    exec_pb2.OUTPUT_STREAM_STDOUT: "stdout",
    exec_pb2.OUTPUT_STREAM_STDERR: "stderr",
    exec_pb2.OUTPUT_STREAM_PTY: "pty",
}


@dataclass(frozen=True, slots=True)
class Output:
    """A run of bytes of one stream."""

    stream: StreamName
    data: bytes
    offset: int
    """Of the first byte, since the start of the exec."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes that are gone: the retention of the exec has dropped them."""

    stream: StreamName
    from_offset: int
    to_offset: int


@dataclass(frozen=True, slots=True)
class Exit:
    """How an exec ended."""

    exit_code: int | None
    """0 to 255; None when a signal ended it."""
    signal: int | None
    """Number of the signal that ended it; None when it exited."""
    cause: str
    """`OWN_EXIT`, `DEADLINE`, `IDLE_OUTPUT_DEADLINE`, `CANCELLED`, `OUT_OF_MEMORY`, `SANDBOX_STOPPED`, …"""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    stdio_held_open: bool = False
    """A descendant still holds the output open; later output was not collected."""
    escapees_possible: bool = False
    core_dumped: bool = False
    cpu_time_s: float | None = None
    max_rss_bytes: int | None = None
    """Most memory of one of its processes; None where it isn't known."""
    final_offsets: Mapping[StreamName, int] = field(default_factory=dict)
    dropped_bytes: Mapping[StreamName, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether it exited by itself with code 0."""
        return self.exit_code == 0 and self.cause == "OWN_EXIT"

    @property
    def shell_code(self) -> int:
        """The code as a shell would report it: 128 and the signal's number when a signal ended it."""
        return self.exit_code if self.exit_code is not None else 128 + (self.signal or 0)


Frame: TypeAlias = Output | Gap | Exit


class Cursor:
    """Where a reader is in each stream: leaves out what it has had, and tells of what is missing."""

    def __init__(self) -> None:
        self._at: dict[StreamName, int] = {}

    def __contains__(self, stream: StreamName) -> bool:
        """Whether its place in the stream is known."""
        return stream in self._at

    def begin(self, offsets: Mapping[StreamName, int]) -> None:
        """Say where streams begin whose place isn't known yet."""
        self._at = {**offsets, **self._at}

    def offsets(self) -> list[exec_pb2.StreamOffset]:
        """Return where to go on."""
        return stream_offsets(self._at)

    def output(self, chunk: exec_pb2.OutputChunk | OutputPart) -> Iterator[Frame]:
        """Take a chunk."""
        name = _STREAM_NAMES.get(chunk.stream)
        if name is None:
            return
        at = self._at.get(name, chunk.offset)
        if chunk.offset > at:
            yield Gap(name, at, chunk.offset)
        data = chunk.data  # a copy, each time that it is asked for
        end = chunk.offset + len(data)
        if end > at:
            self._at[name] = end
            seen = max(0, at - chunk.offset)
            yield Output(name, data[seen:] if seen else data, chunk.offset + seen)

    def gap(self, gap: exec_pb2.OutputGap) -> Iterator[Frame]:
        """Take a gap."""
        if name := _STREAM_NAMES.get(gap.stream):
            yield from self._skip(name, self._at.get(name, gap.from_offset), gap.to_offset)

    def end(self, ended: exec_pb2.ExecEnded) -> Iterator[Frame]:
        """Take the end: what the streams held and was not sent is a gap too."""
        for name, offset in named_offsets(ended.final_offsets).items():
            if name in self._at:
                yield from self._skip(name, self._at[name], offset)

    def _skip(self, name: StreamName, begin: int, end: int) -> Iterator[Frame]:
        if end > begin:
            self._at[name] = end
            yield Gap(name, begin, end)


def exit_of(ended: exec_pb2.ExecEnded) -> Exit:
    """Translate an end frame."""
    has_usage = ended.HasField("usage")
    cpu = ended.usage.user_time.ToTimedelta() + ended.usage.system_time.ToTimedelta() if has_usage else timedelta()
    return Exit(
        exit_code=ended.exit_code if ended.WhichOneof("result") == "exit_code" else None,
        signal=ended.signal if ended.WhichOneof("result") == "signal" else None,
        cause=_enum_word(exec_pb2.EndCause, ended.cause, "END_CAUSE_"),
        started_at=_time(ended, "started_at"),
        ended_at=_time(ended, "ended_at"),
        stdio_held_open=ended.stdio_held_open,
        escapees_possible=ended.escapees_possible,
        core_dumped=ended.core_dumped,
        cpu_time_s=cpu.total_seconds() if has_usage else None,
        max_rss_bytes=(ended.usage.max_rss_bytes or None) if has_usage else None,
        final_offsets=named_offsets(ended.final_offsets),
        dropped_bytes=named_offsets(ended.dropped),
    )


def start_failed(failure: exec_pb2.StartFailure) -> StartFailed:
    """Translate a start failure."""
    kind = _enum_word(exec_pb2.StartFailureKind, failure.kind, "START_FAILURE_KIND_")
    return StartFailed(failure.message, kind=kind, errno_name=failure.errno_name, stage=failure.stage)


def stream_offsets(offsets: Mapping[StreamName, int]) -> list[exec_pb2.StreamOffset]:
    """Translate places in streams."""
    return [exec_pb2.StreamOffset(stream=f"OUTPUT_STREAM_{name.upper()}", offset=at) for name, at in offsets.items()]


def named_offsets(offsets: Any) -> dict[StreamName, int]:
    """Translate places in streams."""
    return {_STREAM_NAMES[item.stream]: item.offset for item in offsets if item.stream in _STREAM_NAMES}


def _enum_word(enum: Any, number: int, prefix: str) -> str:
    try:
        return str(enum.Name(number)).removeprefix(prefix)
    except ValueError:
        return f"UNKNOWN_{number}"


def _time(message: Any, name: str) -> datetime | None:
    return getattr(message, name).ToDatetime(tzinfo=UTC) if message.HasField(name) else None
