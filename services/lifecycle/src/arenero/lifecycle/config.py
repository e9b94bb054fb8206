"""Settings of lifecycle. `arenero.config` reads them; every default says why it is what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from arenero.bus.connection import BusConfig
from arenero.host.config import HostConfig
from arenero.model.ids import check_name
from arenero.model.spec import MIB, Resources, check_resources
from arenero.runtime.registry import RuntimeTables

DAY_S: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class ResourceDefaults:
    """Limits of a sandbox whose request names none."""

    cpus: float = 2.0
    """Cores. Two: enough for a build, and one sandbox can't take a whole machine."""
    memory_bytes: int = 2048 * MIB
    """Room for a data analysis or a browser tab; most sandboxes use a fraction."""
    pids: int = 1024
    """Processes and threads. A fork bomb ends here; a parallel build doesn't."""
    disk_bytes: int = 10_240 * MIB
    """Bytes written to its own layer."""
    open_files: int = 65_536
    """Per process. Servers and browsers need more than the traditional 1024."""

    def __post_init__(self) -> None:
        limits = Resources(self.cpus, self.memory_bytes, self.pids, self.disk_bytes, self.open_files)
        for fault in check_resources("", limits):
            raise ValueError(f"{fault.field.lstrip('.')} {fault.message}")


@dataclass(frozen=True, slots=True)
class AdmissionConfig:
    """Who may create how much."""

    sandboxes_per_tenant: int = 1000
    """Live sandboxes of one tenant, pending and paused ones included."""
    tenant_limits: Mapping[str, int] = field(default_factory=dict)
    """The same for tenants that have another limit, by name."""
    concurrent_creates: int = 16
    """Creations that are worked on at once. More would only make each slower."""
    queued_creates: int = 1000
    """Creations that may wait for their turn; beyond, requests are refused at once."""
    retry_after_s: float = 1.0
    """What a refused caller is told to wait."""

    def __post_init__(self) -> None:
        _require(self, 0, "sandboxes_per_tenant", "queued_creates", "retry_after_s")
        _require(self, 1, "concurrent_creates")


@dataclass(frozen=True, slots=True)
class LifetimeConfig:
    """Times in the life of a sandbox."""

    start_timeout_s: float = 60.0
    """How long a creation may take when its request doesn't say."""
    delete_wait_s: float = 60.0
    """How long Delete waits for the end before it says that the deletion goes on."""
    lease_slack_s: float = 5.0
    """How much later than lifecycle execd ends an expired sandbox by itself. Lifecycle comes first as long as it is
    there, and a renewal in the last moment has this long to reach execd."""
    history_s: float = 30 * DAY_S
    """How long the record of an ended sandbox is kept."""

    def __post_init__(self) -> None:
        _require(self, 0.001, "start_timeout_s", "delete_wait_s")
        _require(self, 0, "lease_slack_s", "history_s")


@dataclass(frozen=True, slots=True)
class WorkConfig:
    """How the reconciler works."""

    sweep_s: float = 30.0
    """Pause between two looks at everything: orphans, missed deadlines, old history."""
    execd_timeout_s: float = 5.0
    """How long one call to an execd may take. It is inside the sandbox, so it may do anything, also nothing."""
    min_backoff_s: float = 0.1
    """Pause after the first failure of work on a sandbox; it doubles with each further one."""
    max_backoff_s: float = 30.0
    """The longest such pause."""
    concurrent_recoveries: int = 32
    """Sandboxes that are looked for at once after a start."""
    heartbeat_s: float = 15.0
    """Silence after which a follower of events gets a sign of life."""

    def __post_init__(self) -> None:
        _require(self, 0.001, "sweep_s", "execd_timeout_s", "min_backoff_s", "max_backoff_s", "heartbeat_s")
        _require(self, 1, "concurrent_recoveries")


@dataclass(frozen=True, slots=True)
class LifecycleConfig:
    """Everything that lifecycle can be told."""

    address: str = "unix:/run/arenero/lifecycle.sock"
    """Where it listens: a socket in a directory that only the platform's own processes can enter."""
    instance: str = ""
    """Name of this lifecycle, the owner of the sandboxes on this machine. Empty: the machine's host name."""
    secrets_dir: Path = Path("/var/lib/arenero/lifecycle")
    """Directory of its keys, mode 0700; made when missing."""
    runtimes: tuple[str, ...] = ("local",)
    """Runtimes that sandboxes can be created on."""
    default_runtime: str = ""
    """The one that is taken when a request names none. Empty: the first of `runtimes`."""
    default_template: str = "host"
    """What a sandbox is made of when its request doesn't say."""
    host: HostConfig = field(default_factory=HostConfig)
    bus: BusConfig = field(default_factory=BusConfig)
    admission: AdmissionConfig = field(default_factory=AdmissionConfig)
    resources: ResourceDefaults = field(default_factory=ResourceDefaults)
    lifetime: LifetimeConfig = field(default_factory=LifetimeConfig)
    work: WorkConfig = field(default_factory=WorkConfig)
    runtime: RuntimeTables = field(default_factory=RuntimeTables)
    """One table per driver."""

    def __post_init__(self) -> None:
        if not self.runtimes:
            raise ValueError("runtimes must name at least one")
        if self.default_runtime and self.default_runtime not in self.runtimes:
            raise ValueError(f"default_runtime {self.default_runtime!r} is not one of runtimes")
        for fault in check_name("default_template", self.default_template):
            raise ValueError(f"{fault.field} {fault.message}")


def _require(config: object, low: float, *names: str) -> None:
    """Check that settings are not below a bound."""
    for name in names:
        if getattr(config, name) < low:
            raise ValueError(f"{name} must be at least {low:g}")
