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
    unused_bytes: float
    """Share of pages of one that nobody has used yet."""
    used_bytes: float
    """The same of one that has run a command."""
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
        probed = made[:: max(1, len(made) // _PROBED)]
        await asyncio.sleep(_SETTLE_S * min(1.0, bench.scale))
        unused_bytes = _mean_bytes(probed)
        for sandbox in probed:
            assert (await sandbox.exec(["true"])).ok
        await asyncio.sleep(_SETTLE_S * min(1.0, bench.scale))
        used_bytes = _mean_bytes(probed)
        crowded_ms = await create_ms(client, bench.count(_CREATES))
    finally:
        await _empty(made)
    return Crowd(states.count(SandboxState.RUNNING), filling_s, unused_bytes, used_bytes, alone_ms, crowded_ms)


def _mean_bytes(sandboxes: list[Sandbox]) -> float:
    """Return the mean of what all processes of a sandbox use, pages that several share in proportion."""
    each = [processes.pss_bytes(processes.of_sandbox(sandbox.id)) for sandbox in sandboxes]
    assert all(each), "a sandbox has no process"
    return sum(each) / len(each)


async def _empty(made: list[Sandbox]) -> None:
    turns = asyncio.Semaphore(_AT_ONCE)

    async def remove(sandbox: Sandbox) -> None:
        async with turns:
            await sandbox.delete()
            await sandbox.close()

    async with asyncio.TaskGroup() as group:
        for sandbox in made:
            group.create_task(remove(sandbox))


@row("idle.memory", "one idle sandbox among 500, its share of pages", "MB", at_most(10))
async def memory(bench: Bench) -> Measured:
    """Measure one among many: what all share, the first would have to carry alone."""
    async with Sandbox.create(client=await bench.client()) as sandbox:
        await asyncio.sleep(_SETTLE_S * min(1.0, bench.scale))
        alone_bytes = _mean_bytes([sandbox])
    done = await bench.once(crowd)
    compared = {"after a command": f"{done.used_bytes / MB:.1f} MB", "the only one": f"{alone_bytes / MB:.1f} MB"}
    return Measured(done.unused_bytes / MB, compared_with=compared)


@row("idle.crowd", "live idle sandboxes at once", "", at_least(CROWD))
async def many(bench: Bench) -> Measured:
    done = await bench.once(crowd)
    return Measured(done.alive, compared_with={"filled in": f"{done.filling_s:.1f} s"})


@row("growth.create", "creation with 500 live sandboxes, times that with 1", "×", at_most(1.5))
async def creation_grows(bench: Bench) -> Measured:
    done = await bench.once(crowd)
    alone_ms, crowded_ms = quantile(done.create_alone_ms, 0.5), quantile(done.create_crowded_ms, 0.5)
    compared = {"with 1": f"{alone_ms:.1f} ms", f"with {done.alive}": f"{crowded_ms:.1f} ms"}
    return Measured(crowded_ms / alone_ms, n=len(done.create_crowded_ms), compared_with=compared)
