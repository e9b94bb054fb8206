"""Files of a gigabyte into a sandbox and out of it."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from bench import floors, processes
from bench.context import GIB, Bench
from bench.processes import watching_memory
from bench.registry import Measured, at_least, at_most, row

_FLAT_MIB = 64.0
_REMOTE = "/home/sandbox/large"


@dataclass(frozen=True, slots=True)
class Copies:
    """A file's way up and down."""

    size_bytes: int
    up_s: float
    down_s: float
    up_growth_mib: float
    down_growth_mib: float


async def copies(bench: Bench) -> Copies:
    sandbox, size = await bench.sandbox(), bench.size(GIB)
    execd = processes.of_sandbox(sandbox.id)
    source, back = bench.directory / "source", bench.directory / "back"
    _fill(source, size)
    async with watching_memory(execd) as up_growth:
        began_s = time.perf_counter()
        await sandbox.files.upload(source, _REMOTE)
        up_s = time.perf_counter() - began_s
    async with watching_memory(execd) as down_growth:
        began_s = time.perf_counter()
        await sandbox.files.download(_REMOTE, back)
        down_s = time.perf_counter() - began_s
    assert sandbox.is_direct
    assert _digest(source) == _digest(back), "the file that came back is another one"
    await sandbox.files.remove(_REMOTE)
    source.unlink()
    back.unlink()
    return Copies(size, up_s, down_s, up_growth.mib, down_growth.mib)


@row("files.upload", "upload of a file of 1 GiB, direct, with its checksum", "MB/s", at_least(300))
async def upload(bench: Bench) -> Measured:
    done = await bench.once(copies)
    return Measured(done.size_bytes / done.up_s / 1e6, compared_with=await _floor(bench))


@row("files.download", "download of it", "MB/s", at_least(300))
async def download(bench: Bench) -> Measured:
    done = await bench.once(copies)
    return Measured(done.size_bytes / done.down_s / 1e6, compared_with=await _floor(bench))


@row("files.memory", "most that execd grew by meanwhile", "MiB", at_most(_FLAT_MIB))
async def memory(bench: Bench) -> Measured:
    done = await bench.once(copies)
    grown = {"up": f"{done.up_growth_mib:.0f} MiB", "down": f"{done.down_growth_mib:.0f} MiB"}
    return Measured(max(done.up_growth_mib, done.down_growth_mib), compared_with=grown)


async def _floor(bench: Bench) -> dict[str, str]:
    return {"copy on disk": f"{await bench.once(floors.file_copy_mb_s):.0f} MB/s"}


def _fill(path: Path, size: int) -> None:
    with path.open("wb") as file:
        for _ in range(size >> 20):
            file.write(os.urandom(1 << 20))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
