"""Signals as something to read, with their sender.

In a process without other threads, as init is: a signal to a process with some goes to any that doesn't block it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

SENDER = """
import json, os, select, signal, sys
from arenero.execd import signalfd
fd = signalfd.open_for((signal.SIGUSR1, signal.SIGUSR2))
before = list(signalfd.read(fd))
child = os.fork()
if child == 0:
    os.kill(os.getppid(), signal.SIGUSR2)
    os._exit(0)
os.waitpid(child, 0)
os.kill(os.getpid(), signal.SIGUSR1)
readable = select.select([fd], [], [], 5)[0] == [fd]
seen = sorted([int(number), {os.getpid(): "me", child: "child"}[sender]] for number, sender in signalfd.read(fd))
flags = [os.get_inheritable(fd), os.get_blocking(fd)]
json.dump({"before": before, "readable": readable, "seen": seen, "flags": flags}, sys.stdout)
"""


def told() -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-c", SENDER], capture_output=True, timeout=30, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_each_signal_is_read_with_its_sender() -> None:
    found = told()
    assert found["before"] == []
    assert found["readable"]
    assert found["seen"] == [[10, "me"], [12, "child"]]


def test_descriptor_is_not_inherited_and_never_waits() -> None:
    assert told()["flags"] == [False, False]
