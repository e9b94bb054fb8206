"""Look-ups under the rules of a tree, by the kernel and by hand, against a model that has no files."""

import errno
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arenero.errors import ArenError, FailedPrecondition, InvalidArgument, NotFound, PermissionDenied
from arenero.execd import paths
from arenero.execd.paths import EscapesRoot, Tree, resolve, resolve_by_walking
from tests.unit.execd.filekit import no_leaked_descriptors

NAMES = [b"a", b"b", b"c"]
RESOLVERS = [resolve, resolve_by_walking]


# --- a model ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Link:
    target: bytes


Node = dict[bytes, "Node | Link | None"]
"""A directory; None is a file."""


def model(tree: Node, path: bytes, *, follow: bool) -> str:
    """Return what the rules of a confined tree make of a path: an errno, `escapes`, or the way to what is found."""
    way: list[tuple[bytes, Node]] = []
    todo = path.split(b"/")[::-1]
    links = 0
    if path.startswith(b"/"):
        return "escapes"
    while todo:
        name = todo.pop()
        here = way[-1][1] if way else tree
        if name in (b"", b"."):
            continue
        if name == b"..":
            if not way:
                return "escapes"
            way.pop()
            continue
        if name not in here:
            return "ENOENT"
        node = here[name]
        is_last = not todo
        if isinstance(node, Link) and (follow or not is_last):
            links += 1
            if links > paths.MOST_LINKS:
                return "ELOOP"
            if node.target.startswith(b"/"):
                return "escapes"
            todo += node.target.split(b"/")[::-1]
            continue
        if isinstance(node, dict):
            way.append((name, node))
            continue
        if not is_last:
            return "ENOTDIR"
        return "/".join(part.decode() for part, _ in way) + "//" + name.decode()
    return "/".join(part.decode() for part, _ in way) or "."


def build(tree: Node, at: Path) -> None:
    for name, node in tree.items():
        path = at / name.decode()
        if isinstance(node, dict):
            path.mkdir()
            build(node, path)
        elif isinstance(node, Link):
            path.symlink_to(node.target.decode())
        else:
            path.write_bytes(b"")


def outcome(resolver, root: Path, path: bytes, *, follow: bool) -> str:
    root_fd = os.open(root, os.O_PATH | os.O_DIRECTORY)
    flags = os.O_PATH | (0 if follow else os.O_NOFOLLOW)
    try:
        with no_leaked_descriptors():
            fd = resolver(root_fd, path, flags, is_confined=True)
            where = os.readlink(f"/proc/self/fd/{fd}")
            is_directory = os.path.isdir(where) and not os.path.islink(where)
            os.close(fd)
    except EscapesRoot:
        return "escapes"
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    finally:
        os.close(root_fd)
    below = os.path.relpath(where, root)
    if is_directory:
        return below
    directory, _, name = below.rpartition("/")
    return f"{directory}//{name}"


components = st.sampled_from([*NAMES, b"..", b"."])
targets = st.one_of(
    st.lists(components, min_size=1, max_size=4).map(b"/".join),
    st.sampled_from([b"/", b"/a", b"/etc/passwd", b"b/", b"./c/.", b"../../.."]),
)
leaves = st.one_of(st.none(), targets.map(Link))
trees = st.recursive(
    st.dictionaries(st.sampled_from(NAMES), leaves, max_size=3),
    lambda inner: st.dictionaries(st.sampled_from(NAMES), st.one_of(leaves, inner), max_size=3),
    max_leaves=12,
)
asked = st.lists(st.sampled_from([*NAMES, b"..", b".", b""]), min_size=1, max_size=6).map(b"/".join).filter(bool)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=trees, path=asked, follow=st.booleans())
def test_kernel_and_walk_do_what_the_model_says(tmp_path_factory, tree: Node, path: bytes, follow: bool):
    """Case 38: whatever links there are, a confined look-up finds what the rules say, or is refused."""
    root = tmp_path_factory.mktemp("tree")
    build(tree, root)
    expected = model(tree, path, follow=follow or path.endswith(b"/"))
    assert [outcome(resolver, root, path, follow=follow) for resolver in RESOLVERS] == [expected, expected]


# --- both resolvers ---------------------------------------------------------------------------------------------------


@pytest.fixture(params=["kernel", "walk"])
def resolver(request, monkeypatch):
    """Look up by the kernel, and as on one that can't confine."""
    monkeypatch.setattr(paths._Kernel, "confines", request.param == "kernel")
    return request.param


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    (inside / "dir").mkdir(parents=True)
    (inside / "file").write_text("in")
    (tmp_path / "secret").write_text("out")
    return inside


@pytest.mark.parametrize("target", ["/etc/shadow", "..", "../secret", "/", "dir/../../secret"])
def test_link_out_of_the_tree_is_refused(resolver, inside: Path, target: str):
    """Case 38: a link to elsewhere is no way to elsewhere."""
    (inside / "x").symlink_to(target)
    with Tree.open(os.fsencode(inside), home=b"/") as tree:
        for path in (b"x", b"x/", b"dir/../x", b"x/passwd"):
            with pytest.raises(PermissionDenied) as refused:
                tree.open_file(path, os.O_RDONLY)
            assert (refused.value.reason, refused.value.field) == ("ESCAPES_ROOT", "path")


def test_link_itself_can_be_looked_at(resolver, inside: Path):
    """Case 38: lstat shows links as links."""
    (inside / "x").symlink_to("/etc/shadow")
    with Tree.open(os.fsencode(inside), home=b"/") as tree:
        fd = tree.open_file(b"x", os.O_PATH | os.O_NOFOLLOW)
        assert os.readlink(b"", dir_fd=fd) == b"/etc/shadow"
        os.close(fd)


