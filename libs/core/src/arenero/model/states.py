"""The states of a sandbox. Which move is legal is the business of `arenero.lifecycle.machine` alone."""

from __future__ import annotations

from enum import Enum


class SandboxState(Enum):
    """Where a sandbox is in its life; the value is the word used in subjects, logs and JSON."""

    PENDING = "pending"
    """Recorded; the driver is making it."""
    RUNNING = "running"
    """execd answers."""
    PAUSING = "pausing"
    """Being frozen or captured; takes no new work."""
    PAUSED = "paused"
    """Keeps identity and content; uses no CPU."""
    RESUMING = "resuming"
    """On the way back to running."""
    STOPPING = "stopping"
    """Being destroyed; there is no way back."""
    TERMINATED = "terminated"
    """Gone, as asked for or by expiry. Final."""
    FAILED = "failed"
    """Gone without having been asked; the record's failure says why. Final: deleting it changes nothing."""

    @property
    def is_final(self) -> bool:
        """Whether it has ended, so that no other state can follow."""
        return self in _ENDED

    @property
    def is_live(self) -> bool:
        """Whether the sandbox holds, or may hold, something of the host: the driver must be asked about it."""
        return self not in _ENDED

    @property
    def is_transient(self) -> bool:
        """Whether a saga is at work, so that the state will change without a request."""
        return self in _TRANSIENT


_ENDED = frozenset({SandboxState.TERMINATED, SandboxState.FAILED})
_TRANSIENT = frozenset(
    {SandboxState.PENDING, SandboxState.PAUSING, SandboxState.RESUMING, SandboxState.STOPPING},
)
