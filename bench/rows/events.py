"""Facts on their way from the log to whoever subscribed to them."""

from __future__ import annotations

import asyncio
import time

import nats
from nats.aio.msg import Msg

from arenero.api.events.v1.event_pb2 import Event
from arenero.sdk import Sandbox
from arenero.sdk.types import KeyKind
from bench.context import Bench
from bench.registry import Measured, at_most, of, row

_EVENTS = 200
_TIMEOUT_S = 10.0


async def latencies_ms(bench: Bench) -> list[float]:
    """Return the times from a fact's own time, taken before it is appended, to its arrival at a plain NATS client."""
    client, sandbox = await bench.client(), await bench.sandbox()
    access = (await client.create_key("bench", kind=KeyKind.EVENTS)).nats
    assert access is not None
    arrived: asyncio.Queue[tuple[int, Event]] = asyncio.Queue()

    async def take(message: Msg) -> None:
        arrived.put_nowait((time.time_ns(), Event.FromString(message.data)))

    connection = await nats.connect(
        access.url, user=access.user, password=access.password, inbox_prefix=access.inbox_prefix.encode()
    )
    try:
        [subject] = [found for found in access.subjects if found.startswith("sandbox.")]
        await connection.subscribe(subject.replace(".>", f".{sandbox.id}.>"), cb=take)
        await connection.flush()
        return [await _one(sandbox, number, arrived) for number in range(bench.count(_EVENTS))]
    finally:
        await connection.close()


async def _one(sandbox: Sandbox, number: int, arrived: asyncio.Queue[tuple[int, Event]]) -> float:
    await sandbox.update_metadata({"bench": str(number)})
    async with asyncio.timeout(_TIMEOUT_S):
        received_ns, event = await arrived.get()
    return (received_ns - event.time.ToNanoseconds()) / 1e6


@row("events.latency", "append of a fact to in a subscriber's hands", "ms", at_most(2.0))
async def latency(bench: Bench) -> Measured:
    return of(await bench.once(latencies_ms))
