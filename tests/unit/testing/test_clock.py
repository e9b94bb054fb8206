"""The clock of tests moves only when it is told to."""

import pytest

from arenero.testing.clock import ManualClock


def test_both_times_move_together() -> None:
    clock = ManualClock()
    now, monotonic_s = clock.now(), clock.monotonic_s()
    assert (clock.now(), clock.monotonic_s()) == (now, monotonic_s)
    clock.advance(1.5)
    assert (clock.now() - now).total_seconds() == 1.5
    assert clock.monotonic_s() - monotonic_s == 1.5


def test_wall_clock_can_jump_alone() -> None:
    clock = ManualClock()
    now, monotonic_s = clock.now(), clock.monotonic_s()
    clock.jump(-3600)
    assert (clock.now() - now).total_seconds() == -3600
    assert clock.monotonic_s() == monotonic_s


def test_time_does_not_run_backwards() -> None:
    with pytest.raises(ValueError, match="back"):
        ManualClock().advance(-1)
