"""Control groups: limits, accounting, freezing and killing of everything that a sandbox runs.

A *tree* is the directory `arenero/<instance>` in each hierarchy of the host; a *group* is a sandbox's directory below
it in each of them. Names say what belongs to whom, so what was left behind can be found and removed without a record.

On version 2 the sandbox's first processes live in the group's child `init` (in the unified hierarchy beside version 1,
which has no controllers, in the group itself). The group is given to the sandbox's root, who makes a child for each
exec. The files that hold the limits stay the host's, and so do the group's own freeze and kill switches.

Nothing here waits. `kill` is one pass: repeat it until it returns 0.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from arenero.isolation.cgroup_layout import WANTED, Flavour, Layout

INIT_CHILD: Final = "init"
_PERIOD_US: Final = 100_000
_MIN_QUOTA_US: Final = 1_000
_DELEGATED_FILES: Final = ("cgroup.procs", "cgroup.threads", "cgroup.subtree_control")
_LIMIT_CONTROLLERS: Final = (("cpus", "cpu"), ("memory_bytes", "memory"), ("pids", "pids"))


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a group; None leaves one unset."""

    memory_bytes: int | None = None
    """Memory and swap together."""
    cpus: float | None = None
    """Cores' worth of processor time."""
    pids: int | None = None
    """Processes and threads."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a group uses; None where no hierarchy accounts for it."""

    cpu_time_s: float | None = None
    memory_bytes: int | None = None
    """Without the page cache that can be dropped at once."""
    memory_peak_bytes: int | None = None
    pids: int | None = None
    oom_kills: int | None = None


