"""Operations of several steps: tables of named steps, each with its undo.

A step does something to a sandbox and returns the fields of the record that it changed. Every step may be repeated:
what is done already is not done twice, since the drivers promise that. The log has each step as `Progressed`, the last
one as the fact that ends the operation. So a crash anywhere is followed by the same code from the same place.

A failure turns the operation round: the record notes why, what was done is undone last first, beginning with the step
that failed since it may have done half, and then the operation ends by its other fact. An undo that fails is tried
again; a deletion of the sandbox goes ahead of it all. Operations without an undo (`delete`, `clean`) are tried until
they are done. The only undo that a driver has is `destroy`, so that is where every creation ends that did not work out.

This module is the table; `saga_runner` walks through it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from arenero.errors import ArenError, FailedPrecondition, Unsupported
from arenero.lifecycle.drivers import Drivers
from arenero.lifecycle.execd import Execd, clamp_spans
from arenero.lifecycle.facts import Failed, Paused, Progressed, Resumed, Started, Terminated
from arenero.lifecycle.records import Change
from arenero.model.record import Endpoint, ExitFacts, Failure, Handle, SandboxRecord
from arenero.model.spec import hostname_of
from arenero.model.states import SandboxState
from arenero.model.time import Clock, to_unix_ns
from arenero.runtime.driver import Driver, Freezer, Launch, StepSpan

_log = logging.getLogger(__name__)
_propagator: Final = TraceContextTextMapPropagator()


@dataclass(frozen=True, slots=True)
class Tools:
    """What steps work with."""

    drivers: Drivers
    execd: Execd
    clock: Clock
    execd_public_key: bytes
    lease_slack_s: float


@dataclass(frozen=True, slots=True)
class Done:
    """What a step did."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the record that it changed."""
    spans: Sequence[StepSpan] = ()
    """What it consisted of."""
    guest_spans: Sequence[StepSpan] = ()
    """The same by the sandbox's own account."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step."""

    name: str
    do: Callable[[Tools, SandboxRecord], Awaitable[Done]]
    undo: Callable[[Tools, SandboxRecord], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class Saga:
    """One operation."""

    name: str
    state: SandboxState
    """The state in which it is under way; in any other it is over or was overtaken."""
    steps: tuple[Step, ...]
    finish: Callable[[SandboxRecord, datetime], Change]
    """What is recorded with the last step."""
    fail: Callable[[SandboxRecord, datetime], Change] | None = None
    """What is recorded when all is undone; None: it has no undo and is tried until it is done."""
    timed: bool = False
    """It must be done within the record's `start_timeout_s`."""


def died(facts: ExitFacts | None) -> FailedPrecondition:
    """Return the error of a sandbox whose first process ended by itself; None: nothing is left to tell how."""
    failure = death(facts)
    return FailedPrecondition(failure.message, reason=failure.reason)


def death(facts: ExitFacts | None) -> Failure:
    """Return why a sandbox failed whose first process ended by itself."""
    if facts is None or facts == ExitFacts():
        return Failure("VANISHED", "the runtime no longer has it")
    if facts.oom_killed:
        return Failure("OUT_OF_MEMORY", "it was ended for lack of memory")
    if facts.signal is not None:
        return Failure("KILLED", f"its first process was ended by signal {facts.signal}")
    return Failure("EXITED", f"its first process ended with exit code {facts.exit_code}")


# --- steps ------------------------------------------------------------------------------------------------------------


async def prepare(tools: Tools, record: SandboxRecord) -> Done:
    """Have the driver set aside what the sandbox needs."""
    created = await tools.drivers.of(record).create(launch_for(tools, record))
    return Done({"handle": created.handle, "source": created.source}, created.spans)


async def start(tools: Tools, record: SandboxRecord) -> Done:
    """Have the driver start execd in it."""
    started = await tools.drivers.of(record).start(launch_for(tools, record), _handle(record))
    endpoint = Endpoint(started.address) if started.address else None
    fields = {"handle": started.handle, "endpoint": endpoint, "isolation": started.isolation}
    return Done(fields, started.spans, _believable(tools, record, started.guest_spans))


async def await_ready(tools: Tools, record: SandboxRecord) -> Done:
    """Wait until execd answers, or its process has ended; unless the driver has seen to that."""
    driver = tools.drivers.of(record)
    if record.endpoint is None or driver.capabilities.tells_when_ready:
        return Done()
    handle = _handle(record)
    try:
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(_raise_when_ended(driver, handle))
            hello = await tools.execd.hello(record)
            watch.cancel()
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return Done(guest_spans=_believable(tools, record, hello.boot_spans))


async def stop(tools: Tools, record: SandboxRecord) -> Done:
    """End every process."""
    if record.handle is not None:
        await tools.drivers.of(record).stop(record.handle)
    return Done()


async def destroy(tools: Tools, record: SandboxRecord) -> Done:
    """Have the driver remove everything, also what a step left behind that never told of it."""
    driver = tools.drivers.of(record)
    if record.handle is not None:
        await driver.destroy(record.handle)
    else:
        await driver.destroy_orphan(record.id)
    return Done({"handle": None, "endpoint": None})


async def undo_prepare(tools: Tools, record: SandboxRecord) -> None:
    """Remove everything."""
    await destroy(tools, record)


async def release_lease(tools: Tools, record: SandboxRecord) -> Done:
    """Have execd forget its deadline: its clock goes on while it stands still, and it would end the sandbox on waking.

    Until it is told again, after the resume, only lifecycle keeps the deadline. An execd that can't be told doesn't
    prevent the pause.
    """
    if record.endpoint is not None and record.expires_at is not None:
        try:
            await tools.execd.set_lease(record, None)
        except ArenError as error:
            _log.warning("lifecycle.lease.not_released", extra={"sandbox_id": record.id, "cause": repr(error)})
    return Done()


async def freeze(tools: Tools, record: SandboxRecord) -> Done:
    """Stop every process where it is."""
    await freezer_of(tools.drivers.of(record)).freeze(_handle(record))
    return Done()


async def thaw(tools: Tools, record: SandboxRecord) -> Done:
    """Let every process go on."""
    await freezer_of(tools.drivers.of(record)).thaw(_handle(record))
    return Done()


async def undo_freeze(tools: Tools, record: SandboxRecord) -> None:
    """Let every process go on."""
    await thaw(tools, record)


async def undo_thaw(tools: Tools, record: SandboxRecord) -> None:
    """Stop every process where it is."""
    await freeze(tools, record)


def launch_for(tools: Tools, record: SandboxRecord) -> Launch:
    """Return what a driver needs to make a sandbox."""
    left_s = None
    if record.expires_at is not None:
        left_s = max((record.expires_at - tools.clock.now()).total_seconds(), 0.0) + tools.lease_slack_s
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    return Launch(
        sandbox_id=record.id,
        tenant=record.tenant,
        generation=record.generation,
        spec=record.spec,
        hostname=hostname_of(record.spec.name, record.id),
        execd_public_key=tools.execd_public_key,
        ttl_s=left_s,
        env={**record.spec.env, "ARENERO_SANDBOX_ID": record.id},
        traceparent=carrier.get("traceparent", ""),
    )


def freezer_of(driver: Driver) -> Freezer:
    """Return a driver as one that can freeze.

    Raises:
        Unsupported: It can't.
    """
    if driver.capabilities.pause_freeze and isinstance(driver, Freezer):
        return driver
    raise Unsupported(f"the runtime {driver.name} can't freeze a sandbox here", reason="PAUSE_UNSUPPORTED")


def _believable(tools: Tools, record: SandboxRecord, spans: Sequence[StepSpan]) -> Sequence[StepSpan]:
    return clamp_spans(spans, to_unix_ns(record.created_at), to_unix_ns(tools.clock.now()))


async def _raise_when_ended(driver: Driver, handle: Handle) -> None:
    raise died(await driver.wait(handle))


def _handle(record: SandboxRecord) -> Handle:
    if record.handle is None:
        raise FailedPrecondition(f"nothing was made of {record.id} yet", reason="NOT_PREPARED")
    return record.handle


# --- ends -------------------------------------------------------------------------------------------------------------


def _since(begin: datetime, now: datetime) -> float:
    return max((now - begin).total_seconds(), 0.0)


def _started(record: SandboxRecord, now: datetime) -> Change:
    return Change(Started(_since(record.created_at, now)))


def _failed(record: SandboxRecord, now: datetime) -> Change:
    failure = record.failure or Failure("RUNTIME_ERROR", "it could not be made")
    step = record.progress.step if record.progress else ""
    return Change(Failed(failure.reason, failure.message, step), {"handle": None})


def _terminated(record: SandboxRecord, now: datetime) -> Change:
    reason = record.failure.reason if record.failure else ""
    return Change(Terminated(reason, _since(record.started_at, now) if record.started_at else None))


def _cleaned(record: SandboxRecord, now: datetime) -> Change:
    return Change(Progressed("clean", "destroy"), {"progress": None})


def _paused(record: SandboxRecord, now: datetime) -> Change:
    return Change(Paused(_since(record.updated_at, now)))


def _resumed(record: SandboxRecord, now: datetime) -> Change:
    return Change(Resumed(_since(record.updated_at, now)))


CREATE: Final = Saga(
    "create",
    SandboxState.PENDING,
    (Step("prepare", prepare, undo_prepare), Step("start", start), Step("ready", await_ready)),
    finish=_started,
    fail=_failed,
    timed=True,
)
DELETE: Final = Saga("delete", SandboxState.STOPPING, (Step("stop", stop), Step("destroy", destroy)), _terminated)
CLEAN: Final = Saga("clean", SandboxState.FAILED, (Step("destroy", destroy),), _cleaned)
PAUSE: Final = Saga(
    "pause",
    SandboxState.PAUSING,
    (Step("release_lease", release_lease), Step("freeze", freeze, undo_freeze)),
    finish=_paused,
    fail=_resumed,
)
RESUME: Final = Saga("resume", SandboxState.RESUMING, (Step("thaw", thaw, undo_thaw),), _resumed, fail=_paused)

SAGAS: Final[Mapping[str, Saga]] = {saga.name: saga for saga in (CREATE, DELETE, CLEAN, PAUSE, RESUME)}
