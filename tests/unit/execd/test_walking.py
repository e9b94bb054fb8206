"""Walking trees that are large, deep, or changed by somebody else meanwhile."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arenero.errors import Conflict, ResourceExhausted
from arenero.execd import walking
from arenero.execd.walking import Visit, WalkOptions, walk
from tests.unit.execd.filekit import no_leaked_descriptors

PLAIN = WalkOptions()


def visits(directory: Path, options: WalkOptions = PLAIN) -> list[Visit]:
    fd = os.open(directory, os.O_PATH | os.O_DIRECTORY)
    try:
        return list(walk(fd, options))
    finally:
        os.close(fd)


def paths(directory: Path, options: WalkOptions = PLAIN) -> list[bytes]:
    return [visit.path for visit in visits(directory, options)]


relative = st.lists(st.sampled_from(["a", "b", "b.c", "é"]), min_size=1, max_size=4).map("/".join)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(relative, max_size=12))
def test_order_is_that_of_names_with_directories_before_their_content(tmp_path_factory, directories: set[str]):
    root = tmp_path_factory.mktemp("tree")
    for path in directories:
        (root / path).mkdir(parents=True, exist_ok=True)
        (root / path / "file").touch()
    expected = sorted(os.fsencode(path.relative_to(root)).split(b"/") for path in root.rglob("*"))
    assert [path.split(b"/") for path in paths(root)] == expected


def test_depth_limits_how_far_down_it_goes(tmp_path: Path):
    (tmp_path / "1/2/3").mkdir(parents=True)
    assert paths(tmp_path, WalkOptions(depth=2)) == [b"1", b"1/2"]


def test_skipped_directory_is_not_entered(tmp_path: Path):
    (tmp_path / "in/x").mkdir(parents=True)
    (tmp_path / "out/y").mkdir(parents=True)
    fd = os.open(tmp_path, os.O_PATH)
    seen = []
    for visit in walk(fd):
        seen.append(visit.path)
        visit.skip = visit.path == b"out"
    os.close(fd)
    assert seen == [b"in", b"in/x", b"out"]


def test_directories_are_visited_again_when_left(tmp_path: Path):
    (tmp_path / "d/e").mkdir(parents=True)
    (tmp_path / "d/f").touch()
    seen = [(visit.path, visit.is_leaving) for visit in visits(tmp_path, WalkOptions(leaves=True))]
    assert seen == [(b"d", False), (b"d/e", False), (b"d/e", True), (b"d/f", False), (b"d", True)]


def test_links_are_not_followed(tmp_path: Path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d/back").symlink_to("..")
    (tmp_path / "etc").symlink_to("/etc")
    assert paths(tmp_path) == [b"d", b"d/back", b"etc"]


def deep_tree(root: Path, levels: int) -> None:
    fd = os.open(root, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=fd)
        following = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = following
    os.close(fd)


@pytest.fixture
def deep(tmp_path: Path):
    """Give a directory for a tree that Python's own tools can't remove."""
    yield tmp_path
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def test_deep_tree_takes_few_descriptors(deep: Path):
    deep_tree(deep, 3000)
    before = len(os.listdir("/proc/self/fd"))
    most = 0
    fd = os.open(deep, os.O_PATH)
    try:
        for count, _ in enumerate(walk(fd, WalkOptions(depth=0, has_paths=False, leaves=True)), start=1):
            if count % 100 == 0:
                most = max(most, len(os.listdir("/proc/self/fd")) - before)
        assert count == 6000
        assert most < 40
    finally:
        os.close(fd)


def test_too_deep_a_tree_is_told_where_paths_are_built(deep: Path):
    deep_tree(deep, walking.DEEPEST + 5)
    failed: list[bytes] = []
    found = paths(deep, WalkOptions(failed=lambda path, error: failed.append(path)))
    assert len(found) == walking.DEEPEST
    assert failed == [found[-1]]


def test_walk_stops_when_its_way_back_was_moved(tmp_path: Path):
    """Going up by `..` must not lead into another tree."""
    deep_tree(tmp_path, 40)
    (tmp_path / "elsewhere").mkdir()
    fd = os.open(tmp_path, os.O_PATH)
    with no_leaked_descriptors():
        steps = walk(fd, WalkOptions(leaves=True))
        assert next(visit.path for visit in steps if visit.depth == 40)
        (tmp_path / "d/d/d").rename(tmp_path / "elsewhere/d")
        with pytest.raises(Conflict) as error:
            list(steps)
    os.close(fd)
    assert error.value.reason == "TREE_CHANGED"


def test_entry_that_became_a_link_is_not_entered(tmp_path: Path):
    (tmp_path / "d/inner").mkdir(parents=True)
    fd = os.open(tmp_path, os.O_PATH)
    seen = []
    for visit in walk(fd):
        seen.append(visit.path)
        if visit.path == b"d":
            (tmp_path / "d").rename(tmp_path / "d-was")
            (tmp_path / "d").symlink_to("/etc")
    os.close(fd)
    assert seen == [b"d"]


@pytest.mark.root
def test_unreadable_directory_is_told(tmp_path: Path):
    (tmp_path / "d").mkdir()
    failed: list[tuple[bytes, int | None]] = []

    def fails(*args: object, **kwargs: object) -> object:
        raise PermissionError(13, "no")

    fd = os.open(tmp_path, os.O_PATH)
    for visit in walk(fd, WalkOptions(failed=lambda path, error: failed.append((path, error.errno)))):
        original, walking._names = walking._names, fails  # type: ignore[assignment]
        assert visit.path == b"d"
    walking._names = original
    os.close(fd)
    assert failed == [(b"d", 13)]


def test_directory_without_end_is_refused(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(walking, "MOST_NAMES", 50)
    for number in range(51):
        (tmp_path / str(number)).touch()
    with no_leaked_descriptors(), pytest.raises(ResourceExhausted) as error:
        paths(tmp_path)
    assert error.value.reason == "DIRECTORY_TOO_LARGE"


def test_leaving_early_closes_all(tmp_path: Path):
    deep_tree(tmp_path, 10)
    fd = os.open(tmp_path, os.O_PATH)
    with no_leaked_descriptors():
        steps = walk(fd)
        for _ in range(5):
            next(steps)
        steps.close()  # type: ignore[attr-defined]
    os.close(fd)
