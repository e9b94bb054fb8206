"""Control groups over directories of plain files: which file is read and written for what.

The kernel's own behaviour is in tests/contract/isolation/test_cgroups.py.
"""

from pathlib import Path

import pytest

from arenero.isolation.cgroup_layout import Layout
from arenero.isolation.cgroups import Group, Limits, Tree, Usage, read_flat, read_integer

V1_FILES = {
    "memory": {
        "memory.limit_in_bytes": "0",
        "memory.memsw.limit_in_bytes": "0",
        "memory.usage_in_bytes": "5000\n",
        "memory.max_usage_in_bytes": "9000\n",
        "memory.stat": "cache 1\ntotal_inactive_file 1000\n",
        "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
    },
    "cpu": {"cpu.cfs_period_us": "0", "cpu.cfs_quota_us": "0"},
    "cpuacct": {"cpuacct.usage": "2500000000\n"},
    "pids": {"pids.max": "max", "pids.current": "7\n"},
}
V2_FILES = {
    "memory.max": "max",
    "memory.swap.max": "max",
    "memory.current": "5000\n",
    "memory.peak": "9000\n",
    "memory.stat": "anon 1\ninactive_file 6000\n",
    "memory.events": "low 0\noom 2\noom_kill 1\noom_group_kill 0\n",
    "cpu.max": "max 100000",
    "cpu.stat": "usage_usec 2500000\nuser_usec 1\n",
    "pids.max": "max",
    "pids.current": "7\n",
    "cgroup.events": "populated 1\nfrozen 0\n",
    "cgroup.freeze": "0",
    "cgroup.procs": "",
}


@pytest.fixture
def v1(tmp_path: Path) -> Group:
    for controller, files in V1_FILES.items():
        write_files(tmp_path / controller / "box", {"cgroup.procs": "", "tasks": "", **files})
    mounts = {controller: str(tmp_path / controller) for controller in V1_FILES}
    return Group(Layout(v1=mounts), {mount: f"{mount}/box" for mount in mounts.values()})


@pytest.fixture
def v2(tmp_path: Path) -> Group:
    write_files(tmp_path / "box", {**V2_FILES, "cgroup.controllers": "cpu memory pids\n"})
    layout = Layout(unified=str(tmp_path), unified_controllers=frozenset({"cpu", "memory", "pids"}))
    return Group(layout, {str(tmp_path): f"{tmp_path}/box"})


def write_files(directory: Path, files: dict[str, str]) -> None:
    directory.mkdir(parents=True)
    for name, content in files.items():
        (directory / name).write_text(content)


def test_limits_of_version_1(v1: Group, tmp_path: Path) -> None:
    v1.set_limits(Limits(memory_bytes=64 << 20, cpus=0.5, pids=50))
    assert (tmp_path / "memory/box/memory.limit_in_bytes").read_text() == str(64 << 20)
    assert (tmp_path / "memory/box/memory.memsw.limit_in_bytes").read_text() == str(64 << 20)
    assert (tmp_path / "cpu/box/cpu.cfs_quota_us").read_text().startswith("50000")
    assert (tmp_path / "pids/box/pids.max").read_text().startswith("50")


def test_limits_of_version_2(v2: Group, tmp_path: Path) -> None:
    v2.set_limits(Limits(memory_bytes=64 << 20, cpus=2.0, pids=50))
    assert (tmp_path / "box/memory.max").read_text() == str(64 << 20)
    assert (tmp_path / "box/memory.swap.max").read_text().startswith("0")
    assert (tmp_path / "box/cpu.max").read_text().startswith("200000 100000")


def test_a_tiny_share_of_a_processor_is_rounded_up_to_what_the_kernel_takes(v2: Group, tmp_path: Path) -> None:
    v2.set_limits(Limits(cpus=0.0001))
    assert (tmp_path / "box/cpu.max").read_text().startswith("1000 ")


def test_limits_that_are_not_given_are_left_alone(v1: Group, tmp_path: Path) -> None:
    v1.set_limits(Limits())
    assert (tmp_path / "pids/box/pids.max").read_text() == "max"


def test_usage_of_version_1(v1: Group) -> None:
    assert v1.usage() == Usage(2.5, 4000, 9000, 7, 3)


def test_usage_of_version_2_never_goes_below_zero(v2: Group) -> None:
    assert v2.usage() == Usage(2.5, 0, 9000, 7, 1)


