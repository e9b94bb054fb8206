"""Where watched directories are."""

import pytest

from arenero.execd.watched_tree import Node, WatchedTree, below, is_above


@pytest.fixture
def tree() -> WatchedTree:
    """Make /, /a, /a/b, /a/b/c and /d, with the watches 1 to 5."""
    tree = WatchedTree()
    top = tree.add(1, (0, 1), b"", None)
    a = tree.add(2, (0, 2), b"a", top)
    b = tree.add(3, (0, 3), b"b", a)
    tree.add(4, (0, 4), b"c", b)
    tree.add(5, (0, 5), b"d", top)
    return tree


def paths(tree: WatchedTree) -> list[bytes | None]:
    return [tree.path(node) for node in tree.nodes.values()]


def test_paths_are_below_the_top(tree: WatchedTree):
    assert paths(tree) == [b"", b"a", b"a/b", b"a/b/c", b"d"]


def test_directory_between_two_names_has_no_path_nor_what_is_in_it(tree: WatchedTree):
    moving = tree.detach(b"b", tree.nodes[2])
    assert moving is tree.nodes[3]
    assert paths(tree) == [b"", b"a", None, None, b"d"]
    tree.attach(moving, b"x", tree.nodes[5])
    assert paths(tree) == [b"", b"a", b"d/x", b"d/x/c", b"d"]
    assert tree.nodes[2].left_early == set()
    assert tree.detach(b"b", tree.nodes[2]) is None


def test_directory_found_elsewhere_left_early(tree: WatchedTree):
    tree.attach(tree.nodes[3], b"x", tree.nodes[5])
    assert tree.path(tree.nodes[4]) == b"d/x/c"
    assert (tree.nodes[2].left_early, tree.nodes[2].children) == ({b"b"}, {})
    tree.attach(tree.nodes[3], b"b", tree.nodes[2])
    assert tree.nodes[2].left_early == set()


def test_dropped_directory_takes_all_below_along(tree: WatchedTree):
    assert sorted(tree.drop(tree.nodes[2])) == [2, 3, 4]
    assert list(tree.nodes) == [1, 5]


def test_above_and_below(tree: WatchedTree):
    top, _, b, c, d = tree.nodes.values()
    assert [node.watch for node in below(b)] == [3, 4]
    assert is_above(top, c)
    assert is_above(c, c)
    assert not is_above(d, c)
    assert not is_above(c, b)


def test_name_that_is_gone_is_forgotten():
    node = Node(b"", None, 1, (0, 0), listed={b"x", b"y"}, missed={b"x"})
    node.forget(b"x")
    assert (node.listed, node.missed) == ({b"y"}, set())
