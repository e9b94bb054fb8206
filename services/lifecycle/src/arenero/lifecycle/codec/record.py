"""`SandboxRecord` between the log and the model: a public part for everybody and an internal one for lifecycle."""

from __future__ import annotations

import json
from typing import Any, Final

from arenero.api.events.v1 import sandbox_events_pb2 as events
from arenero.api.lifecycle.v1 import sandbox_pb2 as pb
from arenero.lifecycle.codec.scalars import from_duration, from_timestamp, to_duration, to_timestamp
from arenero.lifecycle.codec.spec import decode_spec, encode_spec
from arenero.model.ids import SandboxId, TenantId
from arenero.model.record import (
    Endpoint,
    ExitFacts,
    Failure,
    Handle,
    Isolation,
    ResolvedSource,
    SagaProgress,
    SandboxRecord,
)
from arenero.model.states import SandboxState

STATES: Final = {
    SandboxState.PENDING: pb.SANDBOX_STATE_PENDING,
    SandboxState.RUNNING: pb.SANDBOX_STATE_RUNNING,
    SandboxState.PAUSING: pb.SANDBOX_STATE_PAUSING,
    SandboxState.PAUSED: pb.SANDBOX_STATE_PAUSED,
    SandboxState.RESUMING: pb.SANDBOX_STATE_RESUMING,
    SandboxState.STOPPING: pb.SANDBOX_STATE_STOPPING,
    SandboxState.TERMINATED: pb.SANDBOX_STATE_TERMINATED,
    SandboxState.FAILED: pb.SANDBOX_STATE_FAILED,
}
STATES_BY_NUMBER: Final = {number: state for state, number in STATES.items()}


def encode_sandbox(record: SandboxRecord) -> pb.Sandbox:
    """Return the public part of a record."""
    failure = record.failure or Failure("", "")
    return pb.Sandbox(
        id=record.id,
        tenant=record.tenant,
        spec=encode_spec(record.spec),
        state=STATES[record.state],
        revision=record.revision,
        generation=record.generation,
        created_at=to_timestamp(record.created_at),
        updated_at=to_timestamp(record.updated_at),
        started_at=to_timestamp(record.started_at),
        expires_at=to_timestamp(record.expires_at),
        ended_at=to_timestamp(record.ended_at),
        reason=failure.reason,
        message=failure.message,
        isolation=_encode_isolation(record.isolation),
        source=_encode_source(record.source),
        progress=_encode_progress(record.progress),
        pool_id=record.pool_id,
        origin_id=record.origin_id,
    )


def encode_internal(record: SandboxRecord) -> events.SandboxInternal:
    """Return the internal part of a record."""
    failure = record.failure or Failure("", "")
    return events.SandboxInternal(
        handle_json=_handle_json(record.handle),
        request_digest=record.request_digest,
        owner=record.owner,
        start_timeout=to_duration(record.start_timeout_s),
        execd_address=record.endpoint.address if record.endpoint else "",
        undoing=record.progress is not None and record.progress.undoing,
        failure_kind=failure.kind,
        failure_field=failure.field,
        exit=_encode_exit(record.exit),
        failure_fix=failure.fix,
    )


