"""Execd's own processes can't be reached by what they watch over."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from pathlib import Path

import pytest

from arenero.api.execd.v1 import exec_pb2
from tests.contract.execd import kit

inside = pytest.mark.root


@inside
async def test_nothing_inside_can_signal_or_trace_execd() -> None:
    """As the sandbox's user and as its root, by every signal; and through /proc."""
    attack = """
import os, signal
names = {int(p): open(f'/proc/{p}/comm').read().strip() for p in os.listdir('/proc') if p.isdigit()}
server = next(pid for pid, name in names.items() if name == 'arenero-execd')
for pid in (1, server):
    for number in sorted(signal.valid_signals()):
        try: os.kill(pid, number); print('sent', pid, number)
        except PermissionError: pass
    for name in ('mem', 'environ', 'fd/0', 'fd/3', 'maps'):
        try: print('read', pid, name, open(f'/proc/{pid}/{name}', 'rb').read(1))
        except OSError: pass
"""
    with kit.execd() as guest:
        async with kit.connected(guest) as client:
            for uid in (1000, 0):
                user = exec_pb2.User(ids=exec_pb2.UserIds(uid=uid, gid=uid))
                seen = await client.run(argv=["python3", "-c", attack], user=user)
                assert (seen.out, seen.err) == (b"", b"")
            assert (await client.run("echo fine")).out == b"fine\n"


@inside
async def test_user_that_keeps_attacking_during_launches_ends_nothing() -> None:
    """Init looks like the user for a moment while it launches; as process 1 it can't be hurt even then."""
    attack = "import os\nwhile True:\n  try: os.kill(1, 9)\n  except PermissionError: pass"
    with kit.execd() as guest:
        async with kit.connected(guest) as client:
            attacker = await client.start(argv=["python3", "-c", attack])
            for _ in range(100):
                assert (await client.run("echo ok")).out == b"ok\n"
            await client.call("Kill", exec_id=attacker.exec_id)


async def test_execd_has_no_descriptor_of_the_starter_left() -> None:
    with kit.execd() as guest:
        deadline_s = time.monotonic() + 5
        # The one by which it tells that it is ready is closed right after the word.
        while (left := pipes(guest.init_pid) + pipes(guest.server_pid)) and time.monotonic() < deadline_s:
            await asyncio.sleep(0.01)
        assert left == []


def pipes(pid: int) -> list[str]:
    targets = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            targets.append(os.readlink(entry))
    return [target for target in targets if target.startswith("pipe:")]
