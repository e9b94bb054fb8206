"""The plan travels as JSON, and says which key is wrong."""

from __future__ import annotations

import json

import pytest

from arenero.execd.plan import InitPlan, Login


def test_plan_survives_json() -> None:
    plan = InitPlan(
        sandbox_id="sbx_a",
        env={"A": "1"},
        login=Login(uid=5, shell="/bin/zsh"),
        cgroup_controllers=("memory",),
        boot_spans=(("driver.fork", 1, 2), ("driver.build", 2, 3)),
        ttl_s=1.5,
    )
    assert InitPlan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@pytest.mark.parametrize(("values", "message"), [({"sandbox_id": "x", "colour": 1}, "colour"), ({}, "no sandbox_id")])
def test_wrong_plan_is_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        InitPlan.from_json(values)
