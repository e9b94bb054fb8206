"""Files of a gigabyte into a sandbox and out of it.

Each way is gone twice, and the second time counts. In a virtual machine whose host takes free memory back, the first
gigabyte of new files is not written at the speed of memory: a plain `dd` there was measured with 0.3 GB/s at first, and
with 2.4 GB/s right after its file was deleted. What the first time gave is reported too.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from arenero.sdk import Sandbox
from bench import floors, processes
from bench.context import GIB, Bench
from bench.processes import watching_memory
from bench.registry import Measured, at_least, at_most, row

_FLAT_MIB = 64.0
_REMOTE = "/home/sandbox/large"


@dataclass(frozen=True, slots=True)
class Way:
    """What one direction took."""

    first_mb_s: float
    mb_s: float
    growth_mib: float


@dataclass(frozen=True, slots=True)
class Copies:
    """A file's way up and down."""

    up: Way
    down: Way


async def copies(bench: Bench) -> Copies:
    sandbox, size = await bench.sandbox(), bench.size(GIB)
    source, back = bench.directory / "source", bench.directory / "back"
    _fill(source, size)

    async def up() -> None:
        await sandbox.files.upload(source, _REMOTE)

    async def down() -> None:
        await sandbox.files.download(_REMOTE, back)

    async def forget_up() -> None:
        await sandbox.files.remove(_REMOTE)

    async def forget_down() -> None:
        assert _digest(source) == _digest(back), "the file that came back is another one"
        back.unlink()

    found = Copies(await _twice(sandbox, size, up, forget_up), await _twice(sandbox, size, down, forget_down))
    assert sandbox.is_direct
    await forget_down()
    await forget_up()
    source.unlink()
    return found


async def _twice(
    sandbox: Sandbox, size: int, copy: Callable[[], Awaitable[None]], forget: Callable[[], Awaitable[None]]
) -> Way:
    rates = []
    async with watching_memory(processes.of_sandbox(sandbox.id)) as growth:
        for is_last in (False, True):
            began_s = time.perf_counter()
            await copy()
            rates.append(size / (time.perf_counter() - began_s) / 1e6)
            if not is_last:
                await forget()
    return Way(rates[0], rates[1], growth.mib)


@row("files.upload", "upload of a file of 1 GiB, direct, with its checksum", "MB/s", at_least(300))
async def upload(bench: Bench) -> Measured:
    way = (await bench.once(copies)).up
    return Measured(way.mb_s, compared_with=await _beside(bench, way))


@row("files.download", "download of it", "MB/s", at_least(300))
async def download(bench: Bench) -> Measured:
    way = (await bench.once(copies)).down
    return Measured(way.mb_s, compared_with=await _beside(bench, way))


@row("files.memory", "most that execd grew by meanwhile", "MiB", at_most(_FLAT_MIB))
async def memory(bench: Bench) -> Measured:
    done = await bench.once(copies)
    grown = {"up": f"{done.up.growth_mib:.0f} MiB", "down": f"{done.down.growth_mib:.0f} MiB"}
    return Measured(max(done.up.growth_mib, done.down.growth_mib), compared_with=grown)


async def _beside(bench: Bench, way: Way) -> dict[str, str]:
    first, floor = f"{way.first_mb_s:.0f} MB/s", await bench.once(floors.file_copy_mb_s)
    return {"the first time": first, "copy on disk": f"{floor:.0f} MB/s"}


def _fill(path: Path, size: int) -> None:
    with path.open("wb") as file:
        for _ in range(size >> 20):
            file.write(os.urandom(1 << 20))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
