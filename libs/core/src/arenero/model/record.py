"""The record of a sandbox: the whole truth about it, as stored after every fact.

A record is a value. Each change makes a new one and appends it together with its fact; `revision` is the sequence that
the log gave to that append, so a record that has not been appended yet carries the revision it was made from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from arenero.model.ids import SandboxId, TenantId
from arenero.model.spec import SandboxSpec
from arenero.model.states import SandboxState


@dataclass(frozen=True, slots=True)
class Handle:
    """A driver's own notes to find a sandbox again after a restart; opaque to everybody else."""

    driver: str
    version: int
    facts: Mapping[str, object] = field(default_factory=dict)
    """What the driver wrote: JSON values only."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a sandbox is in its state."""

    reason: str
    """UPPER_SNAKE, such as OUT_OF_MEMORY or EXPIRED."""
    message: str
    kind: str = ""
    """Class of the error that a failed creation is answered with, such as ResourceExhausted; empty: none."""
    field: str = ""
    """Path of the request field at fault; empty when none is."""
    fix: str = ""
    """What a person can do about it."""


@dataclass(frozen=True, slots=True)
class SagaProgress:
    """How far a multi-step operation has come; what a restarted service resumes or unwinds."""

    saga: str
    done: tuple[str, ...] = ()
    step: str = ""
    """The step under way."""
    attempt: int = 1
    undoing: bool = False
    """The saga failed and its done steps are being undone, last first."""
    queue_position: int = 0
    """Place in the queue for a runtime slot, from 1; 0 when it does not wait."""


@dataclass(frozen=True, slots=True)
class Isolation:
    """What isolates a sandbox in fact."""

    runtime: str
    features: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Mechanisms of the standard level that are not in force, each with its reason after a colon."""


@dataclass(frozen=True, slots=True)
class ResolvedSource:
    """What the asked source turned out to be."""

    requested: str
    resolved: str
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where execd answers."""

    address: str
    """gRPC target, reachable from the runtime's host."""


@dataclass(frozen=True, slots=True)
class ExitFacts:
    """How a sandbox's first process ended."""

    exit_code: int | None = None
    signal: int | None = None
    oom_killed: bool = False


@dataclass(frozen=True, slots=True)
class SandboxRecord:
    """One sandbox."""

    id: SandboxId
    tenant: TenantId
    spec: SandboxSpec
    state: SandboxState
    created_at: datetime
    updated_at: datetime
    revision: int = 0
    """Sequence of the append that stored it; 0 before the first."""
    generation: int = 0
    """Counts boots. Tokens and streams of an older generation are void."""
    started_at: datetime | None = None
    expires_at: datetime | None = None
    """None: never by itself."""
    ended_at: datetime | None = None
    failure: Failure | None = None
    """Why it failed or ended, or why what was made is being undone; None while all is well."""
    isolation: Isolation | None = None
    source: ResolvedSource | None = None
    progress: SagaProgress | None = None
    endpoint: Endpoint | None = None
    exit: ExitFacts | None = None
    pool_id: str = ""
    origin_id: str = ""
    handle: Handle | None = None
    request_digest: str = ""
    """SHA-256 of the create request, to tell a repeat from another request with the same id."""
    owner: str = ""
    """Instance of lifecycle that runs the saga under way."""
    start_timeout_s: float | None = None

    @property
    def is_live(self) -> bool:
        """Whether the runtime may hold something of it."""
        return self.state.is_live
