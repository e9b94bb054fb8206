"""What the machine itself gives, measured in the same run: no row can be faster than its floor."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc

from bench.context import Bench
from bench.samples import quantile, repeat_ms

CHUNK_BYTES = 256 * 1024
_SERVER = f"""
import asyncio, sys
import grpc

chunk = bytes({CHUNK_BYTES})


async def ping(request, context):
    return request


async def stream(request, context):
    for _ in range(int(request) // len(chunk)):
        yield chunk


async def main():
    server = grpc.aio.server()
    methods = dict(
        Ping=grpc.unary_unary_rpc_method_handler(ping), Stream=grpc.unary_stream_rpc_method_handler(stream)
    )
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("floor.Floor", methods),))
    server.add_insecure_port(sys.argv[1])
    await server.start()
    print("ready", flush=True)
    await server.wait_for_termination()


asyncio.run(main())
"""


@asynccontextmanager
async def bare_server() -> AsyncIterator[grpc.aio.Channel]:
    """A grpc.aio server with nothing in it, in a process of its own on a Unix socket, and a channel to it."""
    directory = Path(tempfile.mkdtemp(prefix="arn-floor-"))
    address = f"unix:{directory / 's'}"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _SERVER, address, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        await process.stdout.readline()
        async with grpc.aio.insecure_channel(address) as channel:
            yield channel
    finally:
        process.kill()
        await process.wait()
        shutil.rmtree(directory, ignore_errors=True)


async def bare_call_ms(bench: Bench) -> float:
    """Median of an empty unary call between two processes."""
    async with bare_server() as channel:
        ping: Any = channel.unary_unary("/floor.Floor/Ping")
        return quantile(await repeat_ms(lambda: ping(b"x"), bench.count(300), warm_up=20), 0.5)


async def bare_stream_mb_s(bench: Bench) -> float:
    """Rate of a stream of chunks between two processes, in millions of bytes per second."""
    size = bench.size(1 << 29)
    async with bare_server() as channel:
        stream: Any = channel.unary_stream("/floor.Floor/Stream")
        began_s, done = time.perf_counter(), 0
        async for chunk in stream(str(size).encode()):
            done += len(chunk)
        return done / (time.perf_counter() - began_s) / 1e6


async def spawn_ms(bench: Bench) -> float:
    """Median of starting /bin/true and waiting for its end."""

    async def spawn() -> None:
        _spawn_and_wait()

    return quantile(await repeat_ms(spawn, bench.count(200)), 0.5)


def _spawn_and_wait() -> None:
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)


async def file_copy_mb_s(bench: Bench) -> float:
    """Rate of copying a file by a loop of reads and writes, in millions of bytes per second."""
    size, block = bench.size(1 << 29), 1 << 20
    source, target = bench.directory / "floor-source", bench.directory / "floor-target"
    try:
        with source.open("wb") as file:
            for _ in range(size // block):
                file.write(os.urandom(block))
        began_s = time.perf_counter()
        with source.open("rb", buffering=0) as reading, target.open("wb", buffering=0) as writing:
            while piece := reading.read(block):
                writing.write(piece)
        return size / (time.perf_counter() - began_s) / 1e6
    finally:
        source.unlink(missing_ok=True)
        target.unlink(missing_ok=True)
