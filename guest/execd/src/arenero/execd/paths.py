"""Finding files by path, without ever leaving the tree that a caller is confined to.

A *tree* is a directory and the rules for paths in it:

- The whole sandbox: its own `/`. Relative paths start at the default user's home. Links lead where they lead.
- A confined tree: no path, `..` or symbolic link leads out of its directory; absolute links are refused, wherever they
  point. Absolute paths are taken when they lie below the directory by name.

The kernel does the confining (openat2 with RESOLVE_BENEATH), so there is no moment between a check and its use. Where
it can't (gVisor, old kernels), the same rules are walked component by component, each opened without following links
and `..` answered from the descriptors that the walk came by. Magic links of /proc are never followed: they would lead
through execd's own descriptors. What names a file afterwards is a *place*, a directory's descriptor and one name in
it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from arenero.errors import InvalidArgument
from arenero.execd.faults import blamed_on, escapes, shown
from arenero.isolation import syscalls

LONGEST_PATH_BYTES: Final = 4095
MOST_LINKS: Final = 40
"""Symbolic links that one look-up follows; the kernel's own limit."""
_DEEPEST_WALK: Final = 256
_RETRIES: Final = 16
_DIRECTORY: Final = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


class EscapesRoot(Exception):
    """A path led out of its tree. Callers of this module see `PermissionDenied` with the reason ESCAPES_ROOT."""


