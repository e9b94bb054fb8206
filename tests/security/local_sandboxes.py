"""Local sandboxes for the escape tests: made by the driver alone, spoken to through execd."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import tempfile
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import grpc
from nacl.signing import SigningKey

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2, exec_service_pb2_grpc
from arenero.model.ids import SandboxId, TenantId, new_sandbox_id
from arenero.model.record import Handle
from arenero.model.spec import Resources, SandboxSpec, TemplateSource
from arenero.runtime.driver import Launch, Started
from arenero.runtime.local.config import LocalConfig
from arenero.runtime.local.driver import LocalDriver

MIB = 1 << 20
KEY = SigningKey.generate()
SMALL = Resources(cpus=1.0, memory_bytes=256 * MIB, pids=64, disk_bytes=64 * MIB, open_files=512)


@dataclass(frozen=True)
class Outcome:
    """How a command in a sandbox ended."""

    code: int | None
    signal: int | None
    out: str
    err: str
    ended: exec_pb2.ExecEnded


@dataclass(frozen=True)
class Box:
    """A running sandbox."""

    launch: Launch
    started: Started
    directory: Path

    @property
    def id(self) -> SandboxId:
        return self.launch.sandbox_id

    @property
    def handle(self) -> Handle:
        return self.started.handle

    @property
    def init_pid(self) -> int:
        return int((self.directory / "process").read_text().split()[0])

    async def run(self, shell: str = "", *, argv: tuple[str, ...] = (), uid: int | None = None) -> Outcome:
        """Run a command to its end; as the sandbox's default user, or as another one."""
        spec = exec_pb2.ExecSpec(shell=shell) if shell else exec_pb2.ExecSpec()
        if argv:
            spec.argv.args.extend(word.encode() for word in argv)
        if uid is not None:
            spec.user.ids.uid = spec.user.ids.gid = uid
        spec.timeout.seconds = 40
        request = exec_service_pb2.RunRequest(exec_id=str(uuid.uuid4()), spec=spec)
        out, err, ended = b"", b"", exec_pb2.ExecEnded()
        async with grpc.aio.insecure_channel(self.started.address) as channel:
            stub = exec_service_pb2_grpc.ExecServiceStub(channel)
            async for frame in stub.Run(request, metadata=(("authorization", f"Bearer {token(self.launch)}"),)):
                match frame.WhichOneof("frame"):
                    case "output" if frame.output.stream == exec_pb2.OUTPUT_STREAM_STDOUT:
                        out += frame.output.data
                    case "output":
                        err += frame.output.data
                    case "ended":
                        ended = frame.ended
        return Outcome(
            ended.exit_code if ended.WhichOneof("result") == "exit_code" else None,
            ended.signal if ended.WhichOneof("result") == "signal" else None,
            out.decode(errors="replace"),
            err.decode(errors="replace"),
            ended,
        )

    async def python(self, code: str, *, uid: int | None = None) -> Any:
        """Run Python code that prints JSON; return what it printed."""
        outcome = await self.run(argv=("/usr/bin/python3", "-I", "-c", code), uid=uid)
        assert outcome.code == 0, outcome.err
        return json.loads(outcome.out)


def token(launch: Launch) -> str:
    claims = {"sandbox_id": launch.sandbox_id, "generation": 1, "exp": int(time.time()) + 600, "aud": "execd"}
    body = _encode(json.dumps(claims).encode())
    return f"{body}.{_encode(KEY.sign(body.encode()).signature)}"


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@asynccontextmanager
async def opened(**config: Any) -> AsyncIterator[LocalDriver]:
    """An open driver over a directory of its own; at the end neither is left."""
    directory = Path(tempfile.mkdtemp(prefix="arn-"))
    driver = LocalDriver(LocalConfig(state_dir=directory, **{"prepared": 0, **config}))
    try:
        fingerprint = await driver.open()
        assert fingerprint.usable, fingerprint.reason
        yield driver
    finally:
        for sandbox_id in await driver.list_held():
            await driver.destroy_orphan(sandbox_id)
        await driver.close()
        shutil.rmtree(directory)


async def make(driver: LocalDriver, resources: Resources = SMALL, *, ttl_s: float | None = None, **spec: Any) -> Box:
    """Make a sandbox that runs."""
    wanted = replace(SandboxSpec(source=TemplateSource("host"), resources=resources), **spec)
    launch = Launch(new_sandbox_id(), TenantId("acme"), 1, wanted, "box", bytes(KEY.verify_key), ttl_s)
    created = await driver.create(launch)
    started = await driver.start(launch, created.handle)
    return Box(launch, started, driver.config.state_dir / "sandboxes" / launch.sandbox_id)


async def wait_for(done: Any, timeout_s: float = 10.0) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(timeout_s):
        while not done():
            await asyncio.sleep(0.01)
