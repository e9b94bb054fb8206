"""Watches a tree of directories by inotify, which knows single directories only.

Each directory is watched before it is listed, so what appears in a new one is seen either way, and told once. Links are
not followed. Moves within the tree are told as such when both halves come, or when a directory is found in another
place; a half alone is a removal or a creation. When the kernel's queue overflows, the tree is looked through anew and
the caller told that changes were lost.

Whoever had the tree at the start and applies what is told, in order, has the tree as it is once the queue is read.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Final

from arenero.errors import ResourceExhausted
from arenero.execd import filecalls
from arenero.execd.changes import Change, ChangeKind
from arenero.execd.filecalls import InotifyEvent
from arenero.execd.globs import Globs
from arenero.execd.paths import Place, join, split_name
from arenero.execd.temporaries import exists, is_replacing, is_temporary
from arenero.execd.walking import DEEPEST, OPEN_DIRECTORY
from arenero.execd.watched_tree import Identity, Node, WatchedTree, below, is_above

Tell = Callable[[Change], None]
_Steps = Generator[None, None, None]

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
_TOP_MASK: Final = _MASK | filecalls.IN_DELETE_SELF | filecalls.IN_MOVE_SELF
_GONE: Final = filecalls.IN_DELETE_SELF | filecalls.IN_MOVE_SELF | filecalls.IN_UNMOUNT
_READ_BYTES: Final = 64 * 1024
_MOST_READS: Final = 64
"""In a row, so that a flood of events doesn't keep those already read from being told."""


@dataclass(slots=True)
class _Departure:
    """The first half of a move."""

    parent: Node
    name: bytes
    is_directory: bool
    is_seen: bool
    """It is to be told, unless the second half comes."""
    node: Node | None
    is_replacement: bool
    """It is a hidden file on its way to take another's place."""
    is_old: bool = False
    """The queue was empty since; the other half won't come."""


