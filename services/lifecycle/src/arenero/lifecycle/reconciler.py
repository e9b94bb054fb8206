"""Makes sandboxes what their records say: one worker per sandbox, woken by whatever may have changed.

A wake-up carries no order, only a key. The worker looks at the newest record, decides by `plan.work_for`, acts, and
looks again, until nothing is left to do. So a wake-up too many, one too early, one that comes twice and the one after a
restart are all the same. Per sandbox there is one worker at a time; a failure is tried again after a pause that grows.

The first time that this process meets a sandbox that has a handle, it asks the driver to adopt it. A sandbox that is to
be kept is watched until its first process ends, and its execd is told of the present deadline. A deletion, or the end
of a lifetime, interrupts whatever else is being done about a sandbox.

A record has an owner: the lifecycle on whose machine the sandbox is. Any lifecycle may append what somebody asks for;
the owner sees it in the log and does it. For now one lifecycle works per machine.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from arenero.errors import ArenError, Conflict
from arenero.lifecycle.config import WorkConfig
from arenero.lifecycle.index import SandboxIndex
from arenero.lifecycle.keys import SandboxKey, key_of
from arenero.lifecycle.plan import Work, work_for
from arenero.lifecycle.records import EXPIRY, Records
from arenero.lifecycle.saga_runner import SagaRunner, Superseded
from arenero.lifecycle.sagas import CLEAN, CREATE, DELETE, PAUSE, RESUME, Saga, Tools
from arenero.lifecycle.verdicts import adopted, expired, found_dead, taken_over
from arenero.model.record import ExitFacts, Handle, SandboxRecord
from arenero.model.states import SandboxState

_log = logging.getLogger(__name__)

_SAGAS: Final[Mapping[Work, Saga]] = {
    Work.CREATE: CREATE,
    Work.PAUSE: PAUSE,
    Work.RESUME: RESUME,
    Work.DELETE: DELETE,
    Work.CLEAN: CLEAN,
}
_ADOPT_FIRST: Final = frozenset({Work.CREATE, Work.PAUSE, Work.RESUME, Work.KEEP})
_GO_AHEAD: Final = frozenset({Work.DELETE, Work.EXPIRE})
"""What interrupts everything but removal."""
_MAX_FAILURES: Final = 32
"""Failures in a row that are told apart: far beyond the longest pause."""


@dataclass
class _Job:
    """The work on one sandbox that is under way."""

    again: bool = True
    """It was woken since it last looked."""
    scope: asyncio.Timeout | None = None
    """What an interruption ends; None while nothing is done that may be interrupted."""


@dataclass
class _Seen:
    """What this process knows of a sandbox beside its record."""

    adopted: bool = False
    lease: tuple[datetime | None] | None = None
    """The deadline that execd was told last; None: not known."""
    watcher: asyncio.Task[None] | None = None
    ended: ExitFacts | None = None
    """How its first process ended, when the watcher has seen that."""
    failures: int = 0


class Reconciler:
    """Works on sandboxes. `run` is a task of the host; `wake` may be called at any time.

    Args:
        records: Reads and changes records.
        index: Tells of every change.
        runner: Runs sagas.
        tools: Drivers, execd and clock.
        config: How it works.
        instance: Name of this lifecycle, the owner of its sandboxes.
    """

    def __init__(
        self,
        records: Records,
        index: SandboxIndex,
        runner: SagaRunner,
        tools: Tools,
        config: WorkConfig,
        instance: str,
    ) -> None:
        self._records = records
        self._index = index
        self._runner = runner
        self._tools = tools
        self._config = config
        self._instance = instance
        self._group: asyncio.TaskGroup | None = None
        self._jobs: dict[SandboxKey, _Job] = {}
        self._seen: defaultdict[SandboxKey, _Seen] = defaultdict(_Seen)
        self._recoveries = asyncio.Semaphore(config.concurrent_recoveries)
        index.listen(self._hear)

    async def run(self) -> None:
        """Work until cancelled, beginning with every sandbox there is. Sandboxes live on."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                self.wake_all()
                await asyncio.Event().wait()
            finally:
                self._group = None

    def wake(self, key: SandboxKey) -> None:
        """See that a sandbox is looked at soon. Work that begins by this continues the caller's trace."""
        if (job := self._jobs.get(key)) is not None:
            job.again = True
            self._interrupt_if_overtaken(key, job)
        elif self._group is not None:
            job = self._jobs[key] = _Job()
            self._group.create_task(self._work(key, job), name=f"work:{key.id}")

    def wake_all(self) -> None:
        """See that every sandbox is looked at that is not as it should be, as far as this process knows."""
        for record in self._index.unfinished():
            if not self._is_settled(record):
                self._hear(record)

    def is_busy(self, key: SandboxKey) -> bool:
        """Whether work on a sandbox is under way."""
        return key in self._jobs

    async def take_over(self, key: SandboxKey) -> None:
        """Become the owner of a sandbox that is on this machine, whatever its record says."""
        await self._records.change(key, taken_over(self._instance))

    def _hear(self, record: SandboxRecord) -> None:
        """Take note that a record is new."""
        if work_for(record, self._tools.clock.now()) is Work.REST:
            self._forget(key_of(record))
        elif self._is_mine(record):
            self.wake(key_of(record))

    def _is_mine(self, record: SandboxRecord) -> bool:
        return record.owner in ("", self._instance)

    def _is_settled(self, record: SandboxRecord) -> bool:
        """Whether nothing can be left to do about a sandbox."""
        work = work_for(record, self._tools.clock.now())
        if work is not Work.KEEP:
            return work is Work.REST
        seen = self._seen.get(key_of(record))
        if seen is None or not seen.adopted or seen.watcher is None or seen.ended is not None:
            return False
        return not self._needs_lease(record, seen)

    def _interrupt_if_overtaken(self, key: SandboxKey, job: _Job) -> None:
        record = self._index.find(key)
        if job.scope is not None and record and work_for(record, self._tools.clock.now()) in _GO_AHEAD:
            job.scope.reschedule(asyncio.get_running_loop().time())
            job.scope = None

    # --- one sandbox --------------------------------------------------------------------------------------------------

    async def _work(self, key: SandboxKey, job: _Job) -> None:
        """Look and act until nothing is left to do; come back later when that fails."""
        pause_s: float | None = None
        try:
            while job.again and pause_s is None:
                job.again = False
                pause_s = await self._look(key, job)
        finally:
            del self._jobs[key]
        if pause_s is not None:
            asyncio.get_running_loop().call_later(pause_s, self.wake, key)

    async def _look(self, key: SandboxKey, job: _Job) -> float | None:
        """Look once and act; return how long to wait when that failed."""
        record = self._index.find(key)
        if record is None or not self._is_mine(record):
            return None
        try:
            await self._reconcile(key, record, job)
        except (Superseded, Conflict):
            job.again = True
        except ArenError as error:
            _log.warning("lifecycle.work.postponed", extra={"sandbox_id": key.id, "cause": repr(error)})
            return self._backoff_s(key)
        except Exception:  # noqa: BLE001  # one sandbox must not stop the others; it is tried again, and logged each time
            _log.exception("lifecycle.work.failed", extra={"sandbox_id": key.id, "state": record.state.value})
            return self._backoff_s(key)
        if key in self._seen:
            self._seen[key].failures = 0
        return None

    async def _reconcile(self, key: SandboxKey, record: SandboxRecord, job: _Job) -> None:
        """Do what a record asks for now."""
        work = work_for(record, self._tools.clock.now())
        if work is Work.REST:
            self._forget(key)
        elif work is Work.EXPIRE:
            await self._records.change(key, expired, actor=EXPIRY)
        elif work in _ADOPT_FIRST:
            async with _interruptible(job):
                if await self._adopt(key, record):
                    await self._go_on(key, record, work)
        else:
            await self._go_on(key, record, work)

    async def _go_on(self, key: SandboxKey, record: SandboxRecord, work: Work) -> None:
        if work is Work.KEEP:
            await self._keep(key, record)
        else:
            self._prepare_for(work, key)
            await self._runner.run(_SAGAS[work], record)

    def _prepare_for(self, work: Work, key: SandboxKey) -> None:
        """Forget what a saga makes untrue."""
        if work in (Work.DELETE, Work.CLEAN):
            self._stop_watching(key)
        elif work in (Work.PAUSE, Work.RESUME):
            self._seen[key].lease = None

    async def _adopt(self, key: SandboxKey, record: SandboxRecord) -> bool:
        """See that the driver knows a sandbox that this process meets for the first time; return whether to go on."""
        seen = self._seen[key]
        if not seen.adopted and record.handle is None and record.state is SandboxState.PENDING:
            seen.adopted = True
            seen.lease = (record.expires_at,)  # the driver will be told it at the start
        is_undone = record.progress is not None and record.progress.undoing  # whatever there is will be destroyed
        return seen.adopted or is_undone or await self._recover(key, record)

    async def _recover(self, key: SandboxKey, record: SandboxRecord) -> bool:
        """Look for a sandbox from before the last start. When the record changes by that, it is looked at again."""
        if record.handle is None:
            await self._records.change(key, found_dead(None))
            return False
        async with self._recoveries:
            found = await self._tools.drivers.of(record).recover(record.handle)
        if found.running:
            self._seen[key].adopted = True
            await self._records.change(key, adopted(self._instance, found))
            return False
        if record.state is SandboxState.PENDING and not _was_started(record):
            self._seen[key].adopted = True
            return True
        await self._records.change(key, found_dead(found.exit))
        return False

    async def _keep(self, key: SandboxKey, record: SandboxRecord) -> None:
        """See that a sandbox is watched and knows its deadline; take note of its end."""
        seen = self._seen[key]
        if seen.ended is not None:
            await self._records.change(key, found_dead(seen.ended))
            return
        if seen.watcher is None and record.handle is not None and self._group is not None:
            watch = self._watch(key, record, record.handle)
            # A context of its own: what happens at the end of a life is no part of the trace of its beginning.
            seen.watcher = self._group.create_task(watch, name=f"watch:{key.id}", context=contextvars.Context())
        if self._needs_lease(record, seen):
            await self._tools.execd.set_lease(record, self._lease_s(record))
            seen.lease = (record.expires_at,)

    async def _watch(self, key: SandboxKey, record: SandboxRecord, handle: Handle) -> None:
        """Wait for the end of a sandbox's first process and have it looked at."""
        try:
            self._seen[key].ended = await self._tools.drivers.of(record).wait(handle)
        except Exception as error:  # noqa: BLE001  # as in _look: a watch that breaks is begun again
            _log.warning("lifecycle.watch.failed", extra={"sandbox_id": key.id, "cause": repr(error)})
            self._seen[key].watcher = None
            asyncio.get_running_loop().call_later(self._backoff_s(key), self.wake, key)
        else:
            self.wake(key)

    def _needs_lease(self, record: SandboxRecord, seen: _Seen) -> bool:
        """Whether execd has to be told of the deadline. One that is frozen can't be."""
        return record.state is SandboxState.RUNNING and bool(record.endpoint) and seen.lease != (record.expires_at,)

    def _lease_s(self, record: SandboxRecord) -> float | None:
        if record.expires_at is None:
            return None
        left_s = (record.expires_at - self._tools.clock.now()).total_seconds()
        return max(left_s, 0.0) + self._tools.lease_slack_s

    def _stop_watching(self, key: SandboxKey) -> None:
        if key in self._seen and (watcher := self._seen[key].watcher):
            watcher.cancel()
            self._seen[key].watcher = None

    def _forget(self, key: SandboxKey) -> None:
        self._stop_watching(key)
        self._seen.pop(key, None)

    def _backoff_s(self, key: SandboxKey) -> float:
        """Return the pause before the next try, and count this failure. Spread, so that not all come back at once."""
        seen = self._seen[key]
        base_s = min(self._config.min_backoff_s * 2.0**seen.failures, self._config.max_backoff_s)
        seen.failures = min(seen.failures + 1, _MAX_FAILURES)
        return base_s * random.uniform(0.75, 1.25)


def _was_started(record: SandboxRecord) -> bool:
    return record.progress is not None and "start" in record.progress.done


@asynccontextmanager
async def _interruptible(job: _Job) -> AsyncIterator[None]:
    """Let `job.scope` end what is done inside: it is cancelled, and `Superseded` is raised here."""
    try:
        async with asyncio.timeout(None) as scope:
            job.scope = scope
            try:
                yield
            finally:
                job.scope = None
    except TimeoutError:
        if not scope.expired():
            raise
        raise Superseded("overtaken by the end of its life") from None
