"""Services as children: watched until ready, started again, ended in order or by force. The child is a real process."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from arenero.cli.platform.children import Service, ServiceFailed, ServiceSpec
from arenero.cli.platform.instance import is_alive, start_ticks

READY = """
import json, os, signal, sys, time
{before}
with open({ready!r}, "w") as file:
    json.dump({{"pid": os.getpid(), "grpc": "here"}}, file)
{after}
while True:
    time.sleep(60)
"""


@dataclass(frozen=True, slots=True)
class ScriptSpec(ServiceSpec):
    """A service whose process is a script of the test."""

    script: str = ""

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-c", self.script]


@asynccontextmanager
async def running(
    tmp_path: Path, *, before: str = "", after: str = "", timeout_s: float = 20
) -> AsyncIterator[Service]:
    ready = tmp_path / "child.ready"
    script = READY.format(ready=str(ready), before=before, after=after)
    spec = ScriptSpec("child", tmp_path / "child.toml", ready, {}, timeout_s, script)
    service = Service(spec, tmp_path / "child.log")
    service.start()
    try:
        yield service
    finally:
        await service.stop(grace_s=0)


async def test_is_ready_when_it_says_so_itself(tmp_path: Path) -> None:
    (tmp_path / "child.ready").write_text('{"pid": 1}')  # left by an earlier run
    async with running(tmp_path) as service:
        await service.wait_ready()
        assert service.ready == {"pid": service.pid, "grpc": "here"}


async def test_wrong_configuration_is_told_at_once_with_its_last_words(tmp_path: Path) -> None:
    async with running(tmp_path, before="print('no such key: colour'); sys.exit(1)") as service:
        with pytest.raises(ServiceFailed, match="no such key: colour"):
            await service.wait_ready()
        assert service.restarts == 0


async def test_one_that_could_not_wait_for_another_is_started_again(tmp_path: Path) -> None:
    before = (
        f"path = {str(tmp_path / 'tries')!r}\nopen(path, 'a').write('x')\nif len(open(path).read()) < 3: sys.exit(2)"
    )
    async with running(tmp_path, before=before) as service:
        await service.wait_ready()
        assert service.restarts == 2


async def test_one_that_always_crashes_is_given_up(tmp_path: Path) -> None:
    async with running(tmp_path, before="sys.exit(2)") as service:
        with pytest.raises(ServiceFailed, match="status 2"):
            await service.wait_ready()


async def test_one_that_hangs_is_given_up(tmp_path: Path) -> None:
    async with running(tmp_path, before="time.sleep(60)", timeout_s=0.3) as service:
        with pytest.raises(ServiceFailed, match="not ready"):
            await service.wait_ready()


async def test_killed_service_is_started_again_and_counted(tmp_path: Path) -> None:
    async with running(tmp_path) as service, asyncio.TaskGroup() as group:
        await service.wait_ready()
        changed = asyncio.Event()
        keeping = group.create_task(service.keep_running(changed.set))
        killed = service.pid
        os.kill(killed, signal.SIGKILL)
        async with asyncio.timeout(10):
            await changed.wait()
        assert service.pid not in (0, killed)
        assert service.describe()["restarts"] == 1
        keeping.cancel()


async def test_stop_is_in_order_where_the_service_complies(tmp_path: Path) -> None:
    before = f"signal.signal(signal.SIGTERM, lambda *_: (open({str(tmp_path / 'bye')!r}, 'w'), sys.exit(0)))"
    async with running(tmp_path, before=before) as service:
        await service.wait_ready()
        assert await service.stop(grace_s=10) == 0
        assert service.pid == 0
        assert await service.stop(grace_s=10) == 0
        assert (tmp_path / "bye").exists()


async def test_stop_is_by_force_where_it_does_not(tmp_path: Path) -> None:
    async with running(tmp_path, before="signal.signal(signal.SIGTERM, signal.SIG_IGN)") as service:
        await service.wait_ready()
        pid, ticks = service.pid, start_ticks(service.pid)
        assert await service.stop(grace_s=0.2) == -signal.SIGKILL
        assert not is_alive(pid, ticks)


async def test_log_does_not_grow_for_ever(tmp_path: Path) -> None:
    with (tmp_path / "child.log").open("wb") as log:
        log.truncate(20 * 1024 * 1024)
    async with running(tmp_path) as service:
        await service.wait_ready()
        assert (tmp_path / "child.log").stat().st_size < 1024
        assert (tmp_path / "child.log.1").exists()
