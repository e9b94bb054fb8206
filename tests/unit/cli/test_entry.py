"""Ctrl-C at any time, also while the command is being loaded."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arenero.cli import entry

PROGRAM = "import os; from arenero.cli.entry import run; os.write(1, b'.'); run()"


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a command whose platform takes its connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        yield {"ARENERO_ADDRESS": f"{host}:{port}", "ARENERO_API_KEY": "x", "ARENERO_HOME": str(tmp_path)}


@pytest.mark.parametrize("delay_ms", [5, 20, 50, 100, 200, 300, 500, 800])
def test_interrupt_ends_it_quietly_at_any_time(silent: dict[str, str], delay_ms: int) -> None:
    command = [sys.executable, "-c", PROGRAM, "sandbox", "list"]
    with subprocess.Popen(command, env=silent, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"."
        time.sleep(delay_ms / 1000)
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=30)
    assert (process.returncode, output) == (entry.EXIT_INTERRUPTED, (b"", b""))


def test_interrupt_stays_ignored_where_it_was(silent: dict[str, str]) -> None:
    """As for a job that a script has put into the background."""
    code = f"""
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, "-c", {PROGRAM!r}, "--version"])
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, env=silent, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"."
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    assert (process.returncode, output.startswith(b"arenero, version "), errors) == (0, True, b"")
