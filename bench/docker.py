"""`docker run` of the smallest possible image, to compare with: only where an engine answers."""

from __future__ import annotations

import asyncio
import io
import platform
import shutil
import struct
import subprocess
import tarfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.registry import Skipped
from bench.samples import repeat_ms

_IMAGE = "arenero-bench-true:latest"
_TIMEOUT_S = 60.0
_EXIT_0 = {
    "x86_64": (62, bytes.fromhex("b83c000000" + "31ff" + "0f05")),  # mov eax, 60; xor edi, edi; syscall
    "aarch64": (183, bytes.fromhex("000080d2" + "a80b80d2" + "010000d4")),  # mov x0, 0; mov x8, 93; svc 0
}


async def run_ms(count: int) -> list[float]:
    """Return how long each of some `docker run --rm IMAGE true` takes.

    Raises:
        Skipped: There is no Docker that could be used.
    """
    async with _image():

        async def run() -> None:
            await _docker("run", "--rm", _IMAGE, "/true")

        return await repeat_ms(run, count, warm_up=1)


@asynccontextmanager
async def _image() -> AsyncIterator[None]:
    if shutil.which("docker") is None:
        raise Skipped("no docker here")
    if platform.machine() not in _EXIT_0:
        raise Skipped(f"no image for {platform.machine()}")
    try:
        await _docker("version")
    except (subprocess.CalledProcessError, TimeoutError):
        raise Skipped("no Docker Engine answers") from None
    await _docker("import", "-", _IMAGE, given=_archive())
    try:
        yield
    finally:
        await _docker("rmi", "--force", _IMAGE)


async def _docker(*words: str, given: bytes = b"") -> None:
    process = await asyncio.create_subprocess_exec(
        "docker", *words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    async with asyncio.timeout(_TIMEOUT_S):
        _, errors = await process.communicate(given)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, ["docker", *words], stderr=errors)


def _archive() -> bytes:
    """Return an image's content: /true and nothing else."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo("true")
        content = program()
        entry.size, entry.mode = len(content), 0o755
        archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def program() -> bytes:
    """Return a static executable that exits with 0 and does nothing else."""
    machine, code = _EXIT_0[platform.machine()]
    base, header_bytes = 0x400000, 64 + 56
    size = header_bytes + len(code)
    identity = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", identity, 2, machine, 1, base + header_bytes, 64, 0, 0, 64, 56, 1, 0, 0, 0
    )
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, size, size, 0x1000)
    return header + segment + code