def decode_record(sandbox: pb.Sandbox, internal: events.SandboxInternal, *, revision: int) -> SandboxRecord:
    """Return a record from the two parts that `encode_sandbox` and `encode_internal` made, of any earlier version.

    Raises:
        ValueError: It is in a state that this version doesn't know.
    """
    if sandbox.state not in STATES_BY_NUMBER:
        raise ValueError(f"the state {sandbox.state} of {sandbox.id} is not known to this version")
    return SandboxRecord(
        id=SandboxId(sandbox.id),
        tenant=TenantId(sandbox.tenant),
        spec=decode_spec(sandbox.spec, []),
        state=STATES_BY_NUMBER[sandbox.state],
        revision=revision,
        generation=sandbox.generation,
        created_at=from_timestamp(sandbox.created_at),
        updated_at=from_timestamp(sandbox.updated_at),
        started_at=_instant(sandbox, "started_at"),
        expires_at=_instant(sandbox, "expires_at"),
        ended_at=_instant(sandbox, "ended_at"),
        failure=_decode_failure(sandbox, internal),
        isolation=_decode_isolation(sandbox),
        source=_decode_source(sandbox),
        progress=_decode_progress(sandbox, internal),
        endpoint=Endpoint(internal.execd_address) if internal.execd_address else None,
        exit=_decode_exit(internal),
        pool_id=sandbox.pool_id,
        origin_id=sandbox.origin_id,
        handle=_handle(internal.handle_json),
        request_digest=internal.request_digest,
        owner=internal.owner,
        start_timeout_s=from_duration(internal.start_timeout) if internal.HasField("start_timeout") else None,
    )


def _instant(sandbox: pb.Sandbox, field: Any) -> Any:
    return from_timestamp(getattr(sandbox, field)) if sandbox.HasField(field) else None


def _handle_json(handle: Handle | None) -> str:
    if handle is None:
        return ""
    return json.dumps({"driver": handle.driver, "version": handle.version, "facts": dict(handle.facts)})


def _handle(text: str) -> Handle | None:
    return Handle(**json.loads(text)) if text else None


def _decode_failure(sandbox: pb.Sandbox, internal: events.SandboxInternal) -> Failure | None:
    if not sandbox.reason:
        return None
    return Failure(sandbox.reason, sandbox.message, internal.failure_kind, internal.failure_field, internal.failure_fix)


def _encode_isolation(isolation: Isolation | None) -> pb.Isolation | None:
    if isolation is None:
        return None
    return pb.Isolation(runtime=isolation.runtime, features=isolation.features, missing=isolation.missing)


def _decode_isolation(sandbox: pb.Sandbox) -> Isolation | None:
    if not sandbox.HasField("isolation"):
        return None
    found = sandbox.isolation
    return Isolation(found.runtime, tuple(found.features), tuple(found.missing))


def _encode_source(source: ResolvedSource | None) -> pb.ResolvedSource | None:
    if source is None:
        return None
    return pb.ResolvedSource(requested=source.requested, resolved=source.resolved, digest=source.digest)


def _decode_source(sandbox: pb.Sandbox) -> ResolvedSource | None:
    if not sandbox.HasField("source"):
        return None
    return ResolvedSource(sandbox.source.requested, sandbox.source.resolved, sandbox.source.digest)


def _encode_progress(progress: SagaProgress | None) -> pb.SagaProgress | None:
    if progress is None:
        return None
    return pb.SagaProgress(
        saga=progress.saga,
        done=progress.done,
        step=progress.step,
        attempt=progress.attempt,
        queue_position=progress.queue_position,
    )


def _decode_progress(sandbox: pb.Sandbox, internal: events.SandboxInternal) -> SagaProgress | None:
    if not sandbox.HasField("progress"):
        return None
    found = sandbox.progress
    return SagaProgress(
        saga=found.saga,
        done=tuple(found.done),
        step=found.step,
        attempt=found.attempt,
        undoing=internal.undoing,
        queue_position=found.queue_position,
    )


def _encode_exit(facts: ExitFacts | None) -> events.SandboxExit | None:
    if facts is None:
        return None
    return events.SandboxExit(exit_code=facts.exit_code, signal=facts.signal, oom_killed=facts.oom_killed)


def _decode_exit(internal: events.SandboxInternal) -> ExitFacts | None:
    if not internal.HasField("exit"):
        return None
    found = internal.exit
    return ExitFacts(
        exit_code=found.exit_code if found.HasField("exit_code") else None,
        signal=found.signal if found.HasField("signal") else None,
        oom_killed=found.oom_killed,
    )
