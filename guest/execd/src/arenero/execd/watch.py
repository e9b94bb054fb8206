"""Watches a tree of directories by inotify, which knows single directories only.

Each directory is watched before it is listed, so what appears in a new one is seen either way, and told once. Links
are not followed. Moves within the tree are told as such when both halves come; a half alone is a removal or a
creation. When the kernel's queue overflows, the tree is looked through anew and the caller told that changes were
lost.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Final

from arenero.errors import ResourceExhausted
from arenero.execd import filecalls
from arenero.execd.changes import Change, ChangeKind
from arenero.execd.filecalls import InotifyEvent
from arenero.execd.globs import Globs
from arenero.execd.paths import Place, join, split_name
from arenero.execd.temporaries import exists, is_replacing, is_temporary
from arenero.execd.walking import DEEPEST, OPEN_DIRECTORY

_MASK: Final = (
    filecalls.IN_MODIFY
    | filecalls.IN_ATTRIB
    | filecalls.IN_CLOSE_WRITE
    | filecalls.IN_MOVED_FROM
    | filecalls.IN_MOVED_TO
    | filecalls.IN_CREATE
    | filecalls.IN_DELETE
    | filecalls.IN_EXCL_UNLINK
)
_ROOT_MASK: Final = _MASK | filecalls.IN_DELETE_SELF | filecalls.IN_MOVE_SELF
_GONE: Final = filecalls.IN_DELETE_SELF | filecalls.IN_MOVE_SELF | filecalls.IN_UNMOUNT
_READ_BYTES: Final = 64 * 1024
_MOST_READS: Final = 64
"""In a row, so that a flood of events doesn't keep those already read from being told."""


@dataclass(slots=True, eq=False)
class _Node:
    """A watched directory."""

    name: bytes
    parent: _Node | None
    watch: int
    children: dict[bytes, _Node] = field(default_factory=dict)
    listed: set[bytes] = field(default_factory=set)
    """Names told already from its listing, whose creation may still be in the queue."""


@dataclass(slots=True)
class _Departure:
    """The first half of a move."""

    path: bytes
    is_directory: bool
    is_seen: bool
    node: _Node | None
    is_replacement: bool
    """It is a hidden file on its way to take another's place."""
    is_old: bool = False
    """The queue was empty since; the other half won't come."""


@dataclass(frozen=True, slots=True)
class _Arrival:
    """The second half of a move."""

    name: bytes
    node: _Node
    path: bytes
    is_seen: bool
    is_directory: bool


