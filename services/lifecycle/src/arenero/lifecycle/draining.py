"""Ending every sandbox of this machine, as the platform is taken down.

A lifecycle that runs does it as it stops, when SIGUSR1 came before; `python -m arenero.lifecycle --drain` does it where
none runs, or where one could not finish. Each sandbox ends the ordinary way, as a change in the log that the reconciler
carries out, so its record and its subscribers learn of it; what the drivers hold beyond that is destroyed.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from datetime import datetime
from typing import TYPE_CHECKING, Final

from arenero.lifecycle.keys import SandboxKey, key_of
from arenero.lifecycle.records import Change
from arenero.lifecycle.verdicts import stopping
from arenero.model.record import SandboxRecord
from arenero.model.states import SandboxState

if TYPE_CHECKING:
    from arenero.lifecycle.wiring import Lifecycle

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


class DrainOnStop:
    """Whether a lifecycle that is told to stop ends all sandboxes first: when it got SIGUSR1 before."""

    def __init__(self) -> None:
        self._is_wanted = False
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._want)

    async def run(self, lifecycle: Lifecycle) -> None:
        """Drain where that is wanted. The servers have stopped, the tasks still run."""
        if self._is_wanted:
            await drain(lifecycle)

    def _want(self) -> None:
        self._is_wanted = True
