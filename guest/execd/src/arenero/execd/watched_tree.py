"""Where the watched directories of a tree are, as far as the kernel's events and our own looks have told.

The two don't agree while there are events to be read: a look finds a directory where it is now, an event tells where
it was before. So a directory may be put in its new place ahead of the event that it left its old one. Nothing here
does I/O.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

Identity = tuple[int, int]
"""Device and inode."""


@dataclass(slots=True, eq=False)
class Node:
    """A watched directory."""

    name: bytes
    parent: Node | None
    """None for the top, and while it is between two names."""
    watch: int
    identity: Identity
    """A path is looked up later than the event that it is made from, and may be another directory's by then."""
    children: dict[bytes, Node] = field(default_factory=dict)
    listed: set[bytes] = field(default_factory=set)
    """Names told already from its listing, whose creation may still be in the queue."""
    missed: set[bytes] = field(default_factory=set)
    """Directories in it that were not where they were to be looked into, since one above them was moved meanwhile."""
    left_early: set[bytes] = field(default_factory=set)
    """Directories that were found elsewhere before the event that they left."""

    def forget(self, name: bytes) -> None:
        """Drop what is kept of a name that is gone."""
        self.listed.discard(name)
        self.missed.discard(name)


class WatchedTree:
    """The watched directories by the numbers of their watches."""

    def __init__(self) -> None:
        self.nodes: dict[int, Node] = {}
        self.top: Node | None = None

    def add(self, watch: int, identity: Identity, name: bytes, parent: Node | None) -> Node:
        """Add a directory; the first is the top."""
        node = Node(name, parent, watch, identity)
        self.nodes[watch] = node
        if parent is None:
            self.top = node
        else:
            parent.children[name] = node
        return node

    def attach(self, node: Node, name: bytes, parent: Node) -> None:
        """Put a directory in its place, out of the one where it still is."""
        if node.parent is not None and node.parent.children.get(node.name) is node:
            del node.parent.children[node.name]
            node.parent.left_early.add(node.name)
        node.name, node.parent = name, parent
        parent.children[name] = node
        parent.left_early.discard(name)

    def detach(self, name: bytes, parent: Node) -> Node | None:
        """Take a directory out of its place, since it left; None when nothing is known there."""
        node = parent.children.pop(name, None)
        if node is not None:
            node.parent = None
        return node

    def drop(self, top: Node) -> list[int]:
        """Forget a directory and all below it; return their watches."""
        return [node.watch for node in below(top) if self.nodes.pop(node.watch, None) is not None]

    def path(self, node: Node) -> bytes | None:
        """Return where a directory is; None while it or one above it is between two names."""
        names: list[bytes] = []
        at: Node | None = node
        while at is not None and at is not self.top:
            names.append(at.name)
            at = at.parent
        return None if at is None else b"/".join(reversed(names))


def below(top: Node) -> Iterator[Node]:
    """Give a directory and all below it."""
    todo = [top]
    while todo:
        at = todo.pop()
        yield at
        todo += at.children.values()


def is_above(top: Node, node: Node | None) -> bool:
    """Whether a directory is another, or above it."""
    while node is not None:
        if node is top:
            return True
        node = node.parent
    return False
