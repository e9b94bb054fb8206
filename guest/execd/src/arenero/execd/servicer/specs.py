"""From the API's `ExecSpec` to ours: every field checked before anything is done."""

from __future__ import annotations

import re
import resource
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from arenero.api.execd.v1 import exec_pb2
from arenero.errors import Unsupported
from arenero.execd.accounts import parse_id
from arenero.execd.launch import Limits
from arenero.execd.output import OutputPolicy, Retention
from arenero.execd.servicer.fields import at_most, invalid, seconds_of
from arenero.execd.spec import (
    DEFAULT_POLICY,
    DEFAULT_RETAIN_S,
    DEFAULT_TERM,
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
    values: dict[str, Any] = {"raw": message.SerializeToString()}
    # Only what is set: most specs set two fields of twenty, and asking a message for each of them takes its time.
    for field, _ in message.ListFields():
        values |= _READERS[field.name](message)
    if "argv" not in values and "shell" not in values:
        raise invalid("argv", "is missing; set argv or shell")
    return Spec(**values)


def _shell_of(message: exec_pb2.ExecSpec) -> dict[str, Any]:
    if not message.shell:
        raise invalid("shell", "is empty")
    if "\0" in message.shell:
        raise invalid("shell", "holds a NUL")
    return {"shell": message.shell}


def _argv_of(message: exec_pb2.ExecSpec) -> dict[str, Any]:
    argv = tuple(message.argv.args)
    if not argv or not argv[0]:
        raise invalid("argv.args", "names no program")
    for at, argument in enumerate(argv):
        if b"\0" in argument:
            raise invalid(f"argv.args[{at}]", "holds a NUL")
    return {"argv": argv}


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


def _takes_input(message: exec_pb2.ExecSpec) -> bool:
    """A terminal takes input whatever the mode is, and needs no pipe for it."""
    return _known("stdin", message.stdin, 2) == exec_pb2.STDIN_MODE_STREAM and not message.HasField("pty")


def _no_checkpoint(message: exec_pb2.ExecSpec) -> dict[str, Any]:
    raise Unsupported("this runtime can't take a checkpoint", reason="CHECKPOINT_UNSUPPORTED", field="checkpoint")


def _output_of(message: exec_pb2.ExecSpec) -> dict[str, Any]:
    retain_s = seconds_of(message.output, "retain_for")
    return {"output": _policy_of(message.output), "retain_s": DEFAULT_RETAIN_S if retain_s is None else retain_s}


_READERS: Final[Mapping[str, Callable[[exec_pb2.ExecSpec], dict[str, Any]]]] = {
    "argv": _argv_of,
    "shell": _shell_of,
    "env": lambda m: {"env": _env_of(m.env)},
    "clear_env": lambda m: {"clear_env": m.clear_env},
    "cwd": lambda m: {"cwd": _cwd_of(m.cwd)},
    "user": lambda m: {"user": _user_of(m.user)},
    "umask": lambda m: {"umask": at_most("umask", m.umask, 0o777)},
    "rlimits": lambda m: {"rlimits": _rlimits_of(m.rlimits)},
    "nice": lambda m: {"nice": at_most("nice", m.nice, 19)},
    "cgroup": lambda m: {"limits": _limits_of(m.cgroup)},
    "pty": lambda m: {"terminal": _terminal_of(m.pty)},
    "stdin": lambda m: {"takes_input": _takes_input(m)},
    "timeout": lambda m: {"timeout_s": _positive(seconds_of(m, "timeout"), "timeout")},
    "idle_output_timeout": lambda m: {
        "idle_output_timeout_s": _positive(seconds_of(m, "idle_output_timeout"), "idle_output_timeout")
    },
    "kill_grace": lambda m: {"kill_grace_s": seconds_of(m, "kill_grace", high_s=MAX_GRACE_S)},
    "on_disconnect": lambda m: {"on_disconnect": OnDisconnect(_known("on_disconnect", m.on_disconnect, 2))},
    "on_exit": lambda m: {"on_exit": OnExit(_known("on_exit", m.on_exit, 2))},
    "output": _output_of,
    "drain_timeout": lambda m: {"drain_s": seconds_of(m, "drain_timeout", high_s=MAX_GRACE_S)},
    "labels": lambda m: {"labels": _labels_of(m.labels)},
    "checkpoint": _no_checkpoint,
}
"""How each field is read, by its name."""
