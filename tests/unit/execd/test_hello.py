"""What execd says about itself."""

from __future__ import annotations

import re

from arenero.execd.hello import ALWAYS, VERSION, Greeting
from arenero.execd.plan import InitPlan


def test_boot_is_told_once() -> None:
    greeting = Greeting.of(InitPlan(sandbox_id="x", generation=4, boot_spans=(("a", 1, 2),)))
    assert (greeting.sandbox_id, greeting.generation) == ("x", 4)
    assert greeting.take_boot_spans() == (("a", 1, 2),)
    assert greeting.take_boot_spans() == ()


def test_killing_by_cgroup_is_said_only_where_it_can_be_done() -> None:
    assert set(Greeting.of(InitPlan(sandbox_id="x")).capabilities) == set(ALWAYS)
    assert "cgroup-kill" in Greeting.of(InitPlan(sandbox_id="x", cgroup_fd=7)).capabilities


def test_version_is_one() -> None:
    assert re.fullmatch(r"\d+\.\d+.*", VERSION)
