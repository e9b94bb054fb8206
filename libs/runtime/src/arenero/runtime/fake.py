"""A driver that runs nothing: for tests, and to measure what everything around a driver costs.

What a real driver finds on its host after a restart (processes, cgroups, directories) the fake finds in a `FakeHost`.
The host is apart from the driver on purpose: a new driver over the same host is a restart, and `DirectoryHost` keeps
its facts in files, so that they outlive a lifecycle that was killed. Time inside it passes by the wall clock: a sandbox
with `fake.exit_after_s` ends at that instant whether anybody looks or not.

Failures are ordered in two ways. A test in the same process uses `FakeDriver.faults`. One that talks to a service in
another process puts them into the spec's `extensions`, for that one sandbox:

    fake.<method>.fail      reason of a FailedPrecondition that the method raises, for example `fake.start.fail`
    fake.<method>.delay_s   how long the method takes
    fake.exit_after_s       the first process ends that long after the start,
    fake.exit_code          with this code,
    fake.oom                or, when `true`, for lack of memory

Nothing answers in its sandboxes: `Started.address` is what the configuration says, by default nothing at all.
`arenero.runtime.suite` holds for it as for any other driver.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from arenero.errors import FailedPrecondition, NotFound
from arenero.model.ids import SandboxId
from arenero.model.record import ExitFacts, Handle, Isolation, ResolvedSource
from arenero.model.spec import TemplateSource
from arenero.runtime.capabilities import Capabilities, Check, Fingerprint
from arenero.runtime.driver import Created, Launch, Recovered, Started, Stats, StepSpan
from arenero.runtime.fake_host import DirectoryHost, FakeHost, Held, MemoryHost, Phase
from arenero.runtime.powers import check_powers

NAME: Final = "fake"
MEMORY_BYTES: Final = 5 * 1024 * 1024
"""What every running fake sandbox claims to use."""


@dataclass(frozen=True, slots=True)
class FakeConfig:
    """Settings of the fake driver."""

    state_dir: str = ""
    """Directory that holds what the runtime holds; empty: memory, gone with the process."""
    address: str = ""
    """gRPC target that every sandbox's execd is said to have; empty: none has one."""
    create_s: float = 0.0
    """How long `create` takes, in seconds."""
    start_s: float = 0.0
    """How long `start` takes, in seconds."""
    destroy_s: float = 0.0
    """How long `destroy` takes, in seconds."""
    usable: bool = True
    """False: the driver says that this host can't run it."""


CAPABILITIES: Final = Capabilities(
    sources=frozenset({"template"}),
    templates=frozenset({"host"}),
    pause_freeze=True,
    best_effort=True,
    limits=frozenset({"cpus", "memory_bytes", "pids", "disk_bytes", "open_files"}),
)


@dataclass
class Faults:
    """What goes wrong from now on, by the name of the driver's method."""

    errors: dict[str, list[Exception]] = field(default_factory=dict)
    late_errors: dict[str, list[Exception]] = field(default_factory=dict)
    delays_s: dict[str, float] = field(default_factory=dict)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)

    def fail(self, method: str, error: Exception, *, times: int = 1, after_acting: bool = False) -> None:
        """Make the next `times` calls raise; `after_acting`: with the work done, as when an answer is lost."""
        where = self.late_errors if after_acting else self.errors
        where.setdefault(method, []).extend([error] * times)

    def slow(self, method: str, delay_s: float) -> None:
        """Make every call take that long."""
        self.delays_s[method] = delay_s

    def block(self, method: str) -> asyncio.Event:
        """Make every call wait until the returned event is set."""
        return self.gates.setdefault(method, asyncio.Event())

    async def before(self, method: str) -> None:
        """Wait and raise as ordered, before the work."""
        if gate := self.gates.get(method):
            await gate.wait()
        if delay_s := self.delays_s.get(method, 0.0):
            await asyncio.sleep(delay_s)
        _raise_next(self.errors, method)

    def after(self, method: str) -> None:
        """Raise as ordered, after the work."""
        _raise_next(self.late_errors, method)


