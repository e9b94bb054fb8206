"""What a driver can do and whether it can be used here: data that lifecycle checks before it promises anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

PAUSE_FREEZE: Final = "pause-freeze"
PAUSE_CHECKPOINT: Final = "pause-checkpoint"
PAUSE_RELEASE: Final = "pause-release"
FORK_DISK: Final = "fork-disk"
FORK_MEMORY: Final = "fork-memory"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a driver can do. False means that a request which needs it is refused before anything is made."""

    sources: frozenset[str]
    """Kinds of root file system: `template`, `image`, `rootfs_directory`, `oci_layout`, `snapshot`."""
    templates: frozenset[str] = frozenset()
    """Names of the templates that it brings itself."""
    tells_when_ready: bool = False
    """Its `start` returns when execd serves, as execd has told it; otherwise execd is asked until it answers."""
    pause_freeze: bool = False
    pause_checkpoint: bool = False
    pause_release: bool = False
    fork_disk: bool = False
    fork_memory: bool = False
    network_policy: bool = False
    """It can give a sandbox a network that egress guards."""
    volumes: bool = False
    gpus: bool = False
    best_effort: bool = False
    """It can run with less than the standard isolation when that was asked for."""
    oci_runtimes: frozenset[str] = frozenset()
    """OCI runtimes to choose from, for example `runc`, `gvisor`."""
    limits: frozenset[str] = frozenset()
    """Limits that it enforces here: of `cpus`, `memory_bytes`, `pids`, `disk_bytes`, `open_files`."""
    most_disk_bytes: int | None = None
    """Largest disk that a sandbox can be promised here, used or not; None: any."""

    def names(self) -> tuple[str, ...]:
        """Return the powers as words for people and for the API, sorted."""
        flags = (
            (PAUSE_FREEZE, self.pause_freeze),
            (PAUSE_CHECKPOINT, self.pause_checkpoint),
            (PAUSE_RELEASE, self.pause_release),
            (FORK_DISK, self.fork_disk),
            (FORK_MEMORY, self.fork_memory),
            ("network-policy", self.network_policy),
            ("volumes", self.volumes),
            ("gpus", self.gpus),
            ("best-effort", self.best_effort),
        )
        words = [name for name, has in flags if has]
        words += [f"source-{kind.replace('_', '-')}" for kind in self.sources]
        words += [f"limit-{name.replace('_', '-')}" for name in self.limits]
        words += [f"oci-{name}" for name in self.oci_runtimes]
        return tuple(sorted(words))


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a driver really tried on this host."""

    name: str
    ok: bool
    message: str = ""
    """What was seen."""
    fix: str = ""
    """How to mend it; empty when it works."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Whether a driver can be used on this host."""

    usable: bool
    reason: str = ""
    """Why not; empty when usable."""
    fix: str = ""
    checks: tuple[Check, ...] = ()
