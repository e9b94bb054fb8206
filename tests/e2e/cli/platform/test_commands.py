"""`arenero up`, `status`, `env` and `down` as a person uses them, with instances of the tests' own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arenero.cli.platform.instance import Instance, is_alive, start_ticks
from tests.e2e.kit import leftovers

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for the standard isolation")
ARENERO = [sys.executable, "-m", "arenero.cli.main"]
ANY_PORT = ("--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0")


class Home:
    """An instance's home, and the command with it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.instance = Instance(path)

    def __call__(self, *words: str, status: int | None = 0) -> str:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("ARENERO_", "OPEN_"))}
        done = subprocess.run(
            [*ARENERO, *words],
            env={**environment, "ARENERO_HOME": str(self.path)},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert status is None or done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def state(self) -> dict[str, object]:
        state = self.instance.read_state()
        assert state is not None
        return state


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "home")
    yield made
    made("down", "--purge", status=None)
    assert not leftovers(made.path)


def test_up_status_env_and_down(home: Home) -> None:
    assert "phase  down" in home("status", status=4)
    assert "is up in" in home("up", "--detach", *ANY_PORT)
    assert "already up in" in home("up", "--detach", *ANY_PORT)
    shown = json.loads(home("status", "-o", "json"))
    assert shown["phase"] == "ready"
    assert all(is_alive(one["pid"], one["start_ticks"]) for one in shown["services"].values())
    exports = dict(line.removeprefix("export ").split("=", 1) for line in home("env").splitlines())
    assert {"ARENERO_ADDRESS", "ARENERO_API_KEY", "OPEN_SANDBOX_DOMAIN", "OPEN_SANDBOX_API_KEY"} <= exports.keys()
    assert exports["ARENERO_ADDRESS"] == shown["grpc"]
    assert home("run", "--", "echo", "works") == "works\n"
    kept = home("sandbox", "create").strip()
    home("down")
    assert all(not is_alive(one["pid"], one["start_ticks"]) for one in shown["services"].values())
    assert not is_alive(shown["pid"], start_ticks(shown["pid"]))
    left = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(home.path) in line]
    assert left == []
    assert not any(kept in name for _, directories, names in os.walk(home.path) for name in [*directories, *names])
    home("down")


def test_several_that_start_it_at_once_all_find_it_up(home: Home) -> None:
    with ThreadPoolExecutor() as pool:
        told = list(pool.map(lambda _: home("up", "--detach", *ANY_PORT), range(3)))
    assert sorted("already up in" in one for one in told) == [False, True, True]
    assert home("run", "--", "echo", "works") == "works\n"


def test_sandboxes_survive_down_with_keep_and_the_next_up_finds_them(home: Home) -> None:
    home("up", "--detach", *ANY_PORT)
    sandbox_id = home("sandbox", "create").strip()
    home("exec", sandbox_id, "--", "sh", "-c", "echo kept > note")
    home("down", "--keep-sandboxes")
    home("up", "--detach", *ANY_PORT)
    assert home("exec", sandbox_id, "--", "cat", "note") == "kept\n"


def test_killed_supervisor_takes_its_services_along_and_not_the_sandboxes(home: Home) -> None:
    home("up", "--detach", *ANY_PORT)
    sandbox_id = home("sandbox", "create").strip()
    before = json.loads(home("status", "-o", "json"))
    nats_pid = int((home.instance.nats / "nats-server.pid").read_text())
    nats_ticks = start_ticks(nats_pid)
    assert is_alive(nats_pid, nats_ticks)
    os.kill(before["pid"], signal.SIGKILL)
    _until(lambda: not any(is_alive(one["pid"], one["start_ticks"]) for one in before["services"].values()))
    _until(lambda: not is_alive(nats_pid, nats_ticks))
    home("up", "--detach", *ANY_PORT)
    assert home("exec", sandbox_id, "--", "echo", "alive") == "alive\n"


def test_down_after_a_killed_supervisor_leaves_nothing(home: Home) -> None:
    home("up", "--detach", *ANY_PORT)
    sandbox_id = home("sandbox", "create").strip()
    os.kill(int(str(home.state()["pid"])), signal.SIGKILL)
    home("down")
    assert not any(sandbox_id in name for _, directories, _ in os.walk(home.path) for name in directories)


def test_down_ends_its_sandboxes_with_the_lifecycle_that_runs(home: Home) -> None:
    """Starting another one for that would take most of the time."""
    home("up", "--detach", *ANY_PORT)
    sandbox_id = home("sandbox", "create").strip()
    home("down")
    log = (home.path / "log/lifecycle.log").read_text()
    assert log.count("lifecycle.drained") == log.count("bus.connected") == 1
    assert not any(sandbox_id in name for _, directories, _ in os.walk(home.path) for name in directories)


def test_down_ends_the_sandboxes_that_were_kept(home: Home) -> None:
    home("up", "--detach", *ANY_PORT)
    sandbox_id = home("sandbox", "create").strip()
    home("down", "--keep-sandboxes")
    assert leftovers(home.path)
    home("down")
    assert not leftovers(home.path)
    home("up", "--detach", *ANY_PORT)
    shown = json.loads(home("sandbox", "get", sandbox_id, "-o", "json"))
    assert (shown["state"], shown["reason"]) == ("terminated", "PLATFORM_STOPPED")


def test_two_instances_run_side_by_side(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path / "other")
    try:
        home("up", "--detach", *ANY_PORT)
        other("up", "--detach", *ANY_PORT)
        mine = home("sandbox", "create").strip()
        assert mine not in other("sandbox", "list")
        assert mine in home("sandbox", "list")
        other("down")
        assert home("exec", mine, "--", "echo", "still") == "still\n"
    finally:
        other("down", "--purge")


def test_port_in_use_is_told_and_nothing_is_left(home: Home) -> None:
    home("up", "--detach", *ANY_PORT)
    taken = str(home.state()["grpc"])
    other = Home(home.path.with_name("other"))
    try:
        assert taken.rpartition(":")[2] in other("up", "--detach", "--grpc", taken, "--http", "127.0.0.1:0", status=1)
        assert "down" in other("status", status=4)
    finally:
        other("down", "--purge")


def _until(condition: object, timeout_s: float = 20) -> None:
    assert callable(condition)
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)
