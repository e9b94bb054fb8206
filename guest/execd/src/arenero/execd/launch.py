"""A *launch*: everything that a child needs to know to become an exec's first process.

The server decides all of it; the child only carries it out. A *fault* is why the child could not: the step and the
errno, as the kernel said it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from arenero.execd.control import to_bytes, to_text


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of an exec's own cgroup; 0 means none."""

    cpus: float = 0.0
    memory_bytes: int = 0
    pids: int = 0

    def __bool__(self) -> bool:
        return bool(self.cpus or self.memory_bytes or self.pids)

    def to_body(self) -> dict[str, Any]:
        """Return it as the body of a message."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What to become. Paths, arguments and values are bytes."""

    programs: tuple[tuple[bytes, bytes], ...]
    """Where the program may be, in order, each with the name (argument 0) that it runs under there."""
    arguments: tuple[bytes, ...] = ()
    """Arguments after the name."""
    searched: bool = False
    """The places come from PATH; a failure is then one of the search."""
    env: Mapping[bytes, bytes] = field(default_factory=dict)
    cwd: bytes = b"/"
    uid: int = 0
    gid: int = 0
    groups: tuple[int, ...] | None = ()
    """Supplementary groups; None leaves them as they are, where the sandbox may not change them."""
    umask: int = 0o022
    rlimits: tuple[tuple[int, int], ...] = ()
    """Resource number and the value of both its limits."""
    nice: int = 0
    terminal: bool = False
    """Descriptor 0 is a terminal and becomes the controlling one."""
    targets: tuple[tuple[int, ...], ...] = ()
    """For each descriptor that comes along, the numbers that it is to have. Without one for 0, that is /dev/null."""

    def to_body(self) -> dict[str, Any]:
        """Return it as the body of a message."""
        return {
            "programs": [[to_text(path), to_text(name)] for path, name in self.programs],
            "arguments": _joined(self.arguments),
            "searched": self.searched,
            "env": _joined([name + b"=" + value for name, value in self.env.items()]),
            "cwd": to_text(self.cwd),
            "uid": self.uid,
            "gid": self.gid,
            "groups": self.groups,
            "umask": self.umask,
            "rlimits": self.rlimits,
            "nice": self.nice,
            "terminal": self.terminal,
            "targets": self.targets,
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Launch:
        """Read what `to_body` wrote."""
        groups = body["groups"]
        return cls(
            programs=tuple((to_bytes(path), to_bytes(name)) for path, name in body["programs"]),
            arguments=tuple(_split(body["arguments"])),
            searched=body["searched"],
            env=dict(entry.split(b"=", 1) for entry in _split(body["env"])),
            cwd=to_bytes(body["cwd"]),
            uid=body["uid"],
            gid=body["gid"],
            groups=None if groups is None else tuple(groups),
            umask=body["umask"],
            rlimits=tuple((number, value) for number, value in body["rlimits"]),
            nice=body["nice"],
            terminal=body["terminal"],
            targets=tuple(map(tuple, body["targets"])),
        )


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a launch failed."""

    stage: str
    """The step: `cgroup`, `stdio`, `terminal`, `rlimit`, `nice`, `setgroups`, `setgid`, `setuid`, `chdir`, `lookup`,
    `execve`, or `fork` when there was no child at all."""
    errno: int
    """0 when the child was killed before it got there."""
    subject: bytes = b""
    """Path or name that the step was about."""
    finding: str = ""
    """What is wrong with the program's file; see `child.examine`."""

    def to_body(self) -> dict[str, Any]:
        """Return it as the body of a message."""
        return {"stage": self.stage, "errno": self.errno, "subject": to_text(self.subject), "finding": self.finding}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Fault:
        """Read what `to_body` wrote."""
        return cls(body["stage"], body["errno"], to_bytes(body["subject"]), body["finding"])


def _joined(words: Sequence[bytes]) -> str:
    """Return words as one text, each ended by a NUL, which none of them can hold: far quicker than a list of texts."""
    return to_text(b"".join([word + b"\0" for word in words]))


def _split(text: str) -> list[bytes]:
    return to_bytes(text).split(b"\0")[:-1]
