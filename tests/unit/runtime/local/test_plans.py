from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arenero.execd.plan import InitPlan
from arenero.isolation.cgroup_layout import Layout
from arenero.isolation.cgroups import Group
from arenero.isolation.namespaces import IdMap
from arenero.isolation.plan import Bind, SandboxPlan
from arenero.model.ids import TenantId, new_sandbox_id
from arenero.model.record import ResolvedSource
from arenero.model.spec import Resources, SandboxSpec
from arenero.runtime.driver import Launch
from arenero.runtime.local import plans
from arenero.runtime.local.cells import Cell
from arenero.runtime.local.config import LocalConfig
from arenero.runtime.local.mode import Mode, Way
from arenero.runtime.local.sources import Base

CONFIG = LocalConfig(state_dir=Path("/state"))
CELL = Cell(Path("/state/sandboxes/sbx_a"), "c1", 3, 1 << 30)
BASE = Base(ResolvedSource("host", "template:host"), ("/layer",), (Bind("/usr", "/usr", recursive=True),))
GROUP = Group(Layout(unified="/cg"), {"/cg": "/cg/arenero/i/c1"})
NAMESPACES = Mode(
    Way.NAMESPACES, features=("disk-limit",), limits=frozenset({"pids"}), map_layers=True, first_id=100_000
)
ROOTLESS = Mode(Way.ROOTLESS, granted=((IdMap(0, 1000, 1),), (IdMap(0, 1000, 1),)))
RULES = Mode(Way.RULES, first_id=100_000)


def launch(**spec: Any) -> Launch:
    return Launch(
        sandbox_id=new_sandbox_id(),
        tenant=TenantId("acme"),
        generation=2,
        spec=SandboxSpec(**spec),
        hostname="box",
        execd_public_key=bytes(range(32)),
        ttl_s=60.0,
        env={"A": "1"},
    )


def built(mode: Mode, cell: Cell = CELL, pids: int | None = 10) -> SandboxPlan:
    return plans.sandbox_plan(CONFIG, mode, cell, BASE, GROUP, plans.Identity("box", pids))


def told(mode: Mode, base: Base = BASE, **spec: Any) -> InitPlan:
    """Return the plan as execd reads it: an unknown key would be an error there."""
    return InitPlan.from_json(plans.init_plan(launch(**spec), mode, CELL, base))


def test_a_sandbox_of_namespaces_has_its_ids_layers_and_group() -> None:
    plan = built(NAMESPACES)
    assert plan.rootfs is not None
    assert plan.uids == (IdMap(0, 100_000 + 3 * 65_536, 65_536),)
    assert plan.rootfs.layers.image == "/state/sandboxes/sbx_a/image"
    assert plan.rootfs.stage == "/state/stage"
    assert plan.groups == {"/cg": "/cg/arenero/i/c1"}
    assert (plan.rootless, plan.landlocked, plan.processes) == (False, None, None)
    assert [bind.target for bind in plan.rootfs.binds] == ["/usr", "/run/arenero"]
    assert [bind.read_only for bind in plan.rootfs.binds] == [True, False]


def test_without_an_image_the_layer_is_a_directory() -> None:
    plan = built(NAMESPACES, replace(CELL, disk_bytes=None))
    assert plan.rootfs is not None
    assert (plan.rootfs.layers.image, plan.rootfs.layers.own) == ("", "/state/sandboxes/sbx_a")


def test_processes_are_limited_per_user_where_no_group_does() -> None:
    plan = built(ROOTLESS)
    assert plan.processes is not None
    assert plan.processes > 10
    assert built(ROOTLESS, pids=None).processes is None


def test_under_rules_there_is_a_private_directory_and_no_root_file_system() -> None:
    plan = built(RULES)
    assert plan.rootfs is None
    assert plan.landlocked is not None
    assert plan.landlocked.directory == "/state/sandboxes/sbx_a/root"
    assert not [path for path in plan.landlocked.read_only if path.startswith(("/state", "/home", "/root", "/var"))]
    writable = [path for path in plan.landlocked.read_write if not path.startswith("/dev/")]
    assert writable == ["/state/sandboxes/sbx_a/root", "/state/sandboxes/sbx_a/run"]


def test_the_first_process_is_told_who_it_is() -> None:
    plan = told(NAMESPACES, resources=Resources(cpus=2, memory_bytes=1 << 30, open_files=99), entrypoint=("a", "b"))
    assert (plan.generation, plan.ttl_s, plan.hostname, dict(plan.env)) == (2, 60.0, "box", {"A": "1"})
    assert plan.public_key_hex == bytes(range(32)).hex()
    assert (plan.cpus, plan.memory_bytes, plan.open_files, plan.ids) == (2, 1 << 30, 99, 65_536)
    assert plan.entrypoint == ("a", "b")
    assert plan.listen == "unix:/run/arenero/execd.sock"
    assert (plan.login.uid, plan.login.home) == (1000, "/home/sandbox")


def test_the_size_of_files_is_limited_only_where_the_disk_is_not() -> None:
    disk = Resources(disk_bytes=1 << 20)
    assert told(NAMESPACES, resources=disk).file_bytes is None
    assert told(ROOTLESS, resources=disk).file_bytes == 1 << 20


def test_an_images_environment_is_below_the_specs() -> None:
    base = replace(BASE, env={"A": "image", "B": "image"})
    assert dict(told(NAMESPACES, base).env) == {"A": "1", "B": "image"}


def test_a_single_user_is_root_inside() -> None:
    plan = told(ROOTLESS)
    assert (plan.ids, plan.login.uid, plan.login.cwd) == (1, 0, "/home/sandbox")


def test_under_rules_everything_happens_in_the_private_directory() -> None:
    plan = told(RULES)
    private = "/state/sandboxes/sbx_a/root"
    assert plan.one_user
    assert plan.login.uid == 100_003
    assert (plan.login.home, plan.login.cwd, plan.env["TMPDIR"]) == (f"{private}/home", private, f"{private}/tmp")
    assert plan.listen == "unix:/state/sandboxes/sbx_a/run/execd.sock"


@pytest.mark.parametrize("mode", [NAMESPACES, ROOTLESS, RULES])
def test_a_working_directory_that_is_asked_for_wins(mode: Mode) -> None:
    assert told(mode, workdir="/srv").login.workdir == "/srv"
    assert told(mode, user="0:5").login.user == "0:5"


def test_limits_leave_room_for_execd() -> None:
    limits = plans.group_limits(Resources(pids=16, memory_bytes=5, cpus=0.5))
    assert limits["pids"] > 16 + 20
    assert (limits["memory_bytes"], limits["cpus"]) == (5, 0.5)
    assert set(plans.group_limits(Resources()).values()) == {None}
