"""Execs as a whole: start, end, timeouts, kills, what they leave behind."""

from __future__ import annotations

import asyncio
import time
import uuid

import grpc
import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from tests.contract.execd import kit
from tests.contract.execd.kit import Client, Execd

DEADLINE = exec_pb2.END_CAUSE_DEADLINE
OWN_EXIT = exec_pb2.END_CAUSE_OWN_EXIT
CANCELLED = exec_pb2.END_CAUSE_CANCELLED
LEAVE = exec_pb2.ON_EXIT_LEAVE


async def test_timeout_ends_the_shell_and_its_background_children(guest: Execd, client: Client) -> None:
    """Case 1."""
    began = time.monotonic()
    seen = await client.run("sleep 300 & sleep 300 & wait", timeout=1)
    took_s = time.monotonic() - began
    assert seen.end.cause == DEADLINE
    assert 0.95 <= took_s < 1 + kit.BUSY_S
    await asyncio.sleep(0.5)
    assert not [line for line in kit.commands(guest) if "sleep 300" in line]


async def test_exec_timeout_is_heard_as_deadline_soon_after(client: Client) -> None:
    """Case 2, first half."""
    began = time.monotonic()
    seen = await client.run("sleep 30", timeout=2)
    assert seen.end.cause == DEADLINE
    assert 2.0 <= time.monotonic() - began < 2 + kit.BUSY_S
    listed = await client.call("List", running_only=True)
    assert seen.started is not None
    assert seen.started.exec.exec_id not in [exec_.exec_id for exec_ in listed.execs]


async def test_rpc_deadline_detaches_and_the_process_can_be_attached(client: Client) -> None:
    """Case 2, second half."""
    exec_id = str(uuid.uuid4())
    request = exec_service_pb2.RunRequest(exec_id=exec_id, spec=kit.spec_message("sleep 4; echo done", timeout=60))
    began = time.monotonic()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for _ in client.execs.Run(request, metadata=client.metadata, timeout=1):
            pass
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert time.monotonic() - began >= 0.9
    assert (await client.call("Get", exec_id=exec_id)).exec.running
    assert (await client.attached(exec_id)).out == b"done\n"


async def test_background_exec_without_timeout_lives_on(client: Client) -> None:
    """Case 3, shortened: nothing ends it by itself."""
    started = await client.start("sleep 60")
    await asyncio.sleep(3)
    assert (await client.call("Get", exec_id=started.exec_id)).exec.running
    assert (await client.call("Kill", exec_id=started.exec_id)).ended.cause == CANCELLED


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_background_exec_without_timeout_lives_for_minutes(client: Client) -> None:
    """Case 3."""
    started = await client.start("sleep 600")
    for after_s in (65, 235):
        await asyncio.sleep(after_s)
        assert (await client.call("Get", exec_id=started.exec_id)).exec.running
    await client.call("Kill", exec_id=started.exec_id)


async def test_child_that_keeps_stdout_open_does_not_hold_up_the_end(client: Client) -> None:
    """Case 4."""
    began = time.monotonic()
    seen = await client.run("sleep 60 & echo hi")
    assert time.monotonic() - began < kit.BUSY_S
    assert (seen.out, seen.end.exit_code, seen.end.stdio_held_open) == (b"hi\n", 0, True)


async def test_timeout_bounds_the_drain_too(client: Client) -> None:
    """Case 4: never beyond the timeout and the grace."""
    began = time.monotonic()
    seen = await client.run("sleep 60 & echo hi", timeout=2, drain_timeout=60)
    assert time.monotonic() - began < 2 + kit.BUSY_S
    assert seen.out == b"hi\n"
    assert seen.end.exit_code == 0


async def test_interactive_bash_without_terminal_is_not_stopped(client: Client) -> None:
    """Case 6."""
    began = time.monotonic()
    seen = await client.run(argv=["bash", "-ic", "echo ok"])
    assert time.monotonic() - began < kit.BUSY_S
    assert (seen.out, seen.end.exit_code) == (b"ok\n", 0)


async def test_server_started_with_nohup_outlives_its_exec_when_left(guest: Execd, client: Client) -> None:
    """Case 7, leave: it serves after the exec's handle and the client are gone."""
    folder = f"{guest.plan.login.home}/left"
    listen = f"python3 -m http.server --bind 127.0.0.1 --directory {folder} 18931"
    line = f"mkdir -p {folder}; echo here > {folder}/f; nohup {listen} </dev/null >/tmp/arx-l 2>&1 & sleep 0.3"
    async with kit.connected(guest) as other:
        seen = await other.run(line, on_exit=LEAVE)
        assert seen.end.exit_code == 0
        assert not seen.end.stdio_held_open
        assert seen.started is not None
        exec_id = seen.started.exec.exec_id
        await asyncio.sleep(0.5)
    get = "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:18931/f').read())"
    assert (await client.run(argv=["python3", "-c", get])).out == b"b'here\\n'\n"
    # A kill of the ended exec still finds what it left.
    await client.call("Kill", exec_id=exec_id)
    assert not [found for found in kit.commands(guest) if "18931" in found]
    await client.call("Forget", exec_id=exec_id)


async def test_server_started_with_nohup_is_gone_when_reaped(guest: Execd, client: Client) -> None:
    """Case 7, reap."""
    seen = await client.run("nohup setsid sleep 3217 </dev/null >/dev/null 2>&1 & sleep 0.2")
    assert seen.end.exit_code == 0
    assert not [line for line in kit.commands(guest) if "3217" in line]
