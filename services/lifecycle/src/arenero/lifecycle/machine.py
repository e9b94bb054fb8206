"""The states of a sandbox and the facts that move it between them: the whole truth about what may follow what.

Theory of operation

A sandbox is born by `Requested` and lives through *steady* states (running, paused), in which it stays until somebody
asks, and *transient* ones (pending, pausing, resuming, stopping), in which a saga is at work that will end them. Each
transient state has a way on and, except stopping, a way back or out:

    pending    on: Started     out: Failed (what was made is undone first)
    pausing    on: Paused      back: Resumed
    resuming   on: Resumed     back: Paused
    stopping   on: Terminated  none: a deletion is tried until it is done

Every sandbox ends by exactly one fact. `Terminated`: as asked, by deletion or at the end of its lifetime; it comes
*after* the driver has removed everything. `Failed`: against the plan. A creation that fails is undone before `Failed`
is recorded. A sandbox that ran and ended by itself is recorded as failed *first*, so that the cause survives whatever
happens next, and keeps its handle until a `Progressed` of the saga `clean` says that the driver has removed the rest.
Nothing else follows an end: deleting an ended sandbox changes nothing, and its record stays as history.

Facts that keep the state (`Renewed`, `MetadataUpdated`, …) are listed like the others. What a state's row doesn't list
is illegal in it. A move that is legal here may still be refused for other reasons, such as a lifetime that is over.

This module does no I/O, reads no clock and knows no wire format. `docs/guides/sandbox-states.md` shows the table as a
diagram that is generated from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from arenero.errors import FailedPrecondition
from arenero.lifecycle.facts import (
    Claimed,
    Fact,
    Failed,
    Forked,
    MetadataUpdated,
    Paused,
    Pausing,
    PolicyUpdated,
    Progressed,
    Recovered,
    Renewed,
    Requested,
    Resumed,
    Resuming,
    Started,
    Stopping,
    Terminated,
)
from arenero.model.record import Failure, SandboxRecord
from arenero.model.states import SandboxState as S

BIRTH: Final[Mapping[type[Fact], S]] = MappingProxyType({Requested: S.PENDING})
"""The row of a sandbox that doesn't exist yet."""

TRANSITIONS: Final[Mapping[S, Mapping[type[Fact], S]]] = MappingProxyType(
    {
        S.PENDING: {
            Started: S.RUNNING,
            Stopping: S.STOPPING,
            Failed: S.FAILED,
            Progressed: S.PENDING,
            Recovered: S.PENDING,
            Renewed: S.PENDING,
            MetadataUpdated: S.PENDING,
        },
        S.RUNNING: {
            Pausing: S.PAUSING,
            Stopping: S.STOPPING,
            Failed: S.FAILED,
            Recovered: S.RUNNING,
            Renewed: S.RUNNING,
            MetadataUpdated: S.RUNNING,
            PolicyUpdated: S.RUNNING,
            Claimed: S.RUNNING,
            Forked: S.RUNNING,
        },
        S.PAUSING: {
            Paused: S.PAUSED,
            Resumed: S.RUNNING,
            Stopping: S.STOPPING,
            Failed: S.FAILED,
            Progressed: S.PAUSING,
            Recovered: S.PAUSING,
            Renewed: S.PAUSING,
            MetadataUpdated: S.PAUSING,
        },
        S.PAUSED: {
            Resuming: S.RESUMING,
            Stopping: S.STOPPING,
            Failed: S.FAILED,
            Recovered: S.PAUSED,
            Renewed: S.PAUSED,
            MetadataUpdated: S.PAUSED,
            PolicyUpdated: S.PAUSED,
            Claimed: S.PAUSED,
            Forked: S.PAUSED,
        },
        S.RESUMING: {
            Resumed: S.RUNNING,
            Paused: S.PAUSED,
            Stopping: S.STOPPING,
            Failed: S.FAILED,
            Progressed: S.RESUMING,
            Recovered: S.RESUMING,
            Renewed: S.RESUMING,
            MetadataUpdated: S.RESUMING,
        },
        S.STOPPING: {
            Terminated: S.TERMINATED,
            Progressed: S.STOPPING,
        },
        S.TERMINATED: {},
        S.FAILED: {
            Progressed: S.FAILED,
        },
    }
)
"""State → fact → the state after it."""


def allows(state: S | None, fact: type[Fact]) -> bool:
    """Whether a fact may follow in a state; None stands for a sandbox that doesn't exist yet."""
    return fact in _row(state)


def next_state(state: S | None, fact: Fact) -> S:
    """Return the state after a fact.

    Raises:
        FailedPrecondition: The fact is illegal in this state.
    """
    try:
        return _row(state)[type(fact)]
    except KeyError:
        raise illegal(state, type(fact)) from None


def illegal(state: S | None, fact: type[Fact]) -> FailedPrecondition:
    """Return the error of a fact that is illegal in a state."""
    words = state.value if state else "absent"
    return FailedPrecondition(
        f"a sandbox that is {words} can't become {fact.word.replace('_', ' ')}",
        reason=f"SANDBOX_{words.upper()}",
        metadata={"state": words},
    )


def apply(record: SandboxRecord, fact: Fact, now: datetime, **more: Any) -> SandboxRecord:
    """Return the record after a fact: its state, its times, and what the fact itself says.

    Args:
        record: The record before it; its revision is kept, since only the log gives a new one.
        fact: What happened.
        now: When.
        more: Further fields of the record that changed with it.

    Raises:
        FailedPrecondition: The fact is illegal in the record's state.
    """
    state = next_state(record.state, fact)
    return replace(record, state=state, updated_at=now, **{**_effects(record, fact, now), **more})


def _effects(record: SandboxRecord, fact: Fact, now: datetime) -> dict[str, Any]:
    """Return the fields that a fact changes by itself."""
    match fact:
        case Started():
            return {"started_at": record.started_at or now, "progress": None}
        case Renewed(expires_at=expires_at):
            return {"expires_at": expires_at}
        case Paused():
            return {"progress": None, "failure": None}
        case Resumed():
            return {"progress": None}  # with a failure, it could not be paused; that stands until it is
        case Failed(reason=reason, message=message):
            failure = record.failure or Failure(reason, message)
            return {"failure": failure, "ended_at": now, "progress": None, "endpoint": None}
        case Stopping(reason=reason):
            return {"failure": Failure(reason, ""), "progress": None}
        case Terminated():
            return {"ended_at": now, "progress": None, "endpoint": None, "handle": None}
        case Claimed(pool_id=pool_id):
            return {"pool_id": pool_id}
        case _:
            return {}


def _row(state: S | None) -> Mapping[type[Fact], S]:
    return BIRTH if state is None else TRANSITIONS[state]
