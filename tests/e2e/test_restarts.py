"""Services that are killed: what runs goes on, what was asked for is done or undone, nothing is left over."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from arenero.sdk import Client, Exit, Output, Sandbox
from arenero.sdk.errors import AreneroError
from arenero.sdk.types import Sandbox as Record
from arenero.sdk.types import SandboxState
from tests.e2e.kit import SERVICES, Instance, eventually, instance, leftovers


@pytest.fixture(scope="module")
def victim() -> Iterator[Instance]:
    """An instance whose services are killed; apart from the one that other tests share."""
    with instance() as made:
        yield made


@pytest.fixture
async def client(victim: Instance) -> AsyncIterator[Client]:
    async with victim.client() as made:
        yield made


async def killed(victim: Instance, name: str) -> None:
    """Kill a service and wait for its successor."""
    before = victim.kill(name)
    await asyncio.to_thread(victim.wait_until_answers, before, name)


async def test_stream_goes_on_when_the_gateway_is_killed(victim: Instance) -> None:
    async with victim.client(direct=False) as client, Sandbox.create(client=client) as sandbox:
        lines = b""
        kill_once = True
        async with asyncio.timeout(90):
            async for frame in sandbox.stream("for i in $(seq 1 100); do echo line $i; sleep 0.05; done"):
                if isinstance(frame, Output):
                    lines += frame.data
                    if kill_once and b"line 10\n" in lines:
                        kill_once = False
                        victim.kill("gateway")
                else:
                    assert isinstance(frame, Exit), frame
                    assert frame.ok
        assert lines.decode().splitlines() == [f"line {number}" for number in range(1, 101)]
        assert not sandbox.is_direct


async def test_events_go_on_when_the_gateway_is_killed(victim: Instance, client: Client) -> None:
    seen = []

    async with Sandbox.create(client=client) as sandbox:

        async def follow() -> None:
            async with aclosing(sandbox.follow(from_beginning=True)) as events:  # type: ignore[type-var]
                async for event in events:
                    seen.append(event)
                    if event.subject.endswith(".terminated"):
                        return

        async with asyncio.timeout(90), asyncio.TaskGroup() as group:
            group.create_task(follow())
            while not seen:
                await asyncio.sleep(0.05)
            await killed(victim, "gateway")
            await client.delete(sandbox.id)
    sequences = [event.sequence for event in seen]
    assert sequences == sorted(set(sequences))


async def test_sandbox_and_its_processes_survive_lifecycle(victim: Instance, client: Client) -> None:
    async with Sandbox.create(client=client, ttl_s=600) as sandbox:
        process = await sandbox.start("for i in $(seq 1 1000); do echo $i; sleep 0.1; done")
        before = await sandbox.refresh()
        await killed(victim, "lifecycle")
        assert (await sandbox.exec("echo direct", check=True)).stdout == b"direct\n"
        after = await sandbox.refresh()
        assert (after.state, after.generation) == (SandboxState.RUNNING, before.generation)
        assert after.expires_at == before.expires_at
        async with victim.client(direct=False) as other:
            through = await Sandbox.connect(sandbox.id, client=other)
            assert (await through.exec("echo through", check=True)).stdout == b"through\n"
            [frame] = [frame async for frame in through.process(process.exec_id).output(last_bytes=5, follow=False)][:1]
            assert isinstance(frame, Output)
            await through.close()
        await sandbox.renew(900)
    assert not leftovers(victim.home, sandbox.id)


async def test_expiry_is_kept_while_lifecycle_is_away(victim: Instance, client: Client) -> None:
    """Case 67: execd ends the sandbox by itself, and lifecycle finds that out."""
    sandbox = await Sandbox.create(client=client, ttl_s=3)
    victim.signal("lifecycle", signal.SIGSTOP)
    try:
        await asyncio.sleep(3 + 5 + 2)
        with pytest.raises((AreneroError, TimeoutError)):
            async with asyncio.timeout(3):
                await sandbox.exec("echo still here", check=True)
    finally:
        victim.signal("lifecycle", signal.SIGCONT)
    async with asyncio.timeout(30):
        while (await client.get(sandbox.id)).ended_at is None:
            await asyncio.sleep(0.2)
    eventually(lambda: not leftovers(victim.home, sandbox.id))
    await sandbox.close()


async def test_dead_sandbox_is_failed_and_cleaned_up(victim: Instance, client: Client) -> None:
    sandbox = await Sandbox.create(client=client)
    record = sandbox.record
    assert record.state is SandboxState.RUNNING
    [first] = await _first_processes(victim, sandbox)
    os.kill(first, signal.SIGKILL)
    async with asyncio.timeout(60):
        while (record := await client.get(sandbox.id)).state is SandboxState.RUNNING:
            await asyncio.sleep(0.2)
    assert record.state is SandboxState.FAILED
    assert record.reason
    eventually(lambda: not leftovers(victim.home, sandbox.id), 60)
    await sandbox.close()


async def _first_processes(victim: Instance, sandbox: Sandbox) -> list[int]:
    """The sandbox's process 1, by its number here."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                mounts = (path / "mountinfo").read_text()
                inner = next(line for line in (path / "status").read_text().splitlines() if line.startswith("NSpid:"))
            except OSError:
                continue
            if f"/{sandbox.id}/" in mounts and inner.split()[-1] == "1":
                found.append(int(path.name))
    return found