@dataclass(frozen=True, slots=True)
class Place:
    """A name in an open directory. Whoever gets one closes it."""

    dir_fd: int
    name: bytes

    def close(self) -> None:
        os.close(self.dir_fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Tree:
    """A tree to look paths up in; holds its directory open until closed."""

    def __init__(self, fd: int, *, base: bytes, home: bytes, is_confined: bool) -> None:
        self._fd = fd
        self._base = base
        self._home = home
        self.is_confined = is_confined

    @classmethod
    def open(cls, root: bytes, *, home: bytes) -> Tree:
        """Open the tree below an absolute directory; the whole sandbox when it is empty.

        Raises:
            InvalidArgument: `root` isn't an absolute path.
            NotFound: It isn't there.
            FailedPrecondition: It isn't a directory.
        """
        whole = cls(os.open("/", _DIRECTORY), base=b"", home=home, is_confined=False)
        if not root:
            return whole
        try:
            if not root.startswith(b"/"):
                raise InvalidArgument(
                    "the root must be an absolute path", reason="INVALID_PATH", field="root.root", fix="start it with /"
                )
            return cls(whole.open_directory(root, "root.root"), base=root.rstrip(b"/"), home=home, is_confined=True)
        finally:
            whole.close()

    def close(self) -> None:
        """Close the tree's directory."""
        os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open_file(self, path: bytes, flags: int, field: str = "path") -> int:
        """Open what is at a path; the last component's link is followed unless O_NOFOLLOW is among the flags."""
        with self._looking_up(path, field) as relative:
            return resolve(self._fd, relative, flags, is_confined=self.is_confined)

    def open_directory(self, path: bytes, field: str = "path") -> int:
        """Return an O_PATH descriptor of a directory."""
        return self.open_file(path, _DIRECTORY, field)

    def place(self, path: bytes, field: str = "path") -> Place:
        """Find the directory that a path's last name is in; the name itself need not exist, and may be a link.

        Raises:
            InvalidArgument: The path doesn't end in a name, but in `..`, or is the tree itself.
        """
        with self._looking_up(path, field) as relative:
            directory, name = split_name(relative)
            if name in (b"", b".", b".."):
                raise _invalid(path, field, "must end in the name of a file")
            return Place(resolve(self._fd, directory or b".", _DIRECTORY, is_confined=self.is_confined), name)

    def final_place(self, path: bytes, field: str = "path") -> Place:
        """Like `place`, but where the name is a symbolic link, the place that it leads to in the end."""
        with self._looking_up(path, field) as relative:
            for followed in range(MOST_LINKS):
                directory, name = split_name(relative)
                if name in (b"", b".", b".."):
                    if followed:
                        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
                    raise _invalid(path, field, "must end in the name of a file")
                place = Place(resolve(self._fd, directory or b".", _DIRECTORY, is_confined=self.is_confined), name)
                target = read_link(place)
                if target is None:
                    return place
                place.close()
                if target.startswith(b"/") and self.is_confined:
                    raise EscapesRoot
                relative = target if target.startswith(b"/") else join(directory, target)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def relative(self, path: bytes, field: str = "path") -> bytes:
        """Return a path as it is looked up from the tree's directory; absolute only in the whole sandbox.

        Raises:
            InvalidArgument: It is empty, too long, or holds a NUL.
            PermissionDenied: It is absolute and not below the confined tree.
        """
        if not path:
            raise _invalid(path, field, "is empty")
        if b"\0" in path:
            raise _invalid(path, field, "holds a NUL byte")
        if len(path) > LONGEST_PATH_BYTES:
            raise InvalidArgument(
                f"the path is longer than {LONGEST_PATH_BYTES} bytes", reason="NAME_TOO_LONG", field=field
            )
        if not path.startswith(b"/"):
            return path if self.is_confined else join(self._home, path)
        if not self.is_confined:
            return path
        if path.rstrip(b"/") == self._base:
            return b"."
        if not path.startswith(self._base + b"/"):
            raise escapes(path, field)
        return path[len(self._base) :].lstrip(b"/") or b"."

    @contextmanager
    def _looking_up(self, path: bytes, field: str) -> Iterator[bytes]:
        relative = self.relative(path, field)
        with blamed_on(path, field):
            try:
                yield relative
            except EscapesRoot:
                raise escapes(path, field) from None


def join(directory: bytes, rest: bytes) -> bytes:
    """Put a relative path behind a directory's."""
    return directory.rstrip(b"/") + b"/" + rest if directory else rest


def split_name(path: bytes) -> tuple[bytes, bytes]:
    """Return directory and last name; slashes at the end don't count, and `/` has no name."""
    directory, slash, name = path.rstrip(b"/").rpartition(b"/")
    return (directory or slash) if slash else b"", name


def read_link(place: Place) -> bytes | None:
    """Return where a symbolic link points to; None when the place holds none. Closes the place when it fails."""
    try:
        return os.readlink(place.name, dir_fd=place.dir_fd)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        place.close()
        raise


def resolve(root_fd: int, path: bytes, flags: int, *, is_confined: bool) -> int:
    """Open a path from a directory under the rules of its tree.

    Raises:
        EscapesRoot: It leads out of the confined tree.
        OSError: As open(2); ELOOP for a magic link.
    """
    if not _kernel_confines():
        return resolve_by_walking(root_fd, path, flags, is_confined=is_confined)
    rules = syscalls.RESOLVE_NO_MAGICLINKS | (syscalls.RESOLVE_BENEATH if is_confined else 0)
    for _ in range(_RETRIES):
        try:
            return syscalls.openat2(root_fd, os.fsdecode(path), flags, resolve=rules)
        except OSError as error:
            if error.errno == errno.EXDEV and is_confined:
                raise EscapesRoot from None
            # The kernel says EAGAIN when a rename somewhere made it unsure of a `..`; so does a lease of the file.
            if error.errno != errno.EAGAIN or not is_confined:
                raise
    return resolve_by_walking(root_fd, path, flags, is_confined=is_confined)


def resolve_by_walking(root_fd: int, path: bytes, flags: int, *, is_confined: bool) -> int:
    """Do what `resolve` does with nothing newer than openat(2)."""
    walk = _Walk(root_fd, is_confined=is_confined)
    try:
        return walk.open(path, flags | os.O_CLOEXEC)
    finally:
        walk.close()


class _Walk:
    """A look-up by hand. The descriptors of the directories it came by are its only idea of `..`."""

    def __init__(self, root_fd: int, *, is_confined: bool) -> None:
        self._root_fd = root_fd
        self._is_confined = is_confined
        self._fds: list[int] = []
        self._links = 0

    def open(self, path: bytes, flags: int) -> int:
        todo = self._expand(path, [])
        while todo:
            name = todo.pop()
            if name == b"..":
                self._leave()
            elif name in (b"", b"."):
                continue
            elif any(part != b"" for part in todo):
                self._enter(name, todo)
            elif (fd := self._open_last(name, flags | (os.O_DIRECTORY if todo else 0), todo)) is not None:
                return fd
        return os.open(b".", flags, dir_fd=self._top)

    def close(self) -> None:
        while self._fds:
            os.close(self._fds.pop())

    @property
    def _top(self) -> int:
        return self._fds[-1] if self._fds else self._root_fd

    def _expand(self, path: bytes, todo: list[bytes]) -> list[bytes]:
        """Return what is to be walked, last component first, for a path with `todo` behind it."""
        if path.startswith(b"/"):
            if self._is_confined:
                raise EscapesRoot
            self.close()
        return todo + path.split(b"/")[::-1]

    def _enter(self, name: bytes, todo: list[bytes]) -> None:
        if len(self._fds) >= _DEEPEST_WALK:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        try:
            self._fds.append(os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=self._top))
        except NotADirectoryError:
            self._follow(name, todo)

    def _leave(self) -> None:
        if self._fds:
            os.close(self._fds.pop())
        elif self._is_confined:
            raise EscapesRoot

    def _open_last(self, name: bytes, flags: int, todo: list[bytes]) -> int | None:
        """Open the last component; None when it was a link, which is now to be walked."""
        follows = not flags & os.O_NOFOLLOW or bool(flags & os.O_DIRECTORY and todo)
        try:
            fd = os.open(name, flags | os.O_NOFOLLOW, dir_fd=self._top)
        except OSError as error:
            is_link = error.errno == errno.ELOOP or (error.errno == errno.ENOTDIR and flags & os.O_DIRECTORY)
            if not is_link or not follows:
                raise
            self._follow(name, todo)
            return None
        if follows and flags & os.O_PATH and stat.S_ISLNK(os.fstat(fd).st_mode):
            os.close(fd)
            self._follow(name, todo)
            return None
        return fd

    def _follow(self, name: bytes, todo: list[bytes]) -> None:
        try:
            target = os.readlink(name, dir_fd=self._top)
        except OSError as error:
            if error.errno == errno.EINVAL:
                raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
            raise
        self._links += 1
        if self._links > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        todo[:] = self._expand(target, todo)


class _Kernel:
    """What this kernel can, asked once."""

    confines: bool | None = None


def _kernel_confines() -> bool:
    if _Kernel.confines is None:
        _Kernel.confines = _has_openat2()
    return _Kernel.confines


def _has_openat2() -> bool:
    try:
        os.close(syscalls.openat2(syscalls.AT_FDCWD, "/", _DIRECTORY, resolve=syscalls.RESOLVE_NO_MAGICLINKS))
    except OSError as error:
        # EPERM: a seccomp filter older than the call.
        if error.errno in (errno.ENOSYS, errno.EPERM):
            return False
        raise
    return True


def _invalid(path: bytes, field: str, why: str) -> InvalidArgument:
    return InvalidArgument(f"the path {shown(path)!r} {why}", reason="INVALID_PATH", field=field)
