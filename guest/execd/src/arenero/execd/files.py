"""What can be done with files and directories, but for their content.

Each function is the whole of one call, to be run in a thread that has taken on the caller's identity; those that may
take long are generators that give a sign after each entry. Names are bytes; links are treated themselves, not
followed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Generator
from typing import Final

from arenero.errors import AlreadyExists, FailedPrecondition, InvalidArgument
from arenero.execd import filecalls
from arenero.execd.copying import copy_entry
from arenero.execd.directories import find_or_make_parents
from arenero.execd.entries import Entry, describe
from arenero.execd.faults import blamed_on, fault, shown
from arenero.execd.ownership import UNCHANGED, owners_of_existing
from arenero.execd.paths import LONGEST_PATH_BYTES, Place, Tree
from arenero.execd.scope import Scope, checked_mode
from arenero.execd.temporaries import exists, new_name, rename
from arenero.execd.walking import WalkOptions, walk

DEEPEST_LISTING: Final = 64
_REMOVAL_ROUNDS: Final = 4
_ITSELF: Final = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_UNLIMITED: Final = WalkOptions(depth=0, is_sorted=False, has_paths=False, leaves=True)


def describe_path(scope: Scope, path: bytes, *, follow: bool = False) -> Entry:
    """Describe what is at a path: a link itself, or with `follow` what it leads to."""
    with scope.open_tree() as tree:
        return _describe_in(tree, scope, path, follow=follow)


def list_directory(scope: Scope, path: bytes, *, depth: int = 1) -> Generator[Entry | None, None, None]:
    """Give the entries of a directory in the order of their names, each directory before what is in it.

    None stands for one that went meanwhile.

    Raises:
        InvalidArgument: `depth` is out of range.
        FailedPrecondition: It is no directory.
    """
    if not 0 < depth <= DEEPEST_LISTING:
        raise InvalidArgument(f"the depth is 1 to {DEEPEST_LISTING}", reason="OUT_OF_RANGE", field="depth")
    with scope.open_tree() as tree:
        fd = tree.open_directory(path)
    try:
        with blamed_on(path):
            for visit in walk(fd, WalkOptions(depth=depth)):
                try:
                    yield describe(visit.dir_fd, visit.name, visit.path, scope.directory)
                except FileNotFoundError:
                    yield None
    finally:
        os.close(fd)


def move(
    scope: Scope, source: bytes, destination: bytes, *, overwrite: bool = False, make_parents: bool = False
) -> Generator[None, None, Entry]:
    """Rename, across file systems by copy, and describe the entry in its new place.

    Raises:
        AlreadyExists: Something is at the destination and `overwrite` is off.
        FailedPrecondition: What is to be overwritten is a directory that isn't empty.
    """
    with scope.open_tree() as tree:
        with tree.place(source, "source") as old:
            with blamed_on(source, "source"):
                filecalls.status(old.dir_fd, old.name)
            with _destination(tree, scope, destination, make_parents=make_parents) as new:
                try:
                    rename(old.dir_fd, old.name, new.name, replace=overwrite, new_dir_fd=new.dir_fd)
                except FileExistsError as error:
                    raise _taken(destination) from error
                except OSError as error:
                    if error.errno != errno.EXDEV:
                        raise fault(error, destination, "destination") from error
                    yield from _move_by_copy(scope, old, new, destination, overwrite=overwrite)
        return _describe_in(tree, scope, destination, follow=False)


def remove(
    scope: Scope, path: bytes, *, recursive: bool = False, ignore_missing: bool = False
) -> Generator[None, None, int]:
    """Delete an entry, with `recursive` a directory with all below it; return how many entries went.

    Raises:
        NotFound: It isn't there and `ignore_missing` is off.
        FailedPrecondition: A directory isn't empty, or did not become so since a program keeps filling it.
    """
    try:
        with scope.open_tree() as tree, tree.place(path) as place, blamed_on(path):
            return (yield from remove_at(place, recursive=recursive))
    except Exception as error:
        if ignore_missing and getattr(error, "reason", "") == "FILE_NOT_FOUND":
            return 0
        raise


def remove_at(place: Place, *, recursive: bool) -> Generator[None, None, int]:
    """Delete what a place holds; return how many entries went."""
    status = filecalls.status(place.dir_fd, place.name)
    if not stat.S_ISDIR(status.mode):
        os.unlink(place.name, dir_fd=place.dir_fd)
        return 1
    removed = 0
    for left in reversed(range(_REMOVAL_ROUNDS)):
        try:
            os.rmdir(place.name, dir_fd=place.dir_fd)
            return removed + 1
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not recursive or not left:
                raise
        removed += yield from _empty(place)
    return removed


def change_mode(scope: Scope, path: bytes, mode: int, *, recursive: bool = False) -> Generator[None, None, int]:
    """Change permission bits; return of how many entries. Links below the path are left alone.

    Raises:
        FailedPrecondition: The path itself is a link, reason IS_A_SYMLINK.
        InvalidArgument: These are no permission bits.
    """
    checked_mode(mode)
    with scope.open_tree() as tree:
        fd = tree.open_file(path, _ITSELF)
    try:
        with blamed_on(path):
            if stat.S_ISLNK(os.fstat(fd).st_mode):
                raise FailedPrecondition(f"{shown(path)}: links have no mode", reason="IS_A_SYMLINK", field="path")
            changed = 0
            if recursive and stat.S_ISDIR(os.fstat(fd).st_mode):
                changed = yield from _each_below(fd, lambda dir_fd, name: _change_mode_at(dir_fd, name, mode))
            filecalls.chmod(fd, mode)
            return changed + 1
    finally:
        os.close(fd)


def change_owner(
    scope: Scope, path: bytes, *, owner: str = "", group: str = "", recursive: bool = False
) -> Generator[None, None, int]:
    """Change owner and group as far as they are named; return of how many entries. Links are changed themselves.

    Raises:
        InvalidArgument: There is no such user or group, or neither is named.
    """
    owners = owners_of_existing(owner, group, scope.directory)
    with scope.open_tree() as tree:
        fd = tree.open_file(path, _ITSELF)
        try:
            with blamed_on(path):
                mode = os.fstat(fd).st_mode
                changed = 0
                if recursive and stat.S_ISDIR(mode):
                    changed = yield from _each_below(
                        fd, lambda dir_fd, name: _change_owner_at(dir_fd, name, owners.uid, owners.gid)
                    )
                if not stat.S_ISLNK(mode):
                    os.chown(filecalls.through_proc(fd), owners.uid, owners.gid)
                    return changed + 1
            with tree.place(path) as place, blamed_on(path):
                _change_owner_at(place.dir_fd, place.name, owners.uid, owners.gid)
                return 1
        finally:
            os.close(fd)


def make_link(scope: Scope, path: bytes, target: bytes) -> Entry:
    """Make a symbolic link with a target that is stored as it is, wherever it points to.

    Raises:
        AlreadyExists: Something has the name already.
        InvalidArgument: The target is empty, too long, or holds a NUL.
    """
    if not target or b"\0" in target or len(target) > LONGEST_PATH_BYTES:
        raise InvalidArgument(
            f"a link's target has 1 to {LONGEST_PATH_BYTES} bytes and no NUL", reason="INVALID_PATH", field="target"
        )
    owners = scope.owners_of_new()
    with scope.open_tree() as tree, tree.place(path) as place, blamed_on(path):
        os.symlink(target, place.name, dir_fd=place.dir_fd)
        if owners.uid != UNCHANGED:
            owners.apply_to_link(place.dir_fd, place.name, has_rights=scope.has_rights)
        return describe(place.dir_fd, place.name, path, scope.directory)


def _describe_in(tree: Tree, scope: Scope, path: bytes, *, follow: bool) -> Entry:
    fd = tree.open_file(path, os.O_PATH | os.O_CLOEXEC if follow else _ITSELF)
    try:
        with blamed_on(path):
            return describe(fd, b"", path, scope.directory)
    finally:
        os.close(fd)


def _destination(tree: Tree, scope: Scope, path: bytes, *, make_parents: bool) -> Place:
    return find_or_make_parents(
        tree, path, scope.owners_of_new(), scope, make=make_parents, follow=False, field="destination"
    )


def _taken(destination: bytes) -> AlreadyExists:
    return AlreadyExists(f"{shown(destination)}: it exists", reason="FILE_EXISTS", field="destination")


def _move_by_copy(
    scope: Scope, old: Place, new: Place, destination: bytes, *, overwrite: bool
) -> Generator[None, None, None]:
    """Copy to a hidden name, put that in place in one step, then remove the original."""
    if not overwrite and exists(new):
        raise _taken(destination)
    hidden = Place(new.dir_fd, new_name(replaces=exists(new)))
    try:
        with blamed_on(destination, "destination"):
            yield from copy_entry(old.dir_fd, old.name, hidden.dir_fd, hidden.name, has_rights=scope.has_rights)
            rename(hidden.dir_fd, hidden.name, new.name, replace=overwrite)
    except BaseException:
        _remove_now(hidden)
        raise
    yield from remove_at(old, recursive=True)


def _remove_now(place: Place) -> None:
    """Remove a half-made copy; it has a name that says so, should this fail too."""
    try:
        for _ in remove_at(place, recursive=True):
            pass
    except OSError:
        pass


def _empty(place: Place) -> Generator[None, None, int]:
    """Remove all below a directory; what a program adds meanwhile stays for the next round."""
    removed = 0
    fd = os.open(place.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place.dir_fd)
    try:
        for visit in walk(fd, _UNLIMITED):
            if visit.is_directory and not visit.is_leaving:
                continue
            removed += _removed(visit.dir_fd, visit.name, is_directory=visit.is_directory)
            yield
    finally:
        os.close(fd)
    return removed


def _removed(dir_fd: int, name: bytes, *, is_directory: bool) -> bool:
    try:
        if is_directory:
            os.rmdir(name, dir_fd=dir_fd)
        else:
            os.unlink(name, dir_fd=dir_fd)
    except OSError as error:
        # It went, became something else, or was filled again: the next round sees what is there then.
        if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EISDIR):
            raise
        return False
    return True


def _each_below(fd: int, change: Callable[[int, bytes], bool]) -> Generator[None, None, int]:
    """Change all entries below a directory, directories last, so that taking rights away doesn't lock the way."""
    changed = 0
    for visit in walk(fd, _UNLIMITED):
        if visit.is_directory and not visit.is_leaving:
            continue
        try:
            changed += change(visit.dir_fd, visit.name)
        except FileNotFoundError:
            pass
        yield
    return changed


def _change_mode_at(dir_fd: int, name: bytes, mode: int) -> bool:
    fd = os.open(name, _ITSELF, dir_fd=dir_fd)
    try:
        if stat.S_ISLNK(os.fstat(fd).st_mode):
            return False
        filecalls.chmod(fd, mode)
        return True
    finally:
        os.close(fd)


def _change_owner_at(dir_fd: int, name: bytes, uid: int, gid: int) -> bool:
    os.chown(name, uid, gid, dir_fd=dir_fd, follow_symlinks=False)
    return True