@pytest.mark.parametrize("path", [b"../secret", b"dir/../../secret", b"..", b"/etc/passwd", b"/"])
def test_path_out_of_the_tree_is_refused(resolver, inside: Path, path: bytes):
    with Tree.open(os.fsencode(inside), home=b"/") as tree, pytest.raises(PermissionDenied) as refused:
        tree.open_file(path, os.O_RDONLY)
    assert refused.value.reason == "ESCAPES_ROOT"


def test_absolute_path_below_the_root_is_the_same_as_a_relative_one(resolver, inside: Path):
    with Tree.open(os.fsencode(inside), home=b"/") as tree:
        for path in (os.fsencode(inside) + b"/file", b"file", b"./dir/../file"):
            fd = tree.open_file(path, os.O_RDONLY)
            assert os.read(fd, 9) == b"in"
            os.close(fd)


def test_name_that_only_begins_like_the_root_is_outside(resolver, inside: Path):
    (inside.parent / "inside-too").mkdir()
    with Tree.open(os.fsencode(inside), home=b"/") as tree, pytest.raises(PermissionDenied):
        tree.open_file(os.fsencode(inside) + b"-too", os.O_RDONLY)


def test_whole_sandbox_follows_links_anywhere(resolver, inside: Path):
    (inside / "x").symlink_to(inside.parent / "secret")
    with Tree.open(b"", home=os.fsencode(inside)) as tree:
        fd = tree.open_file(b"x", os.O_RDONLY)
        assert os.read(fd, 9) == b"out"
        os.close(fd)


def test_magic_link_is_never_followed_as_one(resolver, tmp_path: Path):
    """/proc/self/fd/N would lead to whatever execd has open, even where no path leads."""
    secret = os.open(tmp_path / "secret", os.O_RDWR | os.O_CREAT, 0o600)
    os.unlink(tmp_path / "secret")
    try:
        with Tree.open(b"", home=b"/") as tree, pytest.raises((FailedPrecondition, NotFound)):
            tree.open_file(b"/proc/self/fd/%d" % secret, os.O_RDONLY)
    finally:
        os.close(secret)


def test_final_place_is_where_links_end(resolver, inside: Path):
    (inside / "dir/real").write_text("")
    (inside / "one").symlink_to("two")
    (inside / "two").symlink_to("dir/real")
    (inside / "dangling").symlink_to("dir/new")
    with Tree.open(os.fsencode(inside), home=b"/") as tree:
        for path, name in ((b"one", b"real"), (b"dangling", b"new"), (b"file", b"file")):
            with tree.final_place(path) as place:
                assert place.name == name
        (inside / "out").symlink_to("../secret")
        with pytest.raises(PermissionDenied):
            tree.final_place(b"out")


def test_circle_of_links_is_an_error(resolver, inside: Path):
    (inside / "x").symlink_to("y")
    (inside / "y").symlink_to("x")
    with Tree.open(os.fsencode(inside), home=b"/") as tree:
        for look_up in (lambda: tree.open_file(b"x", os.O_RDONLY), lambda: tree.final_place(b"x")):
            with pytest.raises(FailedPrecondition) as error:
                look_up()
            assert error.value.reason == "LINK_LOOP"


@pytest.mark.parametrize("path", [b"..", b".", b"dir/..", b"dir/.", b"/", b"//"])
def test_place_needs_a_name_at_the_end(inside: Path, path: bytes):
    with Tree.open(b"", home=os.fsencode(inside)) as tree, pytest.raises(InvalidArgument) as error:
        tree.place(path, "destination")
    assert error.value.field == "destination"


@pytest.mark.parametrize(
    ("path", "reason"), [(b"", "INVALID_PATH"), (b"a\0b", "INVALID_PATH"), (b"a/" * 2048 + b"a", "NAME_TOO_LONG")]
)
def test_impossible_path_is_refused_before_it_is_looked_up(inside: Path, path: bytes, reason: str):
    with Tree.open(os.fsencode(inside), home=b"/") as tree, pytest.raises(InvalidArgument) as error:
        tree.open_file(path, os.O_RDONLY)
    assert error.value.reason == reason


@pytest.mark.parametrize(("root", "kind"), [(b"relative", InvalidArgument), (b"/no/such", NotFound)])
def test_root_must_be_an_absolute_directory_that_exists(root: bytes, kind: type[ArenError]):
    with no_leaked_descriptors(), pytest.raises(kind) as error:
        Tree.open(root, home=b"/")
    assert error.value.field == "root.root"


def test_names_are_bytes(resolver, inside: Path):
    name = b"caf\xe9 \xff\n"
    with open(os.path.join(os.fsencode(inside), name), "wb") as file:
        file.write(b"x")
    with Tree.open(os.fsencode(inside), home=b"/") as tree:
        fd = tree.open_file(name, os.O_RDONLY)
        assert os.read(fd, 9) == b"x"
        os.close(fd)


def test_nothing_stays_open_whatever_happens(resolver, inside: Path):
    (inside / "up").symlink_to("..")
    with no_leaked_descriptors(), Tree.open(os.fsencode(inside), home=b"/") as tree:
        for path in (b"up/secret", b"no/such", b"file/x", b"x" * 300 + b"/y", b"dir/../../x"):
            for look_up in (tree.open_directory, tree.place, tree.final_place):
                with pytest.raises(ArenError):
                    look_up(path)
