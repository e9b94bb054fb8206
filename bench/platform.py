"""A platform of the bench's own: started by `arenero up`, in a directory of its own, and always taken down again."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from arenero.sdk import Client, Settings
from arenero.sdk.settings import read_client_file
from bench import processes

ARENERO = [sys.executable, "-m", "arenero.cli.main"]
_DOWN_TIMEOUT_S = 240.0


class PlatformFailed(Exception):
    """The platform did not start; the text has what it said."""


class Platform:
    """One running instance."""

    def __init__(self, home: Path, environment: Mapping[str, str], ready_s: float) -> None:
        self.home = home
        self.environment = environment
        self.ready_s = ready_s
        """From the command's start to its end, with everything ready."""

    @property
    def pid(self) -> int:
        """The supervisor's."""
        return int(self.state()["pid"])

    def state(self) -> dict[str, Any]:
        """What the supervisor says about itself."""
        found: dict[str, Any] = json.loads((self.home / "platform.json").read_text())
        return found

    def service_pid(self, name: str) -> int:
        return int(self.state()["services"][name]["pid"])

    def processes(self) -> list[int]:
        """All processes of the instance; those of its sandboxes too."""
        return processes.tree_of(self.pid)

    def client(self, *, direct: bool = True) -> Client:
        """Open a connection with the key of the instance."""
        local = read_client_file(self.home)
        assert local is not None
        return Client(settings=Settings(local["grpc"], local["api_key"], prefer_direct=direct))


@asynccontextmanager
async def platform(extra: Mapping[str, str] | None = None) -> AsyncIterator[Platform]:
    """Start an instance and take it down at the end, however that comes."""
    home = Path(tempfile.mkdtemp(prefix="arn-bench-"))
    outer = {name: value for name, value in os.environ.items() if not name.startswith("ARENERO_")}
    environment = {**outer, "ARENERO_HOME": str(home), **(extra or {})}
    try:
        began_s = time.perf_counter()
        await _up(environment)
        yield Platform(home, environment, time.perf_counter() - began_s)
    finally:
        _down(environment, home)


async def _up(environment: Mapping[str, str]) -> None:
    command = [*ARENERO, "up", "--detach", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    _, errors = await process.communicate()
    if process.returncode != 0:
        raise PlatformFailed(errors.decode(errors="replace"))


def _down(environment: Mapping[str, str], home: Path) -> None:
    """Take it down, and don't be interrupted in that."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = subprocess.run(
            [*ARENERO, "down", "--purge"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=_DOWN_TIMEOUT_S,
            check=False,
        )
        if done.returncode != 0:
            print(f"arenero down in {home} failed: {done.stderr}", file=sys.stderr)
            return
        shutil.rmtree(home, ignore_errors=True)
    finally:
        signal.signal(signal.SIGINT, before)
