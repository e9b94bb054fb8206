"""The phases of the end, over real processes and a clock of the test's own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from arenero.execd import shutdown
from arenero.execd.shutdown import FLUSH_TIMEOUT_S, KILL_TIMEOUT_S, ExitCode, Phase, Shutdown


@pytest.fixture
def stubborn() -> Iterator[subprocess.Popen[bytes]]:
    """A process that ignores SIGTERM."""
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        yield child
        child.kill()


def alive(child: subprocess.Popen[bytes]) -> list[int]:
    return [] if child.poll() is not None else [child.pid]


def test_all_is_done_at_once_when_there_is_nothing() -> None:
    end = Shutdown(ExitCode.STOPPED, 100.0, list)
    assert end.step(0.0, server_runs=False) is Phase.DONE


def test_server_gets_a_moment_for_its_last_frames() -> None:
    end = Shutdown(ExitCode.STOPPED, 100.0, list)
    assert end.step(10.0, server_runs=True) is Phase.FLUSHING
    assert end.step(10.0 + FLUSH_TIMEOUT_S - 0.01, server_runs=True) is Phase.FLUSHING
    assert end.step(10.0 + FLUSH_TIMEOUT_S, server_runs=True) is Phase.DONE


def test_process_is_asked_first_and_killed_after_the_grace(stubborn: subprocess.Popen[bytes]) -> None:
    end = Shutdown(ExitCode.STOPPED, 100.0, lambda: alive(stubborn))
    assert end.step(99.9, server_runs=True) is Phase.ASKING
    assert end.step(100.0, server_runs=True) is Phase.KILLING
    assert stubborn.wait(5) == -signal.SIGKILL
    assert end.step(100.1, server_runs=True) is Phase.FLUSHING


def test_process_that_obeys_is_not_waited_for() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        end = Shutdown(ExitCode.STOPPED, 100.0, lambda: alive(child))
        assert child.wait(5) == -signal.SIGTERM
        assert end.step(1.0, server_runs=False) is Phase.DONE


def test_process_that_cannot_be_killed_does_not_hold_up_the_end() -> None:
    end = Shutdown(ExitCode.STOPPED, 100.0, lambda: [2**22 + 1])
    assert end.step(100.0, server_runs=False) is Phase.KILLING
    assert end.step(100.0 + KILL_TIMEOUT_S, server_runs=False) is Phase.DONE


def test_second_reason_hurries_and_the_first_stays_the_code(stubborn: subprocess.Popen[bytes]) -> None:
    end = Shutdown(ExitCode.STOPPED, 100.0, lambda: alive(stubborn))
    end.hurry(50.0)
    end.hurry(70.0)
    assert end.step(49.0, server_runs=True) is Phase.ASKING
    assert end.step(50.0, server_runs=True) is Phase.KILLING
    assert end.code is ExitCode.STOPPED


def test_workloads_are_all_below_but_its_own() -> None:
    with subprocess.Popen(
        ["sh", "-c", "sleep 60 & echo; wait"], stdout=subprocess.PIPE, start_new_session=True
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        found = shutdown.workloads(frozenset())
        without = shutdown.workloads(frozenset({child.pid}))
        os.killpg(child.pid, signal.SIGKILL)
    assert child.pid in found
    assert child.pid not in without
    assert len(found) >= 2


def test_codes_differ_from_those_of_programs_and_shells() -> None:
    assert len({int(code) for code in ExitCode}) == len(ExitCode)
    assert all(code == 0 or 64 <= code < 126 for code in ExitCode)
