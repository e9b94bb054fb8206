"""From the API's `ExecSpec` to ours: every field checked before anything is done."""

from __future__ import annotations

import re
import resource
from collections.abc import Iterable, Mapping
from typing import Final

from arenero.api.execd.v1 import exec_pb2
from arenero.errors import Unsupported
from arenero.execd.accounts import parse_id
from arenero.execd.launch import Limits
from arenero.execd.output import OutputPolicy, Retention
from arenero.execd.servicer.fields import at_most, invalid, seconds_of
from arenero.execd.spec import (
    DEFAULT_DRAIN_S,
    DEFAULT_KILL_GRACE_S,
    DEFAULT_POLICY,
    DEFAULT_RETAIN_S,
    DEFAULT_TERM,
    DEFAULT_UMASK,
    NO_LIMITS,
    OnDisconnect,
    OnExit,
    Size,
    Spec,
    Terminal,
    UserIds,
)

MAX_ENV: Final = 4096
MAX_GROUPS: Final = 32
MAX_LABELS: Final = 16
MAX_LABEL_BYTES: Final = 256
MAX_PATH_BYTES: Final = 4096
MAX_GRACE_S: Final = 60.0
MAX_RING_BYTES: Final = 64 << 20
MAX_KEEP_BYTES: Final = 1 << 40
DEFAULT_RING_BYTES: Final = 1 << 20
MAX_RLIMIT: Final = (1 << 63) - 1
MAX_CPUS: Final = 4096.0
MAX_PIDS: Final = 1 << 22
_ENV_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TERM: Final = re.compile(r"[A-Za-z0-9._+-]{1,64}")
_RLIMITS: Final[Mapping[str, int]] = {
    name.removeprefix("RLIMIT_"): getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")
}


def spec_of(message: exec_pb2.ExecSpec) -> Spec:
    """Return the spec of a message; fields of its errors are relative to it.

    Raises:
        InvalidArgument: A field is wrong.
        Unsupported: It asks for a checkpoint.
    """
    if message.checkpoint:
        raise Unsupported("this runtime can't take a checkpoint", reason="CHECKPOINT_UNSUPPORTED", field="checkpoint")
    argv, shell = _command_of(message)
    terminal = _terminal_of(message.pty) if message.HasField("pty") else None
    return Spec(
        argv=argv,
        shell=shell,
        env=_env_of(message.env),
        clear_env=message.clear_env,
        cwd=_cwd_of(message.cwd),
        user=_user_of(message.user) if message.HasField("user") else None,
        umask=at_most("umask", message.umask, 0o777) if message.HasField("umask") else DEFAULT_UMASK,
        rlimits=_rlimits_of(message.rlimits) if message.rlimits else (),
        nice=at_most("nice", message.nice, 19),
        limits=_limits_of(message.cgroup) if message.HasField("cgroup") else NO_LIMITS,
        terminal=terminal,
        takes_input=terminal is None and _takes_input(message.stdin),
        timeout_s=_positive(seconds_of(message, "timeout"), "timeout"),
        idle_output_timeout_s=_positive(seconds_of(message, "idle_output_timeout"), "idle_output_timeout"),
        kill_grace_s=_or(seconds_of(message, "kill_grace", high_s=MAX_GRACE_S), DEFAULT_KILL_GRACE_S),
        on_disconnect=OnDisconnect(_known("on_disconnect", message.on_disconnect, 2) or OnDisconnect.DETACH),
        on_exit=OnExit(_known("on_exit", message.on_exit, 2) or OnExit.REAP),
        output=_policy_of(message.output) if message.HasField("output") else DEFAULT_POLICY,
        retain_s=_or(seconds_of(message.output, "retain_for"), DEFAULT_RETAIN_S),
        drain_s=_or(seconds_of(message, "drain_timeout", high_s=MAX_GRACE_S), DEFAULT_DRAIN_S),
        labels=_labels_of(message.labels) if message.labels else {},
        raw=message.SerializeToString(),
    )


def _command_of(message: exec_pb2.ExecSpec) -> tuple[tuple[bytes, ...], str]:
    kind = message.WhichOneof("command")
    if kind == "shell":
        if not message.shell:
            raise invalid("shell", "is empty")
        if "\0" in message.shell:
            raise invalid("shell", "holds a NUL")
        return (), message.shell
    if kind != "argv":
        raise invalid("argv", "is missing; set argv or shell")
    argv = tuple(message.argv.args)
    if not argv or not argv[0]:
        raise invalid("argv.args", "names no program")
    for at, argument in enumerate(argv):
        if b"\0" in argument:
            raise invalid(f"argv.args[{at}]", "holds a NUL")
    return argv, ""


