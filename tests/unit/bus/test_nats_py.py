"""Importing the bus costs no more than it must."""

import subprocess
import sys

PROGRAM = """
import sys
import arenero.bus.nats, arenero.bus.consumer
assert "nats.aio.client" in sys.modules
assert "aiohttp" not in sys.modules, "it was imported after all"
import nats.aio.transport
assert nats.aio.transport.aiohttp is None
"""
HIDDEN = """
import sys, types
sys.modules["aiohttp"] = stub = types.ModuleType("aiohttp")
import arenero.bus.nats
assert sys.modules["aiohttp"] is stub
"""


def run(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_bus_does_without_websockets_and_leaves_no_trace_of_it() -> None:
    run(PROGRAM)


def test_websockets_that_others_use_stay_as_they_are() -> None:
    run(HIDDEN)
