"""Describing, listing, moving, removing, and changing owners and modes."""

import os
import socket
import stat
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from arenero.errors import (
    AlreadyExists,
    ArenError,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    Unsupported,
)
from arenero.execd.entries import Kind
from arenero.execd.file_config import FileConfig
from arenero.execd.files import (
    change_mode,
    change_owner,
    describe_path,
    list_directory,
    make_link,
    move,
    remove,
)
from arenero.execd.identity import acting_as
from arenero.execd.scope import Scope
from tests.unit.execd.filekit import (
    ALICE,
    given,
    names_in,
    no_leaked_descriptors,
    result,
    scope_of,
    shared_directory,
)


@pytest.fixture
def scope(tmp_path: Path) -> Scope:
    return scope_of(tmp_path)


@pytest.fixture(autouse=True)
def nothing_leaks() -> Iterator[None]:
    with no_leaked_descriptors():
        yield


# --- describing and listing -------------------------------------------------------------------------------------------


def test_link_is_described_itself_or_what_it_leads_to(scope: Scope, tmp_path: Path):
    """Case 38."""
    (tmp_path / "f").write_text("four")
    (tmp_path / "link").symlink_to("f")
    (tmp_path / "out").symlink_to("/etc/shadow")
    assert describe_path(scope, b"link").kind is Kind.SYMLINK
    assert describe_path(scope, b"link", follow=True).status.size_bytes == 4
    assert describe_path(scope, b"out").link_target == b"/etc/shadow"
    with pytest.raises(PermissionDenied):
        describe_path(scope, b"out", follow=True)


@pytest.mark.parametrize("path", [b".", b"d/.."])
def test_the_root_itself_can_be_described(scope: Scope, tmp_path: Path, path: bytes):
    (tmp_path / "d").mkdir()
    assert describe_path(scope, path).status.inode == tmp_path.stat().st_ino


def test_listing_is_in_the_order_of_names_with_paths_below_the_directory(scope: Scope, tmp_path: Path):
    for path in ("d/b", "d/a.x", "d/a/inner"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "d/z").symlink_to("/")
    listing = given(list_directory(scope, b"d", depth=2))
    assert [entry.path for entry in listing] == [b"a", b"a/inner", b"a.x", b"b", b"z"]
    assert listing[-1].kind is Kind.SYMLINK
    assert [entry.path for entry in given(list_directory(scope, b"d"))] == [b"a", b"a.x", b"b", b"z"]


@pytest.mark.parametrize(
    ("path", "depth", "reason"),
    [(b"f", 1, "NOT_A_DIRECTORY"), (b"no", 1, "FILE_NOT_FOUND"), (b".", 65, "OUT_OF_RANGE")],
)
def test_what_cant_be_listed(scope: Scope, tmp_path: Path, path: bytes, depth: int, reason: str):
    (tmp_path / "f").touch()
    with pytest.raises(ArenError) as error:
        given(list_directory(scope, path, depth=depth))
    assert error.value.reason == reason


# --- moving -----------------------------------------------------------------------------------------------------------


def test_move_renames(scope: Scope, tmp_path: Path):
    (tmp_path / "a").write_text("a")
    entry = result(move(scope, b"a", b"new/dir/b", make_parents=True))
    assert (entry.path, entry.kind) == (b"new/dir/b", Kind.REGULAR)
    assert (tmp_path / "new/dir/b").read_text() == "a"
    assert names_in(tmp_path) == ["new"]