def _raise_next(errors: dict[str, list[Exception]], method: str) -> None:
    if ordered := errors.get(method):
        raise ordered.pop(0)


class FakeDriver:
    """A `Driver` and `Freezer` over a `FakeHost`.

    Args:
        config: Its settings.
        host: What it works on; made from `config.state_dir` when not given.
        capabilities: What it claims to be able to do.
    """

    def __init__(
        self,
        config: FakeConfig | None = None,
        *,
        host: FakeHost | None = None,
        capabilities: Capabilities = CAPABILITIES,
    ) -> None:
        self._config = config or FakeConfig()
        self.host: FakeHost = host or _host_of(self._config)
        self.faults = Faults()
        self.faults.delays_s.update(
            {"create": self._config.create_s, "start": self._config.start_s, "destroy": self._config.destroy_s}
        )
        self.calls: list[tuple[str, SandboxId]] = []
        """Every call that changed or looked for a sandbox, in order."""
        self._capabilities = capabilities

    @property
    def name(self) -> str:
        """`fake`."""
        return NAME

    @property
    def capabilities(self) -> Capabilities:
        """What it was told to claim."""
        return self._capabilities

    async def open(self) -> Fingerprint:
        """Say that it is usable, unless told otherwise."""
        if self._config.usable:
            return Fingerprint(usable=True, checks=(Check("fake", ok=True, message="runs nothing"),))
        return Fingerprint(usable=False, reason="the configuration says so", fix="set runtime.fake.usable")

    async def close(self) -> None:
        """Let go of nothing: it holds nothing."""

    async def create(self, launch: Launch) -> Created:
        """Note down a sandbox that has been set up."""
        started_ns = time.time_ns()
        check_powers(NAME, self._capabilities, launch.spec)
        await self._begin("create", launch.sandbox_id, launch.spec.extensions)
        if (held := self.host.find(launch.sandbox_id)) is None:
            held = Held(launch.sandbox_id, launch.generation, Phase.CREATED, settings=dict(launch.spec.extensions))
            self.host.put(held)
        self.faults.after("create")
        return Created(_handle(held), _resolve(launch), _spans("driver.fake.create", started_ns))

    async def start(self, launch: Launch, handle: Handle) -> Started:
        """Note down that it runs, and when it will end."""
        started_ns = time.time_ns()
        sandbox_id = _id_of(handle)
        await self._begin("start", sandbox_id, launch.spec.extensions)
        held = self._get(sandbox_id)
        if held.phase is Phase.EXITED:
            raise FailedPrecondition("its first process has ended", reason="EXITED")
        if held.phase is Phase.CREATED:
            held = replace(held, phase=Phase.RUNNING, started_unix_s=time.time(), exits_unix_s=_end_of(held.settings))
            self.host.put(held)
        self.faults.after("start")
        return Started(_handle(held), self._config.address, Isolation(NAME), _spans("driver.fake.start", started_ns))

    async def stop(self, handle: Handle) -> None:
        """Note down that its processes were killed."""
        await self._begin("stop", _id_of(handle), {})
        if (held := self.host.find(_id_of(handle))) is not None:
            self.host.exit(held.sandbox_id, ExitFacts(signal=9))
        self.faults.after("stop")

    async def destroy(self, handle: Handle) -> None:
        """Forget it."""
        await self._begin("destroy", _id_of(handle), {})
        self.host.remove(_id_of(handle))
        self.faults.after("destroy")

    async def recover(self, handle: Handle) -> Recovered:
        """Look for it on the host."""
        await self._begin("recover", _id_of(handle), {})
        held = self.host.find(_id_of(handle))
        if held is None or held.phase is Phase.CREATED:
            return Recovered(running=False)
        if held.phase is Phase.EXITED:
            return Recovered(running=False, exit=held.exit)
        return Recovered(running=True, address=self._config.address)

    async def wait(self, handle: Handle) -> ExitFacts:
        """Wait until it has ended or is gone."""
        return await self.host.wait_exit(_id_of(handle))

    async def stats(self, handle: Handle) -> Stats:
        """Make up what it uses."""
        await self._begin("stats", _id_of(handle), {})
        held = self._get(_id_of(handle))
        if held.phase not in (Phase.RUNNING, Phase.FROZEN):
            oom_kills = 1 if held.exit and held.exit.oom_killed else 0
            return Stats(cpu_time_s=0.0, memory_bytes=0, pids=0, oom_kills=oom_kills)
        ran_s = max(time.time() - held.started_unix_s, 0.0)
        return Stats(ran_s / 1000, MEMORY_BYTES, MEMORY_BYTES, pids=2, disk_bytes=0, oom_kills=0)

    async def list_held(self) -> frozenset[SandboxId]:
        """Return everything that the host knows."""
        await self.faults.before("list_held")
        return self.host.ids()

    async def destroy_orphan(self, sandbox_id: SandboxId) -> None:
        """Forget it."""
        await self._begin("destroy_orphan", sandbox_id, {})
        self.host.remove(sandbox_id)

    async def freeze(self, handle: Handle) -> None:
        """Note down that it stands still."""
        await self._begin("freeze", _id_of(handle), {})
        self._move(_id_of(handle), Phase.RUNNING, Phase.FROZEN)
        self.faults.after("freeze")

    async def thaw(self, handle: Handle) -> None:
        """Note down that it goes on."""
        await self._begin("thaw", _id_of(handle), {})
        self._move(_id_of(handle), Phase.FROZEN, Phase.RUNNING)
        self.faults.after("thaw")

    async def _begin(self, method: str, sandbox_id: SandboxId, settings: Mapping[str, str]) -> None:
        self.calls.append((method, sandbox_id))
        await self.faults.before(method)
        if held := self.host.find(sandbox_id):
            settings = held.settings
        if delay_s := float(settings.get(f"fake.{method}.delay_s", 0)):
            await asyncio.sleep(delay_s)
        if reason := settings.get(f"fake.{method}.fail"):
            raise FailedPrecondition(f"{method} was told to fail", reason=reason)

    def _get(self, sandbox_id: SandboxId) -> Held:
        if (held := self.host.find(sandbox_id)) is None:
            raise NotFound(f"the fake runtime holds no {sandbox_id}", reason="SANDBOX_NOT_FOUND")
        return held

    def _move(self, sandbox_id: SandboxId, old: Phase, new: Phase) -> None:
        held = self._get(sandbox_id)
        if held.phase not in (old, new):
            raise FailedPrecondition(f"{sandbox_id} is {held.phase.value}", reason="NOT_RUNNING")
        self.host.put(replace(held, phase=new))


def _host_of(config: FakeConfig) -> FakeHost:
    return DirectoryHost(config.state_dir) if config.state_dir else MemoryHost()


def _handle(held: Held) -> Handle:
    return Handle(NAME, 1, {"sandbox_id": held.sandbox_id, "generation": held.generation})


def _id_of(handle: Handle) -> SandboxId:
    return SandboxId(str(handle.facts["sandbox_id"]))


def _resolve(launch: Launch) -> ResolvedSource:
    source = launch.spec.source
    name = source.name if isinstance(source, TemplateSource) else "host"
    return ResolvedSource(requested=name, resolved=f"template:{name}")


def _end_of(settings: Mapping[str, str]) -> float | None:
    after_s = settings.get("fake.exit_after_s")
    return None if after_s is None else time.time() + float(after_s)


def _spans(name: str, start_unix_ns: int) -> tuple[StepSpan, ...]:
    return (StepSpan(name, start_unix_ns, time.time_ns()),)
