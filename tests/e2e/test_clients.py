"""The clients in other languages, built from the protos alone, each do a whole job against a running platform."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from tests.e2e.kit import Instance

CLIENTS = Path(__file__).resolve().parents[2] / "examples/clients"
CREATED = re.compile(r"created (sbx_[a-z2-7]{20})")
# A first build fetches and compiles some hundred packages on two cores.
BUILD_TIMEOUT_S = 1500
RUN_TIMEOUT_S = 90

pytestmark = [pytest.mark.slow, pytest.mark.timeout(BUILD_TIMEOUT_S + 3 * RUN_TIMEOUT_S)]


@dataclass(frozen=True)
class Tool:
    """A program that a client needs, and its oldest version that will do."""

    name: str
    version_option: str
    oldest: tuple[int, ...]

    def missing(self) -> str | None:
        """Say what is missing; None when nothing is."""
        if shutil.which(self.name) is None:
            return f"needs {self.name}"
        told = subprocess.run([self.name, self.version_option], capture_output=True, text=True, timeout=60, check=False)
        found = re.search(r"\d+(?:\.\d+)+", told.stdout + told.stderr)
        if found is None or tuple(map(int, found[0].split("."))) < self.oldest:
            wanted = ".".join(map(str, self.oldest))
            return f"needs {self.name} {wanted}, and {found[0] if found else 'another one'} is here"
        return None


TOOLS = {
    "go": (Tool("go", "version", (1, 25)),),
    "typescript": (Tool("node", "--version", (20,)), Tool("npm", "--version", (9,))),
    "java": (Tool("javac", "-version", (17,)), Tool("mvn", "--version", (3, 6))),
    "rust": (Tool("cargo", "--version", (1, 88)),),
}


@pytest.fixture(scope="module", params=sorted(TOOLS))
def client(request: pytest.FixtureRequest) -> Path:
    """The run.sh of one client, built."""
    language: str = request.param
    if missing := [reason for tool in TOOLS[language] if (reason := tool.missing())]:
        pytest.skip("; ".join(missing))
    script = CLIENTS / language / "run.sh"
    built = subprocess.run(
        [script, "--build"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=BUILD_TIMEOUT_S,
        check=False,
    )
    assert built.returncode == 0, built.stdout
    return script


@pytest.fixture
def environment(platform: Instance) -> Mapping[str, str]:
    """What a client's environment is after `eval "$(arenero env)"`."""
    exports = re.findall(r"^export (\w+)=(\S+)$", platform.run("env").stdout, re.MULTILINE)
    return {**platform.environment, **dict(exports)}


def test_client_streams_the_output_as_it_comes(
    client: Path, environment: Mapping[str, str], platform: Instance
) -> None:
    with running(client, environment) as (process, lines):
        arrived_s = {line.rstrip("\n"): time.monotonic() for line in lines}
        _, errors = process.communicate(timeout=RUN_TIMEOUT_S)
    assert process.returncode == 0, errors
    assert "a warning\n" in errors
    created, *rest = arrived_s
    sandbox_id = match_id(created)
    assert rest == ["line 1", "line 2", "line 3", f"deleted {sandbox_id}", "exit code 3"]
    # The command waits 0.2 s after each line. Had all come in one piece at the end, there would be no time between.
    assert arrived_s["line 3"] - arrived_s["line 1"] > 0.3
    record = json.loads(platform.run("sandbox", "get", sandbox_id, "-o", "json").stdout)
    assert record["state"] == "terminated"


def test_client_passes_bytes_and_success_through(client: Path, environment: Mapping[str, str]) -> None:
    command = r"printf 'caf\303\251\n'; printf 'no newline at the end'"
    with running(client, environment, command) as (process, _):
        output, errors = process.communicate(timeout=RUN_TIMEOUT_S)
    assert process.returncode == 0, errors
    assert "café\nno newline at the end" in output
    assert output.endswith("exit code 0\n")


def test_client_cleans_up_when_its_sandbox_is_taken_away(
    client: Path, environment: Mapping[str, str], platform: Instance
) -> None:
    with running(client, environment, "echo ready; sleep 60") as (process, lines):
        sandbox_id = match_id(lines.readline())
        assert lines.readline() == "ready\n"
        platform.run("sandbox", "delete", sandbox_id)
        rest, _ = process.communicate(timeout=RUN_TIMEOUT_S)
    assert f"deleted {sandbox_id}" in rest
    assert "exit code 0" not in rest


@contextmanager
def running(
    script: Path, environment: Mapping[str, str], *arguments: str
) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """A client and its output; it is killed when the test fails before its end."""
    process = subprocess.Popen(
        [script, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout
    finally:
        process.kill()
        process.communicate()


def match_id(line: str) -> str:
    found = CREATED.search(line)
    assert found is not None, line
    return found[1]
