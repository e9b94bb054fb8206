"""How execs end: causes, signals, kills, disconnects."""

from __future__ import annotations

import asyncio
import time
import uuid

import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from tests.contract.execd import kit
from tests.contract.execd.kit import Client, Execd

CANCELLED = exec_pb2.END_CAUSE_CANCELLED
OWN_EXIT = exec_pb2.END_CAUSE_OWN_EXIT


async def test_signal_from_within_is_told_apart_from_an_exit_code(client: Client) -> None:
    seen = await client.run("kill -TERM $$")
    assert seen.end.WhichOneof("result") == "signal"
    assert (seen.end.signal, seen.end.cause) == (15, OWN_EXIT)


async def test_silence_ends_an_exec_that_asked_for_it(client: Client) -> None:
    began = time.monotonic()
    seen = await client.run("for i in 1 2 3; do echo $i; sleep 0.3; done; sleep 30", idle_output_timeout=1.5)
    assert seen.end.cause == exec_pb2.END_CAUSE_IDLE_OUTPUT_DEADLINE
    assert seen.out == b"1\n2\n3\n"
    assert 2.1 <= time.monotonic() - began < 2.4 + kit.BUSY_S


async def test_process_that_ignores_term_is_killed_after_the_grace(client: Client) -> None:
    began = time.monotonic()
    seen = await client.run("trap '' TERM; sleep 30 & wait; sleep 30", timeout=0.3, kill_grace=0.5)
    assert 0.8 <= time.monotonic() - began < 0.8 + kit.BUSY_S
    assert (seen.end.signal, seen.end.cause) == (9, exec_pb2.END_CAUSE_DEADLINE)


async def test_kill_with_grace_lets_the_process_say_goodbye(client: Client) -> None:
    exec_id = str(uuid.uuid4())
    running = client.stream("trap 'echo bye; exit 5' TERM; echo up; sleep 30 & wait", exec_id=exec_id)
    await kit.until_output(client, exec_id)
    request = exec_service_pb2.KillRequest(exec_id=exec_id)
    request.grace.FromSeconds(5)
    ended = (await client.execs.Kill(request, metadata=client.metadata)).ended
    assert (ended.exit_code, ended.cause) == (5, CANCELLED)
    assert (await kit.collect(running)).out == b"up\nbye\n"


@pytest.mark.parametrize("kills", [True, False])
async def test_client_that_goes_away_ends_its_exec_only_if_asked(guest: Execd, client: Client, kills: bool) -> None:
    exec_id = str(uuid.uuid4())
    policy = exec_pb2.ON_DISCONNECT_KILL if kills else exec_pb2.ON_DISCONNECT_DETACH
    async with kit.connected(guest) as leaving:
        async for frame in leaving.stream("echo up; sleep 5", exec_id=exec_id, on_disconnect=policy):
            if frame.HasField("output"):
                break
    if kills:
        assert (await client.wait(exec_id)).cause == CANCELLED
    else:
        await asyncio.sleep(0.5)
        assert (await client.call("Get", exec_id=exec_id)).exec.running
        await client.call("Kill", exec_id=exec_id)


async def test_150_streams_of_one_client_start_within_a_second(client: Client) -> None:
    """Point 11, and case 77 without the gateway."""
    streams = [client.stream("sleep 30") for _ in range(150)]
    began = time.monotonic()
    firsts = await asyncio.gather(*(anext(aiter(stream)) for stream in streams))
    took_s = time.monotonic() - began
    assert all(frame.HasField("started") for frame in firsts)
    assert took_s < kit.BUSY_S, "a second on a quiet machine"
    for stream in streams:
        stream.cancel()
