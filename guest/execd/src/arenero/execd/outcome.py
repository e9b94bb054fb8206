"""How an exec ended, or why it never ran: the facts as the kernel gave them, and what they mean for a caller."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, unique
from typing import Final

from arenero.execd.launch import Fault
from arenero.execd.output import Stream


@unique
class Cause(IntEnum):
    """Why an exec ended; the numbers are those of the API."""

    OWN_EXIT = 1
    DEADLINE = 2
    IDLE_OUTPUT_DEADLINE = 3
    CANCELLED = 4
    OUT_OF_MEMORY = 5
    SANDBOX_STOPPED = 6
    DAEMON_LOST = 7
    START_FAILED = 8


@unique
class FailureKind(IntEnum):
    """Kind of a start failure; the numbers are those of the API."""

    UNSPECIFIED = 0
    NOT_FOUND = 1
    NOT_EXECUTABLE = 2
    BAD_INTERPRETER = 3
    BAD_CWD = 4
    PERMISSION = 5
    ARGUMENT_LIST_TOO_LONG = 6
    LIMIT = 7
    BAD_USER = 8


@dataclass(frozen=True, slots=True)
class StartFailure:
    """Why an exec never ran."""

    kind: FailureKind
    errno_name: str
    stage: str
    message: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Resources that an exec's first process used, its waited-for children included."""

    user_s: float = 0.0
    system_s: float = 0.0
    max_rss_bytes: int = 0
    major_faults: int = 0
    voluntary_switches: int = 0
    involuntary_switches: int = 0

    @classmethod
    def of(cls, rusage: list[float]) -> Usage:
        """Read the sequence that wait4 gives."""
        return cls(
            user_s=rusage[0],
            system_s=rusage[1],
            max_rss_bytes=int(rusage[2]) * 1024,
            major_faults=int(rusage[7]),
            voluntary_switches=int(rusage[14]),
            involuntary_switches=int(rusage[15]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of an exec. Exactly one of `exit_code`, `signal` and `failure` is set."""

    exit_code: int | None = None
    signal: int | None = None
    failure: StartFailure | None = None
    core_dumped: bool = False
    cause: Cause = Cause.OWN_EXIT
    offsets: Mapping[Stream, int] = field(default_factory=dict)
    dropped: Mapping[Stream, int] = field(default_factory=dict)
    usage: Usage | None = None
    started_ns: int = 0
    ended_ns: int = 0
    stdio_held_open: bool = False
    escapees_possible: bool = False


@dataclass(frozen=True, slots=True)
class WaitStatus:
    """What wait4 said about a process."""

    exit_code: int | None
    signal: int | None
    core_dumped: bool

    @classmethod
    def of(cls, status: int) -> WaitStatus:
        """Read a wait status."""
        if os.WIFSIGNALED(status):
            return cls(None, os.WTERMSIG(status), os.WCOREDUMP(status))
        return cls(os.WEXITSTATUS(status), None, False)


_LIMIT_ERRNOS: Final = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT})
_CAPABILITIES: Final = {
    "rlimit": "CAP_SYS_RESOURCE",
    "nice": "CAP_SYS_NICE",
    "setgroups": "CAP_SETGID",
    "setgid": "CAP_SETGID",
    "setuid": "CAP_SETUID",
}
"""What the step needs, when the kernel says that it may not be done."""
_FINDINGS: Final = {
    "interpreter": (FailureKind.BAD_INTERPRETER, "the interpreter that it names does not exist"),
    "directory": (FailureKind.NOT_EXECUTABLE, "it is a directory"),
    "mode": (FailureKind.NOT_EXECUTABLE, "it may not be executed by this user"),
    "format": (FailureKind.NOT_EXECUTABLE, "it is neither a binary of this machine nor starts with #!"),
    "search": (FailureKind.PERMISSION, "a directory on the way is closed to this user"),
}
_EXEC_ERRNOS: Final = {
    errno.ENOENT: (FailureKind.NOT_FOUND, "there is no such program"),
    errno.ENOTDIR: (FailureKind.NOT_FOUND, "a part of its path is no directory"),
    errno.ENAMETOOLONG: (FailureKind.NOT_FOUND, "its name is too long"),
    errno.ELOOP: (FailureKind.NOT_FOUND, "its path is a circle of links"),
    errno.E2BIG: (FailureKind.ARGUMENT_LIST_TOO_LONG, "arguments and environment are longer than the system takes"),
    errno.ENOEXEC: (FailureKind.NOT_EXECUTABLE, "it is neither a binary of this machine nor starts with #!"),
    errno.ETXTBSY: (FailureKind.NOT_EXECUTABLE, "it is open for writing"),
    errno.ELIBBAD: (FailureKind.BAD_INTERPRETER, "its interpreter is damaged"),
    errno.EACCES: (FailureKind.NOT_EXECUTABLE, "it may not be executed by this user"),
    errno.ETIMEDOUT: (FailureKind.NOT_EXECUTABLE, "its file can't be read: the file system doesn't answer"),
    errno.EPERM: (FailureKind.PERMISSION, "the sandbox doesn't allow it"),
}


def explain(fault: Fault) -> StartFailure:
    """Return what a fault means for the caller."""
    kind, why = _meaning(fault)
    subject = f"{_shown(fault.subject)}: " if fault.subject else ""
    name = errno.errorcode.get(fault.errno, "")
    return StartFailure(kind, name, fault.stage, f"{fault.stage}: {subject}{why}")


def bad_user(message: str) -> StartFailure:
    """Return the failure of a user that does not exist."""
    return StartFailure(FailureKind.BAD_USER, "ENOENT", "user", f"user: {message}")


def _meaning(fault: Fault) -> tuple[FailureKind, str]:
    system = os.strerror(fault.errno) if fault.errno else "the child was killed before it ran the program"
    if fault.errno in _LIMIT_ERRNOS:
        return FailureKind.LIMIT, f"a limit of the sandbox was hit ({system})"
    if fault.stage == "cgroup" and fault.errno == errno.ENOTSUP:
        return FailureKind.LIMIT, "limits of its own are not possible in this sandbox"
    if fault.stage == "chdir":
        return FailureKind.BAD_CWD, f"can't be the working directory ({system})"
    if fault.stage in ("lookup", "execve"):
        return _FINDINGS.get(fault.finding) or _EXEC_ERRNOS.get(fault.errno, (FailureKind.UNSPECIFIED, system))
    if fault.errno == errno.EPERM and fault.stage in _CAPABILITIES:
        return FailureKind.PERMISSION, f"this needs {_CAPABILITIES[fault.stage]}, which the sandbox doesn't have"
    if fault.errno == errno.EINVAL and fault.stage in ("setuid", "setgid", "setgroups"):
        return FailureKind.BAD_USER, "the sandbox has no such id"
    return (FailureKind.PERMISSION if fault.errno in (errno.EPERM, errno.EACCES) else FailureKind.UNSPECIFIED), system


def _shown(subject: bytes) -> str:
    """Return a name for a message; cut, since the message travels in a frame and a log."""
    text = subject.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 200 else f"{text[:200]}…")
