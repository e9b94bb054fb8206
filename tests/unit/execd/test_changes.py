"""Joining changes must never change what they amount to."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arenero.execd.changes import Change, ChangeKind, Coalescer

K = ChangeKind
NAMES = ["a", "b", "c", "d/x", "d/y", "e/x"]


def joined(*changes: Change) -> list[Change]:
    coalescer = Coalescer()
    for change in changes:
        coalescer.add(change)
    taken = coalescer.take()
    assert not coalescer
    return taken


def created(path: str, *, is_directory: bool = False, may_replace: bool = False) -> Change:
    return Change(K.CREATED, path.encode(), is_directory=is_directory, may_replace=may_replace)


def removed(path: str, *, is_directory: bool = False) -> Change:
    return Change(K.REMOVED, path.encode(), is_directory=is_directory)


def modified(path: str) -> Change:
    return Change(K.MODIFIED, path.encode())


def attributes(path: str) -> Change:
    return Change(K.ATTRIBUTES, path.encode())


def moved(old: str, new: str) -> Change:
    return Change(K.MOVED, new.encode(), old.encode())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([created("a"), modified("a"), attributes("a"), modified("a")], [created("a")]),
        ([created("a"), modified("a"), removed("a")], []),
        ([modified("a"), modified("b"), modified("a")], [modified("a"), modified("b")]),
        ([attributes("a"), modified("a")], [modified("a")]),
        ([modified("a"), removed("a")], [removed("a")]),
        ([removed("a"), created("a")], [modified("a")]),
        ([created("t"), modified("t"), moved("t", "a")], [created("a", may_replace=True)]),
        ([modified("a"), created("t"), moved("t", "a")], [modified("a")]),
        ([moved("a", "b")], [moved("a", "b")]),
        ([modified("a"), moved("a", "b")], [modified("a"), moved("a", "b")]),
        ([moved("a", "b"), removed("b")], [moved("a", "b"), removed("b")]),
        ([created("a", may_replace=True), removed("a")], [created("a", may_replace=True), removed("a")]),
        (
            [created("d", is_directory=True), created("d/f"), removed("d", is_directory=True)],
            [created("d", is_directory=True), created("d/f"), removed("d", is_directory=True)],
        ),
    ],
)
def test_examples(before: list[Change], after: list[Change]):
    assert joined(*before) == after


def test_taking_starts_anew():
    coalescer = Coalescer()
    coalescer.add(created("a"))
    assert coalescer
    assert coalescer.take() == [created("a")]
    assert coalescer.take() == []


@dataclass
class Files:
    """A tree of files with versions, and the changes that a watch would report of what is done to it."""

    versions: dict[str, int]
    reported: list[Change] = field(default_factory=list)
    counter: int = 100

    def do(self, operation: tuple[str, str, str]) -> None:
        verb, name, other = operation
        self.counter += 1
        if verb == "write":
            self.reported.append(modified(name) if name in self.versions else created(name))
            self.versions[name] = self.counter
        elif verb == "remove" and name in self.versions:
            del self.versions[name]
            self.reported.append(removed(name))
        elif verb == "move" and name in self.versions and name != other:
            self.versions[other] = self.versions.pop(name)
            self.reported.append(moved(name, other))
        elif verb == "arrive":
            self.versions[other] = self.counter
            self.reported.append(created(other, may_replace=True))
        elif verb == "move directory":
            self.move_directory()

    def move_directory(self) -> None:
        below = [name for name in self.versions if name.startswith("d/")]
        if below and not any(name.startswith("e/") for name in self.versions):
            for name in below:
                self.versions["e/" + name[2:]] = self.versions.pop(name)
            self.reported.append(Change(K.MOVED, b"e", b"d", is_directory=True))


def follow(known: dict[str, int], changes: list[Change], now: dict[str, int]) -> dict[str, int]:
    """Keep a copy of the tree by its changes alone, looking files up in the end: -1 stands for what must be read."""
    known = dict(known)
    for change in changes:
        path = change.path.decode()
        if change.kind in (K.CREATED, K.MODIFIED):
            known[path] = -1
        elif change.kind is K.REMOVED:
            known.pop(path, None)
        elif change.is_directory:
            old = change.moved_from.decode() + "/"
            for name in [name for name in known if name.startswith(old)]:
                known[path + "/" + name[len(old) :]] = known.pop(name)
        else:
            known[path] = known.pop(change.moved_from.decode(), -1)
    return {name: now.get(name, -2) if version == -1 else version for name, version in known.items()}


operations = st.tuples(
    st.sampled_from(["write", "remove", "move", "arrive", "move directory"]),
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
)


@settings(deadline=None)
@given(first=st.sets(st.sampled_from(NAMES)), done=st.lists(operations, max_size=12))
def test_joined_changes_amount_to_the_same(first: set[str], done: list[tuple[str, str, str]]):
    """Who had the tree before and applies what comes out has the tree as it is: names, and which content is stale."""
    before = {name: at for at, name in enumerate(sorted(first))}
    files = Files(dict(before))
    for operation in done:
        files.do(operation)
    assert follow(before, files.reported, files.versions) == files.versions
    coalescer = Coalescer()
    for change in files.reported:
        coalescer.add(change)
    taken = coalescer.take()
    assert follow(before, taken, files.versions) == files.versions
    assert len(taken) <= len(files.reported)
