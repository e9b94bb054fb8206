"""Looks on this machine for anything of a sandbox: processes, mounts, namespaces, control groups, files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from arenero.sdk import Sandbox
from arenero.sdk.settings import default_home

NAMESPACES = ("mnt", "pid", "net", "ipc", "uts", "cgroup", "user")


async def namespaces_of(sandbox: Sandbox) -> frozenset[str]:
    """Return the sandbox's own namespaces, as `net:[4026532…]`, asked from inside; without those that are ours too."""
    links = " ".join(f"/proc/self/ns/{kind}" for kind in NAMESPACES)
    result = await sandbox.exec(f"readlink {links}", check=True)
    ours = {os.readlink(f"/proc/self/ns/{kind}") for kind in NAMESPACES}
    return frozenset(result.stdout_text.split()) - ours


def find(sandbox_id: str, namespaces: frozenset[str]) -> dict[str, list[str]]:
    """Return what is left of a sandbox, by kind; all empty when nothing is."""
    return {
        "processes": sorted({pid for pid in _pids() if _is_process_of(pid, sandbox_id, namespaces)}),
        "mounts": sorted({line for pid in _pids() for line in _mounts(pid, sandbox_id)}),
        "namespaces": sorted({name for pid in _pids() for name in _namespaces(pid) & namespaces}),
        "control groups": sorted(_named(Path("/sys/fs/cgroup"), sandbox_id)),
        "files": sorted(name for root in _state_directories() for name in _named(root, sandbox_id)),
    }


def _pids() -> Iterator[str]:
    return (name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid())


def _is_process_of(pid: str, sandbox_id: str, namespaces: frozenset[str]) -> bool:
    words = _read(f"/proc/{pid}/cmdline") + _read(f"/proc/{pid}/cgroup")
    return sandbox_id in words or bool(_namespaces(pid) & namespaces)


def _mounts(pid: str, sandbox_id: str) -> Iterator[str]:
    return (line.split()[4] for line in _read(f"/proc/{pid}/mountinfo").splitlines() if sandbox_id in line)


def _namespaces(pid: str) -> set[str]:
    found = set()
    for kind in NAMESPACES:
        try:
            found.add(os.readlink(f"/proc/{pid}/ns/{kind}"))
        except OSError:
            continue
    return found


def _state_directories() -> list[Path]:
    return [default_home(), *Path(tempfile.gettempdir()).glob("arenero-*")]


def _named(root: Path, sandbox_id: str) -> Iterator[str]:
    for parent, directories, names in os.walk(root):
        yield from (os.path.join(parent, name) for name in [*directories, *names] if sandbox_id in name)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""
