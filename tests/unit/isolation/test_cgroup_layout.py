from pathlib import Path

import pytest

from arenero.isolation.cgroup_layout import Flavour, Layout, detect, parse_mountinfo, parse_own

HYBRID = """\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""
V2 = "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n"
GROUPS = """\
9:name=systemd:/
8:pids:/user.slice
4:memory:/process/67a0
1:cpu,cpuacct:/
0::/user.slice/session-1.scope
"""


def test_hybrid_knows_both_versions() -> None:
    v1, unified = parse_mountinfo(HYBRID)
    assert v1 == {
        "cpu": "/sys/fs/cgroup/cpu,cpuacct",
        "cpuacct": "/sys/fs/cgroup/cpu,cpuacct",
        "memory": "/sys/fs/cgroup/memory",
        "pids": "/sys/fs/cgroup/pids",
    }
    assert unified == "/sys/fs/cgroup/unified"


def test_version_2_alone() -> None:
    assert parse_mountinfo(V2) == ({}, "/sys/fs/cgroup")


def test_a_named_hierarchy_has_no_controller() -> None:
    v1, _ = parse_mountinfo("40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n")
    assert v1 == {}


@pytest.mark.parametrize("text", ["", "\n", "nonsense", "1 2 3 - cgroup2", "a b c d e - tmpfs tmpfs rw"])
def test_other_lines_are_passed_over(text: str) -> None:
    assert parse_mountinfo(text) == ({}, "")


def test_own_groups_are_found_in_each_hierarchy() -> None:
    v1, unified = parse_mountinfo(HYBRID)
    assert parse_own(GROUPS, v1, unified) == {
        "cpu": "/sys/fs/cgroup/cpu,cpuacct",
        "cpuacct": "/sys/fs/cgroup/cpu,cpuacct",
        "memory": "/sys/fs/cgroup/memory/process/67a0",
        "pids": "/sys/fs/cgroup/pids/user.slice",
        "unified": "/sys/fs/cgroup/unified/user.slice/session-1.scope",
    }


@pytest.mark.parametrize(
    ("layout", "flavour"),
    [
        (Layout(), Flavour.NONE),
        (Layout(v1={"memory": "/m"}), Flavour.V1),
        (Layout(unified="/u"), Flavour.V2),
        (Layout(v1={"memory": "/m"}, unified="/u"), Flavour.HYBRID),
    ],
)
def test_flavour(layout: Layout, flavour: Flavour) -> None:
    assert layout.flavour is flavour


def test_version_1_wins_where_both_claim_a_controller() -> None:
    layout = Layout(v1={"memory": "/m"}, unified="/u", unified_controllers=frozenset({"memory", "pids"}))
    assert [layout.directory_of(name) for name in ("memory", "pids", "cpu")] == ["/m", "/u", ""]


def test_detect_reads_the_files_of_a_process(tmp_path: Path) -> None:
    unified = tmp_path / "hierarchy"
    unified.mkdir()
    (unified / "cgroup.controllers").write_text("cpu memory pids\n")
    (tmp_path / "mountinfo").write_text(f"31 23 0:28 / {unified} rw - cgroup2 cgroup2 rw\n")
    (tmp_path / "cgroup").write_text("0::/a\n")
    layout = detect(str(tmp_path))
    assert layout == Layout({}, str(unified), frozenset({"cpu", "memory", "pids"}), {"unified": f"{unified}/a"})


def test_detect_without_cgroups_is_no_error(tmp_path: Path) -> None:
    assert detect(str(tmp_path)).flavour is Flavour.NONE
