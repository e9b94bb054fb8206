"""What ends leaves nothing: no process, mount, namespace, control group, loop device or file."""

import asyncio
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from arenero.sdk import Client, Sandbox
from tests.e2e.kit import Instance, eventually, instance, leftovers


async def test_deleted_sandbox_leaves_nothing(platform: Instance, client: Client) -> None:
    async with Sandbox.create(client=client) as sandbox:
        await sandbox.start("sleep 300")
        await sandbox.files.write("large", bytes(5_000_000))
        assert leftovers(platform.home, sandbox.id), "else this test would see nothing"
    assert not leftovers(platform.home, sandbox.id)


async def test_expired_sandbox_leaves_nothing(platform: Instance, client: Client) -> None:
    sandbox = await Sandbox.create(client=client, ttl_s=1)
    await sandbox.start("trap '' TERM; while :; do sleep 1; done")
    [last] = [found async for found in sandbox.watch()][-1:]
    assert last.ended_at is not None
    eventually(lambda: not leftovers(platform.home, sandbox.id))
    await sandbox.close()


async def test_failed_creation_leaves_nothing(platform: Instance, client: Client) -> None:
    before = {found.id async for found in client.sandboxes(include_ended=True)}
    with pytest.raises(Exception, match=r"."):
        await Sandbox.create(client=client, rootfs_directory="/etc")
    after = {found.id async for found in client.sandboxes(include_ended=True)}
    for sandbox_id in after - before:
        assert not leftovers(platform.home, sandbox_id)


async def create_and_wait(client: Client) -> None:
    async with Sandbox.create(client=client):
        await asyncio.sleep(60)


async def test_cancelled_creation_leaves_nothing(platform: Instance, client: Client) -> None:
    before = {found.id async for found in client.sandboxes()}
    for wait_s in (0.0, 0.005, 0.02, 0.05):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(create_and_wait(client), wait_s)
    async with asyncio.timeout(30):
        while {found.id async for found in client.sandboxes()} - before:
            await asyncio.sleep(0.1)


def test_starting_what_runs_changes_nothing(platform: Instance) -> None:
    before = platform.state()
    done = platform.run("up", "--detach", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0")
    assert "already up" in done.stderr
    assert platform.state()["pid"] == before["pid"]
    assert platform.state()["grpc"] == before["grpc"]


def test_status_tells_of_every_service(platform: Instance) -> None:
    shown = platform.run("status").stdout
    assert "phase      ready" in shown
    for name in ("gateway", "lifecycle", "snapshot", "vault", "warmpool"):
        assert f"{name}" in shown


def test_stopping_what_does_not_run_is_no_error() -> None:
    home = Path(tempfile.mkdtemp(prefix="arn-e2e-"))
    try:
        never = Instance(home)
        never.run("down")
        assert never.run("status", check=False).returncode == 4
        assert never.run("env", check=False).returncode == 1
    finally:
        shutil.rmtree(home)


def test_two_instances_run_side_by_side_and_leave_nothing(platform: Instance) -> None:
    """`instance` itself looks for what is left when it is down."""
    with instance() as second:
        assert second.state()["grpc"] != platform.state()["grpc"]
        mine = second.run("sandbox", "create").stdout.strip()
        assert second.run("exec", mine, "--", "echo", "second").stdout == "second\n"
        assert platform.run("exec", mine, "--", "true", check=False).returncode == 3
        theirs = platform.run("sandbox", "create").stdout.strip()
        second.down()
        assert not leftovers(second.home, mine).keys() - {"files"}
        assert platform.run("exec", theirs, "--", "echo", "first").stdout == "first\n"
        platform.run("sandbox", "delete", theirs)
        # Its records are still there when it is up again.
        second.up()
        shown = second.run("sandbox", "list", "--all", "-q").stdout.split()
        assert mine in shown
        assert second.run("sandbox", "list", "-q").stdout == ""


def test_second_start_in_the_foreground_says_that_it_runs(platform: Instance) -> None:
    done = platform.run("up", check=False, timeout_s=30)
    assert "already up" in done.stderr


def test_wrong_address_is_an_error_in_one_go() -> None:
    home = Path(tempfile.mkdtemp(prefix="arn-e2e-"))
    try:
        made = Instance(home)
        done = made.run("up", "--detach", "--grpc", "256.0.0.1:0", "--http", "127.0.0.1:0", check=False, timeout_s=90)
        assert done.returncode != 0
        assert done.stderr
        assert not leftovers(home)
    finally:
        subprocess.run(["true"], check=True)
        shutil.rmtree(home)
