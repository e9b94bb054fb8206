"""The counter of processes that lack of memory ended."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from arenero.execd.memory import MemoryWatch


@pytest.mark.parametrize(
    ("content", "kills"),
    [
        ("low 0\nhigh 0\nmax 5\noom 2\noom_kill 3\noom_group_kill 0\n", 3),
        ("oom_kill_disable 0\nunder_oom 0\noom_kill 7\n", 7),
        ("under_oom 0\n", 0),
        ("oom_kill x\n", 0),
    ],
    ids=["v2", "v1", "old v1", "nonsense"],
)
def test_counter_is_read_anew_each_time(tmp_path: Path, content: str, kills: int) -> None:
    file = tmp_path / "events"
    file.write_text(content)
    fd = os.open(file, os.O_RDONLY)
    try:
        watch = MemoryWatch(fd)
        assert watch.kills() == kills
        file.write_text("oom_kill 99\n")
        assert watch.kills() == 99
    finally:
        os.close(fd)
    assert watch.kills() == 0, "a closed descriptor is no reason to fail an exec"


def test_without_a_counter_there_are_none() -> None:
    assert MemoryWatch(-1).kills() == 0
