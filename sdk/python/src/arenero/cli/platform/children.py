"""A service as a child process: started, watched until ready, started again when it dies, stopped in order."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from arenero.cli.platform.instance import start_ticks

_POLL_S: Final = 0.01
_FIRST_BACKOFF_S: Final = 0.1
_MAX_BACKOFF_S: Final = 10.0
_STABLE_AFTER_S: Final = 30.0
"""A service that ran for so long begins with the shortest wait again."""
_LOG_KEPT_BYTES: Final = 16 * 1024 * 1024
_PR_SET_PDEATHSIG: Final = 1
_EXIT_CONFIG: Final = 1
_START_TRIES: Final = 3


class ServiceFailed(Exception):
    """A service ended, or did not become ready, while the platform was starting."""


@dataclass(frozen=True, slots=True)
class ServiceSpec:
    """How to run one service."""

    name: str
    config_file: Path
    ready_file: Path
    """Written by the service when it takes calls: JSON with its addresses."""
    environment: Mapping[str, str] = field(default_factory=dict)
    start_timeout_s: float = 30.0

    @property
    def command(self) -> list[str]:
        """The command line. The interpreter is isolated from the caller's environment and directory."""
        return [sys.executable, "-P", "-m", f"arenero.{self.name}", "--config", str(self.config_file)]


class Service:
    """One child. `keep_running` restarts it until it is told to stop."""

    def __init__(self, spec: ServiceSpec, log_path: Path) -> None:
        self.spec = spec
        self.restarts = 0
        self.ready: dict[str, Any] = {}
        """What it said when it became ready."""
        self._log_path = log_path
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = False

    @property
    def pid(self) -> int:
        """Its process; 0 when it isn't running."""
        return self._process.pid if self._process and self._process.poll() is None else 0

    def describe(self) -> dict[str, Any]:
        """Return what `status` shows."""
        return {"pid": self.pid, "start_ticks": start_ticks(self.pid) if self.pid else 0, "restarts": self.restarts}

    def start(self) -> None:
        """Start the process."""
        self.spec.ready_file.unlink(missing_ok=True)
        _keep_log_small(self._log_path)
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(
                self.spec.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C in a terminal goes to the supervisor alone, which ends the services in their order.
                start_new_session=True,
                preexec_fn=end_with_parent,
                env={**os.environ, "GRPC_ENABLE_FORK_SUPPORT": "0", **self.spec.environment},
            )

    async def wait_ready(self) -> None:
        """Wait until it takes calls.

        Raises:
            ServiceFailed: It ended, or took too long.
        """
        deadline_s = time.monotonic() + self.spec.start_timeout_s
        while not self._read_ready():
            if not self.pid:
                self._start_again_or_give_up()
            if time.monotonic() > deadline_s:
                raise ServiceFailed(f"{self.spec.name} was not ready within {self.spec.start_timeout_s:.0f} s")
            await asyncio.sleep(_POLL_S)

    def _start_again_or_give_up(self) -> None:
        """Bear with a service that could not wait for another one; not with a wrong configuration."""
        if self._status() == _EXIT_CONFIG or self.restarts == _START_TRIES:
            raise ServiceFailed(f"{self.spec.name} ended with status {self._status()}: {self.last_words()}")
        self.restarts += 1
        self.start()

    async def keep_running(self, changed: Callable[[], None]) -> None:
        """Start it again whenever it ends, with growing pauses; `changed` is told after each start."""
        backoff_s = _FIRST_BACKOFF_S
        while True:
            started_s = time.monotonic()
            await self.wait_ended()
            if self._stopping:
                await asyncio.Event().wait()
            if time.monotonic() - started_s > _STABLE_AFTER_S:
                backoff_s = _FIRST_BACKOFF_S
            print(
                f"{self.spec.name} ended with status {self._status()}; starting it again in {backoff_s:.1f} s",
                flush=True,
            )
            await asyncio.sleep(backoff_s)
            backoff_s = min(backoff_s * 2, _MAX_BACKOFF_S)
            self.restarts += 1
            self.start()
            changed()

    async def wait_ended(self) -> None:
        """Wait until the process has ended."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        descriptor = os.pidfd_open(process.pid)
        try:
            loop.add_reader(descriptor, ended.set)
            await ended.wait()
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)
        process.wait()

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, if it runs."""
        if self.pid and self._process is not None:
            self._process.send_signal(number)

    async def stop(self, grace_s: float) -> int | None:
        """End it in order, after `grace_s` by force; return its exit status, also of an end before."""
        self._stopping = True
        if not self.pid or self._process is None:
            return self._status()
        self._process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(grace_s):
                await self.wait_ended()
        except TimeoutError:
            print(f"{self.spec.name} did not end within {grace_s:.0f} s; killing it", flush=True)
            self._process.kill()
            await self.wait_ended()
        return self._status()

    def last_words(self) -> str:
        """Return the end of its log."""
        try:
            lines = self._log_path.read_bytes()[-4000:].decode(errors="replace").strip().splitlines()
        except OSError:
            return ""
        return "\n".join(lines[-6:])

    def _status(self) -> int | None:
        return self._process.poll() if self._process else None

    def _read_ready(self) -> bool:
        try:
            ready = json.loads(self.spec.ready_file.read_text())
        except (OSError, ValueError):
            return False
        if ready.get("pid") != self.pid:
            return False
        self.ready = ready
        return True


def end_with_parent() -> None:
    """Have the kernel end this process in order when the supervisor dies by whatever means. For the child to call."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


_LIBC: Final = ctypes.CDLL(None, use_errno=True)


def _keep_log_small(path: Path) -> None:
    try:
        if path.stat().st_size > _LOG_KEPT_BYTES:
            path.replace(path.with_suffix(".log.1"))
    except FileNotFoundError:
        return
