"""Who owns new and changed files, and what is done where a file system has no owners or modes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from arenero.errors import InvalidArgument
from arenero.execd.accounts import Directory

UNCHANGED: Final = -1
_CANNOT_HOLD: Final = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP})
"""What FAT, NFS, FUSE and the like say instead of keeping an owner or a mode."""


@dataclass(frozen=True, slots=True)
class Owners:
    """User and group by number; -1 leaves one as it is."""

    uid: int = UNCHANGED
    gid: int = UNCHANGED
    is_asked_for: bool = False
    """By the caller, so that ids which don't exist in the sandbox are an error."""

    def apply(self, fd: int, *, has_rights: bool) -> bool:
        """Give a descriptor's file these owners; return False where its file system has none.

        `has_rights` says that execd acts with its own, so that only the file system can be what refuses.
        """
        if self.uid == UNCHANGED and self.gid == UNCHANGED:
            return True
        return tolerated(lambda: os.fchown(fd, self.uid, self.gid), has_rights=has_rights, also=self._also_tolerated())

    def apply_to_link(self, dir_fd: int, name: bytes, *, has_rights: bool) -> bool:
        """Likewise for a name that may be a symbolic link, which is not followed."""
        if self.uid == UNCHANGED and self.gid == UNCHANGED:
            return True
        return tolerated(
            lambda: os.chown(name, self.uid, self.gid, dir_fd=dir_fd, follow_symlinks=False),
            has_rights=has_rights,
            also=self._also_tolerated(),
        )

    def _also_tolerated(self) -> frozenset[int]:
        """EINVAL: the default user doesn't exist in a sandbox with only one user."""
        return frozenset() if self.is_asked_for else frozenset({errno.EINVAL})


def set_mode(fd: int, mode: int, *, has_rights: bool) -> bool:
    """Set permission bits; return False where the file system has none."""
    return tolerated(lambda: os.fchmod(fd, mode), has_rights=has_rights)


def tolerated(change: Callable[[], None], *, has_rights: bool, also: frozenset[int] = frozenset()) -> bool:
    """Do a change of owner or mode; return False where the file system can't hold it."""
    try:
        change()
    except OSError as error:
        if has_rights and error.errno in _CANNOT_HOLD | also:
            return False
        raise
    return True


def owners_of_new(owner: str, group: str, directory: Directory, default: tuple[int, int] | None) -> Owners:
    """Return who owns a new file. None of the four given: whoever makes it.

    Raises:
        InvalidArgument: There is no such user or group.
    """
    if not owner and not group:
        return Owners(*default) if default else Owners()
    uid, gid = default or (UNCHANGED, UNCHANGED)
    if owner:
        account = directory.find_user(owner)
        if account is None:
            raise _unknown("user", owner, "ownership.owner")
        uid = account.uid
        # A number without an entry has no group of its own.
        gid = account.gid if account.name else gid
    return Owners(uid, _group(group, directory) if group else gid, is_asked_for=True)


def owners_of_existing(owner: str, group: str, directory: Directory) -> Owners:
    """Return what to change of a file's owners: only what is named.

    Raises:
        InvalidArgument: There is no such user or group, or neither is named.
    """
    if not owner and not group:
        raise InvalidArgument("neither an owner nor a group is given", reason="NO_OWNERSHIP", field="ownership")
    uid = UNCHANGED
    if owner:
        account = directory.find_user(owner)
        if account is None:
            raise _unknown("user", owner, "ownership.owner")
        uid = account.uid
    return Owners(uid, _group(group, directory) if group else UNCHANGED, is_asked_for=True)


def _group(group: str, directory: Directory) -> int:
    gid = directory.find_group(group)
    if gid is None:
        raise _unknown("group", group, "ownership.group")
    return gid


def _unknown(kind: str, name: str, field: str) -> InvalidArgument:
    return InvalidArgument(
        f"there is no {kind} {name[:64]!r} in the sandbox", reason=f"{kind.upper()}_NOT_FOUND", field=field
    )
