"""Making directories, their parents too, with the owner they are to have from the start as far as anyone can see."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from arenero.errors import NotFound
from arenero.execd import filecalls
from arenero.execd.entries import Entry, describe
from arenero.execd.faults import blamed_on
from arenero.execd.ownership import Owners, set_mode
from arenero.execd.paths import Place, Tree, split_name
from arenero.execd.scope import Scope

DIRECTORY_MODE: Final = 0o755
_PRIVATE: Final = 0o700
_OPEN: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Made:
    """A directory that is there now, and how many were made for it."""

    entry: Entry
    count: int


def make_directory(
    scope: Scope, path: bytes, *, mode: int = DIRECTORY_MODE, owner: str = "", group: str = "", parents: bool = False
) -> Made:
    """Make a directory. With `parents` the missing ones above it too, and an existing one is left as it is.

    Raises:
        AlreadyExists: It exists, and `parents` is off.
        FailedPrecondition: Something above it, or it, is no directory.
    """
    owners = scope.owners_of_new(owner, group)
    with scope.open_tree() as tree:
        count = 0
        if parents:
            count = make_missing(tree, path, mode, owners, scope)
        else:
            with tree.place(path) as place, blamed_on(path):
                make_at(place, mode, owners, scope)
            count = 1
        fd = tree.open_directory(path)
        try:
            with blamed_on(path):
                return Made(describe(fd, b"", path, scope.directory), count)
        finally:
            os.close(fd)


def find_or_make_parents(
    tree: Tree, path: bytes, owners: Owners, scope: Scope, *, make: bool, follow: bool = True, field: str = "path"
) -> Place:
    """Find the place of a file that is to be made, with `make` after making the directories that lack for it."""
    find = tree.final_place if follow else tree.place
    try:
        return find(path, field)
    except NotFound:
        parent, _ = split_name(path)
        if not make or not parent:
            raise
        make_missing(tree, parent, DIRECTORY_MODE, owners, scope)
        return find(path, field)


def make_missing(tree: Tree, path: bytes, mode: int, owners: Owners, scope: Scope) -> int:
    """Make a directory and all that lacks above it; return how many were made."""
    missing: list[bytes] = []
    at = path
    while at and not _is_there(tree, at):
        missing.append(at)
        at, _ = split_name(at)
    made = 0
    for at in reversed(missing):
        # `a/..` lacks as long as `a` does, and is there as soon as that is.
        if made and _is_there(tree, at):
            continue
        with tree.place(at) as place, blamed_on(at):
            made += _make_unless_there(place, mode, owners, scope)
    return made


def make_at(place: Place, mode: int, owners: Owners, scope: Scope) -> None:
    """Make one directory. Until it has its owner and mode nobody but execd's user can use it."""
    os.mkdir(place.name, _PRIVATE, dir_fd=place.dir_fd)
    fd = os.open(place.name, _OPEN, dir_fd=place.dir_fd)
    try:
        status = os.fstat(fd)
        # In a directory of theirs, a program can put another one in this one's place; that one stays whose it was.
        if scope.has_rights and status.st_uid != filecalls.filesystem_ids()[0]:
            return
        owners.apply(fd, has_rights=scope.has_rights)
        set_mode(fd, mode, has_rights=scope.has_rights)
    finally:
        os.close(fd)


def _make_unless_there(place: Place, mode: int, owners: Owners, scope: Scope) -> int:
    try:
        make_at(place, mode, owners, scope)
    except FileExistsError:
        return 0
    return 1


def _is_there(tree: Tree, path: bytes) -> bool:
    try:
        os.close(tree.open_directory(path))
    except NotFound:
        return False
    return True
