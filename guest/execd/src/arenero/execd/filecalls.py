"""System calls on files and on the identity of one thread that `os` has no function for.

All wrappers raise `OSError` with the errno. Names are bytes and are looked up from a directory's descriptor; nothing
here takes a path from the root.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from typing import Final, NamedTuple

from arenero.isolation import syscall_numbers, syscalls

RENAME_NOREPLACE: Final = 1
AT_SYMLINK_NOFOLLOW: Final = 0x100

IN_MODIFY: Final = 0x2
IN_ATTRIB: Final = 0x4
IN_CLOSE_WRITE: Final = 0x8
IN_MOVED_FROM: Final = 0x40
IN_MOVED_TO: Final = 0x80
IN_CREATE: Final = 0x100
IN_DELETE: Final = 0x200
IN_DELETE_SELF: Final = 0x400
IN_MOVE_SELF: Final = 0x800
IN_UNMOUNT: Final = 0x2000
IN_Q_OVERFLOW: Final = 0x4000
IN_IGNORED: Final = 0x8000
IN_ONLYDIR: Final = 0x1000000
IN_EXCL_UNLINK: Final = 0x4000000
IN_ISDIR: Final = 0x40000000

_PROC_SUPER_MAGIC: Final = 0x9FA0
_STATX_BASIC_AND_BIRTH: Final = 0xFFF
_STATX_BTIME: Final = 0x800
_STATX: Final = struct.Struct("=IIQIIIHHQQQQ qIi qIi qIi qIi IIII")
_STATX_BYTES: Final = 256
_INOTIFY_EVENT: Final = struct.Struct("=iIII")
_KEEP: Final = 0xFFFFFFFF
"""An id that is never valid: the calls that take it change nothing and tell the present one."""

_libc: Final = ctypes.CDLL(None, use_errno=True)
_libc.renameat2.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
_libc.statx.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_char_p)
_libc.fstatfs.argtypes = (ctypes.c_int, ctypes.c_char_p)
_libc.inotify_init1.argtypes = (ctypes.c_int,)
_libc.inotify_add_watch.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
_libc.inotify_rm_watch.argtypes = (ctypes.c_int, ctypes.c_int)
_libc.setfsuid.argtypes = (ctypes.c_uint32,)
_libc.setfsgid.argtypes = (ctypes.c_uint32,)
_libc.syscall.restype = ctypes.c_long
_SETGROUPS: Final = (
    syscall_numbers.numbers_of(syscalls.MACHINE)["setgroups"]
    if syscalls.MACHINE in syscall_numbers.ARCHITECTURES
    else -1
)


class Status(NamedTuple):
    """What the kernel says of an entry; times in ns since 1970."""

    mode: int
    """Kind and permission bits."""
    links: int
    uid: int
    gid: int
    inode: int
    device: int
    size_bytes: int
    disk_bytes: int
    accessed_ns: int
    modified_ns: int
    changed_ns: int
    created_ns: int | None
    """None where the file system doesn't say."""


def status(dir_fd: int, name: bytes, *, follow: bool = False) -> Status:
    """Describe an entry of a directory, or the descriptor's own file when the name is empty."""
    buffer = ctypes.create_string_buffer(_STATX_BYTES)
    flags = 0 if follow else AT_SYMLINK_NOFOLLOW
    if not name:
        flags |= syscalls.AT_EMPTY_PATH
    if _libc.statx(dir_fd, name, flags, _STATX_BASIC_AND_BIRTH, buffer) != 0:
        _raise("statx")
    (mask, _, _, links, uid, gid, mode, _, inode, size, blocks, _, *rest) = _STATX.unpack_from(buffer)
    accessed, created, changed, modified = (rest[at] * 1_000_000_000 + rest[at + 1] for at in (0, 3, 6, 9))
    return Status(
        mode=mode,
        links=links,
        uid=uid,
        gid=gid,
        inode=inode,
        device=os.makedev(rest[14], rest[15]),
        size_bytes=size,
        disk_bytes=blocks * 512,
        accessed_ns=accessed,
        modified_ns=modified,
        changed_ns=changed,
        created_ns=created if mask & _STATX_BTIME else None,
    )


