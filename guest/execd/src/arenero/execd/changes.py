"""Changes below a watched directory, and how several of them become one.

Joining keeps what the changes mean one after the other: whoever starts from the tree as it was and applies what comes
out, in order, has the tree as it is. Where joining two changes would break that, all before them is *settled*, and
stays apart.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class ChangeKind(enum.Enum):
    """What happened; the numbers are those of the API."""

    CREATED = 1
    MODIFIED = 2
    REMOVED = 3
    MOVED = 4
    ATTRIBUTES = 5


@dataclass(frozen=True, slots=True)
class Change:
    """One change."""

    kind: ChangeKind
    path: bytes
    """Below the watched directory; empty for the directory itself."""
    moved_from: bytes = b""
    is_directory: bool = False
    may_replace: bool = False
    """Something may have been there before: it came by a rename whose other half wasn't seen."""


class Coalescer:
    """Joins changes until they are taken."""

    def __init__(self) -> None:
        self._settled: list[Change] = []
        self._open: dict[bytes, Change] = {}

    def __bool__(self) -> bool:
        return bool(self._settled or self._open)

    def take(self) -> list[Change]:
        """Return what there is, in order, and start anew."""
        self._settle()
        taken, self._settled = self._settled, []
        return taken

    def add(self, change: Change) -> None:
        """Add the next change."""
        match change.kind:
            case ChangeKind.MOVED:
                self._moved(change)
            case ChangeKind.CREATED:
                self._created(change)
            case ChangeKind.REMOVED:
                self._removed(change)
            case _:
                self._touched(change)

    def _settle(self) -> None:
        self._settled += self._open.values()
        self._open.clear()

    def _append(self, change: Change) -> None:
        if change.path in self._open:
            self._settle()
        self._open[change.path] = change

    def _touched(self, change: Change) -> None:
        earlier = self._open.get(change.path)
        if earlier is None:
            self._open[change.path] = change
        elif change.kind is ChangeKind.ATTRIBUTES or earlier.kind in (ChangeKind.CREATED, ChangeKind.MODIFIED):
            return
        elif earlier.kind is ChangeKind.ATTRIBUTES:
            self._open[change.path] = change
        else:
            self._append(change)

    def _removed(self, change: Change) -> None:
        earlier = self._open.get(change.path)
        # A directory may take others along that were told of below it, so that its coming and going must both be told.
        if earlier is not None and not earlier.is_directory and not change.is_directory:
            if earlier.kind is ChangeKind.CREATED and not earlier.may_replace:
                del self._open[change.path]
                return
            if earlier.kind in (ChangeKind.MODIFIED, ChangeKind.ATTRIBUTES):
                del self._open[change.path]
        self._append(change)

    def _created(self, change: Change) -> None:
        earlier = self._open.get(change.path)
        if earlier is not None and not earlier.is_directory and not change.is_directory:
            if earlier.kind is ChangeKind.REMOVED:
                del self._open[change.path]
                change = Change(ChangeKind.MODIFIED, change.path)
            elif earlier.kind is not ChangeKind.MOVED:
                self._touched(Change(ChangeKind.MODIFIED, change.path))
                return
        self._append(change)

    def _moved(self, change: Change) -> None:
        origin = self._open.get(change.moved_from)
        if origin is not None and _is_new_file(origin) and not change.is_directory:
            del self._open[change.moved_from]
            self._created(Change(ChangeKind.CREATED, change.path, may_replace=True))
            return
        if change.is_directory or self._concerns(change.path) or self._concerns(change.moved_from):
            self._settle()
        self._open[change.path] = change
        if change.is_directory:
            # All paths below mean something else from here on.
            self._settle()

    def _concerns(self, path: bytes) -> bool:
        return path in self._open or any(
            change.moved_from == path for change in self._open.values() if change.moved_from
        )


def _is_new_file(change: Change) -> bool:
    return change.kind is ChangeKind.CREATED and not change.is_directory and not change.may_replace
