"""What the first process of a sandbox is told: the only input that execd has besides its callers.

The plan is made by whoever starts the sandbox (the local driver's zygote, an image's entrypoint) and never holds a
secret: every process inside may come to see it. It travels as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

SOCKET_PATH: Final = "/run/arenero/execd.sock"


@dataclass(frozen=True, slots=True)
class Login:
    """Whom an exec runs as when its request names nobody."""

    uid: int = 1000
    gid: int = 1000
    name: str = "sandbox"
    home: str = "/home/sandbox"
    cwd: str = "/home/sandbox"
    shell: str = "/bin/bash"
    user: str = ""
    """Whom the sandbox's creator named instead: a name of the sandbox's passwd file, or `uid[:gid]`. Empty: nobody."""
    workdir: str = ""
    """Where the sandbox's creator wants execs to run, whoever they run as; it has to exist. Empty: nowhere special."""


@dataclass(frozen=True, slots=True)
class InitPlan:
    """Everything that PID 1 and its server need to know."""

    sandbox_id: str
    generation: int = 1
    public_key_hex: str = ""
    """Ed25519 key, 32 bytes in hex, that callers' tokens are checked with."""
    ttl_s: float | None = None
    """Time left to live at the start; the sandbox ends itself then. None: no end."""
    hostname: str = "sandbox"
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment of every exec."""
    traceparent: str = ""
    listen: str = f"unix:{SOCKET_PATH}"
    """gRPC address that the server binds."""
    login: Login = field(default_factory=Login)
    entrypoint: tuple[str, ...] = ()
    ids: int = 65536
    """User and group ids 0 to ids-1 exist inside; 1 when only root does, and every exec then runs as root."""
    one_user: bool = False
    """Whoever execd runs as is the only user that an exec can be, and nobody's groups can be changed."""
    open_files: int | None = None
    """RLIMIT_NOFILE of every exec; None: as inherited."""
    file_bytes: int | None = None
    """RLIMIT_FSIZE of every exec, where the disk limit can't be enforced otherwise; None: as inherited."""
    exec_oom_score_adj: int = 500
    """Written for every exec before it starts, so that lack of memory ends an exec and not execd."""
    cgroup_fd: int = -1
    """Directory of the sandbox's own cgroup2, owned by its root and reachable by this descriptor only; PID 1 is in its
    child `init`. -1: none, and an exec can't have a cgroup of its own."""
    cgroup_controllers: tuple[str, ...] = ()
    """Controllers that may be used for the cgroups of execs, for example `memory`, `pids`."""
    memory_events_fd: int = -1
    """Counters of the sandbox's own memory cgroup, open for reading: `memory.events` of v2, `memory.oom_control` of v1.
    -1: none, and lack of memory is not told apart from a kill."""
    memory_usage_fd: int = -1
    """`memory.current` of v2 or `memory.usage_in_bytes` of v1, open for reading; -1: added up from /proc."""
    cpu_usage_fd: int = -1
    """`cpu.stat` of v2 or `cpuacct.usage` of v1, open for reading; -1: added up from /proc."""
    cpus: float = 0.0
    """Cores that the sandbox may use; 0: all of the machine's."""
    memory_bytes: int = 0
    """Memory that the sandbox may use; 0: all of the machine's."""
    spool_dir: str = "/var/tmp"
    """Where output that is too much for memory goes, in files without a name; best on a disk."""
    spool_bytes: int = 1 << 30
    """Disk that such output of all execs together may take."""
    insecure: bool = False
    """Serve without tokens. For trying execd out by hand, never set by a driver."""
    boot_spans: tuple[tuple[str, int, int], ...] = ()
    """What the start consisted of before PID 1: name, start and end in nanoseconds since 1970-01-01 UTC."""
    ready_fd: int = -1
    """Once it serves, the server writes a line here, `ready` and what the start consisted of, as JSON in the form of
    `boot_spans`, and closes it; -1: nobody waits."""
    features: tuple[str, ...] = ()
    """What isolates this sandbox."""
    missing: tuple[str, ...] = ()
    """What doesn't, with the reason after a colon."""

    def to_json(self) -> dict[str, Any]:
        """Return JSON values only."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> InitPlan:
        """Read what `to_json` wrote.

        Raises:
            ValueError: A key is unknown or one that has no default is missing.
        """
        known = {f.name for f in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise ValueError(f"unknown keys in the plan: {', '.join(unknown)}")
        if "sandbox_id" not in values:
            raise ValueError("the plan has no sandbox_id")
        read = {name: _frozen(value) for name, value in values.items()}
        if isinstance(login := read.get("login"), Mapping):
            read["login"] = Login(**login)
        return cls(**read)


def _frozen(value: Any) -> Any:
    """JSON has lists only; the plan has tuples only."""
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
