"""How sandboxes are isolated on this host: the best way that really works here, and what it lacks.

Three ways, from a survey of the host:

- *namespaces*, as root: all of it, each sandbox with ids of its own.
- *rootless*, as an ordinary user with user namespaces: the same mechanisms; limits as far as cgroups are delegated.
- *rules*, where namespaces or mounts are refused, as in most containers: Landlock, seccomp, a user id and a private
  directory. It is weaker by far, so it is used only for a spec that asks for best effort.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from arenero.isolation import namespaces
from arenero.isolation.namespaces import IdMap
from arenero.isolation.probe import Survey

IDS_PER_SANDBOX: Final = 65_536
_STANDARD: Final = (
    "user-namespace",
    "mount-namespace",
    "pid-namespace",
    "network-namespace",
    "ipc-namespace",
    "uts-namespace",
    "cgroup-namespace",
    "overlay",
    "proc",
    "seccomp",
)
_ALWAYS: Final = ("no-new-privileges", "no-capabilities")
_OF_NAMESPACES: Final = ("read-only-host", "masked-proc", "no-network")
_LIMIT_FEATURES: Final = {"cpus": "cpu-limit", "memory_bytes": "memory-limit", "pids": "pids-limit"}
DISK_FEATURE: Final = "disk-limit"


class Way(Enum):
    """How sandboxes are made."""

    NAMESPACES = "namespaces"
    ROOTLESS = "rootless"
    RULES = "rules"


@dataclass(frozen=True, slots=True)
class Mode:
    """The way of this host."""

    way: Way
    features: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Each with the reason after a colon."""
    limits: frozenset[str] = frozenset()
    """Limits that hold, by the names of `Resources`."""
    standard: bool = True
    """It is all that the standard level promises but for limits."""
    fix: str = ""
    """What would make it standard."""
    disk_images: bool = False
    """A sandbox's own layer can be a file system of its own."""
    map_layers: bool = False
    """Owners of files can be mapped by mounts. Otherwise all sandboxes share one range of ids, and layers are written
    for it."""
    first_id: int = 0
    granted: tuple[tuple[IdMap, ...], tuple[IdMap, ...]] = ((), ())
    """Maps of a rootless sandbox, the same for all."""
    newuidmap: bool = False

    @property
    def ids(self) -> int:
        """How many user ids there are where the sandbox lives, from 0 on."""
        if self.way is Way.NAMESPACES:
            return IDS_PER_SANDBOX
        if self.way is Way.ROOTLESS:
            return sum(run.count for run in self.granted[0])
        return 2**32 - 1

    def maps(self, slot: int) -> tuple[tuple[IdMap, ...], tuple[IdMap, ...]]:
        """Return the maps of users and groups of the sandbox in a slot."""
        if self.way is Way.ROOTLESS:
            return self.granted
        if self.way is Way.RULES:
            run = (IdMap(0, self.first_id + slot if os.geteuid() == 0 else os.geteuid(), 1),)
            return run, run
        range_of = slot if self.map_layers else 0
        run = (IdMap(0, self.first_id + range_of * IDS_PER_SANDBOX, IDS_PER_SANDBOX),)
        return run, run

    @property
    def shift(self) -> int:
        """What is added to the owners of files in layers, so that sandboxes see them as they were meant."""
        return self.first_id if self.way is Way.NAMESPACES and not self.map_layers else 0


def choose(survey: Survey, missing_limits: Mapping[str, str], *, first_id: int) -> Mode:
    """Return the best mode that the survey allows.

    Args:
        survey: What was tried.
        missing_limits: Limits that control groups can't keep here, with the reason.
        first_id: First id to map sandboxes to.
    """
    faults = survey.faults(*_STANDARD)
    lacking = [f"{_LIMIT_FEATURES[name]}: {reason}" for name, reason in missing_limits.items()]
    image = survey.get("disk-image")
    if not image.ok:
        lacking.append(f"{DISK_FEATURE}: {image.message}")
    limits = {name for name in _LIMIT_FEATURES if name not in missing_limits} | {"open_files"}
    held = tuple(_LIMIT_FEATURES[name] for name in sorted(limits & set(_LIMIT_FEATURES)))
    if faults:
        return _rules(survey, missing_limits, first_id)
    if os.geteuid() != 0:
        return _rootless(survey, held, lacking, limits)
    mapped = survey.get("idmapped-mounts")
    if not mapped.ok:
        lacking.append(f"separate-users: {mapped.message}; all sandboxes share one range of ids")
    return Mode(
        Way.NAMESPACES,
        features=(*_ALWAYS, *_STANDARD, *_OF_NAMESPACES, *held, *((DISK_FEATURE,) if image.ok else ())),
        missing=tuple(lacking),
        limits=frozenset(limits | ({"disk_bytes"} if image.ok else set())),
        disk_images=image.ok,
        map_layers=mapped.ok,
        first_id=first_id,
    )


def _rootless(survey: Survey, held: tuple[str, ...], lacking: list[str], limits: set[str]) -> Mode:
    uids: tuple[IdMap, ...] = (IdMap(0, os.geteuid(), 1),)
    gids: tuple[IdMap, ...] = (IdMap(0, os.getegid(), 1),)
    newuidmap = survey.works("newuidmap")
    if newuidmap:
        more_uids, more_gids = namespaces.granted_ranges()
        assert more_uids is not None
        assert more_gids is not None
        uids, gids = (*uids, more_uids), (*gids, more_gids)
    else:
        lacking.append(f"several-users: {survey.get('newuidmap').message}; everything runs as one user")
    return Mode(
        Way.ROOTLESS,
        features=(*_ALWAYS, *_STANDARD, *_OF_NAMESPACES, *held),
        missing=tuple(lacking),
        limits=frozenset(limits),
        granted=(uids, gids),
        newuidmap=newuidmap,
    )


def _rules(survey: Survey, missing_limits: Mapping[str, str], first_id: int) -> Mode:
    """Describe what is left where namespaces are refused."""
    faults = survey.faults(*_STANDARD)
    names = [*_STANDARD, *_OF_NAMESPACES, "landlock"]
    works = {"seccomp": survey.works("seccomp"), "landlock": survey.works("landlock"), "no-network": True}
    features = [*_ALWAYS, *(name for name in names if works.get(name))]
    cause = f"{faults[0].name}: {faults[0].message}"
    missing = [f"{name}: not in use, because of {cause}" for name in names if not works.get(name)]
    missing += [f"{_LIMIT_FEATURES[name]}: {reason}" for name, reason in missing_limits.items()]
    missing.append(f"{DISK_FEATURE}: needs mounts")
    missing.append("loopback: without a network namespace, IP sockets are refused altogether")
    limits = {name for name in _LIMIT_FEATURES if name not in missing_limits} | {"open_files"}
    features += [_LIMIT_FEATURES[name] for name in sorted(limits & set(_LIMIT_FEATURES))]
    return Mode(
        Way.RULES,
        features=tuple(features),
        missing=tuple(missing),
        limits=frozenset(limits),
        standard=False,
        fix=next((fault.fix for fault in faults if fault.fix), ""),
        first_id=first_id,
    )
