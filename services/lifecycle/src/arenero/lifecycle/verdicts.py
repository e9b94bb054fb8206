"""What the reconciler decides about records when it finds something out: decisions for `Records.change`, pure.

Each looks at the newest record and changes nothing that was decided otherwise meanwhile.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from arenero.errors import FailedPrecondition
from arenero.lifecycle.facts import EXPIRED, Failed, Recovered, Stopping
from arenero.lifecycle.plan import is_expired
from arenero.lifecycle.records import Change, Decide
from arenero.lifecycle.sagas import DELETE, death
from arenero.model.record import Endpoint, ExitFacts, Failure, SagaProgress, SandboxRecord
from arenero.model.states import SandboxState
from arenero.runtime.driver import Recovered as Found

END_TOLERANCE: Final = timedelta(seconds=1)
"""A sandbox that ends by itself this close to its deadline has expired: execd's clock came first."""


def stopping(reason: str) -> Change:
    """Return the change that begins a deletion."""
    return Change(Stopping(reason), {"progress": SagaProgress(DELETE.name, step=DELETE.steps[0].name)})


def expired(record: SandboxRecord, now: datetime) -> Change | None:
    """End a sandbox whose lifetime is over, unless it was renewed or is ending already."""
    return stopping(EXPIRED) if _may_end(record) and is_expired(record, now) else None


def found_dead(facts: ExitFacts | None) -> Decide:
    """Return the decision about a sandbox whose first process has ended; None: nothing is left to tell how."""

    def decide(record: SandboxRecord, now: datetime) -> Change | None:
        if not _may_end(record):
            return None
        if is_expired(record, now + END_TOLERANCE):
            return stopping(EXPIRED)
        cause = death(facts)
        failure = Failure(cause.reason, cause.message, kind=FailedPrecondition.__name__)
        step = record.progress.step if record.progress else ""
        return Change(Failed(cause.reason, cause.message, step), {"failure": failure, "exit": facts})

    return decide


def adopted(instance: str, found: Found) -> Decide:
    """Return the decision to note that a sandbox from before the last start runs and is in this instance's care."""

    def decide(record: SandboxRecord, now: datetime) -> Change | None:
        if not _may_end(record):
            return None
        endpoint = Endpoint(found.address) if found.address else None
        fields = {"handle": found.handle or record.handle, "endpoint": endpoint, "owner": instance}
        return Change(Recovered(instance), fields)

    return decide


def taken_over(instance: str) -> Decide:
    """Return the decision that a sandbox found on this machine is this instance's."""

    def decide(record: SandboxRecord, now: datetime) -> Change | None:
        if not _may_end(record) or record.owner == instance:
            return None
        return Change(Recovered(instance), {"owner": instance})

    return decide


def _may_end(record: SandboxRecord) -> bool:
    """Whether a sandbox is neither at its end nor on the way there."""
    return record.is_live and record.state is not SandboxState.STOPPING
