"""What a sandbox is built from: the order that whoever starts one gives to the builder, as JSON values.

A plan names paths and ids of the host. It is made by a driver, never by a tenant, and holds no secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from arenero.isolation.namespaces import IdMap


@dataclass(frozen=True, slots=True)
class Bind:
    """A directory or file of the host that is seen inside."""

    source: str
    target: str
    """Absolute path inside; it exists in the layers already."""
    read_only: bool = True
    recursive: bool = False
    """With the mounts below it."""
    programs: bool = True
    """Files there may be executed."""


@dataclass(frozen=True, slots=True)
class Tmpfs:
    """An empty directory in memory."""

    target: str
    size_bytes: int
    mode: int = 0o755


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers of the root file system."""

    lower: tuple[str, ...]
    """Read-only directories, the topmost first."""
    own: str
    """Directory that holds `upper` and `work` of the sandbox's own layer; unused with an image."""
    image: str = ""
    """Image file whose file system holds them instead."""
    map_lower: bool = True
    """The lower layers' owners are the sandbox's own ids, 0 and up: show them so."""
    map_own: bool = True
    """Keep the own layer's owners as the sandbox sees them, not as the host does."""


@dataclass(frozen=True, slots=True)
class Rootfs:
    """The root file system."""

    stage: str
    """Empty directory of the host over which everything is put together, unseen by the host."""
    layers: Layers
    binds: tuple[Bind, ...] = ()
    tmpfs: tuple[Tmpfs, ...] = ()
    shm_bytes: int = 64 << 20
    """Size of /dev/shm."""


@dataclass(frozen=True, slots=True)
class Landlocked:
    """What stands in for a root file system where mounts are refused: rules on the host's own one."""

    directory: str
    """The sandbox's private directory."""
    read_only: tuple[str, ...] = ()
    read_write: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SandboxPlan:
    """Everything that isolates one sandbox. Exactly one of `rootfs` and `landlocked` is set."""

    name: str
    hostname: str = "sandbox"
    rootfs: Rootfs | None = None
    landlocked: Landlocked | None = None
    uids: tuple[IdMap, ...] = ()
    """Map of the user namespace; empty: no user namespace."""
    gids: tuple[IdMap, ...] = ()
    rootless: bool = False
    """The builder is an ordinary user: the user namespace comes first, and all else is done with the rights in it."""
    newuidmap: bool = False
    """Map ids by the set-user-id programs."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """The sandbox's control group: its directory by mount point of the hierarchy; empty: none."""
    processes: int | None = None
    """RLIMIT_NPROC, where no group limits processes. It counts all processes of the same user of the host."""

    def to_json(self) -> dict[str, Any]:
        """Return JSON values only."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SandboxPlan:
        """Read what `to_json` wrote.

        Raises:
            TypeError: A key is unknown, or one that has no default is missing.
        """
        read = dict(values)
        read["uids"] = _maps(values.get("uids", ()))
        read["gids"] = _maps(values.get("gids", ()))
        if rootfs := values.get("rootfs"):
            read["rootfs"] = _rootfs(rootfs)
        if landlocked := values.get("landlocked"):
            read["landlocked"] = Landlocked(
                landlocked["directory"],
                tuple(landlocked.get("read_only", ())),
                tuple(landlocked.get("read_write", ())),
            )
        return cls(**read)


def _maps(values: Any) -> tuple[IdMap, ...]:
    return tuple(IdMap(**run) for run in values)


def _rootfs(values: Mapping[str, Any]) -> Rootfs:
    read = dict(values)
    layers = dict(values["layers"])
    layers["lower"] = tuple(layers["lower"])
    read["layers"] = Layers(**layers)
    read["binds"] = tuple(Bind(**bind) for bind in values.get("binds", ()))
    read["tmpfs"] = tuple(Tmpfs(**one) for one in values.get("tmpfs", ()))
    return Rootfs(**read)
