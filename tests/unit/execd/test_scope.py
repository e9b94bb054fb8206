"""What a call's surroundings say about new files, trees and modes."""

import os
from pathlib import Path

import pytest

from arenero.errors import InvalidArgument
from arenero.execd.file_config import FileConfig
from arenero.execd.ownership import Owners
from arenero.execd.scope import checked_mode
from tests.unit.execd.filekit import ALICE, scope_of


def test_new_files_belong_to_the_default_user():
    """Case 32: 1000 unless a call says otherwise."""
    scope = scope_of(config=FileConfig())
    assert scope.owners_of_new() == Owners(1000, 1000)
    assert scope.owners_of_new("alice") == Owners(4001, 4001, is_asked_for=True)


def test_new_files_of_an_acting_user_are_left_to_the_kernel():
    scope = scope_of(identity=ALICE)
    assert scope.owners_of_new() == Owners()
    assert not scope.has_rights


def test_relative_paths_start_at_home_or_at_the_root(tmp_path: Path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home/file").write_text("home")
    (tmp_path / "file").write_text("root")
    config = FileConfig(home=os.fsencode(tmp_path / "home"))
    for root, expected in ((b"", b"home"), (os.fsencode(tmp_path), b"root")):
        with scope_of(root, config=config).open_tree() as tree:
            fd = tree.open_file(b"file", os.O_RDONLY)
            assert os.read(fd, 9) == expected
            os.close(fd)


def test_mode_has_permission_bits_only():
    assert checked_mode(0o7777) == 0o7777
    with pytest.raises(InvalidArgument) as error:
        checked_mode(0o100644, "open.mode")
    assert error.value.field == "open.mode"
