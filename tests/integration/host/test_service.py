"""A whole process: configuration, start, readiness, stop, exit codes."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2

PROGRAM = """
import asyncio, contextlib, sys
from dataclasses import dataclass, field
from arenero.errors import Unavailable
from arenero.host.config import HostConfig
from arenero.host.service import Service, run_service
from arenero.rpc.identity import trust_metadata
from arenero.rpc.server import RpcServer, RpcServerConfig

@dataclass(frozen=True)
class Config:
    address: str = ""
    mode: str = "good"
    host: HostConfig = field(default_factory=HostConfig)

@contextlib.asynccontextmanager
async def build(config):
    if config.mode == "unavailable":
        raise Unavailable("no bus")
    server = RpcServer(RpcServerConfig(config.address), authenticate=trust_metadata)
    async def work():
        if config.mode == "crash":
            raise KeyError("defect")
        await asyncio.Event().wait()
    async def ready():
        await asyncio.sleep(0.2)
    async def drain():
        if config.mode == "stuck":
            await asyncio.Event().wait()
    try:
        yield Service(servers=[server], tasks={"work": work}, ready=ready, drain=drain)
    finally:
        sys.stderr.write("closed\\n")

sys.exit(run_service("probe", Config, build))
"""


class Probe:
    """The program under test."""

    def __init__(self, folder: Path) -> None:
        self.address = f"unix:{folder}/run/probe.sock"
        self._path = folder / "probe.py"
        self._path.write_text(textwrap.dedent(PROGRAM))
        self._started: list[subprocess.Popen[str]] = []

    def start(self, *arguments: str, **environ: str) -> subprocess.Popen[str]:
        environ = {"ARENERO_PROBE__ADDRESS": self.address, **environ}
        process = subprocess.Popen(
            [sys.executable, str(self._path), *arguments],
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def status(self) -> int:
        """Health, 0 while nobody answers."""
        with grpc.insecure_channel(self.address) as channel:
            check: Any = channel.unary_unary(
                "/grpc.health.v1.Health/Check", response_deserializer=health_pb2.HealthCheckResponse.FromString
            )
            try:
                return int(check(b"", timeout=1).status)
            except grpc.RpcError:
                return 0

    def wait_for(self, status: int) -> None:
        deadline_s = time.monotonic() + 20
        while self.status() != status:
            assert time.monotonic() < deadline_s, "the service did not get there"
            time.sleep(0.02)


@pytest.fixture
def probe(tmp_path: Path) -> Iterator[Probe]:
    probe = Probe(tmp_path)
    yield probe
    probe.close()


def test_service_gets_ready_and_stops_cleanly(probe: Probe) -> None:
    process = probe.start()
    probe.wait_for(health_pb2.HealthCheckResponse.NOT_SERVING)
    probe.wait_for(health_pb2.HealthCheckResponse.SERVING)
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=10)
    assert process.returncode == 0
    events = ["host.listening", "host.ready", "host.signal", "closed", "host.stopped"]
    assert [log.index(event) for event in events] == sorted(log.index(event) for event in events)


def test_wrong_configuration_is_exit_code_1_and_one_line(probe: Probe) -> None:
    process = probe.start(ARENERO_PROBE__HOST__GRACE="3")
    _, log = process.communicate(timeout=20)
    assert process.returncode == 1
    assert log.count("\n") == 1
    assert "did you mean ARENERO_PROBE__HOST__GRACE_S?" in log


@pytest.mark.parametrize(("mode", "words"), [("crash", "KeyError"), ("unavailable", "no bus")])
def test_failure_is_exit_code_2(probe: Probe, mode: str, words: str) -> None:
    process = probe.start(ARENERO_PROBE__MODE=mode)
    _, log = process.communicate(timeout=20)
    assert process.returncode == 2
    assert words in log
    assert ("Traceback" in log) == (mode == "crash")


def test_grace_that_ran_out_is_exit_code_3(probe: Probe) -> None:
    process = probe.start(ARENERO_PROBE__MODE="stuck", ARENERO_PROBE__HOST__GRACE_S="0.2")
    probe.wait_for(health_pb2.HealthCheckResponse.SERVING)
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=10)
    assert process.returncode == 3
    assert "closed" in log


def test_print_config_shows_the_merged_settings(probe: Probe, tmp_path: Path) -> None:
    path = tmp_path / "probe.toml"
    path.write_text("[host]\ngrace_s = 4\n")
    process = probe.start("--config", str(path), "--print-config", ARENERO_PROBE__HOST__TELEMETRY__LOG_FORMAT="json")
    printed, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "grace_s = 4.0" in printed
    assert 'log_format = "json"' in printed
    assert probe.address in printed