def _env_of(values: Mapping[str, bytes]) -> Mapping[str, bytes]:
    at_most("env", len(values), MAX_ENV)
    for name, value in values.items():
        if not _ENV_NAME.fullmatch(name):
            raise invalid("env", f"has the name {name[:64]!r}; names match [A-Za-z_][A-Za-z0-9_]*")
        if b"\0" in value:
            raise invalid(f"env.{name}", "holds a NUL")
    return dict(values)


def _cwd_of(cwd: bytes) -> bytes:
    if b"\0" in cwd:
        raise invalid("cwd", "holds a NUL")
    if len(cwd) > MAX_PATH_BYTES:
        raise invalid("cwd", f"has {len(cwd)} bytes; at most {MAX_PATH_BYTES} are allowed")
    if cwd and not cwd.startswith(b"/"):
        raise invalid("cwd", "is not absolute")
    return cwd


def _user_of(message: exec_pb2.User) -> str | UserIds:
    if message.HasField("ids"):
        ids = message.ids
        at_most("user.ids.groups", len(ids.groups), MAX_GROUPS)
        for name, number in (("uid", ids.uid), ("gid", ids.gid), *(("groups", group) for group in ids.groups)):
            if parse_id(str(number)) is None:
                raise invalid(f"user.ids.{name}", f"is {number}, which no system takes as an id")
        return UserIds(ids.uid, ids.gid, tuple(ids.groups))
    if not message.name:
        raise invalid("user", "is empty; set name or ids")
    return message.name


def _rlimits_of(messages: Iterable[exec_pb2.Rlimit]) -> tuple[tuple[int, int], ...]:
    found: dict[int, int] = {}
    for at, message in enumerate(messages):
        number = _RLIMITS.get(message.name)
        if number is None:
            raise invalid(f"rlimits[{at}].name", f"is {message.name[:32]!r}; known are {', '.join(sorted(_RLIMITS))}")
        if number in found:
            raise invalid(f"rlimits[{at}].name", f"repeats {message.name}")
        found[number] = at_most(f"rlimits[{at}].value", message.value, MAX_RLIMIT)
    return tuple(found.items())


def _limits_of(message: exec_pb2.CgroupLimits) -> Limits:
    if not 0 <= message.cpus <= MAX_CPUS:
        raise invalid("cgroup.cpus", f"is {message.cpus:g}; it must be from 0 to {MAX_CPUS:g}")
    at_most("cgroup.memory_bytes", message.memory_bytes, MAX_RLIMIT)
    at_most("cgroup.pids", message.pids, MAX_PIDS)
    return Limits(message.cpus, message.memory_bytes, message.pids)


def _terminal_of(message: exec_pb2.Pty) -> Terminal:
    if message.term and not _TERM.fullmatch(message.term):
        raise invalid("pty.term", "is no terminal type")
    return Terminal(size_of(message, "pty"), message.term or DEFAULT_TERM)


def size_of(message: exec_pb2.Pty, field: str) -> Size:
    """Return a terminal's size with defaults for what is 0.

    Raises:
        InvalidArgument: A number is too large.
    """
    for name in ("rows", "columns", "width_px", "height_px"):
        at_most(f"{field}.{name}", getattr(message, name), 65_535)
    default = Size()
    return Size(message.rows or default.rows, message.columns or default.columns, message.width_px, message.height_px)


def _takes_input(mode: int) -> bool:
    return _known("stdin", mode, 2) == exec_pb2.STDIN_MODE_STREAM


def _policy_of(message: exec_pb2.OutputPolicy) -> OutputPolicy:
    retention = Retention(_known("output.retention", message.retention, 4) or Retention.KEEP)
    limit_bytes = message.limit_bytes
    if retention is Retention.DISCARD:
        return OutputPolicy(retention, DEFAULT_RING_BYTES)
    if retention is Retention.RING:
        at_most("output.limit_bytes", limit_bytes, MAX_RING_BYTES)
    at_most("output.limit_bytes", limit_bytes, MAX_KEEP_BYTES)
    default = DEFAULT_POLICY.limit_bytes if retention is Retention.KEEP else DEFAULT_RING_BYTES
    return OutputPolicy(retention, limit_bytes or default)


def _labels_of(labels: Mapping[str, str]) -> Mapping[str, str]:
    at_most("labels", len(labels), MAX_LABELS)
    for name, value in labels.items():
        if not name or len(name.encode()) > MAX_LABEL_BYTES or len(value.encode()) > MAX_LABEL_BYTES:
            raise invalid("labels", f"has {name[:32]!r}; names have 1 to {MAX_LABEL_BYTES} bytes, values up to as many")
    return dict(labels)


def _known(field: str, value: int, highest: int) -> int:
    """Return an enum's number; one that this execd doesn't know is refused rather than taken for the default."""
    return at_most(field, value, highest)


def _positive(value_s: float | None, field: str) -> float | None:
    if value_s is not None and value_s <= 0:
        raise invalid(field, "is 0; leave it out for no limit")
    return value_s


def _or(value_s: float | None, default_s: float) -> float:
    return default_s if value_s is None else value_s