def test_usage_without_any_hierarchy_is_unknown() -> None:
    assert Group(Layout(), {}).usage() == Usage()


def test_counters_that_are_handed_to_the_sandbox(v1: Group, v2: Group, tmp_path: Path) -> None:
    assert {name: Path(path).name for name, path in v1.files().items()} == {
        "memory_events": "memory.oom_control",
        "memory_usage": "memory.usage_in_bytes",
        "cpu_usage": "cpuacct.usage",
    }
    assert {name: Path(path).name for name, path in v2.files().items()} == {
        "memory_events": "memory.events",
        "memory_usage": "memory.current",
        "cpu_usage": "cpu.stat",
    }


def test_freezing_prefers_the_unified_hierarchy(v2: Group, tmp_path: Path) -> None:
    v2.freeze()
    assert (tmp_path / "box/cgroup.freeze").read_text() == "1"
    assert not v2.is_frozen()
    (tmp_path / "box/cgroup.events").write_text("populated 1\nfrozen 1\n")
    assert v2.is_frozen()
    v2.thaw()
    assert (tmp_path / "box/cgroup.freeze").read_text() == "0"


def test_freezing_is_refused_where_nothing_can(v1: Group) -> None:
    with pytest.raises(OSError, match="can freeze"):
        v1.freeze()


def test_killing_a_group_that_is_gone_is_no_error(tmp_path: Path) -> None:
    layout = Layout(unified=str(tmp_path))
    assert Group(layout, {str(tmp_path): f"{tmp_path}/gone"}).kill() == 0


def test_only_controllers_that_are_passed_down_can_limit_execs(v2: Group, v1: Group) -> None:
    assert v2.child_controllers() == ("cpu", "memory", "pids")
    assert v1.child_controllers() == ()


def test_a_tree_says_which_limits_are_missing_and_why(tmp_path: Path) -> None:
    write_files(tmp_path / "unified", {"cgroup.controllers": "memory\n", "cgroup.subtree_control": "memory\n"})
    layout = Layout(unified=str(tmp_path / "unified"), unified_controllers=frozenset({"memory", "pids"}))
    tree = Tree(layout, "test")
    tree.open()
    assert set(tree.missing) == {"cpus", "memory_bytes", "pids"}
    assert "has the controller cpu" in tree.missing["cpus"]
    assert "not delegated" in tree.missing["pids"]


def test_a_tree_without_hierarchies_is_empty_and_lacks_all() -> None:
    tree = Tree(Layout(), "test")
    tree.open()
    assert (tree.usable, tree.can_freeze, tree.names()) == (False, False, frozenset())
    assert set(tree.missing) == {"cpus", "memory_bytes", "pids"}


def test_a_hierarchy_that_may_not_be_written_is_dropped(tmp_path: Path) -> None:
    blocked = tmp_path / "memory"
    blocked.write_text("a file where the mount should be")
    tree = Tree(Layout(v1={"memory": str(blocked)}), "test")
    tree.open()
    assert "can't be used" in tree.missing["memory_bytes"]
    assert tree.create("box", Limits(memory_bytes=1)).paths == ()


def test_groups_are_listed_over_all_hierarchies(tmp_path: Path) -> None:
    (tmp_path / "pids").mkdir()
    tree = Tree(Layout(v1={"pids": str(tmp_path / "pids")}), "test")
    tree.open()
    tree.create("one", Limits())
    tree.create("two", Limits())
    assert tree.names() == {"one", "two"}
    assert tree.group("one").remove()
    assert tree.names() == {"two"}
    assert not tree.remove()
    assert tree.group("two").remove()
    assert tree.remove()
    assert not (tmp_path / "pids/arenero").exists()


def test_flat_files_skip_what_is_no_counter(tmp_path: Path) -> None:
    (tmp_path / "flat").write_text("a 1\nb x\nc\nd 2 3\ne 4\n")
    assert read_flat(str(tmp_path / "flat")) == {"a": 1, "e": 4}
    assert read_flat(str(tmp_path / "none")) == {}


@pytest.mark.parametrize(("text", "number"), [("12\n", 12), ("max\n", None), ("", None)])
def test_integers(tmp_path: Path, text: str, number: int | None) -> None:
    (tmp_path / "file").write_text(text)
    assert read_integer(str(tmp_path / "file")) == number
