"""Running commands in a sandbox: what to run, what came out, how it ended.

Output is bytes; `Process.text()` decodes incrementally, so that a character that was split over two frames survives. A
broken connection is resumed at the offset where it broke; when that can't be done the error is `OutcomeUnknown`, never
a success.
"""

from __future__ import annotations

import codecs
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from google.protobuf.duration_pb2 import Duration

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from arenero.api.execd.v1.exec_service_pb2_grpc import ExecServiceStub
from arenero.sdk import _plane
from arenero.sdk._alongside import alongside
from arenero.sdk._deadline import Deadline
from arenero.sdk._frames import Exit, Frame, Gap, Output, StreamName, exit_of, start_failed, stream_offsets
from arenero.sdk._plane import Plane
from arenero.sdk._reading import read_frames
from arenero.sdk._stdin import Stdin
from arenero.sdk.errors import CommandFailed, FailedPrecondition, NotFound, OutcomeUnknown

__all__ = [
    "Command",
    "ExecOptions",
    "ExecResult",
    "Exit",
    "Frame",
    "Gap",
    "Output",
    "Process",
    "StreamName",
]

Command: TypeAlias = str | Sequence[str | bytes]
"""A line for the shell, or a program and its arguments."""


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

    def __init__(
        self, plane: Plane, exec_id: str, pid: int = 0, *, is_new: bool = False, deadline: Deadline | None = None
    ) -> None:
        self._plane = plane
        self._deadline = deadline or Deadline()
        self.exec_id = exec_id
        self.pid = pid
        """Inside the sandbox; 0 when not known."""
        self._stdin = Stdin(plane, exec_id, offset=0 if is_new else None)

    async def output(
        self,
        *,
        from_offsets: Mapping[StreamName, int] | None = None,
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
            request.offsets.offsets.extend(stream_offsets(from_offsets))
        elif last_bytes is not None:
            request.last_bytes = last_bytes
        elif only_new:
            request.now = True
        async for frame in read_frames(self._plane, "Attach", request, self._deadline):
            yield frame

    async def text(self, stream: StreamName = "stdout") -> AsyncIterator[str]:
        """Stream one stream's output as text, never cutting a character in two."""
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        async for frame in self.output():
            if isinstance(frame, Exit) or frame.stream != stream:
                continue
            # A character that a gap has cut is not continued by what comes after the gap.
            data, is_last = (frame.data, False) if isinstance(frame, Output) else (b"", True)
            if piece := decoder.decode(data, final=is_last):
                yield piece
        if piece := decoder.decode(b"", final=True):
            yield piece

    async def wait(self) -> Exit:
        """Wait until it has ended and its output is collected. Cancelling leaves it running."""
        request = exec_service_pb2.WaitRequest(exec_id=self.exec_id)
        answer = await self._deadline.wait(call(self._plane, "Wait", request, repeatable=True))
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
        return int((await call(self._plane, "Signal", request)).delivered)

    async def kill(self, *, grace_s: float | None = None) -> Exit:
        """End every process of it and return when they are gone: at once, or after SIGTERM and `grace_s` seconds."""
        request = exec_service_pb2.KillRequest(exec_id=self.exec_id)
        set_duration(request.grace, grace_s)
        return exit_of((await call(self._plane, "Kill", request, repeatable=True)).ended)

    async def write_stdin(self, data: bytes | str, *, end: bool = False) -> int:
        """Send input after what was sent before, and return how many bytes of input the process was handed so far.

        Waits while the process doesn't read. A broken connection is resumed where it broke.

        Raises:
            FailedPrecondition: It was started without `stdin=True`, or its input is closed.
        """
        return await self._stdin.write(to_bytes(data), end=end)

    async def close_stdin(self) -> None:
        """End its input."""
        request = exec_service_pb2.CloseStdinRequest(exec_id=self.exec_id)
        await call(self._plane, "CloseStdin", request, repeatable=True)


async def call(plane: Plane, method: str, request: Any, *, repeatable: bool = False) -> Any:
    """Make a unary call to ExecService."""
    return await _plane.call(plane, ExecServiceStub, method, request, repeatable=repeatable)


async def start(plane: Plane, command: Command, options: ExecOptions, *, stdin: bool = False) -> Process:
    """Start a process and return at once.

    Raises:
        StartFailed: It never ran.
    """
    spec = build_spec(command, options)
    spec.stdin = exec_pb2.STDIN_MODE_STREAM if stdin else exec_pb2.STDIN_MODE_NONE
    request = exec_service_pb2.StartRequest(exec_id=str(uuid.uuid4()), spec=spec)
    deadline = deadline_of(options)
    answer = await deadline.wait(call(plane, "Start", request, repeatable=True))
    if answer.HasField("failure"):
        raise start_failed(answer.failure)
    record = answer.started.exec
    return Process(plane, record.exec_id, record.pid, is_new=True, deadline=deadline)


def stream(plane: Plane, command: Command, options: ExecOptions) -> AsyncIterator[Frame]:
    """Run a command and stream its output and, last, the `Exit`.

    Raises:
        StartFailed: It never ran.
        OutcomeUnknown: The connection broke and could not be resumed.
    """
    request = exec_service_pb2.RunRequest(exec_id=str(uuid.uuid4()), spec=build_spec(command, options))
    return read_frames(plane, "Run", request, deadline_of(options))


async def run(plane: Plane, command: Command, options: ExecOptions, *, stdin: bytes | None) -> ExecResult:
    """Run a command to its end and return everything. Errors as in `stream`."""
    if stdin is None:
        request = exec_service_pb2.RunRequest(exec_id=str(uuid.uuid4()), spec=build_spec(command, options))
        return await collect(request.exec_id, read_frames(plane, "Run", request, deadline_of(options)))
    process = await start(plane, command, options, stdin=True)
    return await alongside(process.result(), _feed(process, stdin))


async def _feed(process: Process, data: bytes) -> None:
    try:
        await process.write_stdin(data, end=True)
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


def deadline_of(options: ExecOptions) -> Deadline:
    """Begin to watch over a command's time limit."""
    return Deadline(options.timeout_s, kill_grace_s=options.kill_grace_s, drain_timeout_s=options.drain_timeout_s)


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