class DirectoryWatch:
    """One watched tree. Methods may be called in any thread; they wait for each other."""

    def __init__(self, fd: int, *, is_recursive: bool, ignore: Globs) -> None:
        """Take over a directory's descriptor, and open a queue.

        Raises:
            ResourceExhausted: The user has too many inotify instances, reason WATCH_LIMIT.
        """
        self._fd = fd
        self._is_recursive = is_recursive
        self._ignore = ignore
        self._nodes: dict[int, _Node] = {}
        self._root: _Node | None = None
        self._departures: dict[int, _Departure] = {}
        self._lock = threading.Lock()
        self._is_lost = False
        self._parent_watch = -1
        self.has_ended = False
        """The directory itself went."""
        try:
            self.queue_fd = filecalls.inotify_init()
        except OSError as error:
            os.close(fd)
            raise _limit(error, "fs.inotify.max_user_instances") from error

    @property
    def has_halves(self) -> bool:
        """Whether a half of a move is waiting for the other, so that `read` must be called soon even without events."""
        return bool(self._departures)

    def start(self) -> Generator[None, None, None]:
        """Watch the directory and, if asked for, all below it.

        Raises:
            ResourceExhausted: The kernel takes no more watches, reason WATCH_LIMIT.
        """
        with self._lock:
            yield from self._scan()

    def read(self, tell: Callable[[Change], None]) -> Generator[None, None, bool]:
        """Tell the changes since the last time; return whether some were lost.

        Raises:
            ResourceExhausted: The kernel takes no more watches, reason WATCH_LIMIT.
        """
        with self._lock:
            return (yield from self._read(tell))

    def _read(self, tell: Callable[[Change], None]) -> Generator[None, None, bool]:
        is_drained = False
        for _ in range(_MOST_READS):
            try:
                data = os.read(self.queue_fd, _READ_BYTES)
            except BlockingIOError:
                is_drained = True
                break
            for event in filecalls.inotify_events(data):
                yield from self._handle(event, tell)
            yield
        if self._is_lost:
            self._departures.clear()
            yield from self._scan()
        elif is_drained:
            self._settle(tell)
        lost, self._is_lost = self._is_lost, False
        return lost

    def close(self) -> None:
        """Stop watching, once what runs has ended."""
        with self._lock:
            os.close(self.queue_fd)
            os.close(self._fd)

    def _scan(self) -> Generator[None, None, None]:
        """Watch everything from the top; what was watched before and isn't there any more is let go."""
        before, self._nodes = self._nodes, {}
        self._root = None
        fd = os.open(b".", OPEN_DIRECTORY, dir_fd=self._fd)
        yield from self._add(fd, b"", None, b"", None)
        self._watch_parent()
        for watch in before.keys() - self._nodes.keys():
            filecalls.inotify_rm_watch(self.queue_fd, watch)

    def _handle(self, event: InotifyEvent, tell: Callable[[Change], None]) -> Generator[None, None, None]:
        if event.mask & filecalls.IN_Q_OVERFLOW:
            self._is_lost = True
            return
        if event.watch == self._parent_watch and not os.fstat(self._fd).st_nlink:
            self._end(tell)
        node = self._nodes.get(event.watch)
        if node is None:
            return
        if event.mask & filecalls.IN_IGNORED:
            del self._nodes[event.watch]
        if node is self._root and event.mask & _GONE:
            self._end(tell)
        directory = self._path(node)
        if event.name and directory is not None:
            yield from self._in_directory(event, node, join(directory, event.name), tell)

    def _end(self, tell: Callable[[Change], None]) -> None:
        """The directory itself was removed or moved away."""
        if not self.has_ended:
            self.has_ended = True
            tell(Change(ChangeKind.REMOVED, b"", is_directory=True))

    def _watch_parent(self) -> None:
        """Have removals in the parent told: the directory's own is not as long as it is held open, and it is here."""
        try:
            fd = os.open(b"..", OPEN_DIRECTORY, dir_fd=self._fd)
        except OSError:
            return  # The user may not look there. Then the watch ends later, for want of a reader.
        try:
            self._parent_watch = filecalls.inotify_add_watch(self.queue_fd, fd, filecalls.IN_DELETE)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise _limit(error, "fs.inotify.max_user_watches") from error
        finally:
            os.close(fd)

    def _in_directory(
        self, event: InotifyEvent, node: _Node, path: bytes, tell: Callable[[Change], None]
    ) -> Generator[None, None, None]:
        is_directory = bool(event.mask & filecalls.IN_ISDIR)
        is_seen = not is_temporary(event.name) and not self._ignore.match(path)
        if event.mask & filecalls.IN_MOVED_FROM:
            node.listed.discard(event.name)
            child = node.children.pop(event.name, None)
            if child is not None:
                child.parent = None
            self._departures[event.cookie] = _Departure(path, is_directory, is_seen, child, is_replacing(event.name))
        elif event.mask & filecalls.IN_MOVED_TO:
            departure = self._departures.pop(event.cookie, None)
            yield from self._arrived(_Arrival(event.name, node, path, is_seen, is_directory), departure, tell)
        elif not is_seen:
            return
        elif event.mask & filecalls.IN_CREATE:
            if event.name in node.listed:
                node.listed.discard(event.name)
                return
            tell(Change(ChangeKind.CREATED, path, is_directory=is_directory))
            if is_directory:
                yield from self._enter(event.name, node, path, tell)
        elif event.mask & filecalls.IN_DELETE:
            node.listed.discard(event.name)
            node.children.pop(event.name, None)
            tell(Change(ChangeKind.REMOVED, path, is_directory=is_directory))
        elif _may_be_nameless(event.name) and not self._is_there(path):
            return
        elif event.mask & (filecalls.IN_MODIFY | filecalls.IN_CLOSE_WRITE):
            tell(Change(ChangeKind.MODIFIED, path))
        elif event.mask & filecalls.IN_ATTRIB:
            tell(Change(ChangeKind.ATTRIBUTES, path, is_directory=is_directory))

    def _arrived(
        self, arrival: _Arrival, departure: _Departure | None, tell: Callable[[Change], None]
    ) -> Generator[None, None, None]:
        name, node, path, is_directory = arrival.name, arrival.node, arrival.path, arrival.is_directory
        if departure is not None and departure.is_seen and arrival.is_seen:
            tell(Change(ChangeKind.MOVED, path, departure.path, is_directory))
            if departure.node is not None:
                self._attach(departure.node, name, node)
            elif is_directory:
                yield from self._enter(name, node, path, tell)
            return
        if departure is not None:
            self._departed(departure, tell)
        if not arrival.is_seen:
            return
        if name in node.listed:
            node.listed.discard(name)
        elif departure is not None and departure.is_replacement and not is_directory:
            tell(Change(ChangeKind.MODIFIED, path))
        else:
            tell(Change(ChangeKind.CREATED, path, is_directory=is_directory, may_replace=True))
            if is_directory:
                yield from self._enter(name, node, path, tell)

    def _settle(self, tell: Callable[[Change], None]) -> None:
        """All that was queued is known: forget what was kept for it."""
        for node in self._nodes.values():
            if node.listed:
                node.listed = set()
        for cookie, departure in list(self._departures.items()):
            if departure.is_old:
                del self._departures[cookie]
                self._departed(departure, tell)
            departure.is_old = True

    def _departed(self, departure: _Departure, tell: Callable[[Change], None]) -> None:
        """Something left the tree, or went where it isn't seen."""
        if departure.is_seen:
            tell(Change(ChangeKind.REMOVED, departure.path, is_directory=departure.is_directory))
        if departure.node is not None:
            for node in _subtree(departure.node):
                if self._nodes.pop(node.watch, None) is not None:
                    filecalls.inotify_rm_watch(self.queue_fd, node.watch)

    def _enter(
        self, name: bytes, parent: _Node, path: bytes, tell: Callable[[Change], None] | None
    ) -> Generator[None, None, None]:
        """Watch a directory that appeared, and tell what is in it already."""
        if not self._is_recursive:
            return
        try:
            fd = open_below(self._fd, path)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                raise
            return  # It went, or is a link now, or the user may not look into it.
        yield from self._add(fd, name, parent, path, tell)

    def _add(
        self, fd: int, name: bytes, parent: _Node | None, path: bytes, tell: Callable[[Change], None] | None
    ) -> Generator[None, None, None]:
        """Watch an open directory, then what is below it. Closes the descriptor."""
        below: list[tuple[bytes, bytes]] = []
        try:
            node, is_known = self._watch(fd, name, parent)
            if is_known or (not self._is_recursive and tell is None):
                return
            with os.scandir(fd) as scan:
                for entry in scan:
                    child = os.fsencode(entry.name)
                    child_path = join(path, child)
                    if is_temporary(child) or self._ignore.match(child_path):
                        continue
                    is_directory = entry.is_dir(follow_symlinks=False)
                    if tell is not None:
                        node.listed.add(child)
                        tell(Change(ChangeKind.CREATED, child_path, is_directory=is_directory))
                    if is_directory:
                        below.append((child, child_path))
        finally:
            os.close(fd)
        yield
        if path.count(b"/") < DEEPEST:
            for child, child_path in below:
                yield from self._enter(child, node, child_path, tell)

    def _watch(self, fd: int, name: bytes, parent: _Node | None) -> tuple[_Node, bool]:
        """Watch an open directory; also return whether it is watched already, under another name."""
        try:
            watch = filecalls.inotify_add_watch(self.queue_fd, fd, _MASK if parent else _ROOT_MASK)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise _limit(error, "fs.inotify.max_user_watches") from error
        known = self._nodes.get(watch)
        if known is not None and parent is not None and known is not self._root:
            # It was moved here before its move was told.
            self._attach(known, name, parent)
            return known, True
        node = _Node(name, parent, watch)
        self._nodes[watch] = node
        if parent is None:
            self._root = node
        else:
            parent.children[name] = node
        return node, False

    def _is_there(self, path: bytes) -> bool:
        directory, name = split_name(path)
        try:
            fd = open_below(self._fd, directory) if directory else os.dup(self._fd)
        except OSError:
            return False
        try:
            return exists(Place(fd, name))
        finally:
            os.close(fd)

    def _attach(self, node: _Node, name: bytes, parent: _Node) -> None:
        if node.parent is not None and node.parent.children.get(node.name) is node:
            del node.parent.children[node.name]
        node.name, node.parent = name, parent
        parent.children[name] = node

    def _path(self, node: _Node) -> bytes | None:
        """Return where a directory is; None while it is between two names."""
        names: list[bytes] = []
        at: _Node | None = node
        while at is not None and at is not self._root:
            names.append(at.name)
            at = at.parent
            if len(names) > 2 * DEEPEST:
                return None
        return None if at is None else b"/".join(reversed(names))


def open_below(fd: int, path: bytes) -> int:
    """Open a directory below another, with no link on the way."""
    at = os.dup(fd)
    for name in path.split(b"/"):
        try:
            following = os.open(name, OPEN_DIRECTORY, dir_fd=at)
        finally:
            os.close(at)
        at = following
    return at


def _may_be_nameless(name: bytes) -> bool:
    """Whether a name may be what the kernel calls a file without one: `#` and the inode's number."""
    return name[:1] == b"#" and name[1:].isdigit()


def _subtree(node: _Node) -> Iterator[_Node]:
    todo = [node]
    while todo:
        at = todo.pop()
        yield at
        todo += at.children.values()


def _limit(error: OSError, setting: str) -> ResourceExhausted:
    return ResourceExhausted(
        f"the kernel watches no more directories: {error.strerror}",
        reason="WATCH_LIMIT",
        field="path",
        fix=f"watch fewer directories, ignore some, or raise {setting} on the host",
        metadata={"setting": setting},
    )
