"""Ending every sandbox of this machine: what `python -m arenero.lifecycle --drain` does as the platform is taken down.

It runs while no other lifecycle does. Each sandbox ends the ordinary way, as a change in the log that the reconciler
carries out, so its record and its subscribers learn of it; what the drivers hold beyond that is destroyed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final

from arenero.host.service import Service
from arenero.lifecycle.config import LifecycleConfig
from arenero.lifecycle.keys import SandboxKey, key_of
from arenero.lifecycle.records import Change
from arenero.lifecycle.verdicts import stopping
from arenero.lifecycle.wiring import Lifecycle, open_lifecycle
from arenero.model.record import SandboxRecord
from arenero.model.states import SandboxState

_log = logging.getLogger(__name__)
PLATFORM_STOPPED: Final = "PLATFORM_STOPPED"
ACTOR: Final = "system:drain"


async def drain(lifecycle: Lifecycle) -> None:
    """End all sandboxes and return when none is left. The lifecycle's tasks must be running."""
    await lifecycle.load()
    live = [key_of(record) for record in lifecycle.index.all() if record.is_live]
    async with asyncio.TaskGroup() as group:
        for key in live:
            group.create_task(_end(lifecycle, key))
    for driver in lifecycle.drivers.usable():
        await lifecycle.sweeper.sweep_driver(driver)
    _log.info("lifecycle.drained", extra={"sandboxes": len(live)})


async def _end(lifecycle: Lifecycle, key: SandboxKey) -> None:
    await lifecycle.records.change(key, _stop, actor=ACTOR)
    await lifecycle.index.until(key, lambda record: not record.is_live)


def _stop(record: SandboxRecord, now: datetime) -> Change | None:
    is_over = not record.is_live or record.state is SandboxState.STOPPING
    return None if is_over else stopping(PLATFORM_STOPPED)


@asynccontextmanager
async def build(config: LifecycleConfig) -> AsyncIterator[Service]:
    """Open the log and the drivers, and yield a process that drains and ends."""
    async with open_lifecycle(config, is_serving=lambda: True) as lifecycle:
        yield Service(tasks=lifecycle.tasks(), job=lambda: drain(lifecycle))
