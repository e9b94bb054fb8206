"""Turns the kernel's errors about files into the errors that callers see, each with a reason and the field at fault."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from arenero.errors import (
    AlreadyExists,
    ArenError,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    Unavailable,
    Unsupported,
)

_SHOWN_BYTES: Final = 200

_MEANINGS: Final[Mapping[int, tuple[type[ArenError], str, str]]] = {
    errno.ENOENT: (NotFound, "FILE_NOT_FOUND", "there is no such file or directory"),
    errno.ENOTDIR: (FailedPrecondition, "NOT_A_DIRECTORY", "it is not a directory"),
    errno.EISDIR: (FailedPrecondition, "IS_A_DIRECTORY", "it is a directory"),
    errno.EEXIST: (AlreadyExists, "FILE_EXISTS", "it exists"),
    errno.ENOTEMPTY: (FailedPrecondition, "DIRECTORY_NOT_EMPTY", "the directory is not empty"),
    errno.EACCES: (PermissionDenied, "FILE_PERMISSION_DENIED", "the user may not do that"),
    errno.EPERM: (PermissionDenied, "FILE_PERMISSION_DENIED", "the file system does not permit that"),
    errno.EROFS: (FailedPrecondition, "READ_ONLY_FILE_SYSTEM", "the file system is read-only"),
    errno.ENOSPC: (ResourceExhausted, "NO_SPACE", "the disk is full"),
    errno.EDQUOT: (ResourceExhausted, "NO_SPACE", "the disk quota is used up"),
    errno.EFBIG: (ResourceExhausted, "FILE_TOO_LARGE", "the file would be larger than allowed"),
    errno.EMFILE: (ResourceExhausted, "TOO_MANY_OPEN_FILES", "too many files are open"),
    errno.ENFILE: (ResourceExhausted, "TOO_MANY_OPEN_FILES", "too many files are open"),
    errno.ENOMEM: (ResourceExhausted, "NO_MEMORY", "there is not enough memory"),
    errno.EMLINK: (ResourceExhausted, "TOO_MANY_LINKS", "it has too many links"),
    errno.ELOOP: (FailedPrecondition, "LINK_LOOP", "too many symbolic links, or one of a kind that is not followed"),
    errno.ENAMETOOLONG: (InvalidArgument, "NAME_TOO_LONG", "the name is too long"),
    errno.EINVAL: (InvalidArgument, "INVALID_ARGUMENT", "the file system does not accept that"),
    errno.EXDEV: (FailedPrecondition, "OTHER_FILE_SYSTEM", "it lies on another file system"),
    errno.EBUSY: (FailedPrecondition, "FILE_BUSY", "it is in use"),
    errno.ETXTBSY: (FailedPrecondition, "FILE_BUSY", "it is a program that runs"),
    errno.EAGAIN: (Unavailable, "FILE_LEASED", "a program holds a lease on it"),
    errno.ENXIO: (FailedPrecondition, "NOT_A_REGULAR_FILE", "it is not a regular file"),
    errno.ENODEV: (FailedPrecondition, "NOT_A_REGULAR_FILE", "it is not a regular file"),
    errno.ENOSYS: (Unsupported, "NOT_SUPPORTED_HERE", "the file system or the kernel can't do that"),
    errno.EOPNOTSUPP: (Unsupported, "NOT_SUPPORTED_HERE", "the file system or the kernel can't do that"),
    errno.ESTALE: (NotFound, "FILE_NOT_FOUND", "it is gone from its server"),
    errno.EIO: (FailedPrecondition, "FILE_IO_ERROR", "reading or writing failed below the file system"),
}


def fault(error: OSError, path: bytes, field: str = "path") -> ArenError:
    """Return the error that a caller sees for one of the kernel's about a path."""
    kind, reason, meaning = _MEANINGS.get(error.errno or 0, (Internal, "FILE_ERROR", os.strerror(error.errno or 0)))
    metadata = {"errno": errno.errorcode.get(error.errno or 0, "")}
    retry_after_s = 1.0 if kind is Unavailable else None
    return kind(f"{shown(path)}: {meaning}", reason=reason, field=field, metadata=metadata, retry_after_s=retry_after_s)


@contextmanager
def blamed_on(path: bytes, field: str = "path") -> Iterator[None]:
    """Turn every `OSError` of the block into the caller's error about this path."""
    try:
        yield
    except OSError as error:
        raise fault(error, path, field) from error


def escapes(path: bytes, field: str = "path") -> PermissionDenied:
    """Return the refusal of a path that leads out of the caller's root."""
    return PermissionDenied(f"{shown(path)}: the path leads out of its root", reason="ESCAPES_ROOT", field=field)


def shown(path: bytes) -> str:
    """Return a path for a message: never unprintable, never endless."""
    text = path.decode("utf-8", "backslashreplace")
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return text if len(text) <= _SHOWN_BYTES else f"{text[:_SHOWN_BYTES]}…"
