"""The two plans of a sandbox: what it is built from, and what its first process is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arenero.isolation.cgroups import Group
from arenero.isolation.plan import Bind, Landlocked, Layers, Rootfs, SandboxPlan, Tmpfs
from arenero.model.spec import Resources
from arenero.runtime.driver import Launch
from arenero.runtime.local.cells import Cell
from arenero.runtime.local.config import LocalConfig
from arenero.runtime.local.mode import DISK_FEATURE, Mode, Way
from arenero.runtime.local.sources import Base

RUN: Final = "/run/arenero"
SOCKET_INSIDE: Final = f"{RUN}/execd.sock"
_PUBLIC: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt"),
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime"),
    *("/etc/group", "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/python3", "/etc/ssl/certs"),
    *("/dev/random", "/dev/urandom", "/dev/zero"),
    # Memory, environment and descriptors of processes outside stay closed: Landlock denies tracing them.
    "/proc",
)
_PUBLIC_DEVICES: Final = ("/dev/full", "/dev/null", "/dev/ptmx", "/dev/pts", "/dev/tty")
_DAEMON_LIMITS: Final = 64
"""Processes and threads that execd itself needs, beyond those that a spec allows."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What of a sandbox goes into the building of its cell."""

    hostname: str = "sandbox"
    pids: int | None = None


def sandbox_plan(
    config: LocalConfig, mode: Mode, cell: Cell, base: Base, group: Group, identity: Identity
) -> SandboxPlan:
    """Return what a cell is built from."""
    uids, gids = mode.maps(cell.slot)
    # Where no group limits processes, those of each user are: better than nothing.
    processes = None if "pids" in mode.limits or identity.pids is None else identity.pids + _DAEMON_LIMITS
    return SandboxPlan(
        name=cell.name,
        hostname=identity.hostname,
        rootfs=None if mode.way is Way.RULES else _rootfs(config, mode, cell, base),
        landlocked=_landlocked(cell, base) if mode.way is Way.RULES else None,
        uids=uids,
        gids=gids,
        rootless=mode.way is Way.ROOTLESS,
        newuidmap=mode.newuidmap,
        groups=group.by_mount(),
        processes=processes,
    )


def _rootfs(config: LocalConfig, mode: Mode, cell: Cell, base: Base) -> Rootfs:
    layers = Layers(
        lower=base.lower,
        own=str(cell.directory),
        image=str(cell.directory / "image") if cell.disk_bytes is not None else "",
        map_lower=mode.map_layers,
        map_own=mode.map_layers,
    )
    run = Bind(str(cell.run), RUN, read_only=False, programs=False)
    tmpfs = (Tmpfs("/run", config.run_bytes), Tmpfs("/run/lock", 1 << 20, 0o1777))
    return Rootfs(str(stage_dir(config)), layers, (*base.binds, run), tmpfs, config.shm_bytes)


def _landlocked(cell: Cell, base: Base) -> Landlocked:
    return Landlocked(
        directory=str(cell.private),
        read_only=(*_PUBLIC, *(bind.source for bind in base.binds)),
        read_write=(str(cell.private), str(cell.run), *_PUBLIC_DEVICES),
    )


def stage_dir(config: LocalConfig) -> Path:
    """Return the empty directory over which root file systems are put together."""
    return config.state_dir / "stage"


def init_plan(launch: Launch, mode: Mode, cell: Cell, base: Base) -> Mapping[str, Any]:
    """Return what the first process is told: an `InitPlan` of execd, as JSON values."""
    resources = launch.spec.resources
    plan: dict[str, Any] = {
        "sandbox_id": launch.sandbox_id,
        "generation": launch.generation,
        "public_key_hex": launch.execd_public_key.hex(),
        "ttl_s": launch.ttl_s,
        "hostname": launch.hostname,
        "env": {**base.env, **launch.env},
        "traceparent": launch.traceparent,
        "listen": f"unix:{SOCKET_INSIDE}",
        "entrypoint": list(launch.spec.entrypoint),
        "ids": mode.ids,
        "open_files": resources.open_files,
        "file_bytes": None if DISK_FEATURE in mode.features else resources.disk_bytes,
        "cpus": resources.cpus or 0.0,
        "memory_bytes": resources.memory_bytes or 0,
        "features": list(mode.features),
        "missing": list(mode.missing),
    }
    if login := _login(launch, mode, cell, base):
        plan["login"] = login
    if mode.way is Way.RULES:
        private = str(cell.private)
        plan |= {"listen": f"unix:{cell.run}/execd.sock", "spool_dir": f"{private}/tmp", "one_user": True}
        plan["env"] = {"HOME": f"{private}/home", "TMPDIR": f"{private}/tmp", **plan["env"]}
    return plan


def _login(launch: Launch, mode: Mode, cell: Cell, base: Base) -> dict[str, Any]:
    """Return whom execs run as by default; empty for execd's own default."""
    login = dict(base.login)
    if mode.ids == 1:
        login = {"uid": 0, "gid": 0, "name": "root", "home": "/home/sandbox", "cwd": "/home/sandbox"}
    if mode.way is Way.RULES:
        private = str(cell.private)
        uids, gids = mode.maps(cell.slot)
        login = {"uid": uids[0].outside, "gid": gids[0].outside, "name": "sandbox"}
        login |= {"home": f"{private}/home", "cwd": private}
    if launch.spec.user:
        login["user"] = launch.spec.user
    if launch.spec.workdir:
        login["workdir"] = launch.spec.workdir
    return login


def group_limits(resources: Resources) -> dict[str, Any]:
    """Return the limits of a sandbox's control group."""
    pids = None if resources.pids is None else resources.pids + _DAEMON_LIMITS
    return {"memory_bytes": resources.memory_bytes, "cpus": resources.cpus, "pids": pids}
