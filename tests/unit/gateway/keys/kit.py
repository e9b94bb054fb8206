"""A keyring and a ledger over a log in memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from arenero.bus.memory import MemoryEventLog
from arenero.bus.projection import Projection
from arenero.gateway.keys.keyring import Keyring
from arenero.gateway.keys.ledger import Ledger
from arenero.gateway.keys.record import KeyRecord
from arenero.testing.clock import ManualClock


@dataclass
class Keys:
    log: MemoryEventLog
    clock: ManualClock
    keyring: Keyring
    ledger: Ledger
    ended: list[KeyRecord] = field(default_factory=list)


@asynccontextmanager
async def keys_over(log: MemoryEventLog, clock: ManualClock | None = None) -> AsyncIterator[Keys]:
    clock = clock or ManualClock()
    ended: list[KeyRecord] = []
    keyring = Keyring(clock, on_ended=ended.append)
    projection = Projection(log, "key.>", keyring.apply)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(projection.run())
        await projection.wait_ready()
        yield Keys(log, clock, keyring, Ledger(log, projection, keyring, clock, "gateway/test"), ended)
        running.cancel()
