"""The users and groups of the sandbox, as its own /etc/passwd and /etc/group say.

Both files belong to the sandbox and are hostile: they are read with a bound, a line that makes no sense is skipped, and
nothing of libc's name services is asked, which would load the image's code. They are read again when they change.
"""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

_MOST_BYTES: Final = 1024 * 1024
_HIGHEST_ID: Final = 2**32 - 2
_CHANGED_MARKS: Final = ("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")


@dataclass(frozen=True, slots=True)
class Account:
    """One user."""

    name: str
    uid: int
    gid: int
    home: str = "/"
    shell: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """One group with the members that are named in it."""

    name: str
    gid: int
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Directory:
    """All users and groups at one moment. Of several entries with one name or number the first counts."""

    accounts: tuple[Account, ...] = ()
    groups: tuple[Group, ...] = ()
    _users_by_name: Mapping[str, Account] = field(init=False, repr=False, compare=False)
    _users_by_id: Mapping[int, Account] = field(init=False, repr=False, compare=False)
    _groups_by_name: Mapping[str, Group] = field(init=False, repr=False, compare=False)
    _groups_by_id: Mapping[int, Group] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        users, groups = self.accounts[::-1], self.groups[::-1]
        object.__setattr__(self, "_users_by_name", MappingProxyType({user.name: user for user in users}))
        object.__setattr__(self, "_users_by_id", MappingProxyType({user.uid: user for user in users}))
        object.__setattr__(self, "_groups_by_name", MappingProxyType({group.name: group for group in groups}))
        object.__setattr__(self, "_groups_by_id", MappingProxyType({group.gid: group for group in groups}))

    def find_user(self, who: str) -> Account | None:
        """Return the user of a name or number; a number without an entry is a user without a name."""
        if (account := self._users_by_name.get(who)) is not None:
            return account
        uid = parse_id(who)
        if uid is None:
            return None
        return self._users_by_id.get(uid) or Account(name="", uid=uid, gid=uid)

    def find_group(self, which: str) -> int | None:
        """Return the number of a group by name or number."""
        if (group := self._groups_by_name.get(which)) is not None:
            return group.gid
        return parse_id(which)

    def user_name(self, uid: int) -> str:
        """Return a user's name; empty when it has none."""
        account = self._users_by_id.get(uid)
        return account.name if account else ""

    def group_name(self, gid: int) -> str:
        """Return a group's name; empty when it has none."""
        group = self._groups_by_id.get(gid)
        return group.name if group else ""

    def groups_of(self, account: Account) -> tuple[int, ...]:
        """Return the user's supplementary groups, the primary one included, as login would set them."""
        named = (group.gid for group in self.groups if account.name and account.name in group.members)
        return tuple(dict.fromkeys((account.gid, *named)))


class Accounts:
    """Reads the sandbox's users and groups, again whenever the files change. Safe to use from any thread."""

    def __init__(self, etc: str = "/etc") -> None:
        self._paths = (f"{etc}/passwd", f"{etc}/group")
        self._marks: tuple[object, ...] | None = None
        self._directory = Directory()

    def read(self) -> Directory:
        """Return the users and groups as of now; a file that is missing or unreadable counts as empty."""
        marks = tuple(_marks(path) for path in self._paths)
        if marks != self._marks:
            passwd, group = (_content(path) for path in self._paths)
            self._directory = Directory(parse_passwd(passwd), parse_group(group))
            self._marks = marks
        return self._directory


def parse_id(text: str) -> int | None:
    """Return a user's or group's number; None when the text isn't one that the kernel accepts."""
    if not text.isascii() or not text.isdigit() or len(text) > 10:
        return None
    number = int(text)
    return number if number <= _HIGHEST_ID else None


def parse_passwd(content: bytes) -> tuple[Account, ...]:
    """Read /etc/passwd's lines, leaving out those that make no sense."""
    found = []
    for fields in _lines(content, 7):
        uid, gid = parse_id(fields[2]), parse_id(fields[3])
        if fields[0] and uid is not None and gid is not None:
            found.append(Account(fields[0], uid, gid, fields[5] or "/", fields[6]))
    return tuple(found)


def parse_group(content: bytes) -> tuple[Group, ...]:
    """Read /etc/group's lines, leaving out those that make no sense."""
    found = []
    for fields in _lines(content, 4):
        gid = parse_id(fields[2])
        if fields[0] and gid is not None:
            found.append(Group(fields[0], gid, tuple(name for name in fields[3].split(",") if name)))
    return tuple(found)


def _lines(content: bytes, width: int) -> list[list[str]]:
    text = content.decode("utf-8", "replace")
    rows = (line.strip().split(":") for line in text.split("\n"))
    return [row for row in rows if len(row) == width]


def _marks(path: str) -> tuple[object, ...] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return tuple(getattr(status, name) for name in _CHANGED_MARKS)


def _content(path: str) -> bytes:
    try:
        # Without O_NONBLOCK a FIFO in the place of the file would hold this thread for ever.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return b""
        pieces = iter(lambda: os.read(fd, 64 * 1024), b"")
        return b"".join(itertools.islice(pieces, _MOST_BYTES // (64 * 1024)))
    except OSError:
        return b""
    finally:
        os.close(fd)
