"""When an exec must end: by its timeout or by silence."""

from __future__ import annotations

import pytest

from arenero.execd.deadlines import Deadlines
from arenero.execd.outcome import Cause


def test_without_deadlines_there_is_nothing_to_look_for() -> None:
    deadlines = Deadlines(None, None, 100.0)
    assert deadlines.next_s() is None
    assert deadlines.passed(1e9) is None


def test_timeout_counts_from_the_start_whatever_is_written() -> None:
    deadlines = Deadlines(10.0, None, 100.0)
    deadlines.last_output_s = 109.0
    assert deadlines.next_s() == 110.0
    assert deadlines.passed(109.9) is None
    assert deadlines.passed(110.0) is Cause.DEADLINE


def test_silence_counts_from_the_last_output() -> None:
    deadlines = Deadlines(None, 5.0, 100.0)
    assert deadlines.next_s() == 105.0
    deadlines.last_output_s = 104.0
    assert deadlines.passed(105.0) is None
    assert deadlines.next_s() == 109.0
    assert deadlines.passed(109.0) is Cause.IDLE_OUTPUT_DEADLINE


@pytest.mark.parametrize(("timeout_s", "idle_s", "next_s"), [(10.0, 5.0, 105.0), (3.0, 5.0, 103.0)])
def test_the_earlier_one_is_looked_for(timeout_s: float, idle_s: float, next_s: float) -> None:
    assert Deadlines(timeout_s, idle_s, 100.0).next_s() == next_s


def test_timeout_is_the_cause_when_both_have_passed() -> None:
    assert Deadlines(5.0, 5.0, 100.0).passed(105.0) is Cause.DEADLINE
