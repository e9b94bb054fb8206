"""What runs and listens in the sandbox, as /proc shows it: each process but execd's own, each listening socket."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from arenero.execd import procfs

MAX_ARGUMENT_BYTES: Final = 4096
_CGROUP: Final = re.compile(rb"/(exec-\d+)(?:/|$)", re.MULTILINE)
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
_LISTEN: Final = "0A"
_UNCONNECTED: Final = "07"
_STATE_OF: Final = {"tcp": _LISTEN, "tcp6": _LISTEN, "udp": _UNCONNECTED, "udp6": _UNCONNECTED}


@dataclass(frozen=True, slots=True)
class Process:
    """One process."""

    pid: int
    parent: int
    uid: int
    state: str
    name: str
    args: tuple[bytes, ...]
    rss_bytes: int
    cpu_s: float
    exec_id: str
    """The exec that it belongs to; empty when none is known."""


@dataclass(frozen=True, slots=True)
class Port:
    """One listening socket."""

    protocol: str
    address: str
    port: int
    pid: int
    """The process that holds it; 0 when unknown."""


def list_processes(by_cgroup: Mapping[str, str], by_session: Mapping[int, str]) -> list[Process]:
    """Return the processes by pid, given the exec ids by cgroup and by session."""
    own = {os.getpid(), os.getppid()}
    found = []
    for stat in procfs.processes():
        if stat.pid in own:
            continue
        exec_id = by_cgroup.get(_cgroup_of(stat.pid)) or by_session.get(stat.session, "")
        try:
            found.append(_describe(stat, exec_id))
        except OSError:
            # It has ended meanwhile.
            continue
    return found


def list_ports() -> list[Port]:
    """Return the listening sockets of the sandbox's network namespace, by protocol and port."""
    rows = [(protocol, row) for protocol in _STATE_OF for row in _socket_rows(protocol)]
    holders = _socket_holders() if rows else {}
    ports = [
        Port(protocol, _address_of(row[1]), int(row[1].rpartition(":")[2], 16), holders.get(row[9], 0))
        for protocol, row in rows
    ]
    return sorted(set(ports), key=lambda port: (port.protocol, port.port, port.address))


def _describe(stat: procfs.Stat, exec_id: str) -> Process:
    raw = procfs.read(stat.pid, "cmdline", MAX_ARGUMENT_BYTES)
    return Process(
        pid=stat.pid,
        parent=stat.parent,
        uid=os.stat(f"/proc/{stat.pid}").st_uid,
        state=stat.state,
        name=stat.name,
        args=tuple(raw.removesuffix(b"\0").split(b"\0")) if raw else (),
        rss_bytes=stat.rss_pages * _PAGE_BYTES,
        cpu_s=stat.cpu_ticks / _TICKS_PER_S,
        exec_id=exec_id,
    )


def _cgroup_of(pid: int) -> str:
    """Return the name of the exec's cgroup that a process is in or below; empty when in none."""
    try:
        found = _CGROUP.search(procfs.read(pid, "cgroup"))
    except OSError:
        return ""
    return found.group(1).decode() if found else ""


def _socket_rows(protocol: str) -> list[list[str]]:
    """Return the rows of /proc/net/PROTOCOL that listen."""
    try:
        with open(f"/proc/net/{protocol}", encoding="ascii", errors="replace") as table:
            rows = [line.split() for line in table]
    except OSError:
        return []
    return [row for row in rows if len(row) > 9 and row[3] == _STATE_OF[protocol]]


def _address_of(place: str) -> str:
    """Return the address of `HEX:PORT`, which is in the machine's byte order by words of 32 bits."""
    digits = place.partition(":")[0]
    words = [bytes.fromhex(digits[at : at + 8])[::-1] for at in range(0, len(digits), 8)]
    return socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, b"".join(words))


def _socket_holders() -> dict[str, int]:
    """Return pids by a socket's inode; only of processes whose descriptors execd may see."""
    holders: dict[str, int] = {}
    for pid in procfs.pids():
        try:
            names = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for name in names:
            try:
                target = os.readlink(f"/proc/{pid}/fd/{name}")
            except OSError:
                continue
            if target.startswith("socket:["):
                holders.setdefault(target[8:-1], pid)
    return holders
