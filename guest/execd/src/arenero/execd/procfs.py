"""What /proc says about processes. It is read without trust: entries vanish, and names hold anything."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_READ_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Stat:
    """One process, from /proc/PID/stat. Times are in clock ticks, memory in pages."""

    pid: int
    name: str
    state: str
    parent: int
    group: int
    session: int
    cpu_ticks: int
    start_ticks: int
    rss_pages: int

    @property
    def ended(self) -> bool:
        """It has ended and nobody has collected it yet."""
        return self.state in "ZX"


def parse_stat(raw: bytes) -> Stat:
    """Read a line of /proc/PID/stat. The name may hold spaces and parentheses, so it ends at the last `)`."""
    opened, closed = raw.index(b"("), raw.rindex(b")")
    rest = raw[closed + 2 :].split()
    return Stat(
        pid=int(raw[:opened]),
        name=raw[opened + 1 : closed].decode("utf-8", "backslashreplace"),
        state=rest[0].decode(),
        parent=int(rest[1]),
        group=int(rest[2]),
        session=int(rest[3]),
        cpu_ticks=int(rest[11]) + int(rest[12]),
        start_ticks=int(rest[19]),
        rss_pages=int(rest[21]),
    )


def read(pid: int, file: str, limit_bytes: int = _READ_BYTES) -> bytes:
    """Return the start of /proc/PID/FILE.

    Raises:
        OSError: The process is gone, or this one may not look.
    """
    fd = os.open(f"/proc/{pid}/{file}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, limit_bytes)
    finally:
        os.close(fd)


def find(pid: int) -> Stat | None:
    """Return a process, or None when it is gone."""
    try:
        return parse_stat(read(pid, "stat"))
    except (OSError, ValueError, IndexError):
        return None


def pids() -> list[int]:
    """Return the ids of all processes, ascending; empty without /proc."""
    try:
        return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
    except OSError:
        return []


def processes() -> Iterator[Stat]:
    """Yield every process that is still there when its turn comes."""
    return (stat for pid in pids() if (stat := find(pid)) is not None)


def descendants(root: int, found: Iterable[Stat]) -> list[Stat]:
    """Return the processes below one, itself not included, parents before their children."""
    children: dict[int, list[Stat]] = {}
    for stat in found:
        children.setdefault(stat.parent, []).append(stat)
    below: list[Stat] = []
    waiting = [root]
    while waiting:
        level = children.pop(waiting.pop(), [])
        below.extend(level)
        waiting.extend(stat.pid for stat in level)
    return below


def family(leader: int, found: Iterable[Stat]) -> list[Stat]:
    """Return the processes that can be told to come from a session's leader: its session, and what is below that.

    Incomplete by nature: a process that left the session and whose parent has ended can't be told from any other.
    """
    known = list(found)
    members = {stat.pid: stat for stat in known if stat.session == leader}
    for member in list(members.values()):
        members.update({stat.pid: stat for stat in descendants(member.pid, known)})
    return list(members.values())