class Group:
    """One sandbox's directories in the hierarchies of a host.

    Args:
        layout: The host's hierarchies.
        paths: The group's directory by mount point.
    """

    def __init__(self, layout: Layout, paths: Mapping[str, str]) -> None:
        self._layout = layout
        self._paths = dict(paths)

    @cached_property
    def unified(self) -> str:
        """Directory in the unified hierarchy; empty: there is none."""
        return self._paths.get(self._layout.unified, "") if self._layout.unified else ""

    @property
    def paths(self) -> tuple[str, ...]:
        """All its directories."""
        return tuple(self._paths.values())

    def directory_of(self, controller: str) -> str:
        """Directory in the hierarchy that has a controller; empty: none."""
        return self._paths.get(self._layout.directory_of(controller), "")

    def by_mount(self) -> dict[str, str]:
        """Return its directories by mount point: what another process needs to make this object again."""
        return dict(self._paths)

    def by_hierarchy(self) -> dict[str, str]:
        """Return its directories by controller, or by the empty name in the unified hierarchy."""
        named = {"": self.unified} if self.unified else {}
        for controller, mount in self._layout.v1.items():
            if mount in self._paths:
                named[controller] = self._paths[mount]
        return named

    def exists(self) -> bool:
        """Whether any of its directories is there."""
        return any(os.path.isdir(path) for path in self._paths.values())

    def set_limits(self, limits: Limits) -> None:
        """Set the limits that are given; one without a controller is left out (`Tree.missing` names those).

        Raises:
            OSError: The kernel refused a value.
        """
        if limits.memory_bytes is not None and (directory := self.directory_of("memory")):
            self._limit_memory(directory, limits.memory_bytes)
        if limits.cpus is not None and (directory := self.directory_of("cpu")):
            self._limit_cpus(directory, limits.cpus)
        if limits.pids is not None and (directory := self.directory_of("pids")):
            _write(f"{directory}/pids.max", str(limits.pids))

    def _limit_memory(self, directory: str, memory_bytes: int) -> None:
        if directory == self.unified:
            _write(f"{directory}/memory.max", str(memory_bytes))
            _write_if_there(f"{directory}/memory.swap.max", "0")
            return
        _write(f"{directory}/memory.limit_in_bytes", str(memory_bytes))
        _write_if_there(f"{directory}/memory.memsw.limit_in_bytes", str(memory_bytes))

    def _limit_cpus(self, directory: str, cpus: float) -> None:
        quota_us = max(_MIN_QUOTA_US, round(cpus * _PERIOD_US))
        if directory == self.unified:
            _write(f"{directory}/cpu.max", f"{quota_us} {_PERIOD_US}")
            return
        _write(f"{directory}/cpu.cfs_period_us", str(_PERIOD_US))
        _write(f"{directory}/cpu.cfs_quota_us", str(quota_us))

    def join(self) -> None:
        """Move the calling process, which has one thread, into the group, where it isn't yet.

        In the unified hierarchy it ends in the group itself: `settle` brings it on to the child. A process that was
        born there (`forking.fork_into`) saves the move, which has to wait for every processor of the host.
        """
        for path in self._paths.values():
            if path != self.unified:
                # A thread may move itself without that wait, and version 1 takes single threads.
                _write(f"{path}/tasks", "0")
            elif not self._is_member(path):
                _write(f"{path}/cgroup.procs", "0")

    def _is_member(self, directory: str) -> bool:
        inside = directory.removeprefix(self._layout.unified)
        return f"0::{inside}" in _read("/proc/self/cgroup").splitlines()

    def settle(self) -> None:
        """Move the calling process on to the child `init` of the unified hierarchy.

        In between is the moment to unshare the cgroup namespace, whose root is then the group. Controllers are passed
        down afterwards: the kernel allows that to groups without processes of their own only. Where there are none to
        pass down, processes may stay beside groups of their children, and do.
        """
        if not self.unified or not self.child_controllers():
            return
        _make(f"{self.unified}/{INIT_CHILD}")
        _write(f"{self.unified}/{INIT_CHILD}/cgroup.procs", "0")
        enable_controllers(self.unified)

    def child_controllers(self) -> tuple[str, ...]:
        """Return the controllers that children in the unified hierarchy can have."""
        offered = _read(f"{self.unified}/cgroup.controllers").split() if self.unified else []
        return tuple(name for name in WANTED if name in offered)

    def delegate(self, uid: int, gid: int) -> None:
        """Let a user make and fill children of the group in the unified hierarchy."""
        if not self.unified:
            return
        for directory in (self.unified, f"{self.unified}/{INIT_CHILD}"):
            for path in (directory, *(f"{directory}/{name}" for name in _DELEGATED_FILES)):
                with contextlib.suppress(FileNotFoundError):
                    os.chown(path, uid, gid)

    def files(self) -> dict[str, str]:
        """Return where the group's own `memory_events`, `memory_usage` and `cpu_usage` are, as far as they are kept."""
        found: dict[str, str] = {}
        if memory := self.directory_of("memory"):
            v2 = memory == self.unified
            found["memory_events"] = f"{memory}/{'memory.events' if v2 else 'memory.oom_control'}"
            found["memory_usage"] = f"{memory}/{'memory.current' if v2 else 'memory.usage_in_bytes'}"
        if cpuacct := self.directory_of("cpuacct"):
            found["cpu_usage"] = f"{cpuacct}/cpuacct.usage"
        elif self.unified:
            found["cpu_usage"] = f"{self.unified}/cpu.stat"
        return found

    def pids(self) -> frozenset[int]:
        """Return every process in the group and in groups below it."""
        return frozenset(pid for path in self._paths.values() for pid in _pids_below(path))

    def is_populated(self) -> bool:
        """Whether any process is left."""
        if self.unified:
            events = read_flat(f"{self.unified}/cgroup.events")
            if "populated" in events:
                return events["populated"] == 1
        return bool(self.pids())

    def freeze(self) -> None:
        """Stop every process where it is. Takes effect soon; see `is_frozen`."""
        self._set_frozen(frozen=True)

    def thaw(self) -> None:
        """Let the processes go on."""
        self._set_frozen(frozen=False)

    def is_frozen(self) -> bool:
        """Whether every process has stopped."""
        if self.unified and os.path.exists(f"{self.unified}/cgroup.freeze"):
            return read_flat(f"{self.unified}/cgroup.events").get("frozen") == 1
        if freezer := self.directory_of("freezer"):
            return _read(f"{freezer}/freezer.state").strip() == "FROZEN"
        return False

    def _set_frozen(self, *, frozen: bool) -> None:
        if self.unified and os.path.exists(f"{self.unified}/cgroup.freeze"):
            _write(f"{self.unified}/cgroup.freeze", "1" if frozen else "0")
        elif freezer := self.directory_of("freezer"):
            _write(f"{freezer}/freezer.state", "FROZEN" if frozen else "THAWED")
        else:
            raise OSError(errno.EOPNOTSUPP, "no hierarchy of this host can freeze a group")

    def kill(self) -> int:
        """Send SIGKILL to every process; return how many were still there. Repeat until 0.

        With `cgroup.kill` (Linux 5.14) one pass catches all, forks under way included. Without it forks are stopped
        first, by the freezer and a process limit of zero, since a fork bomb outruns a list of its members.

        A group that was killed must be made anew before it is used again: some kernels (6.18 among them) take a process
        that is born into it for one that escaped the kill.
        """
        if not self.exists():
            return 0
        if self.unified and os.path.exists(f"{self.unified}/cgroup.kill"):
            _write(f"{self.unified}/cgroup.kill", "1")
            # A frozen version 1 group dies only once it thaws.
            self._thaw_freezer()
            # Every process was born into this hierarchy, and none can leave the group.
            return len(frozenset(_pids_below(self.unified)))
        return self._kill_each()

    def _kill_each(self) -> int:
        if pids := self.directory_of("pids"):
            _write_if_there(f"{pids}/pids.max", "0")
        with contextlib.suppress(OSError):
            self.freeze()
        members = self.pids()
        for pid in members:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self.thaw()
        return len(members)

    def _thaw_freezer(self) -> None:
        if "freezer" in self._layout.v1 and (freezer := self.directory_of("freezer")):
            _write_if_there(f"{freezer}/freezer.state", "THAWED")

    def usage(self) -> Usage:
        """Measure the group."""
        memory = self.directory_of("memory")
        names = ("memory.current", "memory.peak") if memory == self.unified else _V1_MEMORY
        return Usage(
            cpu_time_s=self._cpu_time_s(),
            memory_bytes=self._memory_bytes(memory, names[0]),
            memory_peak_bytes=read_integer(f"{memory}/{names[1]}") if memory else None,
            pids=self._count_pids(),
            oom_kills=self.oom_kills(),
        )

    def oom_kills(self) -> int | None:
        """Return how many processes the kernel killed for lack of memory; None where nobody counts."""
        memory = self.directory_of("memory")
        if not memory:
            return None
        name = "memory.events" if memory == self.unified else "memory.oom_control"
        return read_flat(f"{memory}/{name}").get("oom_kill")

    def _cpu_time_s(self) -> float | None:
        if self.unified:
            usage_us = read_flat(f"{self.unified}/cpu.stat").get("usage_usec")
            if usage_us is not None:
                return usage_us / 1e6
        if cpuacct := self.directory_of("cpuacct"):
            usage_ns = read_integer(f"{cpuacct}/cpuacct.usage")
            return None if usage_ns is None else usage_ns / 1e9
        return None

    def _memory_bytes(self, directory: str, name: str) -> int | None:
        if not directory or (used := read_integer(f"{directory}/{name}")) is None:
            return None
        stat = read_flat(f"{directory}/memory.stat")
        droppable = stat.get("total_inactive_file", stat.get("inactive_file", 0))
        return max(0, used - droppable)

    def _count_pids(self) -> int | None:
        if directory := self.directory_of("pids"):
            return read_integer(f"{directory}/pids.current")
        return len(self.pids()) if self._paths else None

    def remove(self) -> bool:
        """Remove the directories; False when a process is still in one, or just leaving it."""
        gone = [_remove_tree(path) for path in self._paths.values()]
        return all(gone)


