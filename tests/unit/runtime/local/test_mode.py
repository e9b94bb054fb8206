"""Which way of isolation a survey leads to."""

import os
from collections.abc import Mapping

import pytest

from arenero.isolation.namespaces import IdMap
from arenero.isolation.probe import NAMESPACES, Finding, Survey
from arenero.runtime.local.mode import IDS_PER_SANDBOX, Mode, Way, choose

NAMES = (
    *("root", "user-namespace", *NAMESPACES, "overlay", "idmapped-mounts", "proc", "disk-image"),
    *("cgroups", "cgroup-kill", "seccomp", "landlock", "pidfd", "newuidmap"),
)


def survey(faults: Mapping[str, str] = {}) -> Survey:
    return Survey(
        tuple(Finding(n, n not in faults, faults.get(n, ""), f"mend {n}" if n in faults else "") for n in NAMES)
    )


def chosen(
    monkeypatch: pytest.MonkeyPatch,
    uid: int = 0,
    faults: Mapping[str, str] = {},
    missing: Mapping[str, str] = {},
) -> Mode:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    monkeypatch.setattr(os, "getegid", lambda: uid)
    return choose(survey(faults), missing, first_id=600_000)


def test_root_gets_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    mode = chosen(monkeypatch)
    assert (mode.way, mode.standard, mode.missing) == (Way.NAMESPACES, True, ())
    assert mode.limits == {"cpus", "memory_bytes", "pids", "disk_bytes", "open_files"}
    assert {"disk-limit", "memory-limit", "masked-proc", "no-capabilities"} <= set(mode.features)
    assert (mode.ids, mode.disk_images, mode.map_layers) == (IDS_PER_SANDBOX, True, True)


def test_slots_never_share_an_id(monkeypatch: pytest.MonkeyPatch) -> None:
    mode = chosen(monkeypatch)
    first, second = (mode.maps(slot)[0][0] for slot in (0, 1))
    assert (first.inside, first.outside) == (0, 600_000)
    assert first.outside + first.count == second.outside


@pytest.mark.parametrize(
    ("limit", "feature"), [("cpus", "cpu-limit"), ("memory_bytes", "memory-limit"), ("pids", "pids-limit")]
)
def test_a_limit_that_cannot_be_kept_is_missing_and_no_feature(
    monkeypatch: pytest.MonkeyPatch, limit: str, feature: str
) -> None:
    mode = chosen(monkeypatch, missing={limit: "no controller"})
    assert mode.missing == (f"{feature}: no controller",)
    assert feature not in mode.features
    assert limit not in mode.limits
    assert mode.standard


def test_without_images_disks_are_not_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    mode = chosen(monkeypatch, faults={"disk-image": "no loop devices"})
    assert (mode.disk_images, "disk_bytes" in mode.limits) == (False, False)
    assert mode.missing == ("disk-limit: no loop devices",)


def test_an_ordinary_user_is_rootless(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = {"root": "", "disk-image": "needs root", "idmapped-mounts": "needs root", "newuidmap": "not installed"}
    mode = chosen(monkeypatch, 1000, faults, {"memory_bytes": "not delegated"})
    assert (mode.way, mode.standard, mode.ids) == (Way.ROOTLESS, True, 1)
    assert mode.maps(7) == ((IdMap(0, 1000, 1),), (IdMap(0, 1000, 1),))
    names = {reason.partition(":")[0] for reason in mode.missing}
    assert names == {"memory-limit", "disk-limit", "several-users"}


@pytest.mark.parametrize("uid", [0, 1000])
@pytest.mark.parametrize("fault", ["user-namespace", "mount-namespace", "pid-namespace", "overlay", "proc", "seccomp"])
def test_without_what_standard_isolation_needs_there_are_only_rules(
    monkeypatch: pytest.MonkeyPatch, uid: int, fault: str
) -> None:
    mode = chosen(monkeypatch, uid, {fault: "refused", "newuidmap": "no"})
    assert (mode.way, mode.standard, mode.fix) == (Way.RULES, False, f"mend {fault}")
    assert any(f"because of {fault}: refused" in reason for reason in mode.missing)
    assert "landlock" in mode.features
    assert "disk_bytes" not in mode.limits
    assert mode.maps(3)[0] == (IdMap(0, 600_003 if uid == 0 else 1000, 1),)


@pytest.mark.parametrize("faults", [{}, {"overlay": "refused"}, {"overlay": "", "landlock": "none"}])
def test_nothing_is_a_feature_and_missing_at_once(monkeypatch: pytest.MonkeyPatch, faults: Mapping[str, str]) -> None:
    mode = chosen(monkeypatch, faults=faults, missing={"pids": "x"})
    assert not set(mode.features) & {reason.partition(":")[0] for reason in mode.missing}


def test_where_mounts_cannot_map_owners_all_share_one_range(monkeypatch: pytest.MonkeyPatch) -> None:
    mode = chosen(monkeypatch, faults={"idmapped-mounts": "not on this file system"})
    assert mode.maps(0) == mode.maps(5)
    assert mode.shift == 600_000
    assert chosen(monkeypatch).shift == 0
    assert [reason.partition(":")[0] for reason in mode.missing] == ["separate-users"]
    assert mode.standard
