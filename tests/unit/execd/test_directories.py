"""Making directories."""

import os
from pathlib import Path

import pytest

from arenero.errors import AlreadyExists, FailedPrecondition, NotFound, PermissionDenied
from arenero.execd.directories import make_directory
from arenero.execd.file_config import FileConfig
from arenero.execd.identity import acting_as
from tests.unit.execd.filekit import ALICE, no_leaked_descriptors, scope_of, shared_directory


def facts(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_mode & 0o7777, status.st_uid, status.st_gid


@pytest.mark.root
def test_directory_has_mode_and_owner_whatever_the_umask(tmp_path: Path):
    scope = scope_of(tmp_path, config=FileConfig())
    assert make_directory(scope, b"plain").count == 1
    made = make_directory(scope, b"given/deep/er", mode=0o2775, owner="alice", group="team", parents=True)
    assert made.count == 3
    assert (made.entry.path, made.entry.owner, made.entry.group) == (b"given/deep/er", "alice", "team")
    assert facts(tmp_path / "plain") == (0o755, 1000, 1000)
    for path in ("given", "given/deep", "given/deep/er"):
        assert facts(tmp_path / path) == (0o2775, 4001, 4100)


@pytest.mark.root
def test_existing_directories_keep_owner_and_mode(tmp_path: Path):
    """Case 32."""
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a").chmod(0o700)
    os.chown(tmp_path / "a", 4002, 4002)
    made = make_directory(scope_of(tmp_path), b"a/b", mode=0o777, owner="alice", parents=True)
    assert made.count == 0
    assert facts(tmp_path / "a") == (0o700, 4002, 4002)


@pytest.mark.parametrize(
    ("path", "parents", "kind"),
    [
        (b"there", False, AlreadyExists),
        (b"no/such", False, NotFound),
        (b"file/x", True, FailedPrecondition),
        (b"file", True, FailedPrecondition),
        (b"dangling", True, NotFound),
        (b"dangling/x", True, NotFound),
        (b"../out", True, PermissionDenied),
        (b"up/out", True, PermissionDenied),
    ],
)
def test_what_is_in_the_way(tmp_path: Path, path: bytes, parents: bool, kind: type[Exception]):
    root = tmp_path / "root"
    (root / "there").mkdir(parents=True)
    (root / "file").touch()
    (root / "dangling").symlink_to("nowhere")
    (root / "up").symlink_to("..")
    with no_leaked_descriptors(), pytest.raises(kind):
        make_directory(scope_of(root), path, parents=parents)
    assert not (tmp_path / "out").exists()


def test_path_may_go_up_through_what_is_made_on_the_way(tmp_path: Path):
    assert make_directory(scope_of(tmp_path), b"a/../b/./c//", parents=True).count == 3
    assert (tmp_path / "a").is_dir()
    assert (tmp_path / "b/c").is_dir()


def test_link_to_a_directory_is_one(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert make_directory(scope_of(tmp_path), b"link/x", parents=True).count == 1
    assert (tmp_path / "real/x").is_dir()


@pytest.mark.root
def test_acting_user_makes_directories_where_they_may():
    with shared_directory(0o777) as directory:
        scope = scope_of(directory, identity=ALICE)
        (directory / "closed").mkdir(0o755)
        with acting_as(ALICE):
            make_directory(scope, b"own/sub", mode=0o700, parents=True)
            with pytest.raises(PermissionDenied):
                make_directory(scope, b"closed/x")
        assert facts(directory / "own/sub") == (0o700, 4001, 4001)
