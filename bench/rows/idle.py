"""Sandboxes that do nothing: one, and five hundred."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from arenero.sdk import Sandbox
from arenero.sdk.types import SandboxState
from bench import processes
from bench.context import Bench
from bench.registry import Measured, at_least, at_most, row
from bench.rows.create import create_ms
from bench.samples import quantile

CROWD = 500
_AT_ONCE = 16
_PROBED = 25
_SETTLE_S = 3.0
_CREATES = 50
MB = 1e6


@dataclass(frozen=True, slots=True)
class Crowd:
    """Many live sandboxes at once."""

    alive: int
    filling_s: float
    pss_bytes_each: float
    create_alone_ms: list[float]
    create_crowded_ms: list[float]


async def crowd(bench: Bench) -> Crowd:
    """Measure creation with one live sandbox, fill the platform up, look at it, and measure creation again."""
    client, wanted = await bench.client(), bench.count(CROWD, least=4)
    await bench.sandbox()
    alone_ms = await create_ms(client, bench.count(_CREATES))
    turns = asyncio.Semaphore(_AT_ONCE)
    made: list[Sandbox] = []

    async def add() -> None:
        async with turns:
            made.append(await Sandbox.create(client=client, metadata={"bench": "crowd"}))

    try:
        began_s = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for _ in range(wanted):
                group.create_task(add())
        filling_s = time.perf_counter() - began_s
        states = [found.state async for found in client.sandboxes(metadata={"bench": "crowd"})]
        step = max(1, len(made) // _PROBED)
        for sandbox in made[::step]:
            assert (await sandbox.exec(["true"])).ok
        await asyncio.sleep(_SETTLE_S * min(1.0, bench.scale))
        each = [processes.pss_bytes(processes.of_sandbox(sandbox.id)) for sandbox in made[:: step * 2]]
        crowded_ms = await create_ms(client, bench.count(_CREATES))
    finally:
        await _empty(made)
    return Crowd(states.count(SandboxState.RUNNING), filling_s, sum(each) / len(each), alone_ms, crowded_ms)


async def _empty(made: list[Sandbox]) -> None:
    turns = asyncio.Semaphore(_AT_ONCE)

    async def remove(sandbox: Sandbox) -> None:
        async with turns:
            await sandbox.delete()
            await sandbox.close()

    async with asyncio.TaskGroup() as group:
        for sandbox in made:
            group.create_task(remove(sandbox))


@row("idle.memory", "one idle sandbox, its share of pages", "MB", at_most(10))
async def memory(bench: Bench) -> Measured:
    async with Sandbox.create(client=await bench.client()) as sandbox:
        await asyncio.sleep(_SETTLE_S * min(1.0, bench.scale))
        found = processes.of_sandbox(sandbox.id)
        assert found, "no process of the sandbox was found"
        pss, rss = processes.pss_bytes(found), processes.rss_bytes(found)
    return Measured(pss / MB, compared_with={"resident": f"{rss / MB:.0f} MB", "processes": str(len(found))})


@row("idle.crowd", "live idle sandboxes at once", "", at_least(CROWD))
async def many(bench: Bench) -> Measured:
    done = await bench.once(crowd)
    compared = {"filled in": f"{done.filling_s:.1f} s", "each": f"{done.pss_bytes_each / MB:.1f} MB"}
    return Measured(done.alive, compared_with=compared)


@row("growth.create", "creation with 500 live sandboxes, times that with 1", "×", at_most(1.5))
async def creation_grows(bench: Bench) -> Measured:
    done = await bench.once(crowd)
    alone_ms, crowded_ms = quantile(done.create_alone_ms, 0.5), quantile(done.create_crowded_ms, 0.5)
    compared = {"with 1": f"{alone_ms:.1f} ms", f"with {done.alive}": f"{crowded_ms:.1f} ms"}
    return Measured(crowded_ms / alone_ms, n=len(done.create_crowded_ms), compared_with=compared)
