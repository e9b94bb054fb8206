"""The timer behind everything that a wake-up could have missed: a look at the whole, again and again.

Each sweep has sandboxes looked at that are not as they should be, destroys what a driver holds without a live record,
takes over what it holds of another owner, and drops records whose history is over. It begins at the start, so nothing
that a killed lifecycle left behind outlives the first one.

A creation in flight is safe: its record is appended before the driver hears of it, and before anything is destroyed
the log itself is asked, not only the index.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from arenero.bus.log import EventLog
from arenero.bus.subjects import Kind, filter_of
from arenero.errors import ArenError
from arenero.lifecycle.drivers import Drivers
from arenero.lifecycle.index import SandboxIndex
from arenero.lifecycle.keys import key_of
from arenero.lifecycle.reconciler import Reconciler
from arenero.lifecycle.records import Records
from arenero.model.ids import SandboxId
from arenero.model.record import SandboxRecord
from arenero.model.time import Clock
from arenero.runtime.driver import Driver

_log = logging.getLogger(__name__)
PURGE_EVERY_S: Final = 300.0
"""Pause between two looks for old history: it takes a walk over all of it, and nobody waits for it."""
MAX_PURGES: Final = 500
"""Records that are dropped at once, so that a long backlog doesn't hold up the rest."""


class Sweeper:
    """Sweeps on a timer. `run` is a task of the host.

    Args:
        log: The SANDBOX log.
        records: Reads and drops records.
        index: All records.
        reconciler: Looks at sandboxes.
        drivers: Hold sandboxes.
        clock: Says when history is over.
    """

    def __init__(
        self,
        log: EventLog,
        records: Records,
        index: SandboxIndex,
        reconciler: Reconciler,
        drivers: Drivers,
        clock: Clock,
    ) -> None:
        self._log = log
        self._records = records
        self._index = index
        self._reconciler = reconciler
        self._drivers = drivers
        self._clock = clock
        self._purge_at_s = 0.0

    async def run(self, every_s: float, history_s: float) -> None:
        """Sweep at once and then with pauses, until cancelled. What fails is tried again with the next sweep."""
        while True:
            await self.sweep(history_s)
            await asyncio.sleep(every_s)

    async def sweep(self, history_s: float) -> None:
        """Sweep once. What fails is logged and doesn't hold up the rest."""
        self._reconciler.wake_all()
        for driver in self._drivers.usable():
            async with _logged("lifecycle.sweep.postponed", runtime=driver.name):
                await self.sweep_driver(driver)
        if self._clock.monotonic_s() >= self._purge_at_s:
            self._purge_at_s = self._clock.monotonic_s() + PURGE_EVERY_S
            async with _logged("lifecycle.purge.postponed"):
                await self.purge(history_s)

    async def sweep_driver(self, driver: Driver) -> None:
        """Destroy what a driver holds without a live record; take over what is another's by its record."""
        for sandbox_id in sorted(await driver.list_held()):
            async with _logged("lifecycle.orphan.postponed", runtime=driver.name, sandbox_id=sandbox_id):
                await self._sweep_one(driver, sandbox_id)

    async def purge(self, history_s: float) -> None:
        """Drop the records of sandboxes that ended long ago."""
        horizon = self._clock.now() - timedelta(seconds=history_s)
        over = [r for r in self._index.all() if not r.is_live and r.handle is None and r.updated_at < horizon]
        for record in over[:MAX_PURGES]:
            await self._records.purge(key_of(record))
        if over:
            _log.info("lifecycle.history.purged", extra={"records": min(len(over), MAX_PURGES)})

    async def _sweep_one(self, driver: Driver, sandbox_id: SandboxId) -> None:
        record = self._index.find_by_id(sandbox_id) or await self._find_in_log(sandbox_id)
        if record is not None and record.is_live:
            await self._reconciler.take_over(key_of(record))
        elif record is None or not self._reconciler.is_busy(key_of(record)):
            await self._destroy(driver, sandbox_id, record)

    async def _destroy(self, driver: Driver, sandbox_id: SandboxId, record: SandboxRecord | None) -> None:
        state = record.state.value if record else "unknown"
        _log.warning("lifecycle.orphan.destroyed", extra={"sandbox_id": sandbox_id, "state": state})
        await driver.destroy_orphan(sandbox_id)

    async def _find_in_log(self, sandbox_id: SandboxId) -> SandboxRecord | None:
        """Ask the log for a sandbox of any tenant."""
        entry = await self._log.last(filter_of(Kind.SANDBOX, resource_id=sandbox_id))
        return self._records.take(entry).record if entry else None


@asynccontextmanager
async def _logged(event: str, **facts: str) -> AsyncIterator[None]:
    """Log what fails inside, and go on: the next sweep tries again."""
    try:
        yield
    except ArenError as error:
        _log.warning(event, extra={**facts, "cause": repr(error)})
    except Exception:  # noqa: BLE001  # a defect in one driver must not end the care for all sandboxes
        _log.exception(event, extra=facts)
