"""The pieces of a root file system that every sandbox has: `/proc` with its masks, a minimal `/dev`, parts of `/sys`.

The masks are Docker's: what shows or changes the host is covered or read-only. Everything is mounted by the builder of
the sandbox, before it gives up its rights, at paths below `root`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from arenero.isolation import mounts
from arenero.isolation.mounts import DATA, Flag

HIDDEN_PROC: Final = (
    "acpi",
    "asound",
    "firmware",
    "interrupts",
    "kcore",
    "keys",
    "key-users",
    "kpagecgroup",
    "kpagecount",
    "kpageflags",
    "latency_stats",
    "sched_debug",
    "scsi",
    "timer_list",
    "timer_stats",
    "vmallocinfo",
)
READ_ONLY_PROC: Final = ("bus", "fs", "irq", "sys", "sysrq-trigger")
DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty")
SHARED_SYS: Final = ("devices/system/cpu", "devices/system/node")
_LINKS: Final = (
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
)


def mount_proc(root: str) -> None:
    """Mount and mask `/proc`. This process must be in the PID namespace that is to be seen there."""
    proc = f"{root}/proc"
    mounts.proc(proc)
    for name in HIDDEN_PROC:
        mounts.hide(f"{proc}/{name}")
    for name in READ_ONLY_PROC:
        if os.path.lexists(f"{proc}/{name}"):
            mounts.remount_read_only(f"{proc}/{name}")


def mount_dev(root: str, *, shm_bytes: int, tty_gid: int, host: str = "/dev") -> None:
    """Mount a `/dev` of seven devices, private terminals, shared memory and message queues.

    Devices are bound from the host's: in a user namespace nobody can make them. The directory itself ends read-only.
    """
    dev = f"{root}/dev"
    mounts.tmpfs(dev, size_bytes=65_536, flags=DATA)
    for name in DEVICES:
        os.close(os.open(f"{dev}/{name}", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o666))
        mounts.bind(f"{host}/{name}", f"{dev}/{name}", Flag.NOSUID | Flag.NOEXEC)
    for name in ("pts", "shm", "mqueue"):
        os.mkdir(f"{dev}/{name}", 0o755)
    mounts.devpts(f"{dev}/pts", tty_gid=tty_gid)
    mounts.tmpfs(f"{dev}/shm", size_bytes=shm_bytes, mode=0o1777, flags=DATA)
    mounts.mqueue(f"{dev}/mqueue")
    for name, target in _LINKS:
        os.symlink(target, f"{dev}/{name}")
    mounts.set_read_only(dev)


def mount_sys(root: str, groups: Mapping[str, str]) -> None:
    """Show what programs ask about processors, memory nodes and their own limits, and nothing else of `/sys`.

    Args:
        root: Where the root file system is put together.
        groups: The sandbox's directory by the name of the cgroup hierarchy: a controller, or empty for the unified one.
    """
    mounts.tmpfs(f"{root}/sys", size_bytes=65_536, flags=DATA)
    _mount_groups(f"{root}/sys/fs/cgroup", groups)
    for name in SHARED_SYS:
        source, target = f"/sys/{name}", f"{root}/sys/{name}"
        if os.path.isdir(source):
            os.makedirs(target, exist_ok=True)
            mounts.bind(source, target, DATA | Flag.RDONLY)
    mounts.set_read_only(f"{root}/sys")


def _mount_groups(top: str, groups: Mapping[str, str]) -> None:
    os.makedirs(top)
    if set(groups) == {""}:
        mounts.bind(groups[""], top, DATA | Flag.RDONLY)
        return
    # Beside version 1 the unified hierarchy has nothing to read.
    for name, directory in groups.items():
        if name:
            os.mkdir(f"{top}/{name}")
            mounts.bind(directory, f"{top}/{name}", DATA | Flag.RDONLY)
