"""kill -9 at any moment: nothing is left over, nothing is lost, nothing is made twice."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from arenero.api.lifecycle.v1 import sandbox_pb2
from arenero.api.lifecycle.v1.sandbox_service_pb2 import CreateRequest
from arenero.bus.server import NatsServer
from arenero.runtime.fake_host import Phase
from tests.integration.lifecycle.conftest import Client, Process

KILLS = 6


@pytest.fixture
def settings() -> dict[str, str]:
    """Steps that take a while, so that kills hit all of them."""
    return {
        "runtime__fake__create_s": "0.05",
        "runtime__fake__start_s": "0.07",
        "runtime__fake__destroy_s": "0.1",
        "work__sweep_s": "0.5",
        "admission__concurrent_creates": "4",
    }


async def kill_again_and_again(process: Process, client: Client, chance: random.Random) -> None:
    """Kill lifecycle a moment after it has begun to work, each time another."""
    for _ in range(KILLS):
        await client.list_all()
        await asyncio.sleep(chance.uniform(0.0, 0.3))
        await process.kill()
        await process.start()


async def do_all(jobs: list[Callable[[], Awaitable[object]]], at_once: int) -> None:
    waiting = iter(jobs)

    async def work() -> None:
        for job in waiting:
            await job()

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work())


async def assert_consistent(client: Client, process: Process) -> None:
    """Every live record has a sandbox that runs, and every sandbox a live record."""
    sandboxes = await client.list_all()
    states = {sandbox.state for sandbox in sandboxes}
    assert states <= {sandbox_pb2.SANDBOX_STATE_RUNNING, sandbox_pb2.SANDBOX_STATE_TERMINATED}
    live = {s.id for s in sandboxes if s.state == sandbox_pb2.SANDBOX_STATE_RUNNING}
    host = process.host
    held = {sandbox_id: host.find(sandbox_id) for sandbox_id in host.ids()}
    assert held.keys() == live
    assert {h.phase for h in held.values() if h} <= {Phase.RUNNING}


async def test_fifty_creations_survive_kills_of_lifecycle(
    process: Process, client: Client, chance: random.Random
) -> None:
    made: list[sandbox_pb2.Sandbox] = []

    async def create(number: int) -> None:
        made.append(await client.create(f"job-{number}"))

    async with asyncio.TaskGroup() as group:
        killing = group.create_task(kill_again_and_again(process, client, chance))
        await do_all([lambda n=n: create(n) for n in range(50)], at_once=10)  # type: ignore[misc]
        await killing
    assert {sandbox.state for sandbox in made} == {sandbox_pb2.SANDBOX_STATE_RUNNING}
    assert len({sandbox.id for sandbox in made}) == 50
    await assert_consistent(client, process)


async def test_fifty_deletions_survive_kills_of_lifecycle(
    process: Process, client: Client, chance: random.Random
) -> None:
    made = await asyncio.gather(*(client.create(f"job-{n}") for n in range(50)))
    kept, gone = made[::2], made[1::2]
    async with asyncio.TaskGroup() as group:
        killing = group.create_task(kill_again_and_again(process, client, chance))
        await do_all([lambda s=s: client.delete(s.id) for s in gone], at_once=5)  # type: ignore[misc]
        await killing
    assert process.host.ids() == {sandbox.id for sandbox in kept}
    await assert_consistent(client, process)


async def test_creations_that_nobody_repeats_end_one_way_or_the_other(
    process: Process, client: Client, chance: random.Random
) -> None:
    """Callers that left: what was recorded runs, what was not is nowhere."""

    async def create_once(number: int) -> None:
        try:
            await client.call(client.sandboxes.Create, CreateRequest(request_id=f"once-{number}"), timeout_s=1)
        except Exception:  # noqa: BLE001  # whatever became of it
            pass

    async with asyncio.TaskGroup() as group:
        killing = group.create_task(kill_again_and_again(process, client, chance))
        await do_all([lambda n=n: create_once(n) for n in range(50)], at_once=10)  # type: ignore[misc]
        await killing
    async with asyncio.timeout(20):
        while sandbox_pb2.SANDBOX_STATE_PENDING in {s.state for s in await client.list_all()}:
            await asyncio.sleep(0.05)
    await assert_consistent(client, process)


async def test_creations_survive_kills_of_nats(nats: NatsServer, client: Client, process: Process) -> None:
    async with asyncio.TaskGroup() as group:
        creating = [group.create_task(client.create(f"job-{n}")) for n in range(20)]
        for _ in range(3):
            await asyncio.sleep(0.2)
            await nats.kill()
            await asyncio.sleep(0.1)
            await nats.start()
    assert {task.result().state for task in creating} == {sandbox_pb2.SANDBOX_STATE_RUNNING}
    await assert_consistent(client, process)


async def test_orphans_are_gone_after_the_first_sweep(process: Process, client: Client) -> None:
    sandbox = await client.create()
    held = process.host.find(next(iter(process.host.ids())))
    assert held is not None
    await client.delete(sandbox.id)
    await process.kill()
    process.host.put(held)
    await process.start()
    async with asyncio.timeout(10):
        while process.host.ids():
            await asyncio.sleep(0.02)
    assert (await client.get(sandbox.id)).state == sandbox_pb2.SANDBOX_STATE_TERMINATED
