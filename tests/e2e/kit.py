"""A platform as a user has it: started by the command, used through the SDK and the command, taken down again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arenero.sdk import Client, Settings
from arenero.sdk.settings import read_client_file

ARENERO = [sys.executable, "-m", "arenero.cli.main"]
SERVICES = ("gateway", "lifecycle", "snapshot", "vault", "warmpool")


class Instance:
    """One instance of the platform, by its state directory."""

    def __init__(self, home: Path, extra: Mapping[str, str] | None = None) -> None:
        self.home = home
        outer = {name: value for name, value in os.environ.items() if not name.startswith("ARENERO_")}
        self.environment = {**outer, "ARENERO_HOME": str(home), "COLUMNS": "200", **(extra or {})}

    def run(self, *args: str, timeout_s: float = 90, check: bool = True, **options: Any) -> Any:
        """Run `arenero …` to its end."""
        done = subprocess.run(
            [*ARENERO, *args],
            env=self.environment,
            capture_output=True,
            timeout=timeout_s,
            check=False,
            **{"text": True, "stdin": subprocess.DEVNULL, **options}
            if "input" not in options
            else {"text": True, **options},
        )
        assert done.returncode == 0 or not check, f"{args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def begin(self, *args: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start `arenero …`."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        made: subprocess.Popen[bytes] = subprocess.Popen([*ARENERO, *args], env=self.environment, **pipes)
        return made

    def up(self) -> None:
        self.run("up", "--detach", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", timeout_s=120)

    def down(self, *options: str) -> None:
        self.run("down", *options, timeout_s=240)

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.home / "platform.json").read_text())
        return found

    def service_pid(self, name: str) -> int:
        """Return the process of a service, or of `nats`; 0 while it has none."""
        if name == "nats":
            return int(self.state()["nats_pid"])
        return int(self.state()["services"][name]["pid"])

    def signal(self, name: str, number: signal.Signals) -> int:
        """Send a signal to a service that runs, and to nothing else; return its process."""
        pid = self.service_pid(name)
        # 0, -1 and 1 would mean many processes that aren't ours.
        assert pid > 1, f"{name} does not run"
        os.kill(pid, number)
        return pid

    def kill(self, name: str) -> int:
        """Kill a service with SIGKILL, which the supervisor starts again; return the process that it was."""
        return self.signal(name, signal.SIGKILL)

    def wait_until_answers(self, before_pid: int, name: str, timeout_s: float = 60) -> None:
        """Wait until a killed service has a successor and the platform answers calls."""
        eventually(lambda: self.service_pid(name) not in (0, before_pid), timeout_s)
        eventually(lambda: self.run("sandbox", "list", check=False).returncode == 0, timeout_s)

    def settings(self, *, direct: bool = True, api_key: str = "", reconnect_s: float = 30.0) -> Settings:
        local = read_client_file(self.home)
        assert local is not None
        key = api_key or local["api_key"]
        return Settings(local["grpc"], key, prefer_direct=direct, reconnect_s=reconnect_s)

    def client(self, *, direct: bool = True, api_key: str = "") -> Client:
        return Client(settings=self.settings(direct=direct, api_key=api_key))

    def logs(self) -> str:
        """Return the ends of its logs, for the report of a test that failed."""
        ends = {
            path.name: path.read_text(errors="replace").splitlines()[-30:]
            for path in sorted(self.home.glob("log/*.log"))
        }
        return "\n".join("\n".join([f"== {name}", *lines]) for name, lines in ends.items())


@contextmanager
def instance(extra: Mapping[str, str] | None = None) -> Iterator[Instance]:
    """A running instance with a state directory of its own, taken down however the block ends."""
    home = Path(tempfile.mkdtemp(prefix="arn-e2e-"))
    made = Instance(home, extra)
    try:
        made.up()
        yield made
    finally:
        done = made.run("down", "--purge", check=False, timeout_s=240)
        left = leftovers(home) if done.returncode == 0 else {"down": [done.stderr]}
        shutil.rmtree(home, ignore_errors=True)
    assert not left, left


def eventually(condition: Callable[[], object], timeout_s: float = 20) -> None:
    """Wait until something is true."""
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, f"not within {timeout_s:.0f} s"
        time.sleep(0.05)


def leftovers(home: Path, name: str = "") -> dict[str, list[str]]:
    """Return what this machine still has of an instance, or of what in it has `name`; empty when nothing is left."""
    wanted = name or str(home)
    found = {
        "processes": [str(pid) for pid in pids() if is_of(pid, wanted)],
        "mounts": [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if wanted in line],
        "loop devices": [
            str(path)
            for path in Path("/sys/block").glob("loop*/loop/backing_file")
            if str(home) in path.read_text() and wanted in path.read_text()
        ],
        "control groups": [
            folder
            for folder, _, _ in os.walk("/sys/fs/cgroup")
            if (name or _group_name(home)) in os.path.basename(folder)
        ],
        "network namespaces": [str(path) for path in Path("/run/netns").glob("*") if name and name in path.name],
    }
    if name:
        found["files"] = [str(path) for path in home.rglob(f"*{name}*")]
    return {kind: items for kind, items in found.items() if items}


def pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and int(path.name) != os.getpid()]


def is_of(pid: int, wanted: str) -> bool:
    """Whether a process was started with, or has mounted, something of that name."""
    for part in ("cmdline", "mountinfo", "cgroup"):
        try:
            if wanted in Path(f"/proc/{pid}/{part}").read_text(errors="replace"):
                return True
        except OSError:
            continue
    return False


def _group_name(home: Path) -> str:
    """Return what the local runtime calls the parent of its sandboxes' control groups."""
    from arenero.cli.platform.instance import Instance as OnDisk
    from arenero.runtime.local.cells import state_digest

    return state_digest(OnDisk(home).sandboxes)
