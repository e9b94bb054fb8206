"""Watching a tree by the kernel's single-directory watches."""

import errno
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arenero.errors import ResourceExhausted
from arenero.execd import filecalls
from arenero.execd.changes import Change, ChangeKind, Coalescer
from arenero.execd.globs import Globs
from arenero.execd.uploads import WriteSpec
from arenero.execd.watch import DirectoryWatch
from tests.unit.execd.filekit import no_leaked_descriptors, result, scope_of, write

K = ChangeKind


class Watched:
    """A watch and the tree as its changes alone tell it."""

    def __init__(self, root: Path, *, is_recursive: bool = True, ignore: tuple[str, ...] = ()) -> None:
        self.root = root
        fd = os.open(root, os.O_PATH | os.O_DIRECTORY)
        self.watch = DirectoryWatch(fd, is_recursive=is_recursive, ignore=Globs(ignore, "ignore"))
        result(self.watch.start())
        self.known = self.found()

    def changes(self) -> list[Change]:
        """Return what happened, joined, with halves of moves waited for."""
        coalescer = Coalescer()
        assert not result(self.watch.read(coalescer.add))
        while self.watch.has_halves:
            result(self.watch.read(coalescer.add))
        return coalescer.take()

    def found(self) -> set[str]:
        return {str(path.relative_to(self.root)) for path in self.root.rglob("*")}

    def follow(self, changes: list[Change]) -> None:
        """Apply changes to the names that are known."""
        for change in changes:
            path = os.fsdecode(change.path)
            if change.kind is K.CREATED:
                self.known.add(path)
            elif change.kind is K.REMOVED:
                self.known -= {name for name in self.known if name == path or name.startswith(path + "/")}
            elif change.kind is K.MOVED:
                old = os.fsdecode(change.moved_from)
                moved = {name for name in self.known if name == old or name.startswith(old + "/")}
                self.known = (self.known - moved) | {path + name[len(old) :] for name in moved} | {path}


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    with no_leaked_descriptors():
        watched = Watched(tmp_path)
        yield watched
        watched.watch.close()


def told(changes: list[Change]) -> list[tuple[str, ...]]:
    return [
        (change.kind.name.lower(), *(os.fsdecode(part) for part in (change.moved_from, change.path) if part))
        for change in changes
    ]


def test_files_are_told_by_what_happened(watched: Watched, tmp_path: Path):
    (tmp_path / "f").write_text("x")
    assert told(watched.changes()) == [("created", "f")]
    (tmp_path / "f").write_text("y")
    assert told(watched.changes()) == [("modified", "f")]
    (tmp_path / "f").chmod(0o600)
    assert told(watched.changes()) == [("attributes", "f")]
    (tmp_path / "f").rename(tmp_path / "g")
    assert told(watched.changes()) == [("moved", "f", "g")]
    (tmp_path / "g").unlink()
    assert told(watched.changes()) == [("removed", "g")]
    assert watched.changes() == []


def test_new_directories_are_watched_and_what_is_in_them_is_told_once(watched: Watched, tmp_path: Path):
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "a/b/c/f").write_text("x")
    assert told(watched.changes()) == [
        ("created", "a"),
        ("created", "a/b"),
        ("created", "a/b/c"),
        ("created", "a/b/c/f"),
    ]
    (tmp_path / "a/b/c/f").write_text("y")
    (tmp_path / "a/b/new").touch()
    assert told(watched.changes()) == [("modified", "a/b/c/f"), ("created", "a/b/new")]


def test_moved_directory_keeps_being_watched_under_its_new_name(watched: Watched, tmp_path: Path):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "c").mkdir()
    watched.changes()
    (tmp_path / "a").rename(tmp_path / "c/moved")
    (tmp_path / "c/moved/b/f").touch()
    assert told(watched.changes()) == [("moved", "a", "c/moved"), ("created", "c/moved/b/f")]
    (tmp_path / "c/moved/b/f").unlink()
    assert told(watched.changes()) == [("removed", "c/moved/b/f")]


