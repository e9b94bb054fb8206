"""The server's line to init: a launch that hangs is ended by the server."""

from __future__ import annotations

import asyncio
import time

import pytest

from arenero.api.execd.v1 import exec_pb2
from tests.contract.execd import kit


@pytest.mark.root
async def test_launch_that_hangs_does_not_hang_the_sandbox() -> None:
    """A lease on a program's file blocks its execve for up to 45 s; the server ends such a launch."""
    lease = """
import fcntl, os, signal, sys, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
path = sys.argv[1]
fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o755)
os.write(fd, b'#!/bin/sh\\n'); os.close(fd)
fd = os.open(path, os.O_RDONLY)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK if sys.argv[2] == 'r' else fcntl.F_WRLCK)
print('held', flush=True); time.sleep(60)
"""
    with kit.execd() as guest:
        async with kit.connected(guest) as client:
            path = f"{guest.plan.login.home}/leased"
            holder = await client.start(argv=["python3", "-c", lease, path, "w"])
            async for frame in client.attach(holder.exec_id):
                if frame.HasField("output"):
                    assert frame.output.data == b"held\n"
                    break
            began = time.monotonic()
            hung = client.stream(argv=[path])
            await asyncio.sleep(0.2)
            assert (await client.run("echo ok")).out == b"ok\n"
            assert time.monotonic() - began < 8
            assert (await kit.collect(hung)).end.cause == exec_pb2.END_CAUSE_START_FAILED
