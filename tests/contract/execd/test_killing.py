"""Signals and kills reach whom they should, and kills reach all."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from tests.contract.execd import kit
from tests.contract.execd.kit import Client, Execd

CANCELLED = exec_pb2.END_CAUSE_CANCELLED
ESCAPE = "setsid sh -c 'sleep 4711 & exec sleep 4712' & sleep 0.2; sleep 4713"


async def test_kill_reaches_what_left_the_group_and_the_session(guest: Execd, client: Client) -> None:
    """Point 8: killing is complete."""
    started = await client.start(ESCAPE)
    await asyncio.sleep(0.5)
    assert len([line for line in kit.commands(guest) if "sleep 471" in line]) >= 3
    ended = (await client.call("Kill", exec_id=started.exec_id)).ended
    assert (ended.signal, ended.cause) == (9, CANCELLED)
    assert not [line for line in kit.commands(guest) if "sleep 471" in line]
    assert ended.escapees_possible is (guest.cgroup is None)


async def test_kill_without_cgroups_says_that_something_may_have_escaped() -> None:
    with kit.execd(cgroup_fd=-1) as guest:
        async with kit.connected(guest) as client:
            started = await client.start("sleep 4721 & sleep 4722")
            await asyncio.sleep(0.2)
            ended = (await client.call("Kill", exec_id=started.exec_id)).ended
        assert ended.escapees_possible
        assert not [line for line in kit.commands(guest) if "sleep 472" in line]


@pytest.mark.parametrize(
    ("target", "heard"),
    [
        (exec_service_pb2.SIGNAL_TARGET_LEADER, b"leader\n"),
        (exec_service_pb2.SIGNAL_TARGET_GROUP, b"child\nleader\n"),
        (exec_service_pb2.SIGNAL_TARGET_ALL, b"child\nescaped\nleader\n"),
    ],
)
async def test_signal_reaches_whom_it_names(client: Client, target: int, heard: bytes) -> None:
    trap = "trap 'echo {}; exit' USR1; echo up; while :; do sleep 0.05; done"
    child, escaped = (f'bash -c "{trap.format(name)}"' for name in ("child", "escaped"))
    exec_id = str(uuid.uuid4())
    line = f"{child} & setsid {escaped} & {trap.format('leader')}"
    running = client.stream(line, exec_id=exec_id, drain_timeout=1)
    await kit.until_output(client, exec_id, 9)
    answer = await client.call("Signal", exec_id=exec_id, name="USR1", target=target)
    assert answer.delivered >= 1
    seen = await kit.collect(running)
    assert b"".join(sorted(seen.out.replace(b"up\n", b"").splitlines(keepends=True))) == heard