def test_half_a_move_is_a_removal_or_a_creation(watched: Watched, tmp_path: Path, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").touch()
    watched.changes()
    (tmp_path / "d").rename(elsewhere / "d")
    assert told(watched.changes()) == [("removed", "d")]
    (elsewhere / "d/g").touch()
    assert watched.changes() == []
    (elsewhere / "d").rename(tmp_path / "back")
    assert sorted(told(watched.changes())) == [("created", "back"), ("created", "back/f"), ("created", "back/g")]
    (tmp_path / "back/f").write_text("x")
    assert told(watched.changes()) == [("modified", "back/f")]


def test_directory_that_went_and_came_back_is_known_as_before(watched: Watched, tmp_path: Path, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").touch()
    watched.follow(watched.changes())
    (tmp_path / "d").rename(elsewhere / "d")
    (elsewhere / "d").rename(tmp_path / "d")
    assert watched.changes() == []
    (tmp_path / "d/g").touch()
    assert told(watched.changes()) == [("created", "d/g")]


def test_links_are_told_and_not_followed(watched: Watched, tmp_path: Path, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (tmp_path / "link").symlink_to(elsewhere)
    assert told(watched.changes()) == [("created", "link")]
    (elsewhere / "f").touch()
    assert watched.changes() == []


def test_ignored_names_are_neither_told_nor_watched(tmp_path: Path):
    (tmp_path / "node_modules/x").mkdir(parents=True)
    watched = Watched(tmp_path, ignore=("node_modules", "*.tmp"))
    (tmp_path / "node_modules/x/f").touch()
    (tmp_path / "a.tmp").touch()
    assert watched.changes() == []
    (tmp_path / "a.tmp").rename(tmp_path / "a")
    assert told(watched.changes()) == [("created", "a")]
    (tmp_path / "a").rename(tmp_path / "a.tmp")
    assert told(watched.changes()) == [("removed", "a")]
    watched.watch.close()


def test_without_recursion_only_the_directory_itself(tmp_path: Path):
    (tmp_path / "old").mkdir()
    watched = Watched(tmp_path, is_recursive=False)
    (tmp_path / "old/f").touch()
    (tmp_path / "new").mkdir()
    (tmp_path / "new/f").touch()
    assert told(watched.changes()) == [("created", "new")]
    watched.watch.close()


def test_our_own_writes_show_as_what_they_mean(watched: Watched, tmp_path: Path):
    write(scope_of(tmp_path), WriteSpec(b"f"), (0, b"x"))
    assert told(watched.changes())[0] == ("created", "f")
    write(scope_of(tmp_path), WriteSpec(b"f"), (0, b"y"))
    assert told(watched.changes()) == [("modified", "f")]


def test_file_without_a_name_is_not_told(watched: Watched, tmp_path: Path):
    """The kernel tells of it under a name that it doesn't have."""
    fd = os.open(tmp_path, os.O_TMPFILE | os.O_RDWR, 0o600)
    os.write(fd, b"x")
    os.fchmod(fd, 0o640)
    os.close(fd)
    assert watched.changes() == []
    (tmp_path / "#12").touch()
    watched.changes()
    (tmp_path / "#12").write_text("x")
    assert told(watched.changes()) == [("modified", "#12")]


def test_directory_itself_going_ends_the_watch(tmp_path: Path):
    (tmp_path / "d").mkdir()
    for go in (lambda path: path.rmdir(), lambda path: path.rename(tmp_path / "elsewhere")):
        (tmp_path / "d").mkdir(exist_ok=True)
        watched = Watched(tmp_path / "d")
        go(tmp_path / "d")
        assert [(change.kind, change.path) for change in watched.changes()] == [(K.REMOVED, b"")]
        assert watched.watch.has_ended
        watched.watch.close()


def test_tree_made_fast_is_known_completely(watched: Watched, tmp_path: Path):
    """Directories that appear while others are being looked at: none is missed, whoever is faster."""
    maker = subprocess.Popen(
        ["sh", "-c", f"cd {tmp_path}; for i in $(seq 60); do mkdir -p a$i/b/c; : > a$i/b/c/f; mv a$i/b m$i; done"]
    )
    try:
        deadline = time.monotonic() + 30
        while maker.poll() is None or watched.known != watched.found():
            assert time.monotonic() < deadline, watched.known ^ watched.found()
            watched.follow(watched.changes())
    finally:
        maker.wait()
    assert len(watched.known) == 60 * 4
    assert watched.changes() == []


@pytest.fixture
def limits() -> Iterator[dict[str, int]]:
    """Let a test lower the kernel's limits for a moment."""
    base = Path("/proc/sys/fs/inotify")
    before = {path.name: path.read_text() for path in base.iterdir()}
    lowered: dict[str, int] = {}

    class Limits(dict[str, int]):
        def __setitem__(self, name: str, value: int) -> None:
            (base / name).write_text(str(value))

    yield Limits(lowered)
    for name, value in before.items():
        (base / name).write_text(value)


@pytest.mark.root
def test_overflow_is_told_and_the_tree_known_again(tmp_path: Path, limits):
    limits["max_queued_events"] = 16
    watched = Watched(tmp_path)
    limits["max_queued_events"] = 16384
    for number in range(40):
        (tmp_path / f"d{number}").mkdir()
    assert result(watched.watch.read(lambda change: None)) is True
    (tmp_path / "d30/f").touch()
    assert told(watched.changes()) == [("created", "d30/f")]
    watched.watch.close()


def refuse(monkeypatch, call: str, code: int) -> None:
    def refused(*args: object) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(filecalls, call, refused)


def test_too_many_instances_is_an_error_of_its_own(tmp_path: Path, monkeypatch):
    refuse(monkeypatch, "inotify_init", errno.EMFILE)
    with no_leaked_descriptors(), pytest.raises(ResourceExhausted) as error:
        Watched(tmp_path)
    assert (error.value.reason, error.value.metadata["setting"]) == ("WATCH_LIMIT", "fs.inotify.max_user_instances")


def test_too_many_watches_is_an_error_of_its_own(tmp_path: Path, monkeypatch):
    """In the middle of a tree as well as at its start."""
    watched = Watched(tmp_path)
    (tmp_path / "d").mkdir()
    refuse(monkeypatch, "inotify_add_watch", errno.ENOSPC)
    with pytest.raises(ResourceExhausted) as error:
        watched.changes()
    assert (error.value.reason, error.value.metadata["setting"]) == ("WATCH_LIMIT", "fs.inotify.max_user_watches")
    watched.watch.close()
    with pytest.raises(ResourceExhausted):
        Watched(tmp_path)


CHURN = """
import os, random, shutil, sys
random.seed(int(sys.argv[2]))
os.chdir(sys.argv[1])
for number in range(150):
    directories = [path for path, _, _ in os.walk(".")]
    here, other, dice = random.choice(directories), random.choice(directories), random.random()
    try:
        if dice < 0.35:
            os.makedirs(f"{here}/d{number}/x/y")
        elif dice < 0.6:
            open(f"{here}/f{number}", "w").close()
        elif dice < 0.9:
            os.rename(other, f"{here}/m{number}")
        elif here != ".":
            shutil.rmtree(here)
    except OSError:
        pass
"""


@pytest.mark.parametrize("seed", range(4))
def test_tree_turned_over_at_random_is_known_in_the_end(watched: Watched, tmp_path: Path, seed: int):
    """Directories move into others that are not known yet, out of some that are gone, and on before anybody looks."""
    churn = subprocess.Popen([sys.executable, "-c", CHURN, str(tmp_path), str(seed)])
    try:
        deadline = time.monotonic() + 60
        while churn.poll() is None or watched.known != watched.found():
            assert time.monotonic() < deadline, watched.known ^ watched.found()
            watched.follow(watched.changes())
    finally:
        churn.kill()
        churn.wait()
    for directory, _, _ in os.walk(tmp_path):
        Path(directory, "probe").touch()
    watched.follow(watched.changes())
    assert watched.known == watched.found()
