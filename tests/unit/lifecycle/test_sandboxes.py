"""The operations on sandboxes, over a whole lifecycle in memory."""

from pathlib import Path

from arenero.model.states import SandboxState
from tests.unit.lifecycle.kit import CALLER, make_world


async def test_create_runs_and_delete_leaves_nothing(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    async with world.run() as lifecycle:
        record = await world.create()
        assert record.state is SandboxState.RUNNING
        assert world.host.ids() == {record.id}
        ended = await lifecycle.sandboxes.delete(CALLER, record.id)
        assert ended.state is SandboxState.TERMINATED
        assert not world.host.ids()
        assert await world.facts(record.id) == [
            "requested",
            "progressed",
            "progressed",
            "started",
            "stopping",
            "progressed",
            "terminated",
        ]
