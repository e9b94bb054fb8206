"""Running a command that does nothing."""

from __future__ import annotations

from arenero.sdk import Sandbox
from bench import floors
from bench.context import Bench
from bench.registry import Measured, at_most, of, row
from bench.samples import repeat_ms

_EXECS = 300


async def exec_ms(sandbox: Sandbox, count: int) -> list[float]:
    async def run() -> None:
        result = await sandbox.exec(["true"])
        assert result.ok, result

    return await repeat_ms(run, count, warm_up=10)


@row("exec.direct", "exec of `true`, straight to execd", "ms", at_most(3.0))
async def direct(bench: Bench) -> Measured:
    sandbox = await bench.sandbox()
    times_ms = await exec_ms(sandbox, bench.count(_EXECS))
    assert sandbox.is_direct
    return of(times_ms, compared_with=await _floors(bench))


@row("exec.gateway", "exec of `true`, through the gateway", "ms", at_most(4.5))
async def through_gateway(bench: Bench) -> Measured:
    sandbox = await bench.sandbox(direct=False)
    times_ms = await exec_ms(sandbox, bench.count(_EXECS))
    assert not sandbox.is_direct
    return of(times_ms, compared_with=await _floors(bench))


async def _floors(bench: Bench) -> dict[str, str]:
    call_ms, spawn_ms = await bench.once(floors.bare_call_ms), await bench.once(floors.spawn_ms)
    return {"bare gRPC call": f"{call_ms:.2f} ms", "posix_spawn": f"{spawn_ms:.2f} ms"}
