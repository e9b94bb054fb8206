"""What grows with the number of records."""

from __future__ import annotations

import asyncio

from arenero.sdk import Client, Sandbox
from bench.context import Bench
from bench.platform import platform
from bench.registry import Measured, at_most, of, row
from bench.samples import quantile, repeat_ms

_RECORDS = 10_000
_AT_ONCE = 64
_LISTS = 30
_FAKE = {
    "ARENERO_LIFECYCLE__RUNTIMES": "fake",
    "ARENERO_LIFECYCLE__ADMISSION__SANDBOXES_PER_TENANT": "20000",
    "ARENERO_LIFECYCLE__ADMISSION__CONCURRENT_CREATES": "64",
}
"""The driver for tests: its sandboxes are records only."""


@row("growth.list", "first page of a list of 10,000 records", "ms", at_most(50))
async def first_page(bench: Bench) -> Measured:
    count = bench.count(_RECORDS, least=20)
    async with platform(_FAKE) as running, running.client() as client:
        few_ms = await repeat_ms(lambda: _first_page(client), bench.count(_LISTS))
        await _fill(client, count)
        times_ms = await repeat_ms(lambda: _first_page(client), bench.count(_LISTS))
        listed = [found.id async for found in client.sandboxes()]
        assert len(set(listed)) == len(listed) == count, f"{len(listed)} of {count} listed"
    compared = {"with none": f"{quantile(few_ms, 0.5):.1f} ms", "records": str(count)}
    return of(times_ms, compared_with=compared)


async def _first_page(client: Client) -> None:
    async for _ in client.sandboxes():
        return


async def _fill(client: Client, count: int) -> None:
    turns = asyncio.Semaphore(_AT_ONCE)

    async def add() -> None:
        async with turns:
            await (await Sandbox.create(client=client)).close()

    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(add())
