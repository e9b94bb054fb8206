"""Init: it ends with its own codes, whatever dies or stops beside it, and nothing inside can touch it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2, lease_service_pb2
from arenero.execd.shutdown import ExitCode
from tests.contract.execd import kit
from tests.contract.execd.kit import Execd

inside = pytest.mark.root


_UNCLAIMED = """
import sys
from arenero.execd import init, preload, wiring
from arenero.execd.plan import InitPlan
preload.load()
def claim():
    sys.stdin.read()
    return None
init.main(InitPlan("", listen="unix:" + sys.argv[1]), claim, wiring.serve)
"""


def wait_for(done: Callable[[], bool], timeout_s: float = 10) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not done():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def test_what_nobody_claims_ends_with_its_server(tmp_path: Path) -> None:
    address = tmp_path / "s"
    command = [sys.executable, "-c", _UNCLAIMED, str(address)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as waiting:
        assert waiting.stdin is not None
        wait_for(address.exists)
        [server] = kit.children(waiting.pid)
        waiting.stdin.close()
        assert waiting.wait(10) == ExitCode.STOPPED
    wait_for(lambda: not Path(f"/proc/{server}").exists())


def exit_code(guest: Execd, timeout_s: float = 10) -> int:
    """Wait for the end; unshare passes its child's code on."""
    return guest.process.wait(timeout_s)


async def interrupt(guest: Execd, kill: int) -> None:
    """Kill one of execd's processes during a run: the client hears that the daemon is lost, or the stream breaks."""
    async with kit.connected(guest) as client:
        frames = aiter(client.stream("sleep 30"))
        assert (await anext(frames)).HasField("started")
        os.kill(kill, signal.SIGKILL)
        seen = kit.Seen()
        try:
            async for frame in frames:
                seen.add(frame)
        except grpc.aio.AioRpcError as error:
            assert error.code() is grpc.StatusCode.UNAVAILABLE  # noqa: PT017 - either is right
        else:
            assert seen.end.cause == exec_pb2.END_CAUSE_DAEMON_LOST
            assert seen.end.WhichOneof("result") == "signal"


async def test_killed_server_ends_the_sandbox_and_gives_no_false_success() -> None:
    """Case 10."""
    with kit.execd() as guest:
        await interrupt(guest, guest.server_pid)
        assert exit_code(guest) == ExitCode.SERVER_LOST
        assert "ended unasked" in guest.log()


async def test_killed_init_takes_everything_along() -> None:
    """Case 10."""
    with kit.execd() as guest:
        below = kit.descendants(guest.init_pid)
        await interrupt(guest, guest.init_pid)
        exit_code(guest)
        assert all(kit.state(pid) in ("", "Z") for pid in below)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_hundred_killed_servers_give_no_false_success() -> None:
    """Case 10, repeated."""
    for _ in range(100):
        with kit.execd() as guest:
            await interrupt(guest, guest.server_pid)


async def test_lease_that_runs_out_ends_the_sandbox() -> None:
    began = time.monotonic()
    with kit.execd(ttl_s=1.0) as guest:
        async with kit.connected(guest) as client:
            seen = await client.run("trap '' TERM; sleep 30 & wait; sleep 30")
        assert seen.end.cause == exec_pb2.END_CAUSE_SANDBOX_STOPPED
        assert exit_code(guest) == ExitCode.LEASE_EXPIRED
    assert time.monotonic() - began < 8


async def test_lease_runs_out_beside_a_stopped_server() -> None:
    with kit.execd(ttl_s=1.5) as guest:
        os.kill(guest.server_pid, signal.SIGSTOP)
        assert exit_code(guest) == ExitCode.LEASE_EXPIRED


async def test_renewed_lease_holds_and_an_older_revision_changes_nothing() -> None:
    with kit.execd(ttl_s=2.0) as guest:
        async with kit.connected(guest) as client:
            for revision, ttl_s, in_force in ((7, 60, 7), (6, 0, 7)):
                request = lease_service_pb2.SetLeaseRequest(revision=revision)
                request.ttl.FromSeconds(ttl_s)
                assert (await client.lease.SetLease(request, metadata=client.metadata)).revision == in_force
            await asyncio.sleep(2.5)
            assert (await client.run("echo alive")).out == b"alive\n"


async def test_shutdown_lets_processes_say_goodbye_and_streams_end() -> None:
    with kit.execd() as guest:
        async with kit.connected(guest) as client:
            running = client.stream("trap 'echo bye; exit 5' TERM; echo up; sleep 30 & wait")
            await asyncio.sleep(0.5)
            request = lease_service_pb2.ShutdownRequest()
            request.grace.FromSeconds(3)
            await client.lease.Shutdown(request, metadata=client.metadata)
            seen = await kit.collect(running)
        assert (seen.out, seen.end.exit_code) == (b"up\nbye\n", 5)
        assert seen.end.cause == exec_pb2.END_CAUSE_SANDBOX_STOPPED
        assert exit_code(guest) == ExitCode.STOPPED


async def test_term_from_outside_stops_it() -> None:
    with kit.execd() as guest:
        os.kill(guest.init_pid, signal.SIGTERM)
        assert exit_code(guest) == ExitCode.STOPPED


async def test_flood_of_children_does_not_hold_up_other_calls() -> None:
    with kit.execd() as guest:
        async with kit.connected(guest) as client:
            flood = "while :; do for i in 1 2 3 4 5 6 7 8 9 10; do (setsid true &) ; done; done"
            started = await client.start(flood)
            await asyncio.sleep(1)
            began = time.monotonic()
            assert (await client.run("echo ok")).out == b"ok\n"
            assert (await client.call("Kill", exec_id=started.exec_id)).ended.signal == 9
            assert time.monotonic() - began < 5
            await asyncio.sleep(0.3)
        states = [kit.state(pid) for pid in kit.descendants(guest.init_pid)]
        assert "Z" not in states


async def test_call_without_a_good_token_is_refused() -> None:
    with kit.execd() as guest:
        bad = {
            "": grpc.StatusCode.UNAUTHENTICATED,
            kit.token(ttl_s=-1): grpc.StatusCode.UNAUTHENTICATED,
            kit.token(aud="gateway"): grpc.StatusCode.UNAUTHENTICATED,
            kit.token("sbx_" + "b" * 20): grpc.StatusCode.PERMISSION_DENIED,
            kit.token(generation=2): grpc.StatusCode.PERMISSION_DENIED,
            kit.token()[:-4] + "AAAA": grpc.StatusCode.UNAUTHENTICATED,
        }
        for bearer, code in bad.items():
            async with kit.connected(guest, bearer) as client:
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await client.run("true")
                assert caught.value.code() is code
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await client.call("Hello")
                assert caught.value.code() is code


async def test_hello_tells_what_it_is_and_the_boot_once() -> None:
    with kit.execd(boot_spans=(("driver.fork", 1, 2),)) as guest:
        async with kit.connected(guest) as client:
            first: exec_service_pb2.HelloResponse = await client.call("Hello", protocol_generation=9, client="test/1")
            again = await client.call("Hello")
        assert (first.protocol_generation, first.sandbox_id, first.generation) == (1, kit.SANDBOX_ID, 1)
        assert [span.name for span in first.boot_spans] == ["driver.fork", "execd.serve"]
        assert not again.boot_spans
        assert {"pty", "stdin-resume"} <= set(first.capabilities)
        assert ("cgroup-kill" in first.capabilities) is (guest.cgroup is not None)
