"""Lifecycle as a process of its own, over a real nats-server and the fake runtime, whose host is a directory."""

import asyncio
import os
import random
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from arenero.api.events.v1.event_service_pb2_grpc import EventServiceStub
from arenero.api.lifecycle.v1 import sandbox_pb2
from arenero.api.lifecycle.v1 import sandbox_service_pb2 as pb
from arenero.api.lifecycle.v1.sandbox_service_pb2_grpc import SandboxServiceStub
from arenero.bus.server import NatsServer, NatsServerConfig
from arenero.errors import DeadlineExceeded, OutcomeUnknown, Unavailable
from arenero.model.ids import TenantId
from arenero.rpc.client import call, open_channel
from arenero.rpc.identity import Caller
from arenero.runtime.fake_host import DirectoryHost

ACME = Caller(TenantId("acme"), "key:key_test")


@dataclass
class Process:
    """`python -m arenero.lifecycle`, which may be killed and started again."""

    home: Path
    nats_url: str
    settings: dict[str, str] = field(default_factory=dict)
    _running: asyncio.subprocess.Process | None = None

    @property
    def address(self) -> str:
        return f"unix:{self.home}/l.sock"

    @property
    def host(self) -> DirectoryHost:
        """What the runtime holds, whoever runs."""
        return DirectoryHost(self.home / "host")

    @property
    def log_path(self) -> Path:
        return self.home / "lifecycle.log"

    async def start(self, *arguments: str) -> None:
        environ = {
            "ARENERO_LIFECYCLE__ADDRESS": self.address,
            "ARENERO_LIFECYCLE__INSTANCE": "here",
            "ARENERO_LIFECYCLE__SECRETS_DIR": str(self.home / "secrets"),
            "ARENERO_LIFECYCLE__RUNTIMES": "fake",
            "ARENERO_LIFECYCLE__RUNTIME__FAKE__STATE_DIR": str(self.home / "host"),
            "ARENERO_LIFECYCLE__BUS__URL": self.nats_url,
            **{f"ARENERO_LIFECYCLE__{name.upper()}": value for name, value in self.settings.items()},
        }
        with self.log_path.open("ab") as log:
            self._running = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "arenero.lifecycle",
                *arguments,
                env={**os.environ, **environ},
                stdout=log,
                stderr=log,
            )

    async def wait(self) -> int:
        """Wait until it has ended by itself; return its exit code."""
        assert self._running is not None
        return await asyncio.wait_for(self._running.wait(), 30)

    async def kill(self) -> None:
        """End it as a crash would."""
        await self.stop(signal.SIGKILL)

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal that doesn't end it."""
        assert self._running is not None
        self._running.send_signal(number)

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Tell it to end; return its exit code."""
        assert self._running is not None
        if self._running.returncode is None:
            self._running.send_signal(number)
        return await asyncio.wait_for(self._running.wait(), 20)


class Client:
    """Calls lifecycle as the gateway does; a call that lifecycle didn't outlive is made again."""

    def __init__(self, address: str, caller: Caller = ACME) -> None:
        self._channel = open_channel(address)
        self._caller = caller
        self.sandboxes = SandboxServiceStub(self._channel)
        self.events = EventServiceStub(self._channel)

    async def close(self) -> None:
        await self._channel.close()

    async def call(self, method: Any, request: Any, timeout_s: float = 30.0) -> Any:
        return await call(method, request, timeout_s=timeout_s, caller=self._caller)

    async def insist(self, method: Any, request: Any) -> Any:
        """Make a call that may be repeated, until there is an answer."""
        async with asyncio.timeout(60):
            while True:
                try:
                    return await self.call(method, request, timeout_s=5)
                except (Unavailable, OutcomeUnknown, DeadlineExceeded):
                    await asyncio.sleep(0.02)

    async def create(self, request_id: str = "", **spec: Any) -> sandbox_pb2.Sandbox:
        request = pb.CreateRequest(request_id=request_id, spec=sandbox_pb2.SandboxSpec(**spec))
        sandbox = (await self.insist(self.sandboxes.Create, request)).sandbox
        assert isinstance(sandbox, sandbox_pb2.Sandbox)
        return sandbox

    async def delete(self, sandbox_id: str) -> sandbox_pb2.Sandbox:
        sandbox = (await self.insist(self.sandboxes.Delete, pb.DeleteRequest(sandbox_id=sandbox_id))).sandbox
        assert isinstance(sandbox, sandbox_pb2.Sandbox)
        return sandbox

    async def get(self, sandbox_id: str) -> sandbox_pb2.Sandbox:
        sandbox = (await self.insist(self.sandboxes.Get, pb.GetRequest(sandbox_id=sandbox_id))).sandbox
        assert isinstance(sandbox, sandbox_pb2.Sandbox)
        return sandbox

    async def list_all(self) -> list[sandbox_pb2.Sandbox]:
        found: list[sandbox_pb2.Sandbox] = []
        token = ""
        while True:
            request = pb.ListRequest(filter=pb.SandboxFilter(include_ended=True))
            request.page.page_token, request.page.page_size = token, 1000
            answer = await self.insist(self.sandboxes.List, request)
            found += answer.sandboxes
            token = answer.page.next_page_token
            if not token:
                return found

    async def until(self, sandbox_id: str, state: int, timeout_s: float = 10.0) -> sandbox_pb2.Sandbox:
        async with asyncio.timeout(timeout_s):
            while (found := await self.get(sandbox_id)).state != state:
                await asyncio.sleep(0.01)
        return found


@pytest.fixture
async def nats(tmp_path: Path) -> AsyncIterator[NatsServer]:
    server = NatsServer(NatsServerConfig(tmp_path / "nats"))
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
def settings() -> dict[str, str]:
    """Settings of the process beyond the usual; a test module or class overrides this."""
    return {}


@pytest.fixture
async def process(
    tmp_path: Path, nats: NatsServer, settings: dict[str, str], request: pytest.FixtureRequest
) -> AsyncIterator[Process]:
    """A lifecycle that has been started."""
    process = Process(tmp_path, nats.url, settings)
    await process.start()
    yield process
    await process.kill()
    print(process.log_path.read_text()[-20_000:])


@pytest.fixture
async def client(process: Process) -> AsyncIterator[Client]:
    """A client, once lifecycle takes calls."""
    client = Client(process.address)
    await client.list_all()
    yield client
    await client.close()


@pytest.fixture
def chance() -> random.Random:
    """Random numbers that are the same in every run."""
    return random.Random(20261129)
