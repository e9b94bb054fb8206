import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from arenero.model.record import ExitFacts
from arenero.runtime.local.watching import LEASE_EXPIRED, Watches, exit_facts, start_time


@pytest.fixture
async def watches() -> AsyncIterator[Watches]:
    watches = Watches()
    yield watches
    watches.close()


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)


def ticks(pid: int) -> int:
    found = start_time(pid)
    assert found is not None
    return found


async def test_an_end_is_seen_and_told_by_whoever_collects(watches: Watches) -> None:
    with sleeper() as process:
        watch = watches.add(process.pid, ticks(process.pid))
        assert watch is not None
        assert not watch.ended.is_set()
        process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(watch.ended.wait(), 5)
        watches.tell(process.pid, signal.SIGTERM)
        assert await watches.status(watch) == signal.SIGTERM


async def test_a_pid_of_another_process_is_not_watched(watches: Watches) -> None:
    with sleeper() as process:
        assert watches.add(process.pid, ticks(process.pid) + 1) is None
        process.kill()


async def test_a_process_that_is_gone_is_not_watched(watches: Watches) -> None:
    with sleeper() as process:
        started = ticks(process.pid)
        process.kill()
        process.wait()
        assert watches.add(process.pid, started) is None
        assert start_time(process.pid) is None


async def test_a_process_is_watched_once(watches: Watches) -> None:
    with sleeper() as process:
        started = ticks(process.pid)
        assert watches.add(process.pid, started) is watches.add(process.pid, started)
        process.kill()


async def test_forgetting_lets_go_of_whoever_waits(watches: Watches) -> None:
    with sleeper() as process:
        watch = watches.add(process.pid, ticks(process.pid))
        assert watch is not None
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(watches.status(watch))
            await asyncio.sleep(0)
            watches.forget((process.pid, ticks(process.pid)))
        assert waiting.result() is None
        process.kill()


async def test_descriptors_are_closed(watches: Watches) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with sleeper() as process:
        watches.add(process.pid, ticks(process.pid))
        watches.close()
        process.kill()
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    ("status", "oom_kills", "stopped", "facts"),
    [
        (0, 0, False, ExitFacts(0, None)),
        (0, 3, False, ExitFacts(0, None)),
        (71 << 8, 0, False, ExitFacts(71, None)),
        (71 << 8, 1, False, ExitFacts(71, None, oom_killed=True)),
        (LEASE_EXPIRED << 8, 5, False, ExitFacts(LEASE_EXPIRED, None)),
        (9, 1, False, ExitFacts(None, 9, oom_killed=True)),
        (9, 1, True, ExitFacts(None, 9)),
        (None, 1, False, ExitFacts(None, None, oom_killed=True)),
        (None, 0, False, ExitFacts(None, None)),
    ],
)
def test_how_it_ended(status: int | None, oom_kills: int, stopped: bool, facts: ExitFacts) -> None:
    assert exit_facts(status, oom_kills, stopped=stopped) == facts
