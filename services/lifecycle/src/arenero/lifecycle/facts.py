"""The facts about a sandbox, as plain values: what can be said to have happened to it.

A fact is in the past tense and never changes. `word` is how it is called in subjects, in the API's `fact` fields and in
logs. What a fact does to a record is the business of `arenero.lifecycle.machine`; its wire form is made in `codec`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final, TypeAlias

DELETED: Final = "DELETED"
"""Reason of an end that somebody asked for."""
EXPIRED: Final = "EXPIRED"
"""Reason of an end at the end of a lifetime."""
IDLE: Final = "IDLE"
"""Reason of an end for lack of use."""


@dataclass(frozen=True, slots=True)
class Requested:
    """A sandbox was asked for: the first fact of every sandbox."""

    word: ClassVar[str] = "requested"
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class Progressed:
    """A step of a saga was done, or undone."""

    word: ClassVar[str] = "progressed"
    saga: str
    step: str
    took_s: float = 0.0
    undone: bool = False


@dataclass(frozen=True, slots=True)
class Started:
    """It runs."""

    word: ClassVar[str] = "started"
    took_s: float


@dataclass(frozen=True, slots=True)
class Failed:
    """It could not be made, or ended against the plan."""

    word: ClassVar[str] = "failed"
    reason: str
    message: str
    step: str = ""
    """Step of the saga that failed; empty when it ran."""


@dataclass(frozen=True, slots=True)
class Renewed:
    """The end of its life was moved."""

    word: ClassVar[str] = "renewed"
    previous_expires_at: datetime | None
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class MetadataUpdated:
    """Its labels changed."""

    word: ClassVar[str] = "metadata_updated"
    set_keys: tuple[str, ...] = ()
    removed_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyUpdated:
    """Its network policy changed."""

    word: ClassVar[str] = "policy_updated"
    rules: int


@dataclass(frozen=True, slots=True)
class Pausing:
    """A pause began."""

    word: ClassVar[str] = "pausing"
    mode: str
    """`freeze`, `checkpoint` or `release`."""


@dataclass(frozen=True, slots=True)
class Paused:
    """It is paused."""

    word: ClassVar[str] = "paused"
    took_s: float


@dataclass(frozen=True, slots=True)
class Resuming:
    """A resume began."""

    word: ClassVar[str] = "resuming"


@dataclass(frozen=True, slots=True)
class Resumed:
    """It runs again: after a pause, or since a pause could not be completed."""

    word: ClassVar[str] = "resumed"
    took_s: float


@dataclass(frozen=True, slots=True)
class Stopping:
    """Its end began; there is no way back."""

    word: ClassVar[str] = "stopping"
    reason: str


@dataclass(frozen=True, slots=True)
class Terminated:
    """It ended as asked, and nothing is left of it."""

    word: ClassVar[str] = "terminated"
    reason: str
    ran_for_s: float | None = None
    """None: it never ran."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """It was handed out by a pool."""

    word: ClassVar[str] = "claimed"
    pool_id: str
    claimed_by: str


@dataclass(frozen=True, slots=True)
class Forked:
    """Copies of it were made."""

    word: ClassVar[str] = "forked"
    sandbox_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recovered:
    """It was found again after lifecycle restarted."""

    word: ClassVar[str] = "recovered"
    instance: str


Fact: TypeAlias = (
    Requested
    | Progressed
    | Started
    | Failed
    | Renewed
    | MetadataUpdated
    | PolicyUpdated
    | Pausing
    | Paused
    | Resuming
    | Resumed
    | Stopping
    | Terminated
    | Claimed
    | Forked
    | Recovered
)

FACTS: Final[tuple[type[Fact], ...]] = Fact.__args__  # a union has its members there
"""Every kind of fact."""
