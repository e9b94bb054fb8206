"""Output of a command: how much of it per second, byte for byte, and what it costs in memory."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from arenero.sdk import Exit, Output, Sandbox
from bench import floors, processes
from bench.context import GIB, Bench
from bench.processes import watching_memory
from bench.registry import Measured, at_least, at_most, row

_BLOCK_BYTES = 64 << 20
_FLAT_MIB = 64.0
_BLOCK = "/home/sandbox/block"


@dataclass(frozen=True, slots=True)
class Transfer:
    """One command's output."""

    bytes_done: int
    took_s: float
    execd_growth_mib: float
    gateway_growth_mib: float

    @property
    def mb_s(self) -> float:
        return self.bytes_done / self.took_s / 1e6


class Checker:
    """Compares what comes with what was stored, at the speed of memory; comparing views costs more than all else."""

    def __init__(self, block: bytes) -> None:
        self._block = block
        self.offset = 0

    def take(self, data: bytes) -> None:
        at = self.offset % len(self._block)
        room = len(self._block) - at
        is_right = self._block.startswith(data, at) if len(data) <= room else self._is_right_across(data, at, room)
        assert is_right, f"wrong bytes between {self.offset} and {self.offset + len(data)}"
        self.offset += len(data)

    def _is_right_across(self, data: bytes, at: int, room: int) -> bool:
        return self._block[at:] == data[:room] and self._block.startswith(data[room:])


async def transfer(bench: Bench, sandbox: Sandbox) -> Transfer:
    block = os.urandom(bench.size(_BLOCK_BYTES))
    await sandbox.files.write(_BLOCK, block)
    times = max(1, bench.size(GIB) // len(block))
    checker, exit_ = Checker(block), None
    platform = await bench.platform()
    execd = processes.of_sandbox(sandbox.id)
    gateway = [platform.service_pid("gateway")]
    async with watching_memory(execd) as execd_growth, watching_memory(gateway) as gateway_growth:
        began_s = time.perf_counter()
        async for frame in sandbox.stream(["cat", *[_BLOCK] * times]):
            if isinstance(frame, Output):
                checker.take(frame.data)
            else:
                assert isinstance(frame, Exit), frame
                exit_ = frame
        took_s = time.perf_counter() - began_s
    await sandbox.files.remove(_BLOCK)
    assert exit_ is not None
    assert exit_.ok, exit_
    assert checker.offset == times * len(block), f"{checker.offset} of {times * len(block)} bytes"
    return Transfer(checker.offset, took_s, execd_growth.mib, gateway_growth.mib)


async def direct_transfer(bench: Bench) -> Transfer:
    return await transfer(bench, await bench.sandbox())


async def gateway_transfer(bench: Bench) -> Transfer:
    return await transfer(bench, await bench.sandbox(direct=False))


@row("output.direct", "output of a command, 1 GiB, straight from execd", "MB/s", at_least(450))
async def direct(bench: Bench) -> Measured:
    done = await bench.once(direct_transfer)
    return Measured(done.mb_s, compared_with=await _floor(bench))


@row("output.gateway", "the same through the gateway", "MB/s", at_least(300))
async def through_gateway(bench: Bench) -> Measured:
    done = await bench.once(gateway_transfer)
    return Measured(done.mb_s, compared_with=await _floor(bench))


@row("output.memory", "most that execd or the gateway grew by meanwhile", "MiB", at_most(_FLAT_MIB))
async def memory(bench: Bench) -> Measured:
    first, second = await bench.once(direct_transfer), await bench.once(gateway_transfer)
    grown = {
        "execd direct": first.execd_growth_mib,
        "execd through": second.execd_growth_mib,
        "gateway": second.gateway_growth_mib,
    }
    return Measured(max(grown.values()), compared_with={name: f"{mib:.0f} MiB" for name, mib in grown.items()})


async def _floor(bench: Bench) -> dict[str, str]:
    return {"bare gRPC stream": f"{await bench.once(floors.bare_stream_mb_s):.0f} MB/s"}
