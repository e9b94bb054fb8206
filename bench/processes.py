"""What processes use, as the kernel tells it in /proc."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

KIB = 1024
_SAMPLE_S = 0.02


def tree_of(root: int) -> list[int]:
    """Return a process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for pid in pids():
        children.setdefault(parent_of(pid), []).append(pid)
    found, left = [], [root]
    while left:
        pid = left.pop()
        found.append(pid)
        left.extend(children.get(pid, []))
    return found


def pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def parent_of(pid: int) -> int:
    """Return its parent; 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def of_sandbox(sandbox_id: str) -> list[int]:
    """Return the processes that live in a sandbox: those whose mounts come from its directory."""
    found = []
    for pid in pids():
        try:
            mounts = Path(f"/proc/{pid}/mountinfo").read_text()
        except OSError:
            continue
        if f"/{sandbox_id}/" in mounts:
            found.append(pid)
    return found


def pss_bytes(processes: Iterable[int]) -> int:
    """Return the memory of processes, shared pages in proportion; those that are gone count nothing."""
    return sum(_field(f"/proc/{pid}/smaps_rollup", "Pss:") for pid in processes)


def rss_bytes(processes: Iterable[int]) -> int:
    """Return the resident memory of processes, shared pages in each."""
    return sum(_field(f"/proc/{pid}/status", "VmRSS:") for pid in processes)


def _field(path: str, name: str) -> int:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * KIB for line in lines if line.startswith(name)), 0)


@dataclass(slots=True)
class Growth:
    """How much the memory of some processes grew over what it was at the beginning."""

    before_bytes: int
    most_bytes: int

    @property
    def mib(self) -> float:
        return (self.most_bytes - self.before_bytes) / KIB**2


@asynccontextmanager
async def watching_memory(processes: list[int]) -> AsyncIterator[Growth]:
    """Sample the resident memory of processes while the block runs."""
    assert processes, "there is no process to watch"
    before = rss_bytes(processes)
    growth = Growth(before, before)

    async def sample() -> None:
        while True:
            growth.most_bytes = max(growth.most_bytes, rss_bytes(processes))
            await asyncio.sleep(_SAMPLE_S)

    async with asyncio.TaskGroup() as group:
        sampling = group.create_task(sample())
        yield growth
        sampling.cancel()
    growth.most_bytes = max(growth.most_bytes, rss_bytes(processes))
