import json

import pytest

from arenero.isolation.namespaces import IdMap
from arenero.isolation.plan import Bind, Landlocked, Layers, Rootfs, SandboxPlan, Tmpfs

WHOLE = SandboxPlan(
    name="c1",
    hostname="box",
    rootfs=Rootfs(
        "/stage",
        Layers(("/a", "/b"), "/own", "/own/image", map_own=False),
        (Bind("/usr", "/usr", recursive=True),),
        (Tmpfs("/run", 1024, 0o700),),
        shm_bytes=5,
    ),
    uids=(IdMap(0, 10, 20),),
    gids=(IdMap(0, 30, 40), IdMap(40, 90, 2)),
    rootless=True,
    groups={"/sys/fs/cgroup": "/sys/fs/cgroup/arenero/x/c1"},
    processes=9,
)


@pytest.mark.parametrize(
    "plan",
    [WHOLE, SandboxPlan("c2", landlocked=Landlocked("/d", ("/usr",), ("/d",))), SandboxPlan("c3")],
    ids=["rootfs", "landlocked", "empty"],
)
def test_it_survives_json(plan: SandboxPlan) -> None:
    assert SandboxPlan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@pytest.mark.parametrize("values", [{}, {"name": "c", "nonsense": 1}, {"name": "c", "uids": [{"inside": 0}]}])
def test_another_form_is_an_error(values: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        SandboxPlan.from_json(values)
