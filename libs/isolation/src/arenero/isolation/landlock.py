"""Landlock: a process gives up rights on files and the network, for itself and all that it starts.

Needs no privilege, only `no_new_privs`. The kernel's ABI number says which rights it knows; rights that it does not
know are left out, so the same rules hold as far as the kernel goes. `abi()` tells how far that is.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Final

from arenero.isolation import syscalls


class FileRight(IntFlag):
    """What may be done to files below a path."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


READ: Final = FileRight.EXECUTE | FileRight.READ_FILE | FileRight.READ_DIR
WRITE: Final = ~READ & ~FileRight.MAKE_CHAR & ~FileRight.MAKE_BLOCK & FileRight(0xFFFF)
_OF_FILES: Final = (
    FileRight.EXECUTE | FileRight.WRITE_FILE | FileRight.READ_FILE | FileRight.TRUNCATE | FileRight.IOCTL_DEV
)

_NET_BIND_TCP: Final = 1
_NET_CONNECT_TCP: Final = 2
_SCOPE_ABSTRACT_UNIX_SOCKET: Final = 1
_SCOPE_SIGNAL: Final = 2
_CREATE_VERSION: Final = 1
_RULE_PATH_BENEATH: Final = 1
_RULE_NET_PORT: Final = 2
_RIGHTS_OF_ABI: Final = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}


@dataclass(frozen=True, slots=True)
class Rules:
    """What stays allowed; all else of the kinds that the kernel knows is refused."""

    read_only: Sequence[str] = ()
    """Paths below which files may be read and run."""
    read_write: Sequence[str] = ()
    """Paths below which files may also be made, changed and removed."""
    tcp_bind: Sequence[int] | None = None
    """Ports that may be bound; None: any."""
    tcp_connect: Sequence[int] | None = None
    """Ports that may be connected to; None: any."""
    scoped: bool = True
    """No signals to, and no abstract Unix sockets of, processes outside."""


def abi() -> int:
    """Return the kernel's Landlock ABI; 0 when it has none."""
    try:
        return syscalls.call("landlock_create_ruleset", None, 0, _CREATE_VERSION)
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM):
            return 0
        raise


def missing_at(level: int) -> tuple[str, ...]:
    """Return, in words, what rules can't hold at an ABI."""
    gaps = (
        (1, "files"),
        (2, "moves between directories are refused altogether"),
        (3, "truncate"),
        (4, "TCP ports"),
        (5, "device ioctls"),
        (6, "signals and abstract sockets"),
    )
    return tuple(words for since, words in gaps if level < since)


def handled_rights(level: int) -> FileRight:
    """Return the file rights that a kernel of this ABI knows."""
    return FileRight(_RIGHTS_OF_ABI[max(1, min(level, 5))])


def ruleset_attributes(rules: Rules, level: int) -> bytes:
    """Return `struct landlock_ruleset_attr` cut to what the ABI knows."""
    network = 0
    if rules.tcp_bind is not None:
        network |= _NET_BIND_TCP
    if rules.tcp_connect is not None:
        network |= _NET_CONNECT_TCP
    scope = _SCOPE_ABSTRACT_UNIX_SOCKET | _SCOPE_SIGNAL if rules.scoped else 0
    whole = struct.pack("<QQQ", handled_rights(level), network, scope)
    return whole[: 8 if level < 4 else 16 if level < 6 else 24]


def restrict(rules: Rules) -> int:
    """Bind this thread to the rules; returns the ABI that they were applied with. `no_new_privs` must be set.

    Raises:
        OSError: ENOSYS when the kernel has no Landlock; else what it says. Paths that aren't there, or can't be reached
            anyway, are skipped.
    """
    level = abi()
    if not level:
        raise OSError(errno.ENOSYS, "the kernel has no Landlock")
    attributes = ruleset_attributes(rules, level)
    ruleset = syscalls.call("landlock_create_ruleset", attributes, len(attributes), 0)
    try:
        for path in rules.read_only:
            _allow_path(ruleset, path, READ & handled_rights(level))
        for path in rules.read_write:
            _allow_path(ruleset, path, (READ | WRITE) & handled_rights(level))
        if level >= 4:
            _allow_ports(ruleset, rules.tcp_bind or (), _NET_BIND_TCP)
            _allow_ports(ruleset, rules.tcp_connect or (), _NET_CONNECT_TCP)
        syscalls.call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)
    return level


def _allow_path(ruleset: int, path: str, rights: FileRight) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _OF_FILES
        rule = struct.pack("<Qi", rights, fd)
        syscalls.call("landlock_add_rule", ruleset, _RULE_PATH_BENEATH, rule, 0, subject=path)
    finally:
        os.close(fd)


def _allow_ports(ruleset: int, ports: Sequence[int], right: int) -> None:
    for port in ports:
        rule = struct.pack("<QQ", right, port)
        syscalls.call("landlock_add_rule", ruleset, _RULE_NET_PORT, rule, 0, subject=str(port))