def rename(old_fd: int, old: bytes, new_fd: int, new: bytes, *, replace: bool) -> None:
    """Rename; without `replace` it fails with EEXIST when the new name is taken.

    A file system that can't rename without replacing says EINVAL.
    """
    if _libc.renameat2(old_fd, old, new_fd, new, 0 if replace else RENAME_NOREPLACE) != 0:
        _raise("rename")


def is_procfs(fd: int) -> bool:
    """Whether a descriptor's file lies in /proc or another mount of it."""
    buffer = ctypes.create_string_buffer(256)
    if _libc.fstatfs(fd, buffer) != 0:
        _raise("fstatfs")
    return int.from_bytes(buffer.raw[: ctypes.sizeof(ctypes.c_long)], "little") == _PROC_SUPER_MAGIC


def through_proc(fd: int) -> bytes:
    """Return a path that stands for the descriptor's own file, whatever its name is by now.

    It is for calls that take no descriptor, or none that was opened with O_PATH.
    """
    return b"/proc/self/fd/%d" % fd


def chmod(fd: int, mode: int) -> None:
    """Change the permission bits of a descriptor's file, even of one that was opened with O_PATH.

    The caller makes sure that it isn't a symbolic link.
    """
    os.chmod(through_proc(fd), mode)


def is_regular(mode: int) -> bool:
    """Whether a mode is a regular file's."""
    return stat.S_ISREG(mode)


class InotifyEvent(NamedTuple):
    """One event as the kernel reports it."""

    watch: int
    """-1 for an overflow."""
    mask: int
    cookie: int
    """The same on both halves of a move."""
    name: bytes


def inotify_init() -> int:
    """Return a new queue of file events; EMFILE when the user has too many."""
    fd = _libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    if fd < 0:
        _raise("inotify_init1")
    return int(fd)


def inotify_add_watch(queue_fd: int, dir_fd: int, mask: int) -> int:
    """Watch the directory of a descriptor; ENOSPC when the user has too many watches."""
    watch = _libc.inotify_add_watch(queue_fd, through_proc(dir_fd), mask | IN_ONLYDIR)
    if watch < 0:
        _raise("inotify_add_watch")
    return int(watch)


def inotify_rm_watch(queue_fd: int, watch: int) -> None:
    """Stop watching; a watch that is gone is no error."""
    if _libc.inotify_rm_watch(queue_fd, watch) != 0 and ctypes.get_errno() != errno.EINVAL:
        _raise("inotify_rm_watch")


def inotify_events(data: bytes) -> list[InotifyEvent]:
    """Decode what was read from a queue."""
    events = []
    at = 0
    while at < len(data):
        watch, mask, cookie, length = _INOTIFY_EVENT.unpack_from(data, at)
        at += _INOTIFY_EVENT.size
        events.append(InotifyEvent(watch, mask, cookie, data[at : at + length].rstrip(b"\0")))
        at += length
    return events


def filesystem_ids() -> tuple[int, int]:
    """Return the user and group that this thread reaches files as."""
    return _unsigned(_libc.setfsuid(_KEEP)), _unsigned(_libc.setfsgid(_KEEP))


def set_filesystem_ids(uid: int, gid: int) -> None:
    """Make this thread reach files as these; the kernel reports no failure, so ask for them afterwards."""
    _libc.setfsgid(gid)
    _libc.setfsuid(uid)


def set_thread_groups(groups: tuple[int, ...]) -> None:
    """Set the supplementary groups of this thread alone; libc's own function sets those of all threads."""
    array = (ctypes.c_uint32 * len(groups))(*groups)
    if _libc.syscall(ctypes.c_long(_SETGROUPS), ctypes.c_long(len(groups)), array) != 0:
        _raise("setgroups")


def _unsigned(number: int) -> int:
    return number & 0xFFFFFFFF


def _raise(call: str) -> None:
    code = ctypes.get_errno()
    raise OSError(code, f"{call}: {os.strerror(code)}")
