"""Mounts: the operations that a root file system is built from.

Everything here acts in the mount namespace of the calling process, which is a private one (`make_private` comes first,
so that nothing is seen outside and nothing outside changes the inside). What it takes for the pieces of a root file
system (`/proc` with its masks, a minimal `/dev`) is put together in `rootfs`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from enum import IntFlag
from typing import Final

from arenero.isolation import syscalls


class Flag(IntFlag):
    """Flags of mount(2)."""

    RDONLY = 1
    NOSUID = 2
    NODEV = 4
    NOEXEC = 8
    REMOUNT = 32
    NOATIME = 1024
    BIND = 4096
    RECURSIVE = 16384
    PRIVATE = 1 << 18
    SLAVE = 1 << 19


INERT: Final = Flag.NOSUID | Flag.NODEV
DATA: Final = INERT | Flag.NOEXEC
_ATTRIBUTES: Final = (
    (Flag.RDONLY, syscalls.MOUNT_ATTR_RDONLY),
    (Flag.NOSUID, syscalls.MOUNT_ATTR_NOSUID),
    (Flag.NODEV, syscalls.MOUNT_ATTR_NODEV),
    (Flag.NOEXEC, syscalls.MOUNT_ATTR_NOEXEC),
)
_MOST_TERMINALS: Final = 256
_OPTION_SPECIALS: Final = str.maketrans({"\\": "\\\\", ":": "\\:", ",": "\\,"})


def make_private() -> None:
    """Cut this mount namespace off from the one it was copied from, in both directions."""
    syscalls.mount(None, "/", None, Flag.RECURSIVE | Flag.PRIVATE)


def bind(source: str, target: str, flags: Flag = INERT) -> None:
    """Show a directory or file at another place, without the mounts below it."""
    _attach(syscalls.open_tree(source), target, flags, recursive=False)


def bind_recursive(source: str, target: str, flags: Flag = INERT) -> None:
    """Show a directory at another place with the mounts below it; the flags hold for all of them."""
    _attach(syscalls.open_tree(source, recursive=True), target, flags, recursive=True)


def bind_mapped(source: str, target: str, userns_fd: int, flags: Flag = INERT) -> None:
    """Show a directory at another place with its owners seen through a user namespace's map.

    What belongs to id 5 on disk belongs to that namespace's id 5 there, and the other way round for what is made there.

    Raises:
        OSError: EINVAL when the file system can't do this; EPERM without the right over it.
    """
    fd = syscalls.open_tree(source)
    try:
        syscalls.mount_setattr(fd, set_flags=syscalls.MOUNT_ATTR_IDMAP, userns_fd=userns_fd)
    except OSError:
        os.close(fd)
        raise
    _attach(fd, target, flags, recursive=False)


def set_read_only(target: str) -> None:
    """Make the mount at a path read-only, and leave its other attributes and the mounts below it alone."""
    fd = os.open(target, os.O_PATH | os.O_CLOEXEC)
    try:
        syscalls.mount_setattr(fd, set_flags=syscalls.MOUNT_ATTR_RDONLY)
    finally:
        os.close(fd)


def remount_read_only(target: str, flags: Flag = DATA) -> None:
    """Make what is at a path read-only by a bind mount on itself."""
    bind(target, target, flags | Flag.RDONLY)


def tmpfs(target: str, *, size_bytes: int, mode: int = 0o755, uid: int = 0, gid: int = 0, flags: Flag = INERT) -> None:
    """Mount an empty file system in memory. It is charged to the memory limit of who writes to it."""
    options = f"size={size_bytes},mode={mode:o},uid={uid},gid={gid}"
    syscalls.mount("tmpfs", target, "tmpfs", flags, options)


def overlay(
    target: str, *, lower: Sequence[str], upper: str, work: str, unprivileged: bool = False, flags: Flag = INERT
) -> None:
    """Mount layers on each other; what is written goes to `upper`.

    Args:
        target: Where to mount.
        lower: Read-only layers, the topmost first.
        upper: Layer that takes the changes.
        work: Empty directory in the same file system as `upper`.
        unprivileged: In a user namespace of an ordinary user, where overlayfs keeps its notes in `user.` attributes.
        flags: Flags of mount(2).

    Raises:
        OSError: EROFS when the kernel mounted it read-only, because `work` can't be used; else what mount(2) says.
    """
    parts = [
        "lowerdir=" + ":".join(path.translate(_OPTION_SPECIALS) for path in lower),
        "upperdir=" + upper.translate(_OPTION_SPECIALS),
        "workdir=" + work.translate(_OPTION_SPECIALS),
    ]
    if unprivileged:
        parts.append("userxattr")
    syscalls.mount("overlay", target, "overlay", flags, ",".join(parts))
    if os.statvfs(target).f_flag & os.ST_RDONLY:
        # Not an error to the kernel, which says so in its log alone.
        raise OSError(30, f"mount(overlay on {target}): read-only, since {work} can't be used")


def proc(target: str) -> None:
    """Mount the processes of the PID namespace that this process is in."""
    syscalls.mount("proc", target, "proc", DATA)


def devpts(target: str, *, tty_gid: int) -> None:
    """Mount a private set of pseudo-terminals, of which a bounded number can be open.

    Without a bound of its own it could take all that the host has (`kernel.pty.max`, usually 4096 less 1024 kept back).
    """
    options = f"newinstance,ptmxmode=0666,mode=0620,gid={tty_gid},max={_MOST_TERMINALS}"
    syscalls.mount("devpts", target, "devpts", Flag.NOSUID | Flag.NOEXEC, options)


def mqueue(target: str) -> None:
    """Mount the POSIX message queues of this IPC namespace."""
    syscalls.mount("mqueue", target, "mqueue", DATA)


def hide(path: str) -> None:
    """Cover a file with /dev/null, or a directory with an empty read-only one. A path that isn't there is fine."""
    try:
        kind = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(kind):
        syscalls.mount("tmpfs", path, "tmpfs", DATA | Flag.RDONLY, "size=0,mode=755")
    else:
        _attach(syscalls.open_tree("/dev/null"), path, Flag.NOSUID | Flag.NOEXEC | Flag.RDONLY, recursive=False)


def change_root(new_root: str) -> None:
    """Make a mount the root of this mount namespace and let go of the old one. Ends in the new `/`."""
    os.chdir(new_root)
    # Both old and new root are `.`: the old one is stacked on top and taken off again, with no directory needed.
    syscalls.pivot_root(".", ".")
    syscalls.umount(".", detach=True)
    os.chdir("/")


def _attach(fd: int, target: str, flags: Flag, *, recursive: bool) -> None:
    """Set the attributes of a detached mount, then attach it: it is never visible without them."""
    try:
        attributes = sum(attribute for flag, attribute in _ATTRIBUTES if flags & flag)
        if attributes:
            syscalls.mount_setattr(fd, set_flags=attributes, recursive=recursive)
        syscalls.move_mount(fd, target)
    finally:
        os.close(fd)
