"""Where this host keeps its cgroups: version 1, version 2, or both side by side.

A *hierarchy* is one mounted tree of groups with some controllers. Version 1 has one per controller (or a few sharing
one); version 2 has one for all, the *unified* one. In the hybrid arrangement the unified one is there too, mostly
without controllers: it can still freeze and kill whole groups, which version 1 can't do well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

_V1_CONTROLLERS: Final = frozenset({"cpu", "cpuacct", "cpuset", "memory", "pids", "freezer", "blkio", "devices"})
WANTED: Final = ("cpu", "memory", "pids")


class Flavour(Enum):
    """How the hierarchies are arranged."""

    NONE = "none"
    V1 = "v1"
    V2 = "v2"
    HYBRID = "hybrid"


@dataclass(frozen=True, slots=True)
class Layout:
    """The hierarchies of a host as this process sees them."""

    v1: Mapping[str, str] = field(default_factory=dict)
    """Mount point by controller."""
    unified: str = ""
    """Mount point of version 2; empty: none."""
    unified_controllers: frozenset[str] = frozenset()
    """Controllers that version 2 offers at its root."""
    own: Mapping[str, str] = field(default_factory=dict)
    """This process's own group in each hierarchy, as an absolute path; the key is a controller or `unified`."""

    @property
    def flavour(self) -> Flavour:
        """Which arrangement this is."""
        if self.unified:
            return Flavour.HYBRID if self.v1 else Flavour.V2
        return Flavour.V1 if self.v1 else Flavour.NONE

    def directory_of(self, controller: str) -> str:
        """Return the mount point of the hierarchy that has a controller; empty: none has it."""
        if controller in self.v1:
            return self.v1[controller]
        return self.unified if controller in self.unified_controllers else ""


def detect(proc: str = "/proc/self") -> Layout:
    """Read the layout from `mountinfo` and `cgroup` of this process."""
    mountinfo, groups = _read(f"{proc}/mountinfo"), _read(f"{proc}/cgroup")
    v1, unified = parse_mountinfo(mountinfo)
    offered = _read(f"{unified}/cgroup.controllers").split() if unified else []
    return Layout(v1, unified, frozenset(offered), parse_own(groups, v1, unified))


def parse_mountinfo(text: str) -> tuple[dict[str, str], str]:
    """Return the mount point of each version 1 controller, and of version 2 (empty: not mounted)."""
    v1: dict[str, str] = {}
    unified = ""
    for line in text.splitlines():
        left, separator, right = line.partition(" - ")
        fields, kinds = left.split(), right.split()
        if not separator or len(fields) < 5 or len(kinds) < 3:
            continue
        mount_point = fields[4].replace("\\040", " ")
        if kinds[0] == "cgroup2" and not unified:
            unified = mount_point
        elif kinds[0] == "cgroup":
            for controller in _V1_CONTROLLERS.intersection(kinds[2].split(",")):
                v1.setdefault(controller, mount_point)
    return v1, unified


def parse_own(text: str, v1: Mapping[str, str], unified: str) -> dict[str, str]:
    """Return the directories of the groups that /proc/PID/cgroup names."""
    own: dict[str, str] = {}
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and unified:
            own["unified"] = unified + path.rstrip("/")
        for controller in controllers.split(","):
            if controller in v1:
                own[controller] = v1[controller] + path.rstrip("/")
    return own


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""
