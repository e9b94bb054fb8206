"""The builder's steps on this kernel, and what it says when one fails. Whole sandboxes are in the security tests."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from arenero.isolation import forking, namespaces
from arenero.isolation.builder import OWN_NAMESPACES, Builder, StepFailed
from arenero.isolation.namespaces import IdMap
from arenero.isolation.plan import Bind, Layers, Rootfs, SandboxPlan, Tmpfs
from tests.contract.isolation.running import trial

pytestmark = pytest.mark.root
RUN = (IdMap(0, 730_000, 65_536),)


def plan_in(directory: str, **changes: Any) -> SandboxPlan:
    top = Path(directory)
    for name in ("stage", "lower/etc", "lower/usr", "own/upper", "own/work"):
        (top / name).mkdir(parents=True, exist_ok=True)
    (top / "lower/etc/owned").write_text("x")
    os.chown(top / "lower/etc/owned", 5, 6)
    rootfs = {
        "stage": str(top / "stage"),
        "layers": Layers((str(top / "lower"),), str(top / "own")),
        "binds": (Bind("/usr", "/usr", recursive=True),),
        "tmpfs": (Tmpfs("/run", 65_536), Tmpfs("/run/deep/er", 65_536)),
        **changes,
    }
    return SandboxPlan("c1", "box", Rootfs(**rootfs), uids=RUN, gids=RUN)


def build(plan: SandboxPlan, look: Any) -> Any:
    """Return what a function sees in a built sandbox, or the step that failed."""
    userns_fd = namespaces.make_user_namespace(plan.uids, plan.gids)
    reader, writer = os.pipe()
    pid = forking.fork_into(OWN_NAMESPACES)
    if pid == 0:

        def act() -> Any:
            try:
                built = Builder(plan, None, userns_fd).build()
            except StepFailed as failed:
                return {"step": failed.step, "errno": failed.errno}
            return {"steps": [name for name, _, _ in built.spans], "seen": look()}

        forking.answer_and_exit(act, writer)
    os.close(writer)
    answer = b""
    while part := os.read(reader, 65_536):
        answer += part
    os.waitpid(pid, 0)
    return json.loads(answer)["value"]


def owners(directory: str, map_layers: bool) -> Any:
    layers = Layers((f"{directory}/lower",), f"{directory}/own", map_lower=map_layers, map_own=map_layers)
    plan = plan_in(directory, layers=layers)
    if not map_layers:
        # Written for the range of ids that all sandboxes share.
        for path in (Path(directory, "lower"), *Path(directory, "lower").rglob("*")):
            status = path.stat()
            os.chown(path, RUN[0].outside + status.st_uid, RUN[0].outside + status.st_gid)

    def look() -> Any:
        Path("/etc/new").write_text("mine")
        status = os.stat("/etc/owned")
        return [status.st_uid, status.st_gid, os.stat("/etc/new").st_uid, os.stat("/").st_uid]

    found = build(plan, look)
    return [*found["seen"], os.stat(f"{directory}/own/upper/etc/new").st_uid]


def what_is_seen(directory: str) -> Any:
    return build(
        plan_in(directory),
        lambda: {
            "root": sorted(os.listdir("/")),
            "pid": os.getpid(),
            "deep": os.path.ismount("/run/deep/er"),
            "layers": [line.split()[3] for line in Path("/proc/mounts").read_text().splitlines() if " / " in line],
        },
    )


def fails_at(directory: str, what: str) -> Any:
    changes: dict[str, dict[str, Any]] = {
        "missing layer": {"layers": Layers((f"{directory}/none",), f"{directory}/own")},
        "missing work": {"layers": Layers((f"{directory}/lower",), f"{directory}/none")},
        "missing image": {"layers": Layers((f"{directory}/lower",), f"{directory}/own", image=f"{directory}/none")},
        "missing source": {"binds": (Bind("/nonexistent", "/usr"),)},
        "missing stage": {"stage": f"{directory}/none"},
        "link in the way": {"tmpfs": (Tmpfs("/etc/way/deeper", 4096),)},
    }
    plan = plan_in(directory, **changes[what])
    Path(directory, "lower/etc/way").symlink_to("/etc")
    found = build(plan, lambda: None)
    return [found.get("step"), found.get("errno")]


def test_a_built_sandbox_is_alone_with_its_layers(tmp_path: Path) -> None:
    found = trial(what_is_seen, str(tmp_path))
    assert found["steps"][0] == "cgroup"
    assert found["steps"][-1] == "confine"
    assert found["seen"]["root"] == ["dev", "etc", "proc", "run", "sys", "usr"]
    assert found["seen"]["pid"] == 1
    assert found["seen"]["deep"]
    # The host's paths are not shown.
    assert not [options for options in found["seen"]["layers"] if str(tmp_path) in options]


def test_owners_are_the_sandboxs_own_inside_and_out(tmp_path: Path) -> None:
    assert trial(owners, str(tmp_path), True) == [5, 6, 0, 0, 0]


def test_without_mapped_mounts_owners_are_kept_as_the_host_sees_them(tmp_path: Path) -> None:
    assert trial(owners, str(tmp_path), False) == [5, 6, 0, 0, RUN[0].outside]


@pytest.mark.parametrize(
    ("what", "step", "code"),
    [
        ("missing stage", "stage", 2),
        ("missing layer", "layers", 2),
        ("missing work", "layers", 2),
        ("missing image", "layers", 2),
        ("missing source", "binds", 2),
        ("link in the way", "binds", 40),
    ],
)
def test_a_failed_step_is_named_with_its_errno(tmp_path: Path, what: str, step: str, code: int) -> None:
    assert trial(fails_at, str(tmp_path), what) == [step, code]
