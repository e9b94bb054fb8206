"""Tasks end in order, fail loudly, and none is forgotten."""

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable

import pytest

from arenero.errors import Conflict
from arenero.host.tasks import GraceRanOut, TaskExited, TaskScope, serve


async def forever() -> None:
    await asyncio.Event().wait()


def noting(log: list[str], name: str) -> Callable[[], Awaitable[None]]:
    async def run() -> None:
        log.append(f"{name} started")
        try:
            await forever()
        finally:
            log.append(f"{name} ended")

    return run


async def after(delay_s: float, event: asyncio.Event) -> None:
    await asyncio.sleep(delay_s)
    event.set()


async def test_tasks_are_cancelled_last_started_first() -> None:
    log: list[str] = []
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(after(0.01, stop))
        await serve({"a": noting(log, "a"), "b": noting(log, "b")}, stop=stop)
    assert log == ["a started", "b started", "b ended", "a ended"]


async def test_draining_comes_before_cancelling() -> None:
    log: list[str] = []
    stop = asyncio.Event()
    stop.set()

    async def drain() -> None:
        await asyncio.sleep(0.01)
        log.append("drained")

    await serve({"a": noting(log, "a")}, stop=stop, drain=drain)
    assert log[-2:] == ["drained", "a ended"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_signal_stops(number: signal.Signals) -> None:
    log: list[str] = []
    asyncio.get_running_loop().call_later(0.01, os.kill, os.getpid(), number)
    await serve({"a": noting(log, "a")})
    assert log == ["a started", "a ended"]


async def test_second_signal_cuts_the_draining_short() -> None:
    loop = asyncio.get_running_loop()
    for delay_s in (0.01, 0.05):
        loop.call_later(delay_s, os.kill, os.getpid(), signal.SIGTERM)
    started_s = loop.time()
    with pytest.raises(GraceRanOut):
        await serve({"a": forever}, drain=forever, grace_s=30)
    assert loop.time() - started_s < 5


async def test_grace_that_ran_out_is_told() -> None:
    stop = asyncio.Event()
    stop.set()
    with pytest.raises(GraceRanOut):
        await serve({"a": forever}, stop=stop, drain=forever, grace_s=0.01)


async def test_failing_task_ends_all_the_others() -> None:
    log: list[str] = []

    async def fail() -> None:
        raise ValueError("broken")

    with pytest.raises(ExceptionGroup) as caught:
        await serve({"a": noting(log, "a"), "b": fail})
    assert caught.group_contains(ValueError, match="broken")
    assert log == ["a started", "a ended"]


async def test_task_that_returns_early_is_an_error() -> None:
    async def leave() -> None:
        return

    with pytest.raises(ExceptionGroup) as caught:
        await serve({"a": forever, "brief": leave})
    assert caught.group_contains(TaskExited, match="brief")


async def test_failing_drain_is_told() -> None:
    stop = asyncio.Event()
    stop.set()

    async def drain() -> None:
        raise ValueError("broken")

    with pytest.raises(ExceptionGroup) as caught:
        await serve({"a": forever}, stop=stop, drain=drain)
    assert caught.group_contains(ValueError)


async def test_scope_isolates_failures_and_reports_them(caplog: pytest.LogCaptureFixture) -> None:
    failed: list[tuple[str, str]] = []
    done: list[str] = []

    async def fail(error: Exception) -> None:
        raise error

    async def work() -> None:
        await asyncio.sleep(0.01)
        done.append("work")

    with caplog.at_level(logging.WARNING):
        async with TaskScope("sagas", on_error=lambda name, error: failed.append((name, str(error)))) as scope:
            scope.spawn("a", fail(Conflict("raced")))
            scope.spawn("b", fail(KeyError("defect")))
            scope.spawn("c", work())
            await scope.drain()
    assert done == ["work"]
    assert failed == [("a", "raced"), ("b", "'defect'")]
    assert [record.getMessage() for record in caplog.records] == ["task.failed", "task.defect"]


async def test_scope_runs_one_of_a_name_at_a_time() -> None:
    async with TaskScope("s") as scope:
        assert scope.spawn("a", forever())
        assert not scope.spawn("a", forever())
        assert (len(scope), "a" in scope) == (1, True)
        scope.cancel("a")
        await scope.wait("a")
        await asyncio.sleep(0)
        assert scope.spawn("a", forever())


async def test_leaving_a_scope_cancels_and_waits() -> None:
    log: list[str] = []
    async with TaskScope("s") as scope:
        scope.spawn("a", noting(log, "a")())  # type: ignore[arg-type]
        await asyncio.sleep(0)
    assert log == ["a started", "a ended"]
    with pytest.raises(RuntimeError):
        scope.spawn("b", forever())


async def test_waiting_for_nothing_returns() -> None:
    async with TaskScope("s") as scope:
        await scope.wait("nothing")
        scope.cancel("nothing")
        await scope.drain()
