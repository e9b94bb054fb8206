"""A whole lifecycle in the test's own process: memory log, fake driver, scripted execd; it can be restarted."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from arenero.bus.log import Appended, EventLog
from arenero.bus.memory import MemoryEventLog
from arenero.bus.subjects import Kind
from arenero.lifecycle.config import LifecycleConfig
from arenero.lifecycle.drivers import Drivers, OpenDriver
from arenero.lifecycle.execd import Hello
from arenero.lifecycle.keys import SandboxKey
from arenero.lifecycle.requests import CreateRequest
from arenero.lifecycle.wiring import Lifecycle, Parts, connect
from arenero.model.ids import SandboxId, TenantId
from arenero.model.record import SandboxRecord
from arenero.model.spec import Lifetime, SandboxSpec
from arenero.model.time import Clock, SystemClock
from arenero.rpc.identity import Caller
from arenero.runtime.driver import StepSpan
from arenero.runtime.fake import FakeConfig, FakeDriver
from arenero.runtime.fake_host import FakeHost, MemoryHost

ACME = TenantId("acme")
CALLER = Caller(ACME, "key:key_test")


class LoopClock:
    """A `Clock` that goes with the event loop, so that `looptime` moves it."""

    def __init__(self, start: datetime = datetime(2030, 1, 1, tzinfo=UTC)) -> None:
        self._start = start

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self.monotonic_s())

    def monotonic_s(self) -> float:
        return asyncio.get_running_loop().time()


@dataclass
class ScriptedExecd:
    """An `Execd` that does what a test says."""

    leases: list[tuple[SandboxId, int, float | None]] = field(default_factory=list)
    """Every lease that was set: sandbox, revision, time to live."""
    hellos: list[SandboxId] = field(default_factory=list)
    hello_errors: list[Exception] = field(default_factory=list)
    lease_errors: list[Exception] = field(default_factory=list)
    silent: bool = False
    """It never answers the first call."""
    boot: Callable[[SandboxRecord], Sequence[StepSpan]] = lambda record: ()
    """What it says that its start consisted of."""

    async def hello(self, record: SandboxRecord) -> Hello:
        self.hellos.append(record.id)
        if self.silent:
            await asyncio.Event().wait()
        if self.hello_errors:
            raise self.hello_errors.pop(0)
        return Hello("0", self.boot(record))

    async def set_lease(self, record: SandboxRecord, ttl_s: float | None) -> None:
        if self.lease_errors:
            raise self.lease_errors.pop(0)
        self.leases.append((record.id, record.revision, ttl_s))


class CuttableLog(MemoryEventLog):
    """A memory log at which a process can die: one append, before or after it is stored, is never answered."""

    def __init__(self, subject_filter: str = "sandbox.>", *, clock: Clock | None = None) -> None:
        super().__init__(subject_filter, clock=clock)
        self.cut = asyncio.Event()
        """Set when the append was reached."""
        self._left: int | None = None
        self._is_stored = False

    def cut_at(self, number: int, *, stored: bool) -> None:
        """Let the `number`-th append from now on, counted from 1, be the last."""
        self._left, self._is_stored = number, stored
        self.cut.clear()

    def mend(self) -> None:
        """Answer every append again."""
        self._left = None

    async def append(self, subject: str, data: bytes, **guard: Any) -> Appended:
        if self._left is None:
            return await super().append(subject, data, **guard)
        self._left -= 1
        if self._left == 0 and self._is_stored:
            await super().append(subject, data, **guard)
        if self._left <= 0:
            self.cut.set()
            await asyncio.Event().wait()
        return await super().append(subject, data, **guard)


@dataclass
class World:
    """What outlives a lifecycle, and the lifecycle that runs now."""

    config: LifecycleConfig
    clock: Clock
    logs: Mapping[Kind, EventLog]
    host: FakeHost
    driver_config: FakeConfig
    execd: ScriptedExecd = field(default_factory=ScriptedExecd)
    driver: FakeDriver = field(init=False)
    lifecycle: Lifecycle = field(init=False)

    def __post_init__(self) -> None:
        self.driver = FakeDriver(self.driver_config, host=self.host)

    @property
    def log(self) -> CuttableLog:
        log = self.logs[Kind.SANDBOX]
        assert isinstance(log, CuttableLog)
        return log

    @asynccontextmanager
    async def run(self) -> AsyncIterator[Lifecycle]:
        """Run a lifecycle; leaving is a stop. A second one is a restart."""
        drivers = Drivers({"fake": OpenDriver(self.driver, await self.driver.open())}, "fake")
        self.lifecycle = connect(self.config, Parts(self.logs, drivers, self.clock, execd=self.execd))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_run(run)) for run in self.lifecycle.tasks().values()]
            await self.lifecycle.load()
            await asyncio.sleep(0)  # the reconciler takes up its work
            yield self.lifecycle
            for task in reversed(tasks):
                task.cancel()

    def renew_driver(self) -> None:
        """Put a new driver over the same host: what a restart of the process does."""
        self.driver = FakeDriver(self.driver_config, host=self.host)

    async def create(self, **spec: Any) -> SandboxRecord:
        """Make a sandbox that runs."""
        record, _ = await self.lifecycle.sandboxes.create(CALLER, request(**spec))
        return record

    async def read(self, record: SandboxRecord) -> SandboxRecord:
        """Return a record as the log has it."""
        return await self.lifecycle.records.read(SandboxKey(record.tenant, record.id))

    async def until(self, record: SandboxRecord, state: Any, timeout_s: float = 5.0) -> SandboxRecord:
        """Wait until a record is in a state."""
        key = SandboxKey(record.tenant, record.id)
        async with asyncio.timeout(timeout_s):
            return await self.lifecycle.index.until(key, lambda r: r.state is state)

    async def facts(self, sandbox_id: str) -> list[str]:
        """Return the words of all facts about a sandbox, in order."""
        entries = await self.log.history(f"sandbox.*.{sandbox_id}.*")
        return [entry.subject.rpartition(".")[2] for entry in entries]


async def _run(run: Any) -> None:
    await run()


def make_world(tmp_path: Path, *, clock: Clock | None = None, address: str = "unix:/nowhere", **config: Any) -> World:
    """Return a world in which nothing runs yet."""
    clock = clock or SystemClock()
    base = LifecycleConfig(instance="here", secrets_dir=tmp_path / "secrets", runtimes=("fake",))
    logs = {
        Kind.SANDBOX: CuttableLog("sandbox.>", clock=clock),
        Kind.ACTIVITY: MemoryEventLog("activity.>", clock=clock),
    }
    driver_config = FakeConfig(address=address)
    return World(replace(base, **config), clock, logs, MemoryHost(), driver_config)


def request(*, request_id: str = "", ttl_s: float | None = None, **spec: Any) -> CreateRequest:
    """Return a request for a sandbox."""
    extra = {"lifetime": Lifetime(ttl_s=ttl_s)} if ttl_s is not None else {}
    wanted = SandboxSpec(**{**extra, **spec})
    return CreateRequest(spec=wanted, request_id=request_id, digest=repr(wanted))
