"""Running commands in a sandbox: what to run, what came out, how it ended.

Output is bytes; `Process.text()` decodes incrementally, so that a character that was split over two frames survives. A
broken connection is resumed at the offset where it broke; when that can't be done the error is `OutcomeUnknown`, never
a success.
"""

from __future__ import annotations

import asyncio
import codecs
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

import grpc
from google.protobuf.duration_pb2 import Duration

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from arenero.api.execd.v1.exec_service_pb2_grpc import ExecServiceStub
from arenero.sdk._channels import unary
from arenero.sdk._plane import Plane, stub_method
from arenero.sdk.errors import (
    CommandFailed,
    FailedPrecondition,
    NotFound,
    OutcomeUnknown,
    StartFailed,
    Unavailable,
    from_rpc,
)

Command: TypeAlias = str | Sequence[str | bytes]
"""A line for the shell, or a program and its arguments."""
StreamName: TypeAlias = Literal["stdout", "stderr", "pty"]

_RESUME_TRIES: Final = 5
_RESUME_WAIT_S: Final = 0.2
_STDIN_CHUNK_BYTES: Final = 256 * 1024
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
    final_offsets: Mapping[str, int] = field(default_factory=dict)
    dropped_bytes: Mapping[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether it exited by itself with code 0."""
        return self.exit_code == 0 and self.cause == "OWN_EXIT"

    @property
    def shell_code(self) -> int:
        """The code as a shell would report it: 128 and the signal's number when a signal ended it."""
        return self.exit_code if self.exit_code is not None else 128 + (self.signal or 0)


Frame: TypeAlias = Output | Gap | Exit


@dataclass(frozen=True, slots=True)
class ExecResult:
    """Everything about a finished command."""

    exec_id: str
    stdout: bytes
    stderr: bytes
    exit: Exit
    gaps: tuple[Gap, ...] = ()

    @property
    def exit_code(self) -> int:
        """The code as a shell would report it."""
        return self.exit.shell_code

    @property
    def ok(self) -> bool:
        """Whether it exited by itself with code 0."""
        return self.exit.ok

    @property
    def stdout_text(self) -> str:
        """Standard output as text; bytes that are no UTF-8 become U+FFFD."""
        return self.stdout.decode(errors="replace")

    @property
    def stderr_text(self) -> str:
        """Standard error as text; bytes that are no UTF-8 become U+FFFD."""
        return self.stderr.decode(errors="replace")

    @property
    def is_truncated(self) -> bool:
        """Whether output was lost to the limit."""
        return bool(self.gaps)

    def check(self) -> ExecResult:
        """Return itself.

        Raises:
            CommandFailed: It ended otherwise than with exit code 0.
        """
        if not self.ok:
            tail = self.stderr_text[-2000:].strip()
            how = (
                f"exit code {self.exit.exit_code}" if self.exit.exit_code is not None else f"signal {self.exit.signal}"
            )
            raise CommandFailed(f"{how} ({self.exit.cause})" + (f": {tail}" if tail else ""), self)
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecOptions:
    """How to run a command. Times are seconds; None means no limit or the sandbox's default."""

    env: Mapping[str, str | bytes] = field(default_factory=dict)
    clear_env: bool = False
    cwd: str | bytes | None = None
    user: str | int | tuple[int, int] | None = None
    """A name, a uid, or (uid, gid)."""
    timeout_s: float | None = None
    idle_output_timeout_s: float | None = None
    kill_grace_s: float | None = None
    drain_timeout_s: float | None = None
    on_disconnect: Literal["detach", "kill"] = "detach"
    on_exit: Literal["reap", "leave"] = "reap"
    retention: Literal["keep", "ring", "discard", "block"] = "keep"
    output_limit_bytes: int = 0
    umask: int | None = None
    nice: int = 0
    rlimits: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


def build_spec(command: Command, options: ExecOptions) -> exec_pb2.ExecSpec:
    """Translate to the wire; what it means is checked by execd."""
    spec = exec_pb2.ExecSpec(
        clear_env=options.clear_env,
        nice=options.nice,
        on_disconnect=f"ON_DISCONNECT_{options.on_disconnect.upper()}",
        on_exit=f"ON_EXIT_{options.on_exit.upper()}",
    )
    if isinstance(command, str):
        spec.shell = command
    else:
        spec.argv.args.extend(to_bytes(word) for word in command)
    for name, value in options.env.items():
        spec.env[name] = to_bytes(value)
    if options.cwd is not None:
        spec.cwd = to_bytes(options.cwd)
    if options.umask is not None:
        spec.umask = options.umask
    set_user(spec.user, options.user)
    for name, limit in options.rlimits.items():
        spec.rlimits.add(name=name, value=limit)
    set_duration(spec.timeout, options.timeout_s)
    set_duration(spec.idle_output_timeout, options.idle_output_timeout_s)
    set_duration(spec.kill_grace, options.kill_grace_s)
    set_duration(spec.drain_timeout, options.drain_timeout_s)
    retention = f"RETENTION_{options.retention.upper()}"
    spec.output.CopyFrom(exec_pb2.OutputPolicy(retention=retention, limit_bytes=options.output_limit_bytes))
    spec.labels.update(options.labels)
    return spec


class Process:
    """A process in a sandbox. It runs on when this object, or the connection, goes away."""

    def __init__(self, plane: Plane, exec_id: str, pid: int = 0) -> None:
        self._plane = plane
        self.exec_id = exec_id
        self.pid = pid
        """Inside the sandbox; 0 when not known."""
        self._stdin_offset = 0

    async def output(
        self,
        *,
        from_offsets: Mapping[str, int] | None = None,
        last_bytes: int | None = None,
        only_new: bool = False,
        follow: bool = True,
    ) -> AsyncIterator[Frame]:
        """Stream output and, last, the `Exit`.

        Begins with the oldest bytes kept unless told otherwise. A broken connection is resumed where it broke.

        Raises:
            NotFound: The exec is not remembered (any more).
            OutcomeUnknown: The connection broke and could not be resumed.
        """
        request = exec_service_pb2.AttachRequest(exec_id=self.exec_id, no_follow=not follow)
        if from_offsets is not None:
            request.offsets.offsets.extend(_offsets(from_offsets))
        elif last_bytes is not None:
            request.last_bytes = last_bytes
        elif only_new:
            request.now = True
        async for frame in resume_frames(self._plane, "Attach", request, self.exec_id):
            yield frame

    async def text(self, stream: StreamName = "stdout") -> AsyncIterator[str]:
        """Stream one stream's output as text, never cutting a character in two."""
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        async for frame in self.output():
            if isinstance(frame, Output) and frame.stream == stream and (piece := decoder.decode(frame.data)):
                yield piece
        if piece := decoder.decode(b"", final=True):
            yield piece

    async def wait(self) -> Exit:
        """Wait until it has ended and its output is collected. Cancelling leaves it running."""
        answer = await self._call("Wait", exec_service_pb2.WaitRequest(exec_id=self.exec_id))
        return exit_of(answer.ended)

    async def result(self) -> ExecResult:
        """Wait, and return all output that is kept."""
        return await collect(self.exec_id, self.output())

    async def signal(
        self, name: str | int, *, target: Literal["group", "leader", "all", "foreground"] = "group"
    ) -> int:
        """Send a signal by name or number; return how many got it."""
        request = exec_service_pb2.SignalRequest(exec_id=self.exec_id, target=f"SIGNAL_TARGET_{target.upper()}")
        if isinstance(name, int):
            request.number = name
        else:
            request.name = name
        return int((await self._call("Signal", request)).delivered)

    async def kill(self, *, grace_s: float | None = None) -> Exit:
        """End every process of it and return when they are gone: at once, or after SIGTERM and `grace_s` seconds."""
        request = exec_service_pb2.KillRequest(exec_id=self.exec_id)
        set_duration(request.grace, grace_s)
        return exit_of((await self._call("Kill", request)).ended)

    async def write_stdin(self, data: bytes | str, *, end: bool = False) -> int:
        """Send input after what this object has sent before; return the offset that the process's input has reached.

        Raises:
            FailedPrecondition: It was started without `stdin=True`, or its input is closed.
        """
        request = exec_service_pb2.WriteStdinRequest(
            exec_id=self.exec_id, offset=self._stdin_offset, data=to_bytes(data), end_of_file=end
        )
        channels, channel, call_metadata = await self._plane.short()
        writing = stub_method(channels, channel, ExecServiceStub, "WriteStdin")(iter([request]), metadata=call_metadata)
        try:
            async for answer in writing:
                self._stdin_offset = answer.acknowledged_offset
        except grpc.aio.AioRpcError as error:
            raise from_rpc(error, sent=True) from None
        return self._stdin_offset

    async def close_stdin(self) -> None:
        """End its input."""
        await self._call("CloseStdin", exec_service_pb2.CloseStdinRequest(exec_id=self.exec_id))

    async def _call(self, method: str, request: Any) -> Any:
        return await call(self._plane, method, request)


async def call(plane: Plane, method: str, request: Any) -> Any:
    """Make a unary call to ExecService."""
    channels, channel, call_metadata = await plane.short()
    return await unary(stub_method(channels, channel, ExecServiceStub, method)(request, metadata=call_metadata))


async def start(plane: Plane, command: Command, options: ExecOptions, *, stdin: bool = False) -> Process:
    """Start a process and return at once.

    Raises:
        StartFailed: It never ran.
    """
    spec = build_spec(command, options)
    spec.stdin = exec_pb2.STDIN_MODE_STREAM if stdin else exec_pb2.STDIN_MODE_NONE
    request = exec_service_pb2.StartRequest(exec_id=str(uuid.uuid4()), spec=spec)
    answer = await call(plane, "Start", request)
    if answer.HasField("failure"):
        raise start_failed(answer.failure)
    return Process(plane, answer.started.exec.exec_id, answer.started.exec.pid)


async def stream(plane: Plane, command: Command, options: ExecOptions) -> AsyncIterator[Frame]:
    """Run a command and stream its output and, last, the `Exit`.

    Raises:
        StartFailed: It never ran.
        OutcomeUnknown: The connection broke and could not be resumed.
    """
    request = exec_service_pb2.RunRequest(exec_id=str(uuid.uuid4()), spec=build_spec(command, options))
    async for frame in resume_frames(plane, "Run", request, request.exec_id):
        yield frame


async def run(plane: Plane, command: Command, options: ExecOptions, *, stdin: bytes | None) -> ExecResult:
    """Run a command to its end and return everything. Errors as in `stream`."""
    if stdin is None:
        request = exec_service_pb2.RunRequest(exec_id=str(uuid.uuid4()), spec=build_spec(command, options))
        return await collect(request.exec_id, resume_frames(plane, "Run", request, request.exec_id))
    process = await start(plane, command, options, stdin=True)
    async with asyncio.TaskGroup() as group:
        feeding = group.create_task(_feed(process, stdin))
        result = await process.result()
        feeding.cancel()
    return result


async def _feed(process: Process, data: bytes) -> None:
    try:
        for begin in range(0, len(data), _STDIN_CHUNK_BYTES):
            await process.write_stdin(data[begin : begin + _STDIN_CHUNK_BYTES])
        await process.close_stdin()
    except (FailedPrecondition, NotFound):
        return  # it ended without reading all of its input, which is its right


async def collect(exec_id: str, frames: AsyncIterator[Frame]) -> ExecResult:
    """Gather a stream of frames."""
    parts: dict[str, list[bytes]] = {"stdout": [], "stderr": [], "pty": []}
    gaps: list[Gap] = []
    async for frame in frames:
        if isinstance(frame, Output):
            parts[frame.stream].append(frame.data)
        elif isinstance(frame, Gap):
            gaps.append(frame)
        else:
            stdout = b"".join(parts["stdout"] or parts["pty"])
            return ExecResult(exec_id, stdout, b"".join(parts["stderr"]), frame, tuple(gaps))
    raise OutcomeUnknown("the output ended without an end frame", reason="STREAM_BROKEN")


async def resume_frames(plane: Plane, method: str, request: Any, exec_id: str) -> AsyncIterator[Frame]:
    """Stream frames over as many connections as it takes."""
    seen: dict[str, int] = {}
    tries = 0
    has_started = False
    while True:
        channels, channel, call_metadata = await plane.stream()
        frames = stub_method(channels, channel, ExecServiceStub, method)(request, metadata=call_metadata)
        try:
            async for message in frames:
                has_started = True
                tries = 0
                kind = message.WhichOneof("frame")
                if kind == "output":
                    chunk = message.output
                    name = _STREAM_NAMES[chunk.stream]
                    seen[name] = chunk.offset + len(chunk.data)
                    yield Output(name, chunk.data, chunk.offset)
                elif kind == "gap":
                    name = _STREAM_NAMES[message.gap.stream]
                    seen[name] = message.gap.to_offset
                    yield Gap(name, message.gap.from_offset, message.gap.to_offset)
                elif kind == "ended":
                    if message.ended.HasField("start_failure"):
                        raise start_failed(message.ended.start_failure)
                    yield exit_of(message.ended)
                    return
            if method == "Attach" and request.no_follow:
                return
            broken: Exception = OutcomeUnknown("the output ended without an end frame", reason="STREAM_BROKEN")
        except grpc.aio.AioRpcError as error:
            broken = from_rpc(error, sent=has_started)
            if not isinstance(broken, Unavailable | OutcomeUnknown):
                raise broken from None
        finally:
            frames.cancel()
        tries += 1
        if tries > _RESUME_TRIES:
            raise OutcomeUnknown(f"lost the connection to exec {exec_id}: {broken}", reason="STREAM_BROKEN") from broken
        await plane.forget_direct()
        await asyncio.sleep(_RESUME_WAIT_S * tries)
        if has_started:
            # The exec is known to run: attach where the stream broke, so that nothing is run or shown twice.
            follow = not (method == "Attach" and request.no_follow)
            request = exec_service_pb2.AttachRequest(exec_id=exec_id, no_follow=not follow)
            request.offsets.offsets.extend(_offsets(seen))
            method = "Attach"


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
        max_rss_bytes=ended.usage.max_rss_bytes if has_usage else None,
        final_offsets=_named(ended.final_offsets),
        dropped_bytes=_named(ended.dropped),
    )