class Tree:
    """All groups of one instance.

    Args:
        layout: The host's hierarchies.
        instance: Name of the instance.
        parent: Directory below which the tree is made in each hierarchy, relative to its mount point; None: below the
            group of this process, as an ordinary user or in a container must.
    """

    def __init__(self, layout: Layout, instance: str, *, parent: str | None = "") -> None:
        self._layout = layout
        self._tops = {
            mount: f"{_parent_of(layout, key, mount, parent)}/arenero" for key, mount in _hierarchies(layout).items()
        }
        self._bases = {mount: f"{top}/{instance}" for mount, top in self._tops.items()}
        self.missing: dict[str, str] = {}
        """Limits that can't be kept here, each with the reason. Complete once `open` has returned."""

    def open(self) -> None:
        """Make the tree, pass controllers down to it, and find out what is missing. Raises nothing for a poor host."""
        self.missing = {}
        for mount in dict(self._bases):
            try:
                self._open_hierarchy(mount)
            except OSError as error:
                self._drop_hierarchy(mount, error.strerror or str(error))
        for limit, controller in _LIMIT_CONTROLLERS:
            if reason := self._lacks(controller):
                self.missing.setdefault(limit, reason)

    def _open_hierarchy(self, mount: str) -> None:
        base = self._bases[mount]
        if mount != self._layout.unified:
            os.makedirs(base, exist_ok=True)
            return
        parent = os.path.dirname(self._tops[mount])
        _enable_or_evacuate(parent)
        for directory in (self._tops[mount], base):
            _make(directory)
            enable_controllers(directory)
        probe = f"{base}/.probe"
        # Groups can be made only where processes may be moved to as well.
        _make(probe)
        os.rmdir(probe)

    def _drop_hierarchy(self, mount: str, reason: str) -> None:
        del self._bases[mount]
        held = {c for c, where in self._layout.v1.items() if where == mount}
        if mount == self._layout.unified:
            held |= self._layout.unified_controllers
        for limit, controller in _LIMIT_CONTROLLERS:
            if controller in held:
                self.missing[limit] = f"{mount} can't be used: {reason}"

    def _lacks(self, controller: str) -> str:
        mount = self._layout.directory_of(controller)
        if not mount:
            return f"no cgroup hierarchy of this host has the controller {controller}"
        base = self._bases.get(mount)
        if base is None:
            return f"{mount} can't be used"
        if mount == self._layout.unified and controller not in _read(f"{base}/cgroup.controllers").split():
            return f"the controller {controller} is not delegated to {os.path.dirname(self._tops[mount])}"
        return ""

    @property
    def usable(self) -> bool:
        """Whether groups can be made at all."""
        return bool(self._bases)

    @property
    def can_freeze(self) -> bool:
        """Whether a group can be frozen."""
        return self._layout.unified in self._bases or self._layout.v1.get("freezer") in self._bases

    @property
    def flavour(self) -> Flavour:
        """The host's arrangement."""
        return self._layout.flavour

    def group(self, name: str) -> Group:
        """Return a group by name, whether it exists or not."""
        return Group(self._layout, {mount: f"{base}/{name}" for mount, base in self._bases.items()})

    def create(self, name: str, limits: Limits) -> Group:
        """Make a group, or find it, and set its limits. After a failure nothing new is left."""
        group = self.group(name)
        try:
            for path in group.paths:
                _make(path)
            group.set_limits(limits)
        except OSError:
            group.remove()
            raise
        return group

    def names(self) -> frozenset[str]:
        """Return the names of all groups in any hierarchy."""
        return frozenset(name for base in self._bases.values() for name in _children(base))

    def remove(self) -> bool:
        """Remove the tree when it holds no group; the top directory goes with the last instance."""
        gone = [_remove_empty(base) for base in self._bases.values()]
        for top in self._tops.values():
            _remove_empty(top)
        return all(gone)


