"""What can be asked of lifecycle about sandboxes, without the wire: the operations behind `SandboxService`.

Reads come from the index. A change is appended, and the reconciler does the rest; an operation that answers only when
that is done waits for the record to say so. If its caller goes away the work goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from arenero import errors
from arenero.errors import (
    AlreadyExists,
    ArenError,
    Conflict,
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    Unsupported,
)
from arenero.lifecycle.admission import Admission
from arenero.lifecycle.drivers import Drivers
from arenero.lifecycle.facts import DELETED, MetadataUpdated, Pausing, Renewed, Requested, Resuming
from arenero.lifecycle.index import SandboxIndex
from arenero.lifecycle.keys import SandboxKey
from arenero.lifecycle.machine import allows, illegal
from arenero.lifecycle.plan import is_expired
from arenero.lifecycle.records import Change, Records
from arenero.lifecycle.requests import CreateRequest, Defaults, complete
from arenero.lifecycle.sagas import CREATE, PAUSE, RESUME, freezer_of
from arenero.lifecycle.verdicts import stopping
from arenero.model.ids import SandboxId, TenantId, new_sandbox_id, sandbox_id_for_request
from arenero.model.record import Failure, SagaProgress, SandboxRecord
from arenero.model.spec import MAX_TTL_S, SandboxSpec, check_metadata
from arenero.model.states import SandboxState
from arenero.model.time import Clock
from arenero.rpc.identity import Caller
from arenero.runtime.driver import Stats

_ERRORS: Final = {
    kind.__name__: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ArenError)
}


@dataclass(frozen=True, slots=True)
class Until:
    """The new end of a life: an instant, or a time from now on."""

    ttl_s: float | None = None
    expires_at: datetime | None = None


class Sandboxes:
    """Operations on sandboxes. Each acts within its caller's tenant.

    Args:
        records: Reads and changes records.
        index: All records.
        drivers: What can be done here.
        admission: Who may create.
        clock: The time.
        defaults: Stand in for what requests leave out.
        instance: Name of this lifecycle, the owner of what it creates.
        delete_wait_s: How long `delete` waits for the end.
    """

    def __init__(
        self,
        records: Records,
        index: SandboxIndex,
        drivers: Drivers,
        admission: Admission,
        clock: Clock,
        defaults: Defaults,
        instance: str,
        delete_wait_s: float,
    ) -> None:
        self._records = records
        self._index = index
        self._drivers = drivers
        self._admission = admission
        self._clock = clock
        self._defaults = defaults
        self._instance = instance
        self._delete_wait_s = delete_wait_s

    async def create(self, caller: Caller, request: CreateRequest) -> tuple[SandboxRecord, bool]:
        """Make a sandbox; return its record, and whether the same request had been made before.

        Raises:
            InvalidArgument: There is no such runtime.
            Unsupported: The runtime can't do what is demanded.
            AlreadyExists: The request id was used for another request.
            ResourceExhausted: The quota is used up.
            ArenError: It could not be made; the class says why.
        """
        key = self._key_for(caller.tenant, request.request_id)
        known = self._index.find(key)
        if known is None:
            spec = complete(request.spec, self._drivers, self._defaults)
            known = await self._record(key, spec, request, caller.actor)
        repeated = known is not None
        if known is not None:
            _check_same(known, request)
        if not request.wait:
            return await self._records.get(key), repeated
        record = await self._index.until(key, lambda r: r.state is not SandboxState.PENDING)
        if record.state is SandboxState.FAILED and record.started_at is None:
            raise failure_of(record)
        return record, repeated

    async def get(self, caller: Caller, sandbox_id: SandboxId) -> SandboxRecord:
        """Return a record, with the place in the queue of a creation that waits.

        Raises:
            NotFound: There is no such sandbox.
        """
        return self.with_position(await self._records.get(SandboxKey(caller.tenant, sandbox_id)))

    def with_position(self, record: SandboxRecord) -> SandboxRecord:
        """Return a record with its present place in the queue for a slot, which is in no log."""
        if record.state is not SandboxState.PENDING or record.progress is None:
            return record
        position = self._admission.slots.position(SandboxKey(record.tenant, record.id))
        return replace(record, progress=replace(record.progress, queue_position=position)) if position else record

    async def delete(
        self, caller: Caller, sandbox_id: SandboxId, *, expected_revision: int = 0, wait: bool = True
    ) -> SandboxRecord:
        """End a sandbox; one that has ended stays as it is.

        Raises:
            NotFound: There is no such sandbox.
            Conflict: Its record has another revision than the expected one.
            DeadlineExceeded: It takes long; the deletion goes on.
        """
        key = SandboxKey(caller.tenant, sandbox_id)

        def decide(record: SandboxRecord, now: datetime) -> Change | None:
            _check_revision(record, expected_revision)
            is_over = not record.is_live or record.state is SandboxState.STOPPING
            return None if is_over else stopping(DELETED)

        record = await self._records.change(key, decide, actor=caller.actor)
        if not wait or not record.is_live:
            return record
        try:
            async with asyncio.timeout(self._delete_wait_s):
                return await self._index.until(key, lambda r: not r.is_live)
        except TimeoutError:
            message = f"{sandbox_id} is not removed yet; the deletion goes on"
            raise DeadlineExceeded(message, reason="DELETION_GOES_ON", metadata={"sandbox_id": sandbox_id}) from None

    async def renew(
        self, caller: Caller, sandbox_id: SandboxId, until: Until, *, extend_only: bool = False
    ) -> SandboxRecord:
        """Move the end of a sandbox's life. Against its expiry exactly one wins: it is renewed, or it ends.

        Raises:
            NotFound: There is no such sandbox.
            FailedPrecondition: It is ending or has ended, by expiry too.
            InvalidArgument: The new end is not in the future, or more than 365 days away.
        """

        def decide(record: SandboxRecord, now: datetime) -> Change | None:
            if not allows(record.state, Renewed):
                raise illegal(record.state, Renewed)
            if is_expired(record, now):
                raise FailedPrecondition(f"the lifetime of {record.id} is over", reason="SANDBOX_EXPIRED")
            end = _end_of(until, now)
            if record.expires_at == end or (extend_only and _is_later(record.expires_at, end)):
                return None
            return Change(Renewed(record.expires_at, end))

        return await self._records.change(SandboxKey(caller.tenant, sandbox_id), decide, actor=caller.actor)

    async def update_metadata(
        self,
        caller: Caller,
        sandbox_id: SandboxId,
        *,
        to_set: Mapping[str, str],
        to_remove: Sequence[str],
        expected_revision: int = 0,
    ) -> SandboxRecord:
        """Change labels. What is as asked already is no change.

        Raises:
            NotFound: There is no such sandbox.
            InvalidArgument: A label is malformed, or there would be too many.
            Conflict: The record has another revision than the expected one.
            FailedPrecondition: It is ending or has ended.
        """
        if both := sorted(set(to_set) & set(to_remove)):
            raise InvalidArgument(f"{both[0][:64]!r} is both to be set and to be removed", field="remove")

        def decide(record: SandboxRecord, now: datetime) -> Change | None:
            _check_revision(record, expected_revision)
            old = record.spec.metadata
            new = {**{k: v for k, v in old.items() if k not in to_remove}, **to_set}
            if new == old:
                return None
            if faults := list(check_metadata("set", new)):
                raise InvalidArgument.from_fields(faults)
            changed = tuple(sorted(k for k in to_set if old.get(k) != to_set[k]))
            gone = tuple(sorted(k for k in to_remove if k in old))
            return Change(MetadataUpdated(changed, gone), {"spec": replace(record.spec, metadata=new)})

        return await self._records.change(SandboxKey(caller.tenant, sandbox_id), decide, actor=caller.actor)

    async def pause(self, caller: Caller, sandbox_id: SandboxId, mode: str) -> SandboxRecord:
        """Let a sandbox stand still, its memory kept in place; one that does already stays as it is.

        Raises:
            NotFound: There is no such sandbox.
            Unsupported: Its runtime can't, or not in this mode.
            FailedPrecondition: It doesn't run, or it could not be paused.
        """
        key = SandboxKey(caller.tenant, sandbox_id)
        if mode != "freeze":
            raise Unsupported(f"pausing by {mode} isn't there yet", reason="PAUSE_MODE_UNSUPPORTED", field="mode")
        freezer_of(self._drivers.of(await self._records.get(key)))

        def decide(record: SandboxRecord, now: datetime) -> Change | None:
            if record.state in (SandboxState.PAUSING, SandboxState.PAUSED):
                return None
            return Change(Pausing(mode), {"progress": SagaProgress(PAUSE.name, step=PAUSE.steps[0].name)})

        await self._records.change(key, decide, actor=caller.actor)
        record = await self._index.until(key, lambda r: r.state is not SandboxState.PAUSING)
        return _require(record, SandboxState.PAUSED)

    async def resume(self, caller: Caller, sandbox_id: SandboxId) -> SandboxRecord:
        """Let a paused sandbox go on; one that runs stays as it is.

        Raises:
            NotFound: There is no such sandbox.
            FailedPrecondition: It is not paused, or it could not be resumed.
        """
        key = SandboxKey(caller.tenant, sandbox_id)

        def decide(record: SandboxRecord, now: datetime) -> Change | None:
            if record.state in (SandboxState.RESUMING, SandboxState.RUNNING):
                return None
            return Change(Resuming(), {"progress": SagaProgress(RESUME.name, step=RESUME.steps[0].name)})

        await self._records.change(key, decide, actor=caller.actor)
        record = await self._index.until(key, lambda r: r.state is not SandboxState.RESUMING)
        return _require(record, SandboxState.RUNNING)

    async def stats(self, caller: Caller, sandbox_id: SandboxId) -> Stats:
        """Measure what a sandbox uses, from outside.

        Raises:
            NotFound: There is no such sandbox.
            FailedPrecondition: It doesn't run.
        """
        record = await self._records.get(SandboxKey(caller.tenant, sandbox_id))
        if record.handle is None or record.state not in (SandboxState.RUNNING, SandboxState.PAUSED):
            raise not_running(record)
        return await self._drivers.of(record).stats(record.handle)

    def _key_for(self, tenant: TenantId, request_id: str) -> SandboxKey:
        return SandboxKey(tenant, sandbox_id_for_request(tenant, request_id) if request_id else new_sandbox_id())

    async def _record(
        self, key: SandboxKey, spec: SandboxSpec, request: CreateRequest, actor: str
    ) -> SandboxRecord | None:
        """Admit and record a creation. Return the record that was there before, by a request with the same id."""
        now = self._clock.now()
        ttl_s = spec.lifetime.ttl_s
        record = SandboxRecord(
            id=key.id,
            tenant=key.tenant,
            spec=spec,
            state=SandboxState.PENDING,
            created_at=now,
            updated_at=now,
            generation=1,
            expires_at=None if ttl_s is None else now + timedelta(seconds=ttl_s),
            progress=SagaProgress(CREATE.name, step=CREATE.steps[0].name),
            request_digest=request.digest,
            owner=self._instance,
            start_timeout_s=request.start_timeout_s or self._defaults.start_timeout_s,
        )
        with self._admission.admit(key):
            try:
                await self._records.create(record, Requested(request.request_id), actor=actor)
            except Conflict:
                return await self._records.read(key)
        return None


def failure_of(record: SandboxRecord) -> ArenError:
    """Return the error that the creation of a failed sandbox is answered with, the first time and ever after."""
    failure = record.failure or Failure("RUNTIME_ERROR", "it could not be made")
    kind = _ERRORS.get(failure.kind, FailedPrecondition)
    metadata = {"sandbox_id": record.id}
    return kind(failure.message, reason=failure.reason, field=failure.field, fix=failure.fix, metadata=metadata)


def not_running(record: SandboxRecord) -> FailedPrecondition:
    """Return the error of a request that needs a running sandbox."""
    word = record.state.value
    metadata = {"sandbox_id": record.id, "state": word}
    why = ""
    if record.failure is not None:
        metadata["cause"] = record.failure.reason
        why = f": {record.failure.message or record.failure.reason}"
    return FailedPrecondition(f"{record.id} is {word}{why}", reason=f"SANDBOX_{word.upper()}", metadata=metadata)


def _require(record: SandboxRecord, state: SandboxState) -> SandboxRecord:
    """Return a record that has reached a state; raise why it hasn't."""
    if record.state is state:
        return record
    if record.failure is not None and record.is_live:
        raise FailedPrecondition(record.failure.message, reason=record.failure.reason, fix=record.failure.fix)
    raise not_running(record)


def _check_same(record: SandboxRecord, request: CreateRequest) -> None:
    if record.request_digest != request.digest:
        raise AlreadyExists(
            "the request id was used for another request",
            reason="REQUEST_ID_REUSED",
            field="request_id",
            metadata={"sandbox_id": record.id},
        )


def _check_revision(record: SandboxRecord, expected: int) -> None:
    if expected and record.revision != expected:
        raise Conflict(
            f"{record.id} has revision {record.revision}, not {expected}",
            reason="REVISION_CHANGED",
            metadata={"revision": str(record.revision)},
        )


def _end_of(until: Until, now: datetime) -> datetime:
    if until.ttl_s is not None:
        return now + timedelta(seconds=until.ttl_s)
    end = until.expires_at
    if end is None or end <= now:
        raise InvalidArgument("is not in the future", field="expires_at")
    if end > now + timedelta(seconds=MAX_TTL_S):
        raise InvalidArgument("is more than 365 days away", field="expires_at")
    return end


def _is_later(present: datetime | None, end: datetime) -> bool:
    """Whether a life ends later than a new end already; None: never."""
    return present is None or present >= end
