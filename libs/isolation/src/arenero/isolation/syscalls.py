"""Typed wrappers of the system calls that Python has no function for.

Every wrapper raises `OSError` with the errno, and the name of the call and its subject in the message. All of them may
be used in a forked child that can import nothing any more: what they need is loaded when this module is.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import struct
from typing import Final

_NUMBERS: Final = {
    # name: (x86_64, aarch64). From 424 on all architectures agree.
    "clone": (56, 220),
    "capget": (125, 90),
    "capset": (126, 91),
    "pivot_root": (155, 41),
    "quotactl": (179, 60),
    "keyctl": (250, 219),
    "setns": (308, 268),
    "seccomp": (317, 277),
    "pidfd_send_signal": (424, 424),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "pidfd_open": (434, 434),
    "clone3": (435, 435),
    "close_range": (436, 436),
    "openat2": (437, 437),
    "mount_setattr": (442, 442),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}
_COLUMN: Final = {"x86_64": 0, "aarch64": 1}

MACHINE: Final = platform.machine()
AT_FDCWD: Final = -100
AT_EMPTY_PATH: Final = 0x1000
AT_RECURSIVE: Final = 0x8000
OPEN_TREE_CLONE: Final = 1
OPEN_TREE_CLOEXEC: Final = os.O_CLOEXEC
MOVE_MOUNT_F_EMPTY_PATH: Final = 0x4
MOUNT_ATTR_RDONLY: Final = 0x1
MOUNT_ATTR_NOSUID: Final = 0x2
MOUNT_ATTR_NODEV: Final = 0x4
MOUNT_ATTR_NOEXEC: Final = 0x8
MOUNT_ATTR_IDMAP: Final = 0x100000
MNT_DETACH: Final = 2
RESOLVE_NO_XDEV: Final = 0x01
RESOLVE_NO_MAGICLINKS: Final = 0x02
RESOLVE_NO_SYMLINKS: Final = 0x04
RESOLVE_BENEATH: Final = 0x08
RESOLVE_IN_ROOT: Final = 0x10
FSCONFIG_SET_STRING: Final = 1
FSCONFIG_SET_FLAG: Final = 0
FSCONFIG_CMD_CREATE: Final = 6
FSOPEN_CLOEXEC: Final = 1
FSMOUNT_CLOEXEC: Final = 1
PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_NAME: Final = 15
PR_CAPBSET_DROP: Final = 24
PR_SET_SECUREBITS: Final = 28
PR_SET_CHILD_SUBREAPER: Final = 36
PR_SET_NO_NEW_PRIVS: Final = 38
PR_GET_NO_NEW_PRIVS: Final = 39
PR_CAP_AMBIENT: Final = 47

_JOIN_SESSION_KEYRING: Final = 1
_PIDFD_GET_INFO: Final = 0xC040FF0B
_PIDFD_INFO_BYTES: Final = 64
_PIDFD_INFO_EXIT: Final = 1 << 3
_PIDFD_EXIT_OFFSET: Final = 60

_libc: Final = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.mount.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p)
_libc.umount2.argtypes = (ctypes.c_char_p, ctypes.c_int)
_libc.unshare.argtypes = (ctypes.c_int,)
_libc.sethostname.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
_libc.prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong)
_libc.setfsuid.argtypes = (ctypes.c_uint,)
_libc.setfsgid.argtypes = (ctypes.c_uint,)

Argument = int | bytes | ctypes.Array[ctypes.c_char] | None


def number(name: str) -> int:
    """Return the number of a system call on this machine.

    Raises:
        OSError: ENOSYS on a processor that this module has no numbers for.
    """
    column = _COLUMN.get(MACHINE)
    if column is None:
        raise OSError(errno.ENOSYS, f"{name}: no system call numbers are known for {MACHINE}")
    return _NUMBERS[name][column]


def call(name: str, *arguments: Argument, subject: str = "") -> int:
    """Do a system call by name.

    Integers are passed as 64-bit words, bytes and buffers by address. `subject` is named in the error.
    """
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number(name)), *words), name, subject)


def _checked(result: int, name: str, subject: str = "") -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}{f'({subject})' if subject else ''}: {os.strerror(code)}")
    return int(result)


def _path(path: str | None) -> bytes | None:
    return None if path is None else os.fsencode(path)


def unshare(flags: int) -> None:
    """Move this process (PID and time namespaces: its future children) into new namespaces."""
    _checked(_libc.unshare(flags), "unshare", hex(flags))


def setns(fd: int, kind: int) -> None:
    """Enter the namespace of a descriptor, which must be of this kind."""
    call("setns", fd, kind, subject=hex(kind))


def mount(source: str | None, target: str, fstype: str | None, flags: int = 0, options: str | None = None) -> None:
    """mount(2)."""
    result = _libc.mount(_path(source), _path(target), _path(fstype), flags, _path(options))
    _checked(result, "mount", f"{fstype or 'bind'} on {target}")


def umount(target: str, *, detach: bool = False) -> None:
    """umount2(2); with `detach` it leaves the tree at once and goes when nobody uses it any more."""
    _checked(_libc.umount2(_path(target), MNT_DETACH if detach else 0), "umount", target)


def pivot_root(new_root: str, put_old: str) -> None:
    """pivot_root(2)."""
    call("pivot_root", _path(new_root), _path(put_old), subject=new_root)


def open_tree(path: str, *, recursive: bool = False) -> int:
    """Return a descriptor of a detached copy of the mount at a path."""
    flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (AT_RECURSIVE if recursive else 0)
    return call("open_tree", AT_FDCWD, _path(path), flags, subject=path)


def move_mount(fd: int, target: str) -> None:
    """Attach a detached mount at a path."""
    call("move_mount", fd, b"", AT_FDCWD, _path(target), MOVE_MOUNT_F_EMPTY_PATH, subject=target)


def mount_setattr(
    fd: int, *, set_flags: int = 0, clear_flags: int = 0, userns_fd: int = 0, recursive: bool = False
) -> None:
    """Change the attributes of a mount, or with `MOUNT_ATTR_IDMAP` its mapping of ids."""
    words = (ctypes.c_uint64 * 4)(set_flags, clear_flags, 0, userns_fd)
    buffer = ctypes.create_string_buffer(bytes(words), 32)
    flags = AT_EMPTY_PATH | (AT_RECURSIVE if recursive else 0)
    call("mount_setattr", fd, b"", flags, buffer, 32, subject=hex(set_flags))


def create_mount(fstype: str, source: str, options: str, attributes: int = 0) -> int:
    """Return a descriptor of a new file system's mount that is attached nowhere yet.

    Args:
        fstype: Kind of file system.
        source: Device or name.
        options: As for mount(2): `flag,key=value`.
        attributes: `MOUNT_ATTR_*`.
    """
    context = call("fsopen", fstype.encode(), FSOPEN_CLOEXEC, subject=fstype)
    try:
        settings = [("source", source), *(part.split("=", 1) for part in options.split(",") if part)]
        for key, *value in settings:
            kind = FSCONFIG_SET_STRING if value else FSCONFIG_SET_FLAG
            text = _path(value[0]) if value else None
            call("fsconfig", context, kind, key.encode(), text, 0, subject=f"{fstype}: {key}")
        call("fsconfig", context, FSCONFIG_CMD_CREATE, None, None, 0, subject=f"{fstype} of {source}")
        return call("fsmount", context, FSMOUNT_CLOEXEC, attributes, subject=fstype)
    finally:
        os.close(context)


def openat2(dir_fd: int, path: str, flags: int, *, mode: int = 0, resolve: int = 0) -> int:
    """Open a path under the resolve rules, for example `RESOLVE_BENEATH`."""
    how = bytes((ctypes.c_uint64 * 3)(flags | os.O_CLOEXEC, mode, resolve))
    return call("openat2", dir_fd, _path(path), how, len(how), subject=path)


def prctl(option: int, second: int = 0, third: int = 0) -> int:
    """prctl(2) with integer arguments; unused ones are 0."""
    return _checked(_libc.prctl(option, second, third, 0, 0), "prctl", str(option))


def set_process_name(name: str) -> None:
    """Name this thread as `ps` shows it; the kernel keeps 15 bytes."""
    buffer = ctypes.create_string_buffer(name.encode()[:15])
    prctl(PR_SET_NAME, ctypes.addressof(buffer))


def sethostname(name: str) -> None:
    """Name the host of this UTS namespace."""
    encoded = name.encode()
    _checked(_libc.sethostname(encoded, len(encoded)), "sethostname", name)


def set_filesystem_ids(uid: int, gid: int) -> None:
    """Make files under these ids from now on. The kernel reports no failure, so the caller must have the right to."""
    _libc.setfsgid(gid)
    _libc.setfsuid(uid)


def join_new_keyring() -> None:
    """Leave the session keyring that this process was born with; a kernel without keyrings is fine."""
    try:
        call("keyctl", _JOIN_SESSION_KEYRING, None)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EPERM, errno.EDQUOT):
            raise


def pidfd_open(pid: int) -> int:
    """Return a descriptor that becomes readable when the process ends."""
    return call("pidfd_open", pid, 0, subject=str(pid))


def pidfd_send_signal(pidfd: int, signal_number: int) -> None:
    """Signal exactly the process that the descriptor stands for."""
    call("pidfd_send_signal", pidfd, signal_number, None, 0, subject=str(signal_number))


def pidfd_exit_status(pidfd: int) -> int | None:
    """Return the wait status of a process that has ended and was collected by whoever its parent is.

    None while it runs, and on kernels before 6.15, which tell parents only.
    """
    information = bytearray(_PIDFD_INFO_BYTES)
    struct.pack_into("<Q", information, 0, _PIDFD_INFO_EXIT)
    try:
        fcntl.ioctl(pidfd, _PIDFD_GET_INFO, information)
    except OSError:
        return None
    (mask,) = struct.unpack_from("<Q", information, 0)
    (status,) = struct.unpack_from("<i", information, _PIDFD_EXIT_OFFSET)
    return int(status) if mask & _PIDFD_INFO_EXIT else None


def close_range(first: int, last: int) -> None:
    """Close every descriptor from first to last, both included."""
    if first > last:
        return
    try:
        call("close_range", first, last, 0)
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        os.closerange(first, min(last, 65_536) + 1)


def close_all_but(keep: frozenset[int]) -> None:
    """Close every descriptor that is not named."""
    first = 0
    for fd in sorted(keep):
        close_range(first, fd - 1)
        first = fd + 1
    close_range(first, 2**31 - 1)
