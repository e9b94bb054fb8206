"""What grows with the number of records."""

from __future__ import annotations

import asyncio

from arenero.sdk import Client, Sandbox
from arenero.sdk._types.arenero.api.lifecycle import v1 as lifecycle_v1
from arenero.sdk.client import SANDBOX_SERVICE
from arenero.sdk.types import PageRequest
from bench.context import Bench
from bench.platform import platform
from bench.registry import Measured, at_most, of, row
from bench.samples import quantile, repeat_ms

_RECORDS = 10_000
_AT_ONCE = 64
_LISTS = 30
_LARGE_PAGE = 200
_FAKE = {
    "ARENERO_LIFECYCLE__RUNTIMES": "fake",
    "ARENERO_LIFECYCLE__ADMISSION__SANDBOXES_PER_TENANT": "20000",
    "ARENERO_LIFECYCLE__ADMISSION__CONCURRENT_CREATES": "64",
}
"""The driver for tests: its sandboxes are records only."""


@row("growth.list", "first page of a list of 10,000 records, of the API's own size, read in full", "ms", at_most(50))
async def first_page(bench: Bench) -> Measured:
    count = bench.count(_RECORDS, least=20)
    async with platform(_FAKE) as running, running.client() as client:
        await _fill(client, count)
        times_ms = await repeat_ms(lambda: _page(client), bench.count(_LISTS))
        large_ms = await repeat_ms(lambda: _page(client, _LARGE_PAGE), bench.count(_LISTS))
        listed = [found.id async for found in client.sandboxes()]
        assert len(set(listed)) == len(listed) == count, f"{len(listed)} of {count} listed"
    compared = {f"page of {_LARGE_PAGE}": f"{quantile(large_ms, 0.5):.1f} ms", "records": str(count)}
    return of(times_ms, compared_with=compared)


async def _page(client: Client, size: int = 0) -> None:
    """Ask for the first page and decode all of it; size 0 is the API's default, 50."""
    request = lifecycle_v1.ListRequest(page=PageRequest(page_size=size))
    answer = await client.call(SANDBOX_SERVICE + "List", request, lifecycle_v1.ListResponse)
    assert answer.sandboxes


async def _fill(client: Client, count: int) -> None:
    turns = asyncio.Semaphore(_AT_ONCE)

    async def add() -> None:
        async with turns:
            await (await Sandbox.create(client=client)).close()

    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(add())