def test_move_refuses_what_is_there_unless_told(scope: Scope, tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    with pytest.raises(AlreadyExists) as error:
        result(move(scope, b"a", b"b"))
    assert error.value.field == "destination"
    result(move(scope, b"a", b"b", overwrite=True))
    assert (names_in(tmp_path), (tmp_path / "b").read_text()) == (["b"], "a")


def test_move_takes_a_link_itself(scope: Scope, tmp_path: Path):
    (tmp_path / "link").symlink_to("/etc/shadow")
    assert result(move(scope, b"link", b"moved")).link_target == b"/etc/shadow"


@pytest.mark.parametrize(
    ("source", "destination", "reason", "field"),
    [
        (b"no", b"x", "FILE_NOT_FOUND", "source"),
        (b"d", b"d/sub", "INVALID_ARGUMENT", "destination"),
        (b"f", b"no/x", "FILE_NOT_FOUND", "destination"),
        (b"f", b"full", "DIRECTORY_NOT_EMPTY", "destination"),
        (b"f", b"../x", "ESCAPES_ROOT", "destination"),
        (b"../f", b"x", "ESCAPES_ROOT", "source"),
    ],
)
def test_what_cant_be_moved(scope: Scope, tmp_path: Path, source: bytes, destination: bytes, reason: str, field: str):
    (tmp_path / "d").mkdir()
    (tmp_path / "full/x").mkdir(parents=True)
    (tmp_path / "f").touch()
    with pytest.raises(ArenError) as error:
        result(move(scope, source, destination, overwrite=True))
    expected = {"DIRECTORY_NOT_EMPTY": {"DIRECTORY_NOT_EMPTY", "IS_A_DIRECTORY"}}.get(reason, {reason})
    assert error.value.reason in expected
    assert error.value.field == field


@pytest.fixture
def other_disk() -> Iterator[Path]:
    """Give a directory on another file system than pytest's own."""
    if os.stat("/dev/shm").st_dev == os.stat("/tmp").st_dev:
        pytest.skip("/dev/shm is on the same file system as /tmp")
    path = Path("/dev/shm") / f"arenero-test-{os.getpid()}"
    path.mkdir()
    yield path
    subprocess.run(["rm", "-rf", str(path)], check=True)


def test_move_across_file_systems_copies_all_and_then_removes(tmp_path: Path, other_disk: Path):
    tree = tmp_path / "tree"
    (tree / "d/e").mkdir(parents=True)
    (tree / "d/f").write_bytes(b"content")
    (tree / "d/f").chmod(0o640)
    os.utime(tree / "d/f", ns=(10**18, 10**18))
    (tree / "d/link").symlink_to("/nowhere")
    os.mkfifo(tree / "fifo")
    with open(tree / "sparse", "wb") as file:
        file.truncate(1 << 30)
    entry = result(move(scope_of(), os.fsencode(tree), os.fsencode(other_disk / "moved")))
    moved = other_disk / "moved"
    assert entry.kind is Kind.DIRECTORY
    assert not tree.exists()
    assert names_in(other_disk) == ["moved"]
    assert (moved / "d/f").read_bytes() == b"content"
    assert ((moved / "d/f").stat().st_mode & 0o7777, (moved / "d/f").stat().st_mtime_ns) == (0o640, 10**18)
    assert os.readlink(moved / "d/link") == "/nowhere"
    assert stat.S_ISFIFO((moved / "fifo").stat().st_mode)
    assert ((moved / "sparse").stat().st_size, (moved / "sparse").stat().st_blocks) == (1 << 30, 0)


def test_move_across_file_systems_that_fails_leaves_nothing_behind(tmp_path: Path, other_disk: Path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/a").write_text("a")
    with pytest.raises(AlreadyExists):
        result(move(scope_of(), os.fsencode(tmp_path / "tree"), os.fsencode(other_disk)))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "tree/socket"))
        with pytest.raises(Unsupported):
            result(move(scope_of(), os.fsencode(tmp_path / "tree"), os.fsencode(other_disk / "x")))
    assert names_in(other_disk) == []
    assert (tmp_path / "tree/a").read_text() == "a"


# --- removing ---------------------------------------------------------------------------------------------------------


def test_remove_counts_what_went(scope: Scope, tmp_path: Path):
    (tmp_path / "t/a/b").mkdir(parents=True)
    (tmp_path / "t/f").touch()
    (tmp_path / "t/up").symlink_to("..")
    (tmp_path / "kept").touch()
    assert result(remove(scope, b"t", recursive=True)) == 5
    assert names_in(tmp_path) == ["kept"]


def test_remove_takes_a_link_and_not_what_it_leads_to(scope: Scope, tmp_path: Path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").touch()
    (tmp_path / "link").symlink_to("d")
    assert result(remove(scope, b"link", recursive=True)) == 1
    assert names_in(tmp_path / "d") == ["f"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (b"full", "DIRECTORY_NOT_EMPTY"),
        (b"no", "FILE_NOT_FOUND"),
        (b".", "INVALID_PATH"),
        (b"full/x/..", "INVALID_PATH"),
    ],
)
def test_what_is_not_removed(scope: Scope, tmp_path: Path, path: bytes, reason: str):
    (tmp_path / "full/x").mkdir(parents=True)
    with pytest.raises(ArenError) as error:
        result(remove(scope, path))
    assert error.value.reason == reason


def test_missing_entry_may_be_no_error(scope: Scope):
    assert result(remove(scope, b"no", ignore_missing=True)) == 0
    assert result(remove(scope, b"no/such", ignore_missing=True)) == 0
    with pytest.raises(NotFound):
        result(remove(scope, b"no"))


