"""The health of services is followed as it changes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from arenero.gateway.backends import Backends
from arenero.rpc.identity import trust_metadata
from arenero.rpc.server import RpcServer, RpcServerConfig


class Heard:
    def __init__(self) -> None:
        self.changes: list[tuple[str, bool]] = []
        self._changed = asyncio.Condition()

    async def note(self, name: str, serving: bool) -> None:
        async with self._changed:
            self.changes.append((name, serving))
            self._changed.notify_all()

    async def wait(self, count: int) -> list[tuple[str, bool]]:
        async with self._changed:
            await asyncio.wait_for(self._changed.wait_for(lambda: len(self.changes) >= count), 10)
        return self.changes


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"unix:{tmp_path}/run/service.sock"


@pytest.fixture
async def heard(address: str) -> AsyncIterator[tuple[Heard, Backends]]:
    heard = Heard()
    backends = Backends({"service": address}, on_changed=heard.note)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(backends.run())
        yield heard, backends
        running.cancel()


async def started(address: str) -> RpcServer:
    server = RpcServer(RpcServerConfig(address), authenticate=trust_metadata)
    await server.start()
    return server


async def test_service_that_is_not_there_does_not_serve(heard: tuple[Heard, Backends]) -> None:
    await asyncio.sleep(0.1)
    assert heard[1].serving == {"service": False}
    assert heard[0].changes == []


async def test_each_change_is_told_once(heard: tuple[Heard, Backends], address: str) -> None:
    notes, backends = heard
    server = await started(address)
    await server.health.set_serving(True)
    assert await notes.wait(1) == [("service", True)]
    await server.health.set_serving(False)
    assert (await notes.wait(2))[1:] == [("service", False)]
    await server.health.set_serving(True)
    assert (await notes.wait(3))[2:] == [("service", True)]
    assert backends.serving == {"service": True}
    await server.stop(0)
    assert (await notes.wait(4))[3:] == [("service", False)]
    await (again := await started(address)).health.set_serving(True)
    assert (await notes.wait(5))[4:] == [("service", True)]
    await again.stop(0)
