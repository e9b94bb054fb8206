import os
from pathlib import Path

import pytest

from arenero.runtime.local.trees import remove_tree


def test_closed_directories_and_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o700)
    (outside / "file").write_text("x")
    tree = tmp_path / "tree"
    (tree / "closed/inside").mkdir(parents=True)
    (tree / "closed/inside/file").write_text("x")
    (tree / "way").symlink_to(outside)
    (tree / "closed").chmod(0)
    remove_tree(tree)
    assert not tree.exists()
    assert (outside / "file").exists()
    assert os.stat(outside).st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["gone", "way"])
def test_what_is_not_there_or_no_directory_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / "way").symlink_to("/etc")
    remove_tree(tmp_path / name)
    assert Path("/etc/passwd").exists()