def start_failed(failure: exec_pb2.StartFailure) -> StartFailed:
    """Translate a start failure."""
    kind = _enum_word(exec_pb2.StartFailureKind, failure.kind, "START_FAILURE_KIND_")
    return StartFailed(failure.message, kind=kind, errno_name=failure.errno_name, stage=failure.stage)


def set_user(user: exec_pb2.User, wanted: str | int | tuple[int, int] | None) -> None:
    """Fill in who a process runs as; None leaves it unset."""
    if isinstance(wanted, str):
        user.name = wanted
    elif isinstance(wanted, int):
        user.ids.uid, user.ids.gid = wanted, wanted
    elif wanted is not None:
        user.ids.uid, user.ids.gid = wanted


def set_duration(target: Duration, seconds: float | None) -> None:
    """Fill in a duration; None leaves it unset."""
    if seconds is not None:
        target.FromNanoseconds(round(seconds * 1_000_000_000))


def to_bytes(text: str | bytes) -> bytes:
    """Encode as the file system of the sandbox does."""
    return text if isinstance(text, bytes) else text.encode(errors="surrogateescape")


def _offsets(offsets: Mapping[str, int]) -> list[exec_pb2.StreamOffset]:
    return [exec_pb2.StreamOffset(stream=f"OUTPUT_STREAM_{name.upper()}", offset=at) for name, at in offsets.items()]


def _named(offsets: Any) -> dict[str, int]:
    return {_STREAM_NAMES[item.stream]: item.offset for item in offsets if item.stream in _STREAM_NAMES}


def _enum_word(enum: Any, number: int, prefix: str) -> str:
    try:
        return str(enum.Name(number)).removeprefix(prefix)
    except ValueError:
        return f"UNKNOWN_{number}"


def _time(message: Any, name: str) -> datetime | None:
    return getattr(message, name).ToDatetime(tzinfo=UTC) if message.HasField(name) else None