_V1_MEMORY: Final = ("memory.usage_in_bytes", "memory.max_usage_in_bytes")


def enable_controllers(directory: str) -> None:
    """Pass the wanted controllers of a version 2 group down to its children, each as far as it is there."""
    offered = _read(f"{directory}/cgroup.controllers").split()
    enabled = _read(f"{directory}/cgroup.subtree_control").split()
    wanted = [name for name in WANTED if name in offered and name not in enabled]
    if wanted:
        _write(f"{directory}/cgroup.subtree_control", " ".join(f"+{name}" for name in wanted))


def read_flat(path: str) -> dict[str, int]:
    """Return a file of `name number` lines; empty when it can't be read."""
    rows = (line.split() for line in _read(path).splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}


def read_integer(path: str) -> int | None:
    """Return a file that holds one number; None when it holds something else or can't be read."""
    text = _read(path).strip()
    return int(text) if text.isdigit() else None


def _enable_or_evacuate(directory: str) -> None:
    """Pass controllers down; where processes stand in the way, move them to a child of their own first."""
    try:
        enable_controllers(directory)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        _make(f"{directory}/arenero-host")
        for pid in _read(f"{directory}/cgroup.procs").split():
            with contextlib.suppress(ProcessLookupError):
                _write(f"{directory}/arenero-host/cgroup.procs", pid)
        enable_controllers(directory)


def _hierarchies(layout: Layout) -> dict[str, str]:
    """Return the mount point of every hierarchy that matters, once each, by a controller of it."""
    useful = ("memory", "cpu", "cpuacct", "pids", "freezer")
    found: dict[str, str] = {}
    for controller in useful:
        mount = layout.v1.get(controller)
        # The unified hierarchy freezes better; its presence makes the freezer of version 1 needless.
        if mount and mount not in found.values() and not (controller == "freezer" and layout.unified):
            found[controller] = mount
    if layout.unified:
        found["unified"] = layout.unified
    return found


def _parent_of(layout: Layout, key: str, mount: str, parent: str | None) -> str:
    if parent is None:
        return layout.own.get(key, mount)
    return os.path.join(mount, parent.strip("/")).rstrip("/")


def _make(directory: str) -> None:
    with contextlib.suppress(FileExistsError):
        os.mkdir(directory, 0o755)


def _children(directory: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(directory))
    except FileNotFoundError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield entry.name


def _pids_below(directory: str) -> Iterator[int]:
    yield from (int(word) for word in _read(f"{directory}/cgroup.procs").split())
    for name in _children(directory):
        yield from _pids_below(f"{directory}/{name}")


def _remove_tree(directory: str) -> bool:
    for name in list(_children(directory)):
        _remove_tree(f"{directory}/{name}")
    return _remove_empty(directory)


def _remove_empty(directory: str) -> bool:
    try:
        os.rmdir(directory)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


def _write(path: str, text: str) -> None:
    # Without O_CREAT: a control file that isn't there is an error, not a new file.
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    except OSError as error:
        raise OSError(error.errno, f"writing {text!r} to {path}: {os.strerror(error.errno or 0)}") from error
    finally:
        os.close(fd)


def _write_if_there(path: str, text: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        _write(path, text)
