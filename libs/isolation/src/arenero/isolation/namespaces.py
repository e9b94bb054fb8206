"""Namespaces: make them, map ids into them, see which ones this host permits.

A *map* says which ids inside a user namespace stand for which ids outside. Root may map any ids; an ordinary user only
its own one, unless `newuidmap` is installed and /etc/subuid grants it a range.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import shutil
import socket
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Final

from arenero.isolation import forking, syscalls

_SIOCGIFFLAGS: Final = 0x8913
_SIOCSIFFLAGS: Final = 0x8914
_IFF_UP: Final = 0x1


class Namespace(IntFlag):
    """Kinds of namespaces, by the flag of clone(2)."""

    MOUNT = 0x00020000
    CGROUP = 0x02000000
    UTS = 0x04000000
    IPC = 0x08000000
    USER = 0x10000000
    PID = 0x20000000
    NETWORK = 0x40000000


@dataclass(frozen=True, slots=True)
class IdMap:
    """A run of ids: `inside` + n stands for `outside` + n, for all n below `count`."""

    inside: int
    outside: int
    count: int

    def to_outside(self, inside: int) -> int | None:
        """Return the id outside, or None when this run does not hold it."""
        offset = inside - self.inside
        return self.outside + offset if 0 <= offset < self.count else None


def to_outside(maps: Sequence[IdMap], inside: int) -> int:
    """Return the id outside.

    Raises:
        ValueError: No run holds it.
    """
    for run in maps:
        found = run.to_outside(inside)
        if found is not None:
            return found
    raise ValueError(f"id {inside} is not mapped")


def format_map(maps: Sequence[IdMap]) -> str:
    """Return the text for /proc/PID/uid_map."""
    return "".join(f"{run.inside} {run.outside} {run.count}\n" for run in maps)


def write_maps(pid: int, uids: Sequence[IdMap], gids: Sequence[IdMap]) -> None:
    """Map the ids of a process that is alone in a new user namespace; as root, or its own ids only.

    Raises:
        OSError: EPERM when this process may not map these ids.
    """
    if os.geteuid() != 0:
        # Whoever maps its own group must give up changing groups first; the kernel insists.
        _write(f"/proc/{pid}/setgroups", "deny")
    _write(f"/proc/{pid}/uid_map", format_map(uids))
    _write(f"/proc/{pid}/gid_map", format_map(gids))


def write_maps_by_newuidmap(pid: int, uids: Sequence[IdMap], gids: Sequence[IdMap]) -> None:
    """Map a range that /etc/subuid and /etc/subgid grant, as an ordinary user.

    Raises:
        OSError: The set-user-id programs are missing or refuse.
    """
    for program, maps in (("newuidmap", uids), ("newgidmap", gids)):
        words = [str(number) for run in maps for number in (run.inside, run.outside, run.count)]
        done = subprocess.run([program, str(pid), *words], capture_output=True, check=False, text=True)
        if done.returncode:
            raise OSError(done.returncode, f"{program}: {done.stderr.strip()}")


def make_user_namespace(uids: Sequence[IdMap], gids: Sequence[IdMap]) -> int:
    """Return a descriptor of a new user namespace with these maps. As root."""
    with forking.pausing_child(Namespace.USER) as pid:
        write_maps(pid, uids, gids)
        return os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)


def granted_ranges() -> tuple[IdMap | None, IdMap | None]:
    """Return this user's first range of /etc/subuid and of /etc/subgid, mapped to 1 and up."""
    uid = os.getuid()
    names = [str(uid)]
    with contextlib.suppress(KeyError):
        names.append(pwd.getpwuid(uid).pw_name)
    return find_range("/etc/subuid", names), find_range("/etc/subgid", names)


def has_newuidmap() -> bool:
    """Whether the programs that map a range for an ordinary user are installed."""
    return shutil.which("newuidmap") is not None and shutil.which("newgidmap") is not None


def bring_up_loopback() -> None:
    """Set the interface `lo` of this network namespace up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as control:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16xH14x", fcntl.ioctl(control, _SIOCGIFFLAGS, request))[0]
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))


def allow_low_ports() -> None:
    """Let everybody in this network namespace bind ports below 1024. Where the setting can't be written, nobody may."""
    with contextlib.suppress(OSError):
        _write("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0")


def probe(kind: Namespace, *, inside_user_namespace: bool = False) -> str:
    """Return why this host refuses a kind of namespace, or an empty text when it permits it. Really tries."""

    def attempt() -> str:
        if inside_user_namespace:
            syscalls.unshare(Namespace.USER)
        syscalls.unshare(kind)
        return ""

    try:
        return str(forking.ask(attempt))
    except OSError as error:
        return error.strerror or str(error)


def find_range(path: str, names: Sequence[str]) -> IdMap | None:
    """Return the first range that a file like /etc/subuid grants to one of the names, mapped to 1 and up."""
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            rows = [line.strip().split(":") for line in lines]
    except OSError:
        return None
    for row in rows:
        if len(row) == 3 and row[0] in names and row[1].isdigit() and row[2].isdigit() and int(row[2]) > 0:
            return IdMap(1, int(row[1]), int(row[2]))
    return None


def _write(path: str, text: str) -> None:
    # One write(2): the kernel takes a map whole or not at all.
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