@dataclass(frozen=True, slots=True)
class _Arrival:
    """The second half of a move."""

    node: Node
    name: bytes
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
        self._tree = WatchedTree()
        self._departures: dict[int, _Departure] = {}
        self._deferred: list[InotifyEvent] = []
        """Of directories between two names."""
        self._listed: list[Node] = []
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

    def start(self) -> _Steps:
        """Watch the directory and, if asked for, all below it.

        Raises:
            ResourceExhausted: The kernel takes no more watches, reason WATCH_LIMIT.
        """
        with self._lock:
            yield from self._scan()

    def read(self, tell: Tell) -> Generator[None, None, bool]:
        """Tell the changes since the last time; return whether some were lost.

        Raises:
            ResourceExhausted: The kernel takes no more watches, reason WATCH_LIMIT.
        """
        with self._lock:
            return (yield from self._read(tell))

    def close(self) -> None:
        """Stop watching, once what runs has ended."""
        with self._lock:
            os.close(self.queue_fd)
            os.close(self._fd)

    def _read(self, tell: Tell) -> Generator[None, None, bool]:
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
            yield from self._scan()
        elif is_drained:
            self._settle(tell)
        lost, self._is_lost = self._is_lost, False
        return lost

    def _scan(self) -> _Steps:
        """Watch everything from the top; what was watched before and isn't there any more is let go."""
        before, self._tree = self._tree, WatchedTree()
        self._departures.clear()
        self._deferred.clear()
        yield from self._add(os.open(b".", OPEN_DIRECTORY, dir_fd=self._fd), b"", None, b"", None)
        self._watch_parent()
        for watch in before.nodes.keys() - self._tree.nodes.keys():
            filecalls.inotify_rm_watch(self.queue_fd, watch)

    def _watch_parent(self) -> None:
        """Have removals in the parent told: the directory's own is not as long as it is held open, and it is here."""
        try:
            fd = os.open(b"..", OPEN_DIRECTORY, dir_fd=self._fd)
        except OSError:
            return  # The user may not look there. Then the watch ends later, for want of a reader.
        try:
            self._parent_watch = self._watch(fd, filecalls.IN_DELETE)
        except OSError:
            return
        finally:
            os.close(fd)

    # --- events -------------------------------------------------------------------------------------------------------

    def _handle(self, event: InotifyEvent, tell: Tell) -> _Steps:
        if event.mask & filecalls.IN_Q_OVERFLOW:
            self._is_lost = True
            return
        if event.watch == self._parent_watch and not os.fstat(self._fd).st_nlink:
            self._end(tell)
        node = self._tree.nodes.get(event.watch)
        if node is None:
            return
        if event.mask & filecalls.IN_IGNORED:
            del self._tree.nodes[event.watch]
            return
        if node is self._tree.top and event.mask & _GONE:
            self._end(tell)
        directory = self._tree.path(node)
        if directory is None:
            # It is between two names: what happens in it can be told when the second is known.
            self._deferred.append(event)
        elif event.name:
            yield from self._in_directory(event, node, join(directory, event.name), tell)

    def _end(self, tell: Tell) -> None:
        """The directory itself was removed or moved away."""
        if not self.has_ended:
            self.has_ended = True
            tell(Change(ChangeKind.REMOVED, b"", is_directory=True))

    def _in_directory(self, event: InotifyEvent, node: Node, path: bytes, tell: Tell) -> _Steps:
        name, is_directory = event.name, bool(event.mask & filecalls.IN_ISDIR)
        is_seen = not is_temporary(name) and not self._ignore.match(path)
        if event.mask & filecalls.IN_MOVED_FROM:
            self._departures[event.cookie] = self._departure(node, name, is_seen=is_seen, is_directory=is_directory)
        elif event.mask & filecalls.IN_MOVED_TO:
            departure = self._departures.pop(event.cookie, None)
            yield from self._arrived(_Arrival(node, name, path, is_seen, is_directory), departure, tell)
            yield from self._replay(tell)
        elif not is_seen:
            return
        elif event.mask & filecalls.IN_CREATE:
            if name in node.listed:
                node.listed.discard(name)
            else:
                news = Change(ChangeKind.CREATED, path, is_directory=is_directory)
                yield from self._appeared(news, name, node, tell)
        elif event.mask & filecalls.IN_DELETE:
            node.forget(name)
            self._give_up_below(self._tree.detach(name, node), tell)
            tell(Change(ChangeKind.REMOVED, path, is_directory=is_directory))
        else:
            self._touched(event, path, tell)

    def _touched(self, event: InotifyEvent, path: bytes, tell: Tell) -> None:
        if _may_be_nameless(event.name) and not self._is_there(path):
            return
        if event.mask & (filecalls.IN_MODIFY | filecalls.IN_CLOSE_WRITE):
            tell(Change(ChangeKind.MODIFIED, path))
        elif event.mask & filecalls.IN_ATTRIB:
            tell(Change(ChangeKind.ATTRIBUTES, path, is_directory=bool(event.mask & filecalls.IN_ISDIR)))

    def _departure(self, node: Node, name: bytes, *, is_seen: bool, is_directory: bool) -> _Departure:
        node.forget(name)
        if name in node.left_early:
            # It was found elsewhere, and that was told.
            node.left_early.discard(name)
            is_seen = False
        child = self._tree.detach(name, node)
        return _Departure(node, name, is_directory, is_seen, child, is_replacing(name))

    def _arrived(self, arrival: _Arrival, departure: _Departure | None, tell: Tell) -> _Steps:
        node, name, path, is_directory = arrival.node, arrival.name, arrival.path, arrival.is_directory
        former = self._former_path(departure) if departure is not None and departure.is_seen else None
        if departure is not None and former is not None and arrival.is_seen:
            tell(Change(ChangeKind.MOVED, path, former, is_directory))
            if departure.node is not None:
                self._tree.attach(departure.node, name, node)
                yield from self._look_again(departure.node, tell)
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
            news = Change(ChangeKind.CREATED, path, is_directory=is_directory, may_replace=True)
            yield from self._appeared(news, name, node, tell)

    def _replay(self, tell: Tell) -> _Steps:
        deferred, self._deferred = self._deferred, []
        for event in deferred:
            yield from self._handle(event, tell)

    def _settle(self, tell: Tell) -> None:
        """All that was queued is known: forget what was kept for it."""
        for node in self._listed:
            node.listed = set()
            node.left_early = set()
        self._listed.clear()
        for cookie, departure in list(self._departures.items()):
            if departure.is_old:
                del self._departures[cookie]
                self._departed(departure, tell)
            departure.is_old = True
        if not self._departures:
            self._deferred.clear()

    def _departed(self, departure: _Departure, tell: Tell) -> None:
        """Something left the tree, or went where it isn't seen."""
        self._give_up_below(departure.node, tell)
        path = self._former_path(departure) if departure.is_seen else None
        if path is not None:
            tell(Change(ChangeKind.REMOVED, path, is_directory=departure.is_directory))
        if departure.node is not None:
            for watch in self._tree.drop(departure.node):
                filecalls.inotify_rm_watch(self.queue_fd, watch)

    def _give_up_below(self, gone: Node | None, tell: Tell) -> None:
        """What left a directory goes with it for the reader, and is new wherever it appears."""
        if gone is None:
            return
        for cookie, departure in list(self._departures.items()):
            if is_above(gone, departure.parent) and self._departures.pop(cookie, None) is not None:
                self._departed(departure, tell)

    # --- what the reader knows ----------------------------------------------------------------------------------------

    def _former_path(self, departure: _Departure) -> bytes | None:
        """Return what was left as the reader knows it: its directory may have been moved since, or have left too."""
        directory = self._known_path(departure.parent)
        return None if directory is None else join(directory, departure.name)

    def _known_path(self, node: Node) -> bytes | None:
        """Return where the reader believes a directory to be; None when it was told as gone."""
        names: list[bytes] = []
        at = node
        while at is not self._tree.top and len(names) <= 2 * DEEPEST:
            leaving = next((each for each in self._departures.values() if each.node is at), None)
            parent = leaving.parent if leaving is not None else at.parent
            if parent is None:
                return None
            names.append(leaving.name if leaving is not None else at.name)
            at = parent
        return b"/".join(reversed(names)) if at is self._tree.top else None

    def _appeared(self, news: Change, name: bytes, parent: Node, tell: Tell) -> _Steps:
        """Tell something new, and what is in it."""
        if news.is_directory and self._is_recursive:
            yield from self._enter(name, parent, news.path, tell, news)
        else:
            self._tell_new(news, tell)

    def _tell_new(self, news: Change, tell: Tell) -> None:
        """Tell something new; what left that very place before is told first."""
        for cookie, departure in list(self._departures.items()):
            if self._former_path(departure) == news.path:
                del self._departures[cookie]
                self._departed(departure, tell)
        tell(news)

    # --- looking ------------------------------------------------------------------------------------------------------

    def _enter(self, name: bytes, parent: Node, path: bytes, tell: Tell | None, news: Change | None = None) -> _Steps:
        """Watch a directory that appeared; tell that, as `news` if it isn't known from elsewhere, and what is in it."""
        if not self._is_recursive:
            return
        try:
            fd = self._open_in(parent, split_name(path)[0], name)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                raise
            # It went, or one above it did, or it is a link now, or the user may not look into it.
            parent.missed.add(name)
            if news is not None and tell is not None:
                self._tell_new(news, tell)
            return
        yield from self._add(fd, name, parent, path, tell, news)

    def _look_again(self, moved: Node, tell: Tell | None) -> _Steps:
        """Look into what was missed below a directory for not being where it was, now that it is known where it is."""
        for node in list(below(moved)):
            path = self._tree.path(node)
            if node.missed and path is not None:
                missed, node.missed = node.missed, set()
                for name in missed:
                    yield from self._enter(name, node, join(path, name), tell)

    def _add(
        self, fd: int, name: bytes, parent: Node | None, path: bytes, tell: Tell | None, news: Change | None = None
    ) -> _Steps:
        """Watch an open directory, tell it, and go on with what is in it. Closes the descriptor."""
        try:
            watch = self._watch(fd, _MASK if parent else _TOP_MASK)
            known = self._tree.nodes.get(watch)
            if known is not None and parent is not None:
                yield from self._found_again(known, name, parent, path, tell, news)
                return
            if news is not None and tell is not None:
                self._tell_new(news, tell)
            node = self._tree.add(watch, identity_of(fd), name, parent)
            inside = self._list(fd, node, path, tell) if self._is_recursive else []
        finally:
            os.close(fd)
        yield
        for child, child_path in inside:
            child_news = None if tell is None else Change(ChangeKind.CREATED, child_path, is_directory=True)
            yield from self._enter(child, node, child_path, tell, child_news)

    def _found_again(
        self, known: Node, name: bytes, parent: Node, path: bytes, tell: Tell | None, news: Change | None
    ) -> _Steps:
        """A directory that is watched already was come across: it was moved here, before that was told."""
        if is_above(known, parent):
            # A mount of the tree in itself.
            if news is not None and tell is not None:
                self._tell_new(news, tell)
            return
        former = self._known_path(known)
        for cookie, departure in list(self._departures.items()):
            if departure.node is known:
                del self._departures[cookie]
        if known.parent is not None and known.parent is not parent:
            self._listed.append(known.parent)
        self._tree.attach(known, name, parent)
        if tell is not None and former is not None and former != path:
            tell(Change(ChangeKind.MOVED, path, former, is_directory=True))
        yield from self._look_again(known, tell)

    def _list(self, fd: int, node: Node, path: bytes, tell: Tell | None) -> list[tuple[bytes, bytes]]:
        """Tell the files of a directory, and return its directories."""
        inside = []
        self._listed.append(node)
        with os.scandir(fd) as scan:
            for entry in scan:
                child = os.fsencode(entry.name)
                child_path = join(path, child)
                if is_temporary(child) or self._ignore.match(child_path):
                    continue
                if tell is not None:
                    node.listed.add(child)
                if not entry.is_dir(follow_symlinks=False):
                    if tell is not None:
                        self._tell_new(Change(ChangeKind.CREATED, child_path), tell)
                elif path.count(b"/") < DEEPEST:
                    inside.append((child, child_path))
        return inside

    def _watch(self, fd: int, mask: int) -> int:
        try:
            return filecalls.inotify_add_watch(self.queue_fd, fd, mask)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise _limit(error, "fs.inotify.max_user_watches") from error

    def _open_in(self, parent: Node, directory: bytes, name: bytes) -> int:
        """Open a directory in another, which must be the one that is meant and not its successor."""
        at = open_below(self._fd, directory) if directory else os.dup(self._fd)
        try:
            if identity_of(at) != parent.identity:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            return os.open(name, OPEN_DIRECTORY, dir_fd=at)
        finally:
            os.close(at)

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


def identity_of(fd: int) -> Identity:
    """Return what tells a file from all others."""
    status = os.fstat(fd)
    return status.st_dev, status.st_ino


def _may_be_nameless(name: bytes) -> bool:
    """Whether a name may be what the kernel calls a file without one: `#` and the inode's number."""
    return name[:1] == b"#" and name[1:].isdigit()


def _limit(error: OSError, setting: str) -> ResourceExhausted:
    return ResourceExhausted(
        f"the kernel watches no more directories: {error.strerror}",
        reason="WATCH_LIMIT",
        field="path",
        fix=f"watch fewer directories, ignore some, or raise {setting} on the host",
        metadata={"setting": setting},
    )
