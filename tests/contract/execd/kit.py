"""An execd of its own for tests, started as it is in an image, and a client that speaks plain gRPC to it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import dataclasses
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from nacl.signing import SigningKey

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2, exec_service_pb2_grpc, lease_service_pb2_grpc
from arenero.execd.plan import InitPlan, Login

KEY = SigningKey.generate()
SANDBOX_ID = "sbx_" + "a" * 20
IS_ROOT = os.geteuid() == 0
STDOUT, STDERR, PTY = 1, 2, 3
BUSY_S = 5.0
"""How much later than on a quiet machine a thing may happen: whatever must not be waited for takes longer still."""
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Execd:
    """A running execd."""

    process: subprocess.Popen[bytes]
    address: str
    plan: InitPlan
    folder: Path
    cgroup: Path | None

    @property
    def init_pid(self) -> int:
        """Init's pid as this process sees it: unshare's child, or the process itself."""
        return children(self.process.pid)[0] if IS_ROOT else self.process.pid

    @property
    def server_pid(self) -> int:
        return next(pid for pid in children(self.init_pid) if comm(pid) == "arenero-execd")

    def log(self) -> str:
        return (self.folder / "log").read_text()


@contextlib.contextmanager
def execd(*, prefix: Sequence[str] = (), **changes: Any) -> Iterator[Execd]:
    """Run `python -m arenero.execd` in a PID namespace of its own where that is allowed; leave nothing behind.

    `prefix` is a command that runs it, such as setpriv; the other arguments are fields of the plan.
    """
    with contextlib.ExitStack() as stack:
        # Short, because the path of a socket may have 107 bytes only; and open to the execs' user.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="arx-", dir="/tmp")))
        folder.chmod(0o777 if prefix else 0o755)
        cgroup = stack.enter_context(own_cgroup())
        plan = _plan(folder, cgroup, stack, changes)
        (folder / "plan.json").write_text(json.dumps(plan.to_json()))
        process = stack.enter_context(_started(folder, plan, prefix))
        yield Execd(process, plan.listen, plan, folder, cgroup)


def _plan(folder: Path, cgroup: Path | None, stack: contextlib.ExitStack, changes: dict[str, Any]) -> InitPlan:
    home = folder / "home"
    home.mkdir()
    login = Login(os.getuid(), os.getgid(), "sandbox", str(home), str(home), "/bin/bash")
    if IS_ROOT:
        os.chown(home, 1000, 1000)
        login = dataclasses.replace(login, uid=1000, gid=1000)
    cgroup_fd = -1
    if cgroup is not None:
        cgroup_fd = os.open(cgroup, os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, cgroup_fd)
    values: dict[str, Any] = {
        "sandbox_id": SANDBOX_ID,
        "public_key_hex": bytes(KEY.verify_key).hex(),
        "listen": f"unix:{folder}/s",
        "login": login,
        "cgroup_fd": cgroup_fd,
    }
    return InitPlan(**(values | changes))


@contextlib.contextmanager
def _started(folder: Path, plan: InitPlan, prefix: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    command = [*prefix, sys.executable, "-m", "arenero.execd", "--plan", str(folder / "plan.json")]
    if plan.insecure:
        command.append("--insecure")
    if IS_ROOT:
        command = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "--", *command]
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    values = plan.to_json() | {"ready_fd": writer}
    (folder / "plan.json").write_text(json.dumps(values))
    fds = [fd for fd in (writer, plan.cgroup_fd, plan.memory_events_fd, plan.cpu_usage_fd) if fd >= 0]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=fds)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as ready:
            assert ready.readline().startswith(b"ready "), (folder / "log").read_text()
        yield process
    finally:
        # Killing unshare alone would orphan its child for a moment; init takes all else along.
        for pid in (*children(process.pid), process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(10)


@contextlib.contextmanager
def own_cgroup() -> Iterator[Path | None]:
    """Make a cgroup2 for one execd; None where this process may not, or there is no cgroup2."""
    root = next((Path(p) for p in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup") if is_cgroup2(Path(p))), None)
    if root is None or not os.access(root, os.W_OK):
        yield None
        return
    path = root / f"arenero-test-{os.getpid()}-{next(_numbers)}"
    path.mkdir()
    try:
        yield path
    finally:
        remove_cgroup(path)


def is_cgroup2(path: Path) -> bool:
    return (path / "cgroup.controllers").is_file()


def remove_cgroup(path: Path) -> None:
    (path / "cgroup.kill").write_text("1")
    deadline = time.monotonic() + 5
    while path.exists() and time.monotonic() < deadline:
        for child in sorted((p for p in path.rglob("*") if p.is_dir()), reverse=True):
            with contextlib.suppress(OSError):
                child.rmdir()
        with contextlib.suppress(OSError):
            path.rmdir()
            return
        time.sleep(0.01)


def token(sandbox_id: str = SANDBOX_ID, generation: int = 1, ttl_s: float = 600, **more: Any) -> str:
    """Sign a token as the control plane does for itself."""
    claims = {
        "sandbox_id": sandbox_id,
        "generation": generation,
        "exp": int(time.time() + ttl_s),
        "aud": "execd",
        "control": True,
    }
    body = _encode(json.dumps(claims | more).encode())
    return f"{body}.{_encode(KEY.sign(body.encode()).signature)}"


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@dataclass
class Seen:
    """What one stream of frames said."""

    started: exec_pb2.ExecStarted | None = None
    ended: exec_pb2.ExecEnded | None = None
    outputs: list[exec_pb2.OutputChunk] = field(default_factory=list)
    gaps: list[exec_pb2.OutputGap] = field(default_factory=list)
    beats: list[exec_pb2.Heartbeat] = field(default_factory=list)
    spans: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """By stream: what output and gaps cover, in the order in which they came."""

    def add(self, frame: Any) -> None:
        kind = frame.WhichOneof("frame")
        if kind == "started":
            self.started = frame.started
        elif kind == "ended":
            self.ended = frame.ended
        elif kind in ("output", "gap", "heartbeat"):
            lists: dict[str, list[Any]] = {"output": self.outputs, "gap": self.gaps, "heartbeat": self.beats}
            lists[kind].append(getattr(frame, kind))
        if kind == "output":
            span = (frame.output.offset, frame.output.offset + len(frame.output.data))
            self.spans.setdefault(frame.output.stream, []).append(span)
        elif kind == "gap":
            self.spans.setdefault(frame.gap.stream, []).append((frame.gap.from_offset, frame.gap.to_offset))

    def check(self, begin: int = 0) -> None:
        """Nothing is skipped silently, nothing comes twice, and seq only grows."""
        for spans in self.spans.values():
            assert [start for start, _ in spans] == [begin, *(end for _, end in spans[:-1])]
        seqs = [chunk.seq for chunk in self.outputs]
        assert seqs == sorted(set(seqs))

    def bytes_of(self, stream: int) -> bytes:
        return b"".join(chunk.data for chunk in self.outputs if chunk.stream == stream)

    @property
    def out(self) -> bytes:
        return self.bytes_of(STDOUT)

    @property
    def err(self) -> bytes:
        return self.bytes_of(STDERR)

    @property
    def screen(self) -> bytes:
        return self.bytes_of(PTY)

    @property
    def end(self) -> exec_pb2.ExecEnded:
        assert self.ended is not None, "the stream had no end frame"
        return self.ended


class Client:
    """Plain gRPC to one execd."""

    def __init__(self, channel: grpc.aio.Channel, bearer: str) -> None:
        self.channel = channel
        self.metadata = (("authorization", f"Bearer {bearer}"),)
        self.execs = exec_service_pb2_grpc.ExecServiceStub(channel)
        self.lease = lease_service_pb2_grpc.LeaseServiceStub(channel)

    async def run(self, shell: str = "", /, *, exec_id: str = "", heartbeat_ms: int = 0, **spec: Any) -> Seen:
        """Run to the end and return all frames."""
        return await collect(self.stream(shell, exec_id=exec_id, heartbeat_ms=heartbeat_ms, **spec))

    # A stream begins when it is made; collect it when its end is wanted.
    def stream(self, shell: str = "", /, *, exec_id: str = "", heartbeat_ms: int = 0, **spec: Any) -> Any:
        request = exec_service_pb2.RunRequest(exec_id=exec_id, spec=spec_message(shell, **spec))
        if heartbeat_ms:
            request.heartbeat_interval.FromMilliseconds(heartbeat_ms)
        return self.execs.Run(request, metadata=self.metadata)

    async def start(self, shell: str = "", /, *, exec_id: str = "", **spec: Any) -> exec_pb2.Exec:
        request = exec_service_pb2.StartRequest(exec_id=exec_id, spec=spec_message(shell, **spec))
        answer = await self.execs.Start(request, metadata=self.metadata)
        assert answer.HasField("started"), answer
        return answer.started.exec

    def attach(self, exec_id: str, **request: Any) -> Any:
        return self.execs.Attach(exec_service_pb2.AttachRequest(exec_id=exec_id, **request), metadata=self.metadata)

    async def attached(self, exec_id: str, **request: Any) -> Seen:
        """Attach and read to the end."""
        return await collect(self.attach(exec_id, **request))

    async def call(self, method: str, **request: Any) -> Any:
        """Call a unary method of ExecService by name."""
        message = getattr(exec_service_pb2, f"{method}Request")(**request)
        return await getattr(self.execs, method)(message, metadata=self.metadata)

    async def wait(self, exec_id: str) -> exec_pb2.ExecEnded:
        ended: exec_pb2.ExecEnded = (await self.call("Wait", exec_id=exec_id)).ended
        return ended


async def collect(frames: AsyncIterable[Any]) -> Seen:
    """Read a stream to its end."""
    seen = Seen()
    async for frame in frames:
        seen.add(frame)
    return seen


def spec_message(shell: str = "", /, **fields: Any) -> exec_pb2.ExecSpec:
    """Build a spec: `argv` as a list, durations as seconds under their own names."""
    spec = exec_pb2.ExecSpec()
    if shell:
        spec.shell = shell
    for argument in fields.pop("argv", ()):
        spec.argv.args.append(argument.encode() if isinstance(argument, str) else argument)
    for name in ("timeout", "idle_output_timeout", "kill_grace", "drain_timeout"):
        if name in fields:
            getattr(spec, name).FromNanoseconds(int(fields.pop(name) * 1e9))
    spec.MergeFrom(exec_pb2.ExecSpec(**fields))
    return spec


@contextlib.asynccontextmanager
async def connected(to: Execd, bearer: str | None = None) -> AsyncIterator[Client]:
    options = [("grpc.max_receive_message_length", 16 << 20), ("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.insecure_channel(to.address, options=options) as channel:
        yield Client(channel, token() if bearer is None else bearer)


def children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def descendants(pid: int) -> list[int]:
    found = []
    for child in children(pid):
        found += [child, *descendants(child)]
    return found


def comm(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def commands(to: Execd) -> list[str]:
    """The command lines of everything below init but the server."""
    found = []
    for pid in descendants(to.init_pid):
        with contextlib.suppress(OSError):
            line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            if comm(pid) != "arenero-execd":
                found.append(line or f"[{comm(pid)}]")
    return found


async def until_output(client: Client, exec_id: str, count: int = 1) -> None:
    for _ in range(200):
        try:
            exec_ = (await client.call("Get", exec_id=exec_id)).exec
            if sum(place.offset for place in exec_.offsets) >= count:
                return
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.NOT_FOUND:
                raise
        await asyncio.sleep(0.02)
    raise AssertionError("no output came")


async def until(count: Callable[[], Awaitable[int]], wanted: int) -> None:
    """Wait until a count is reached."""
    for _ in range(200):
        if await count() >= wanted:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{wanted} were never reached")


async def reflected_services(client: Client) -> set[str]:
    """Ask the server itself what it serves."""
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    stub = reflection_pb2_grpc.ServerReflectionStub(client.channel)  # type: ignore[arg-type]  # typed for sync only
    async for answer in stub.ServerReflectionInfo(iter([request])):  # type: ignore[operator]
        return {service.name for service in answer.list_services_response.service}
    return set()


async def health(client: Client) -> str:
    stub: Any = health_pb2_grpc.HealthStub(client.channel)
    answer = await stub.Check(health_pb2.HealthCheckRequest())
    return str(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))
