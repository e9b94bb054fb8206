"""Starting the platform, and what it costs to have it."""

from __future__ import annotations

import asyncio

from bench import processes
from bench.context import Bench
from bench.platform import platform
from bench.registry import Measured, at_most, of, row

_STARTS = 3
_SETTLE_S = 5.0
MB = 1e6


@row("startup.ready", "arenero up to ready, on an empty state directory", "s", at_most(3.0))
async def ready(bench: Bench) -> Measured:
    """Each start is the first one of its own instance; the shared one counts too."""
    times_s = [(await bench.platform()).ready_s]
    for _ in range(bench.count(_STARTS, least=1) - 1):
        async with platform() as fresh:
            times_s.append(fresh.ready_s)
    return of(times_s)


@row("startup.memory", "all services and nats-server together, idle", "MB", at_most(400))
async def memory(bench: Bench) -> Measured:
    """Shares of pages (PSS) of everything that runs without a sandbox, the supervisor and the zygote included."""
    running = await bench.platform()
    await asyncio.sleep(_SETTLE_S * min(1.0, bench.scale))
    parts = {
        name: processes.pss_bytes(processes.tree_of(running.service_pid(name)))
        for name in ("gateway", "lifecycle", "snapshot", "warmpool", "vault")
    }
    parts["nats"] = processes.pss_bytes([running.state()["nats_pid"]])
    total = processes.pss_bytes(running.processes())
    parts["supervisor"] = total - sum(parts.values())
    return Measured(total / MB, compared_with={name: f"{part / MB:.0f} MB" for name, part in parts.items()})
