"""What is to do about a sandbox now: the reconciler's decision, as a pure function of its record and the time."""

from __future__ import annotations

from datetime import datetime
from enum import Enum, auto
from typing import Final

from arenero.model.record import SandboxRecord
from arenero.model.states import SandboxState as S


class Work(Enum):
    """One kind of work on one sandbox."""

    CREATE = auto()
    """Go on making it, or undo what was made."""
    PAUSE = auto()
    RESUME = auto()
    DELETE = auto()
    """Go on removing it."""
    EXPIRE = auto()
    """Its lifetime is over: begin to remove it."""
    KEEP = auto()
    """See that it is what the record says, and be told when that changes."""
    CLEAN = auto()
    """It failed; remove what the driver may still hold of it."""
    REST = auto()
    """Nothing, now and later."""


_BY_STATE: Final = {
    S.PENDING: Work.CREATE,
    S.RUNNING: Work.KEEP,
    S.PAUSING: Work.PAUSE,
    S.PAUSED: Work.KEEP,
    S.RESUMING: Work.RESUME,
}


def work_for(record: SandboxRecord, now: datetime) -> Work:
    """Return what is to do about a sandbox."""
    if record.state is S.TERMINATED:
        return Work.REST
    if record.state is S.FAILED:
        return Work.CLEAN if record.handle else Work.REST
    if record.state is S.STOPPING:
        return Work.DELETE
    if is_expired(record, now):
        return Work.EXPIRE
    return _BY_STATE[record.state]


def is_expired(record: SandboxRecord, now: datetime) -> bool:
    """Whether its lifetime is over. At the very instant it is: a renewal must come before."""
    return record.expires_at is not None and now >= record.expires_at
