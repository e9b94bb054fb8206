"""Creating sandboxes: one after the other, and many at once."""

from __future__ import annotations

import asyncio
import time

from arenero.sdk import Client, Sandbox
from bench import docker
from bench.context import Bench
from bench.registry import Measured, at_most, of, row
from bench.samples import quantile, timed_ms

_CREATES = 100
_BURST, _BURST_AT_ONCE = 100, 20
_DOCKER_RUNS = 10


async def create_ms(client: Client, count: int, *, warm_up: int = 3) -> list[float]:
    """Return how long each creation takes until execd answers; each sandbox is deleted before the next is made."""
    times_ms = []
    for number in range(-warm_up, count):
        made: list[Sandbox] = []

        async def create(made: list[Sandbox] = made) -> None:
            made.append(await Sandbox.create(client=client))

        took_ms = await timed_ms(create)
        await made[0].delete()
        await made[0].close()
        if number >= 0:
            times_ms.append(took_ms)
    return times_ms


async def creates_ms(bench: Bench) -> list[float]:
    return await create_ms(await bench.client(), bench.count(_CREATES))


async def docker_ms(bench: Bench) -> list[float]:
    return await docker.run_ms(bench.count(_DOCKER_RUNS))


@row("create.p50", "Sandbox.create through gateway and lifecycle, execd answering", "ms", at_most(35))
async def median(bench: Bench) -> Measured:
    return of(await bench.once(creates_ms))


@row("create.p99", "the same, the slowest of a hundred", "ms", at_most(120))
async def slowest(bench: Bench) -> Measured:
    return of(await bench.once(creates_ms), 0.99)


@row("create.docker", "the same as a share of docker run --rm IMAGE true", "×", at_most(0.15))
async def share_of_docker(bench: Bench) -> Measured:
    theirs_ms = quantile(await bench.once(docker_ms), 0.5)
    ours = await bench.once(creates_ms)
    compared = {"docker run": f"{theirs_ms:.0f} ms", "create": f"{quantile(ours, 0.5):.1f} ms"}
    return Measured(quantile(ours, 0.5) / theirs_ms, n=len(ours), compared_with=compared)


@row("create.burst", "create, first output of an exec, delete: 100 of them, 20 at once", "s", at_most(5))
async def burst(bench: Bench) -> Measured:
    client, count = await bench.client(), bench.count(_BURST, least=5)
    turns = asyncio.Semaphore(_BURST_AT_ONCE)
    lives_ms: list[float] = []

    async def live(number: int) -> None:
        async with turns:
            lives_ms.append(await timed_ms(lambda: _one_life(client, number)))

    began_s = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(live(number))
    took_s = time.perf_counter() - began_s
    return Measured(took_s, n=count, compared_with={"one life": f"{quantile(lives_ms, 0.5):.0f} ms"})


async def _one_life(client: Client, number: int) -> None:
    async with Sandbox.create(client=client) as sandbox:
        result = await sandbox.exec(["echo", str(number)], check=True)
        assert result.stdout == b"%d\n" % number, result
