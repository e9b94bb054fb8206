"""Whose rights a thread has on files.

On Linux the identity that file permissions are checked against belongs to a thread. So a worker thread takes on a
user's for a while and the kernel does the checking: there is no fork, no second process, and no check of ours to get
wrong. What is taken on is complete: user, group, supplementary groups, and no capability at all, also for user 0.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from arenero.errors import InvalidArgument, Unsupported
from arenero.execd import filecalls
from arenero.execd.accounts import Directory
from arenero.isolation import capabilities

FIELD = "root.as_user"


@dataclass(frozen=True, slots=True)
class Identity:
    """A user as the kernel sees one."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    """Supplementary groups."""


def identity_of(who: str, directory: Directory) -> Identity:
    """Return the identity of `user` or `user:group`, each a name or a number.

    Raises:
        InvalidArgument: There is no such user or group.
    """
    user, colon, group = who.partition(":")
    account = directory.find_user(user)
    if account is None:
        raise InvalidArgument(f"there is no user {user[:64]!r} in the sandbox", reason="USER_NOT_FOUND", field=FIELD)
    gid = directory.find_group(group) if colon else account.gid
    if gid is None:
        raise InvalidArgument(f"there is no group {group[:64]!r} in the sandbox", reason="GROUP_NOT_FOUND", field=FIELD)
    return Identity(account.uid, gid, directory.groups_of(account))


@contextmanager
def acting_as(identity: Identity | None) -> Iterator[None]:
    """Give this thread an identity for the block; None leaves its own.

    Raises:
        Unsupported: This execd may not become other users: nothing of the block was run.
    """
    if identity is None:
        yield
        return
    own_ids, own_groups, own_capabilities = filecalls.filesystem_ids(), os.getgroups(), capabilities.read()
    try:
        _become(identity)
        yield
    finally:
        # The permitted set was not touched, so all that was given up can be taken back, in the order that needs it.
        capabilities.write(*own_capabilities)
        filecalls.set_filesystem_ids(*own_ids)
        if os.getgroups() != own_groups:
            filecalls.set_thread_groups(tuple(own_groups))
        capabilities.write(*own_capabilities)


def _become(identity: Identity) -> None:
    try:
        if tuple(os.getgroups()) != identity.groups:
            filecalls.set_thread_groups(identity.groups)
    except OSError as error:
        raise _unable(identity, "may not set groups") from error
    filecalls.set_filesystem_ids(identity.uid, identity.gid)
    if filecalls.filesystem_ids() != (identity.uid, identity.gid):
        raise _unable(identity, "may not change users, or the user does not exist in this sandbox")
    _, permitted, inheritable = capabilities.read()
    capabilities.write(0, permitted, inheritable)


def _unable(identity: Identity, why: str) -> Unsupported:
    return Unsupported(
        f"this sandbox can't act as user {identity.uid}:{identity.gid}: execd {why}",
        reason="USER_SWITCH_UNAVAILABLE",
        field=FIELD,
    )
