from pathlib import Path

import pytest

from arenero.errors import FailedPrecondition
from arenero.isolation.cgroup_layout import Layout
from arenero.isolation.cgroups import Tree
from arenero.runtime.local import removal
from arenero.runtime.local.cells import Cell, Cells
from arenero.runtime.local.mode import Mode, Way
from arenero.runtime.local.removal import Removal
from arenero.runtime.local.zygote import Zygote


@pytest.fixture
def remover() -> Removal:
    mode = Mode(Way.NAMESPACES)
    cells = Cells(Path("/none"), mode, Tree(Layout(), "test"), 1)
    return Removal(mode, cells, Zygote(lambda pid, status: None, "/dev/null"))


async def test_both_directories_of_a_cell_are_removed(remover: Removal, tmp_path: Path) -> None:
    own, apart = tmp_path / "own", tmp_path / "apart"
    (own / "upper/a").mkdir(parents=True)
    (apart / "root").mkdir(parents=True)
    await remover.remove_cell(Cell(own, "c1", 0, None, apart))
    assert list(tmp_path.iterdir()) == []


async def test_what_is_gone_is_no_error(remover: Removal, tmp_path: Path) -> None:
    await remover.remove(tmp_path / "gone")


async def test_what_stays_is_told(remover: Removal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "remove_tree", lambda directory: None)
    with pytest.raises(FailedPrecondition, match="can't be removed"):
        await remover.remove(tmp_path)