def test_tree_of_any_depth_is_removed(scope: Scope, tmp_path: Path):
    fd = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=fd)
        following = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = following
    os.close(fd)
    assert result(remove(scope, b"d", recursive=True)) == 1500
    assert names_in(tmp_path) == []


def test_directory_that_a_program_keeps_filling_ends_in_an_answer(scope: Scope, tmp_path: Path):
    (tmp_path / "d").mkdir()
    done = threading.Event()

    def fill() -> None:
        number = 0
        while not done.is_set():
            number += 1
            try:
                (tmp_path / f"d/{number}").touch()
            except OSError:
                return

    thread = threading.Thread(target=fill)
    thread.start()
    refusal = ""
    try:
        result(remove(scope, b"d", recursive=True))
    except FailedPrecondition as error:
        refusal = error.reason
    finally:
        done.set()
        thread.join()
    assert refusal == ("DIRECTORY_NOT_EMPTY" if (tmp_path / "d").exists() else "")


# --- modes, owners, links ---------------------------------------------------------------------------------------------


def test_mode_of_a_tree_changes_but_for_links(scope: Scope, tmp_path: Path):
    (tmp_path / "d/e").mkdir(parents=True)
    (tmp_path / "d/e/f").touch()
    (tmp_path / "outside").touch()
    (tmp_path / "outside").chmod(0o600)
    (tmp_path / "d/link").symlink_to("../outside")
    assert result(change_mode(scope, b"d", 0o750, recursive=True)) == 3
    for path in ("d", "d/e", "d/e/f"):
        assert stat.S_IMODE((tmp_path / path).stat().st_mode) == 0o750
    assert stat.S_IMODE((tmp_path / "outside").stat().st_mode) == 0o600
    assert result(change_mode(scope, b"d/e/f", 0o4711)) == 1
    assert stat.S_IMODE((tmp_path / "d/e/f").stat().st_mode) == 0o4711


def test_link_has_no_mode(scope: Scope, tmp_path: Path):
    (tmp_path / "f").touch()
    (tmp_path / "link").symlink_to("f")
    with pytest.raises(FailedPrecondition) as error:
        result(change_mode(scope, b"link", 0o777))
    assert error.value.reason == "IS_A_SYMLINK"
    with pytest.raises(InvalidArgument):
        result(change_mode(scope, b"f", 0o10000))


@pytest.mark.root
def test_owner_of_a_tree_changes_links_too(scope: Scope, tmp_path: Path):
    (tmp_path / "d").mkdir()
    (tmp_path / "outside").touch()
    (tmp_path / "d/link").symlink_to("../outside")
    assert result(change_owner(scope, b"d", owner="alice", recursive=True)) == 2
    for path, expected in (("d", (4001, 0)), ("d/link", (4001, 0)), ("outside", (0, 0))):
        status = (tmp_path / path).lstat()
        assert (status.st_uid, status.st_gid) == expected
    assert result(change_owner(scope, b"d/link", group="team")) == 1
    assert (tmp_path / "d/link").lstat().st_gid == 4100
    assert result(change_owner(scope, b".", owner="4242")) == 1
    assert tmp_path.stat().st_uid == 4242


@pytest.mark.root
def test_acting_user_changes_only_what_is_theirs():
    with shared_directory(0o777) as directory:
        for name, owner in (("own", 4001), ("roots", 0)):
            (directory / name).touch()
            os.chown(directory / name, owner, owner)
        scope = scope_of(directory, identity=ALICE)
        with acting_as(ALICE):
            assert result(change_mode(scope, b"own", 0o600)) == 1
            assert result(change_owner(scope, b"own", group="team")) == 1
            for refused in (
                change_mode(scope, b"roots", 0o666),
                change_owner(scope, b"own", owner="bob"),
                change_owner(scope, b"roots", owner="alice"),
            ):
                with pytest.raises(PermissionDenied):
                    result(refused)


@pytest.mark.root
def test_link_is_made_as_given_and_belongs_to_the_default_user(tmp_path: Path):
    scope = scope_of(tmp_path, config=FileConfig())
    entry = make_link(scope, b"x", b"../../\xff")
    assert (entry.kind, entry.link_target, entry.status.uid) == (Kind.SYMLINK, b"../../\xff", 1000)
    with pytest.raises(AlreadyExists):
        make_link(scope, b"x", b"y")


@pytest.mark.parametrize("target", [b"", b"a\0b", b"x" * 4096])
def test_impossible_target_is_refused(scope: Scope, target: bytes):
    with pytest.raises(InvalidArgument) as error:
        make_link(scope, b"x", target)
    assert error.value.field == "target"