@pytest.mark.parametrize("name", [*SERVICES, "nats"])
async def test_killed_service_comes_back(victim: Instance, client: Client, name: str) -> None:
    await killed(victim, name)
    async with asyncio.timeout(60):
        while True:
            try:
                async with Sandbox.create(client=client) as sandbox:
                    assert (await sandbox.exec("echo back", check=True)).stdout == b"back\n"
                return
            except AreneroError:
                await asyncio.sleep(0.5)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", [*SERVICES, "nats"])
async def test_crash_during_fifty_creations_leaves_no_orphan(victim: Instance, client: Client, name: str) -> None:
    """Every creation ends in a sandbox that answers, or in an error and nothing; no record is without its sandbox."""
    turns = asyncio.Semaphore(10)
    made: list[str] = []
    refused: list[AreneroError] = []

    async def create(number: int) -> None:
        async with turns:
            if number == 25:
                victim.kill(name)
            try:
                sandbox = await Sandbox.create(client=client, metadata={"crash": name})
            except AreneroError as error:
                refused.append(error)
                return
            made.append(sandbox.id)
            await sandbox.close()

    before = victim.service_pid(name)
    async with asyncio.timeout(200), asyncio.TaskGroup() as group:
        for number in range(50):
            group.create_task(create(number))
    await asyncio.to_thread(victim.wait_until_answers, before, name)
    assert len(made) + len(refused) == 50
    # What was being made when it crashed comes to an end of its own: running, or undone.
    async with asyncio.timeout(90):
        while not (records := await _settled(client, name)):
            await asyncio.sleep(0.5)
    running = {record.id for record in records if record.state is SandboxState.RUNNING}
    assert set(made) <= running
    for sandbox_id in sorted(running):
        found = await Sandbox.connect(sandbox_id, client=client)
        assert (await found.exec("true")).ok, sandbox_id
        await found.close()
    for sandbox_id in sorted(running):
        await client.delete(sandbox_id)
    for record in records:
        eventually(lambda record=record: not leftovers(victim.home, record.id), 60)  # type: ignore[misc]


async def _settled(client: Client, name: str) -> list[Record]:
    """The records of a crash, when each of them has come to rest; else nothing."""
    try:
        records = [found async for found in client.sandboxes(metadata={"crash": name}, include_ended=True)]
    except AreneroError:
        return []
    resting = (SandboxState.RUNNING, SandboxState.FAILED, SandboxState.TERMINATED)
    return records if records and all(record.state in resting for record in records) else []


def test_supervisor_that_was_killed_leaves_sandboxes_that_down_ends() -> None:
    """Its services end with it; the next start, or `down`, finds what it left."""
    with instance() as made:
        kept = made.run("sandbox", "create").stdout.strip()
        services = [made.service_pid(name) for name in SERVICES]
        os.kill(made.state()["pid"], signal.SIGKILL)
        eventually(lambda: not [pid for pid in services if _runs(pid)], 30)
        assert leftovers(made.home, kept)
        made.up()
        assert made.run("exec", kept, "--", "echo", "alive").stdout == "alive\n"
        os.kill(made.state()["pid"], signal.SIGKILL)
        eventually(lambda: not [pid for pid in services if _runs(pid)], 30)
        made.down()
        assert not leftovers(made.home, kept).keys() - {"files"}


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
