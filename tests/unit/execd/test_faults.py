"""What callers see of the kernel's errors."""

import errno
import os

import pytest

from arenero.errors import ArenError, Internal, NotFound, PermissionDenied, ResourceExhausted, Unavailable
from arenero.execd.faults import blamed_on, escapes, fault, shown


@pytest.mark.parametrize(
    ("code", "kind", "reason"),
    [
        (errno.ENOENT, NotFound, "FILE_NOT_FOUND"),
        (errno.EACCES, PermissionDenied, "FILE_PERMISSION_DENIED"),
        (errno.ENOSPC, ResourceExhausted, "NO_SPACE"),
        (errno.EDQUOT, ResourceExhausted, "NO_SPACE"),
        (errno.EAGAIN, Unavailable, "FILE_LEASED"),
        (errno.EUCLEAN, Internal, "FILE_ERROR"),
    ],
)
def test_errno_becomes_class_and_reason(code: int, kind: type[ArenError], reason: str):
    error = fault(OSError(code, os.strerror(code)), b"/a", "source")
    assert (type(error), error.reason, error.field) == (kind, reason, "source")
    assert error.metadata["errno"] == errno.errorcode[code]


def test_only_what_waiting_helps_says_when_to_try_again():
    assert fault(OSError(errno.EAGAIN, ""), b"a").retry_after_s == 1.0
    assert fault(OSError(errno.ENOENT, ""), b"a").retry_after_s is None


def test_block_is_blamed_on_its_path():
    with pytest.raises(NotFound, match="what I asked for"), blamed_on(b"what I asked for"):
        os.stat("/no/such")
    with pytest.raises(ValueError, match="other"), blamed_on(b"a"):
        raise ValueError("other")


def test_escape_has_its_own_reason():
    assert escapes(b"../x", "base").reason == "ESCAPES_ROOT"


@pytest.mark.parametrize(
    ("path", "text"),
    [(b"caf\xc3\xa9", "café"), (b"\xff\n\x1b[2J", r"\xff\n\x1b[2J"), (b"x" * 500, "x" * 200 + "…")],
)
def test_path_is_shown_printable_and_short(path: bytes, text: str):
    assert shown(path) == text
