"""What the sandbox uses: by its counters where there are any, else by /proc."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from arenero.execd.metrics import Meter
from arenero.execd.plan import InitPlan


def test_counters_of_the_cgroup_come_first(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("123456\n")
    (tmp_path / "cpu").write_text("usage_usec 1000000\nuser_usec 1\n")
    memory, cpu = (os.open(tmp_path / name, os.O_RDONLY) for name in ("memory", "cpu"))
    try:
        plan = InitPlan(sandbox_id="x", memory_usage_fd=memory, cpu_usage_fd=cpu, cpus=2.0, memory_bytes=1 << 30)
        meter = Meter(plan)
        first = meter.measure()
        assert first.cpu_used_percent == 0.0
        assert (first.memory_used_bytes, first.memory_limit_bytes, first.cpus) == (123_456, 1 << 30, 2.0)
        began = time.monotonic()
        (tmp_path / "cpu").write_text("usage_usec 1500000\n")
        second = meter.measure()
    finally:
        os.close(memory)
        os.close(cpu)
    most = 0.5 / 2.0 / (time.monotonic() - began) * 100
    assert second.cpu_used_percent > 0
    assert second.cpu_used_percent >= most / 2


@pytest.mark.parametrize(("text", "used_s"), [("2500000000", 2.5), ("usage_usec 2500000\nuser_usec 3\n", 2.5)])
def test_both_kinds_of_processor_counters_are_read(tmp_path: Path, text: str, used_s: float) -> None:
    (tmp_path / "cpu").write_text(text)
    fd = os.open(tmp_path / "cpu", os.O_RDONLY)
    try:
        assert Meter(InitPlan(sandbox_id="x", cpu_usage_fd=fd))._cpu_s([]) == used_s
    finally:
        os.close(fd)


def test_without_counters_processes_are_added_up() -> None:
    sample = Meter(InitPlan(sandbox_id="x")).measure()
    assert sample.cpus == len(os.sched_getaffinity(0))
    assert sample.memory_limit_bytes > 1 << 20
    assert sample.disk_free_bytes > 0
