"""Builds a sandbox around the process that calls it, which then is the sandbox's first process.

The caller was born into new mount, PID, network, IPC and UTS namespaces (`forking.fork_into`) as the host's root, or as
root of a user namespace that an ordinary user made. Here it joins its control group, puts the root file system together
over an empty directory that only its own mount namespace sees, moves there, and gives up its rights. Nothing is left on
the host that would have to be undone: when the last process is gone, so are the mounts and the namespaces.

Every step is timed and named; a failure tells the step and the errno. Nothing is imported or read from the sandbox's
file system: it isn't trusted, and after the change of root there is no other.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from arenero.isolation import capabilities, confinement, disk, landlock, mounts, rootfs, seccomp, syscalls
from arenero.isolation.cgroups import Group
from arenero.isolation.mounts import DATA, INERT, Flag
from arenero.isolation.namespaces import Namespace, allow_low_ports, bring_up_loopback, to_outside
from arenero.isolation.plan import Bind, Landlocked, Rootfs, SandboxPlan

OWN_NAMESPACES: Final = Namespace.MOUNT | Namespace.PID | Namespace.NETWORK | Namespace.IPC | Namespace.UTS
"""What the caller must be born into. The cgroup namespace comes when the group is joined, the user namespace last."""

TTY_GID: Final = 5
_STAGE_BYTES: Final = 1 << 20

Span = tuple[str, int, int]
"""Name of a step, its start and end in nanoseconds since 1970."""


class StepFailed(Exception):
    """A step of the building failed."""

    def __init__(self, step: str, error: OSError) -> None:
        super().__init__(f"{step}: {error}")
        self.step = step
        self.errno = error.errno or 0
        self.message = error.strerror or str(error)


@dataclass(slots=True)
class Built:
    """What was made, for whoever runs in it."""

    spans: list[Span] = field(default_factory=list)
    fds: dict[str, int] = field(default_factory=dict)
    """Descriptors by name: `cgroup` and the counters of `Group.files`."""


class Builder:
    """One sandbox on its way.

    Args:
        plan: What to build.
        group: Control group to join, if there is one.
        userns_fd: User namespace to end in, made by the host's root beforehand; -1 when there is none, or when the
            process is in it already.
    """

    def __init__(self, plan: SandboxPlan, group: Group | None, userns_fd: int = -1) -> None:
        self._plan = plan
        self._group = group
        self._userns_fd = userns_fd
        self.built = Built()

    def build(self) -> Built:
        """Do all steps.

        Raises:
            StepFailed: The process is in an undefined state then and must end.
        """
        for name, act in self._steps():
            start = time.time_ns()
            try:
                act()
            except OSError as error:
                raise StepFailed(name, error) from error
            self.built.spans.append((name, start, time.time_ns()))
        return self.built

    def _steps(self) -> tuple[tuple[str, Callable[[], None]], ...]:
        if self._plan.landlocked is not None:
            return (
                ("cgroup", self._join_group),
                ("session", self._start_session),
                ("confine", self._confine_by_rules),
            )
        return (
            ("cgroup", self._join_group),
            ("stage", self._mount_stage),
            ("layers", self._mount_layers),
            ("binds", self._mount_binds),
            ("proc", self._mount_proc),
            ("dev", self._mount_dev),
            ("sys", self._mount_sys),
            ("network", self._set_up_network),
            ("pivot", self._change_root),
            ("session", self._start_session),
            ("confine", self._confine),
        )

    # --- control group ------------------------------------------------------------------------------------------------

    def _join_group(self) -> None:
        if self._group is None:
            return
        self._group.join()
        if self._plan.landlocked is None:
            syscalls.unshare(Namespace.CGROUP)
        self._group.settle()
        for name, path in self._group.files().items():
            self.built.fds[name] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        if self._group.unified and self._plan.landlocked is None:
            self.built.fds["cgroup"] = self._open_group(self._group.unified)

    def _open_group(self, directory: str) -> int:
        """Give the group's directory to the sandbox's root, and open it so that `..` leads nowhere."""
        assert self._group is not None
        self._group.delegate(self._id_of(0), self._id_of(0))
        # A copy of the mount that begins at the group: above its root there is nothing.
        mount_fd = syscalls.open_tree(directory)
        try:
            return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=mount_fd)
        finally:
            os.close(mount_fd)

    # --- root file system ---------------------------------------------------------------------------------------------

    @property
    def _rootfs(self) -> Rootfs:
        assert self._plan.rootfs is not None
        return self._plan.rootfs

    @property
    def _root(self) -> str:
        return f"{self._rootfs.stage}/root"

    def _id_of(self, inside: int) -> int:
        """Return how an id inside is written by this process, which may be in the user namespace already."""
        if self._plan.rootless or not self._plan.uids:
            return inside
        return to_outside(self._plan.uids, inside)

    def _tty_gid(self) -> int:
        known = any(run.to_outside(TTY_GID) is not None for run in self._plan.gids)
        return self._id_of(TTY_GID if known or not self._plan.gids else 0)

    def _mount_stage(self) -> None:
        mounts.make_private()
        stage = self._rootfs.stage
        mounts.tmpfs(stage, size_bytes=_STAGE_BYTES, flags=DATA)
        os.mkdir(self._root)
        os.mkdir(f"{stage}/own")
        if self._userns_fd >= 0:
            # From here on everything is made by the sandbox's root. On a mapped layer the host's root is nobody, and
            # overlayfs acts in the name of whoever mounted it.
            syscalls.set_filesystem_ids(self._id_of(0), self._id_of(0))
            capabilities.raise_effective()

    def _mount_layers(self) -> None:
        layers = self._rootfs.layers
        # Overlayfs shows the paths of its layers as they were given, to everybody inside: so they are relative.
        os.chdir(self._rootfs.stage)
        lower = [self._mount_lower(at, source) for at, source in enumerate(layers.lower)]
        own = self._mount_own()
        mounts.overlay(
            "root",
            lower=lower,
            upper=f"{own}/{disk.UPPER}",
            work=f"{own}/{disk.WORK}",
            unprivileged=self._plan.rootless,
        )
        for name in ("dev", "proc", "run", "sys"):
            self._make_place(f"/{name}")

    def _make_place(self, target: str) -> str:
        """Return where a directory of the sandbox is now; make it when it is missing.

        Raises:
            OSError: ELOOP when a symbolic link is on the way: an image's links may point anywhere on the host.
        """
        place = self._root + target
        root_fd = os.open(self._root, os.O_PATH | os.O_CLOEXEC)
        try:
            os.close(syscalls.openat2(root_fd, target.lstrip("/"), os.O_PATH, resolve=syscalls.RESOLVE_NO_SYMLINKS))
        except FileNotFoundError:
            parent = os.path.dirname(target)
            if parent != "/":
                self._make_place(parent)
            os.mkdir(place, 0o755)
        finally:
            os.close(root_fd)
        return place

    def _mount_lower(self, at: int, source: str) -> str:
        target = str(at)
        os.mkdir(target)
        if self._userns_fd >= 0 and self._rootfs.layers.map_lower:
            mounts.bind_mapped(source, target, self._userns_fd)
        else:
            mounts.bind(source, target)
        return target

    def _mount_own(self) -> str:
        layers, target = self._rootfs.layers, "own"
        userns_fd = self._userns_fd if layers.map_own else -1
        if layers.image:
            disk.mount_image(layers.image, target, userns_fd)
        elif userns_fd >= 0:
            mounts.bind_mapped(layers.own, target, userns_fd)
        else:
            mounts.bind(layers.own, target)
        if self._plan.uids and userns_fd < 0:
            # Owners are kept as the host sees them: the root directory must belong to the sandbox's root.
            os.chown(f"{target}/{disk.UPPER}", self._id_of(0), self._id_of(0))
        return target

    def _mount_binds(self) -> None:
        for one in self._rootfs.tmpfs:
            target, owner = self._make_place(one.target), self._id_of(0)
            mounts.tmpfs(target, size_bytes=one.size_bytes, mode=one.mode, uid=owner, gid=owner)
        for bind in self._rootfs.binds:
            self._mount_bind(bind)

    def _mount_bind(self, bind: Bind) -> None:
        target = self._make_place(bind.target)
        flags = INERT if bind.programs else DATA
        if bind.read_only:
            flags |= Flag.RDONLY
        if bind.recursive:
            mounts.bind_recursive(bind.source, target, flags)
        else:
            mounts.bind(bind.source, target, flags)

    def _mount_proc(self) -> None:
        rootfs.mount_proc(self._root)

    def _mount_dev(self) -> None:
        rootfs.mount_dev(self._root, shm_bytes=self._rootfs.shm_bytes, tty_gid=self._tty_gid())

    def _mount_sys(self) -> None:
        rootfs.mount_sys(self._root, self._group.by_hierarchy() if self._group else {})

    def _set_up_network(self) -> None:
        bring_up_loopback()
        allow_low_ports()
        syscalls.sethostname(self._plan.hostname)

    def _change_root(self) -> None:
        mounts.change_root(self._root)

    # --- rights -------------------------------------------------------------------------------------------------------

    def _start_session(self) -> None:
        os.umask(0o022)
        syscalls.join_new_keyring()
        syscalls.set_process_name("arenero-init")
        confinement.limit_resources(self._plan.processes)

    def _confine(self) -> None:
        if self._userns_fd >= 0:
            confinement.enter_user_namespace(self._userns_fd)
        confinement.hide()
        confinement.give_up_rights(confinement.EXECD_CAPABILITIES, seccomp.compile_default())

    def _confine_by_rules(self) -> None:
        landlocked = self._plan.landlocked
        assert landlocked is not None
        os.chdir(landlocked.directory)
        if os.geteuid() == 0 and self._plan.uids:
            # While the right to is there: another user has it no more.
            capabilities.bound(frozenset())
            confinement.become(self._plan.uids[0].outside, self._plan.gids[0].outside)
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        confinement.hide()
        program = seccomp.compile_default(offline=True)
        confinement.give_up_rights(frozenset(), program, _rules(landlocked))


def _rules(landlocked: Landlocked) -> landlock.Rules | None:
    """Return the rules, or None where the kernel has no Landlock: then file modes alone protect the host."""
    if not landlock.abi():
        return None
    return landlock.Rules(landlocked.read_only, landlocked.read_write, tcp_bind=(), tcp_connect=())
