import os
import platform

import pytest

from arenero.isolation.syscall_numbers import ARCHITECTURES, numbers_of


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_no_number_is_given_twice(machine: str) -> None:
    numbers = list(numbers_of(machine).values())
    assert len(numbers) == len(set(numbers)) > 300


@pytest.mark.parametrize(
    ("name", "x86_64", "aarch64"),
    [("read", 0, 63), ("write", 1, 64), ("openat", 257, 56), ("clone", 56, 220), ("clone3", 435, 435)],
)
def test_well_known_numbers(name: str, x86_64: int, aarch64: int) -> None:
    assert (numbers_of("x86_64")[name], numbers_of("aarch64")[name]) == (x86_64, aarch64)


def test_newer_calls_have_one_number_everywhere() -> None:
    ours, theirs = (numbers_of(machine) for machine in ARCHITECTURES)
    assert {name for name in ours if ours[name] >= 424} == {name for name in theirs if theirs[name] >= 424}
    assert all(ours[name] == theirs[name] for name in ours if ours[name] >= 424)


@pytest.mark.skipif(platform.machine() not in ARCHITECTURES, reason="no table for this machine")
def test_this_machine_agrees() -> None:
    import ctypes

    libc = ctypes.CDLL(None)
    assert libc.syscall(numbers_of(platform.machine())["getpid"]) == os.getpid()
