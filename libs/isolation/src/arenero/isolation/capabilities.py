"""Capabilities of the calling thread: take them away, keep a named few.

A *set* is a frozenset of names as in capabilities(7), without the `CAP_`. Nothing here gives a capability back that was
dropped from the permitted set.
"""

from __future__ import annotations

import ctypes
import errno
from typing import Final

from arenero.isolation import syscalls

NAMES: Final = (
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "LINUX_IMMUTABLE",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_ADMIN",
    "NET_RAW",
    "IPC_LOCK",
    "IPC_OWNER",
    "SYS_MODULE",
    "SYS_RAWIO",
    "SYS_CHROOT",
    "SYS_PTRACE",
    "SYS_PACCT",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_NICE",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "MKNOD",
    "LEASE",
    "AUDIT_WRITE",
    "AUDIT_CONTROL",
    "SETFCAP",
    "MAC_OVERRIDE",
    "MAC_ADMIN",
    "SYSLOG",
    "WAKE_ALARM",
    "BLOCK_SUSPEND",
    "AUDIT_READ",
    "PERFMON",
    "BPF",
    "CHECKPOINT_RESTORE",
)
NUMBERS: Final = {name: number for number, name in enumerate(NAMES)}
_VERSION_3: Final = 0x20080522
_HIGHEST: Final = 63
_AMBIENT_CLEAR_ALL: Final = 4
_NO_ROOT: Final = 1
"""Running a program as user 0 gives no capability."""
_NO_ROOT_LOCKED: Final = 2

Triple = tuple[int, int, int]
"""Effective, permitted and inheritable set as bit masks."""


def mask_of(names: frozenset[str]) -> int:
    """Return the bit mask of a set.

    Raises:
        KeyError: A name is unknown.
    """
    return sum(1 << NUMBERS[name] for name in names)


def names_of(mask: int) -> frozenset[str]:
    """Return the set of a bit mask; bits without a name are left out."""
    return frozenset(name for name, number in NUMBERS.items() if mask >> number & 1)


def read() -> Triple:
    """Return this thread's sets."""
    header = _header()
    data = ctypes.create_string_buffer(24)
    syscalls.call("capget", header, data)
    words = [int.from_bytes(data.raw[at : at + 4], "little") for at in range(0, 24, 4)]
    return (words[0] | words[3] << 32, words[1] | words[4] << 32, words[2] | words[5] << 32)


def write(effective: int, permitted: int, inheritable: int) -> None:
    """Set this thread's sets."""
    low = [mask & 0xFFFFFFFF for mask in (effective, permitted, inheritable)]
    high = [mask >> 32 for mask in (effective, permitted, inheritable)]
    data = b"".join(word.to_bytes(4, "little") for word in low + high)
    syscalls.call("capset", _header(), ctypes.create_string_buffer(data, 24))


def keep_only(names: frozenset[str]) -> None:
    """Drop everything but the named ones from all five sets of this thread, for it and all it becomes.

    The named ones stay effective and permitted. A program that is started from here has none, not even as user 0. A
    thread without CAP_SETPCAP can't see to that: it must drop all itself before it starts one under `no_new_privs`.
    """
    mask = mask_of(names)
    _clear_ambient()
    bound(names)
    _, permitted, _ = read()
    write(mask & permitted, mask & permitted, 0)


def bound(names: frozenset[str]) -> bool:
    """Let this thread, and all it becomes, never gain another capability than these; False without CAP_SETPCAP."""
    effective, _, _ = read()
    if not effective >> NUMBERS["SETPCAP"] & 1:
        return False
    _drop_from_bounding(~mask_of(names))
    syscalls.prctl(syscalls.PR_SET_SECUREBITS, _NO_ROOT | _NO_ROOT_LOCKED)
    return True


def drop_all() -> None:
    """Leave this thread no capability and no way to one."""
    keep_only(frozenset())


def raise_effective() -> None:
    """Make every permitted capability effective again, as after a change of user ids."""
    _, permitted, inheritable = read()
    write(permitted, permitted, inheritable)


def _header() -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(_VERSION_3.to_bytes(4, "little") + bytes(4), 8)


def _clear_ambient() -> None:
    try:
        syscalls.prctl(syscalls.PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise


def _drop_from_bounding(mask: int) -> None:
    """Drop the set bits, again if need be; the first number that the kernel doesn't know ends the list."""
    for number in range(_HIGHEST + 1):
        if not mask >> number & 1:
            continue
        try:
            syscalls.prctl(syscalls.PR_CAPBSET_DROP, number)
        except OSError as error:
            if error.errno == errno.EINVAL:
                return
            raise
