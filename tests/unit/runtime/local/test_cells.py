"""Cells on disk, without control groups and without anything running."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from arenero.errors import ResourceExhausted
from arenero.isolation.cgroup_layout import Layout
from arenero.isolation.cgroups import Tree
from arenero.model.ids import new_sandbox_id
from arenero.model.record import ExitFacts
from arenero.runtime.local.cells import Cells, state_digest
from arenero.runtime.local.mode import Mode, Way

NAMESPACES = Mode(Way.NAMESPACES, map_layers=True, first_id=700_000)


def cells_of(state: Path, mode: Mode = NAMESPACES, slots: int = 3) -> Cells:
    cells = Cells(state, mode, Tree(Layout(), "test"), slots)
    cells.open()
    return cells


def test_a_cell_has_an_empty_layer_and_a_closed_directory(tmp_path: Path) -> None:
    cell = cells_of(tmp_path).make(None)
    assert sorted(os.listdir(cell.directory)) == ["cell", "run", "upper", "work"]
    assert os.stat(cell.directory).st_mode & 0o777 == 0o700
    assert cell.process() is None
    assert cell.state() == {}


def test_a_claimed_cell_is_found_by_its_sandbox(tmp_path: Path) -> None:
    cells, sandbox_id = cells_of(tmp_path), new_sandbox_id()
    assert cells.find(sandbox_id) is None
    claimed = cells.claim(cells.make(None), sandbox_id)
    assert cells.find(sandbox_id) == claimed
    assert cells.sandbox_ids() == {sandbox_id}
    assert cells.unclaimed() == []


def test_slots_are_used_once_also_after_a_restart(tmp_path: Path) -> None:
    cells = cells_of(tmp_path)
    kept = cells.claim(cells.make(None), new_sandbox_id())
    lost = cells.make(None)
    assert (kept.slot, lost.slot) == (0, 1)
    again = cells_of(tmp_path)
    assert [path.name for path in again.unclaimed()] == [lost.name]
    assert again.make(None).slot == 1


def test_a_freed_slot_is_used_again(tmp_path: Path) -> None:
    cells = cells_of(tmp_path)
    first = cells.make(None)
    cells.make(None)
    cells.free(first)
    assert cells.make(None).slot == 0


def test_there_are_no_more_cells_than_slots(tmp_path: Path) -> None:
    cells = cells_of(tmp_path, slots=2)
    cells.make(None)
    cells.make(None)
    with pytest.raises(ResourceExhausted, match="all 2 slots"):
        cells.make(None)


def test_state_is_replaced_whole(tmp_path: Path) -> None:
    cell = cells_of(tmp_path).make(None)
    cell.write_state({"address": "unix:/x", "features": ["a"]})
    cell.write_state({"address": "unix:/y"})
    assert cell.state() == {"address": "unix:/y"}


def test_an_end_is_known_once_it_was_written_down(tmp_path: Path) -> None:
    cell = cells_of(tmp_path).make(None)
    assert (cell.exit(), cell.was_stopped()) == (None, False)
    cell.note_stopped()
    cell.write_exit(ExitFacts(None, 9, oom_killed=False))
    assert (cell.exit(), cell.was_stopped()) == (ExitFacts(None, 9, oom_killed=False), True)


@pytest.mark.parametrize("text", ["", "[1]", "{", "null"])
def test_a_damaged_state_is_no_state(tmp_path: Path, text: str) -> None:
    cells, sandbox_id = cells_of(tmp_path), new_sandbox_id()
    cell = cells.claim(cells.make(None), sandbox_id)
    with (cell.directory / "cell").open("a") as notes:
        notes.write(f'{text}\n{{"state": {text or "0"}}}\n')
    found = cells_of(tmp_path).find(sandbox_id)
    assert found is not None
    assert found.state() == {}


@pytest.mark.parametrize(("text", "process"), [("12 345\n", (12, 345)), ("", None), ("12", None), ("a b", None)])
def test_the_first_process_is_read_from_its_record(tmp_path: Path, text: str, process: object) -> None:
    cell = cells_of(tmp_path).make(None)
    cell.record.write_text(text)
    assert cell.process() == process


def test_writing_the_state_of_a_removed_cell_is_no_error(tmp_path: Path) -> None:
    cell = cells_of(tmp_path).make(None)
    shutil.rmtree(cell.directory)
    cell.write_state({"address": "unix:/x"})
    assert not cell.directory.exists()


def test_a_sandbox_whose_directory_was_removed_is_not_found_any_more(tmp_path: Path) -> None:
    cells, sandbox_id = cells_of(tmp_path), new_sandbox_id()
    cell = cells.claim(cells.make(None), sandbox_id)
    assert cells.find(sandbox_id) == cell
    shutil.rmtree(cell.directory)
    assert cells.find(sandbox_id) is None


def test_what_is_known_of_a_sandbox_is_known_after_a_restart(tmp_path: Path) -> None:
    cells, sandbox_id = cells_of(tmp_path), new_sandbox_id()
    cell = cells.claim(cells.make(None), sandbox_id)
    cell.write_state({"address": "unix:/x"})
    cell.record.write_text("12 345\n")
    found = cells_of(tmp_path).find(sandbox_id)
    assert found is not None
    assert found == cell
    assert (found.state(), found.process(), found.exit()) == ({"address": "unix:/x"}, (12, 345), None)


def image_cells(tmp_path: Path) -> Cells:
    cells = cells_of(tmp_path, replace(NAMESPACES, disk_images=True))
    (tmp_path / "blanks/4096.img").write_bytes(bytes(4096))
    return cells


def test_a_retired_cell_leaves_its_directory_and_nothing_of_its_sandbox(tmp_path: Path) -> None:
    cells, sandbox_id = image_cells(tmp_path), new_sandbox_id()
    old = cells.claim(cells.make(4096), sandbox_id)
    old.write_state({"address": "unix:/x"})
    old.record.write_text("12 345\n")
    (old.directory / "image").write_text("a secret")
    old.socket.touch()
    inode = old.directory.stat().st_ino
    assert cells.retire(old)
    assert cells.sandbox_ids() == frozenset()
    new = cells.make(4096)
    assert new.directory.stat().st_ino == inode
    assert sorted(os.listdir(new.directory)) == ["cell", "image", "process", "run"]
    assert (new.process(), new.state(), new.exit()) == (None, {}, None)
    assert (new.directory / "image").read_bytes() == bytes(4096)
    claimed = cells.claim(new, sandbox_id)
    assert cells.find(sandbox_id) == claimed


def test_retired_directories_are_found_after_a_restart(tmp_path: Path) -> None:
    cells = image_cells(tmp_path)
    old = cells.make(4096)
    assert cells.retire(old)
    again = image_cells(tmp_path)
    assert again.unclaimed() == []
    assert again.make(4096).state() == {}
    assert os.listdir(tmp_path / "spent") == []


@pytest.mark.parametrize("left", ["run/file", "file"])
def test_a_cell_in_which_something_is_left_is_not_kept(tmp_path: Path, left: str) -> None:
    cells = image_cells(tmp_path)
    cell = cells.make(4096)
    (cell.directory / left).touch()
    assert not cells.retire(cell)


def test_a_cell_without_an_image_is_not_kept(tmp_path: Path) -> None:
    cells = cells_of(tmp_path)
    assert not cells.retire(cells.make(None))


def test_renewing_empties_the_layer(tmp_path: Path) -> None:
    cells = cells_of(tmp_path)
    cell = cells.make(None)
    (cell.directory / "upper/file").write_text("left by an attempt")
    cell.record.write_text("1 2")
    cells.renew(cell)
    assert os.listdir(cell.directory / "upper") == []
    assert cell.process() is None


@pytest.mark.root
def test_the_run_directory_belongs_to_the_sandboxs_root_until_it_is_locked(tmp_path: Path) -> None:
    cells = cells_of(tmp_path)
    cells.make(None)
    cell = cells.make(None)
    assert cell.run.stat().st_uid == 700_000 + 65_536
    cells.lock_run(cell)
    assert cell.run.stat().st_uid == 0


@pytest.mark.root
def test_under_rules_a_cell_has_a_directory_that_its_user_can_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    cells = cells_of(tmp_path, Mode(Way.RULES, first_id=700_000))
    cell = cells.make(None)
    assert cell.open_directory == tmp_path / "tmp" / f"arenero-{state_digest(tmp_path)}" / cell.name
    assert (cell.private.stat().st_uid, oct(cell.private.stat().st_mode & 0o777)) == (700_000, "0o700")
    assert oct(cell.open_directory.stat().st_mode & 0o777) == "0o711"
    assert cells.find(new_sandbox_id()) is None
    sandbox_id = new_sandbox_id()
    assert cells.claim(cell, sandbox_id) == cells.find(sandbox_id)
