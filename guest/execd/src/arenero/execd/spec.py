"""What to run and how: the domain's side of the API's `ExecSpec`, checked and with every default filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, unique
from typing import Final

from arenero.execd.launch import Limits
from arenero.execd.output import OutputPolicy

DEFAULT_KILL_GRACE_S: Final = 2.0
DEFAULT_DRAIN_S: Final = 0.5
DEFAULT_RETAIN_S: Final = 24 * 3600.0
DEFAULT_UMASK: Final = 0o022
DEFAULT_TERM: Final = "xterm-256color"
DEFAULT_POLICY: Final = OutputPolicy()
NO_LIMITS: Final = Limits()


@unique
class OnDisconnect(IntEnum):
    """What happens when the client that started it goes away; the numbers are those of the API."""

    DETACH = 1
    KILL = 2


@unique
class OnExit(IntEnum):
    """What happens to the background children of a finished exec; the numbers are those of the API."""

    REAP = 1
    LEAVE = 2


@dataclass(frozen=True, slots=True)
class UserIds:
    """Numeric ids; they need no passwd entry."""

    uid: int
    gid: int
    groups: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Size:
    """A terminal's size."""

    rows: int = 24
    columns: int = 80
    width_px: int = 0
    height_px: int = 0


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal to run in."""

    size: Size = field(default_factory=Size)
    term: str = DEFAULT_TERM


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One exec. Exactly one of `argv` and `shell` is set."""

    argv: tuple[bytes, ...] = ()
    shell: str = ""
    env: Mapping[str, bytes] = field(default_factory=dict)
    clear_env: bool = False
    cwd: bytes = b""
    user: str | UserIds | None = None
    """Name in the sandbox's passwd file, or ids; None: the sandbox's default."""
    umask: int = DEFAULT_UMASK
    rlimits: tuple[tuple[int, int], ...] = ()
    """Resource number and value."""
    nice: int = 0
    limits: Limits = NO_LIMITS
    terminal: Terminal | None = None
    takes_input: bool = False
    """Without a terminal: standard input is a pipe. Otherwise it is at its end from the start."""
    timeout_s: float | None = None
    idle_output_timeout_s: float | None = None
    kill_grace_s: float = DEFAULT_KILL_GRACE_S
    on_disconnect: OnDisconnect = OnDisconnect.DETACH
    on_exit: OnExit = OnExit.REAP
    output: OutputPolicy = DEFAULT_POLICY
    retain_s: float = DEFAULT_RETAIN_S
    drain_s: float = DEFAULT_DRAIN_S
    labels: Mapping[str, str] = field(default_factory=dict)
    raw: bytes = field(default=b"", compare=False, repr=False)
    """The request's own message, to be shown as it came."""
