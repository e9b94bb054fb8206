"""From the API's spec to ours: defaults, bounds, and the field that is wrong."""

from __future__ import annotations

import resource
from typing import Any

import pytest

from arenero.api.execd.v1 import exec_pb2
from arenero.errors import InvalidArgument, Unsupported
from arenero.execd.launch import Limits
from arenero.execd.outcome import Cause, FailureKind
from arenero.execd.output import OutputPolicy, Retention
from arenero.execd.servicer.specs import spec_of
from arenero.execd.spec import OnDisconnect, OnExit, Size, Spec, Terminal, UserIds

MIB = 1 << 20


def message(**fields: Any) -> exec_pb2.ExecSpec:
    return exec_pb2.ExecSpec(**({"shell": "true"} | fields))


def test_defaults_are_those_of_the_api() -> None:
    spec = spec_of(message())
    assert spec == Spec(shell="true")
    assert (spec.umask, spec.kill_grace_s, spec.drain_s, spec.retain_s) == (0o022, 2.0, 0.5, 86_400.0)
    assert (spec.on_disconnect, spec.on_exit) == (OnDisconnect.DETACH, OnExit.REAP)
    assert spec.output == OutputPolicy(Retention.KEEP, 64 * MIB)
    assert not spec.takes_input


def test_everything_is_taken_over() -> None:
    full = exec_pb2.ExecSpec(
        argv=exec_pb2.Argv(args=[b"a", b"\xff"]),
        env={"A": b"\xff"},
        clear_env=True,
        cwd=b"/x",
        user=exec_pb2.User(ids=exec_pb2.UserIds(uid=1, gid=2, groups=[3])),
        umask=0o077,
        rlimits=[exec_pb2.Rlimit(name="NOFILE", value=9)],
        nice=5,
        cgroup=exec_pb2.CgroupLimits(cpus=0.5, memory_bytes=MIB, pids=7),
        pty=exec_pb2.Pty(rows=1, columns=2, width_px=3, height_px=4, term="vt100"),
        on_disconnect=exec_pb2.ON_DISCONNECT_KILL,
        on_exit=exec_pb2.ON_EXIT_LEAVE,
        output=exec_pb2.OutputPolicy(retention=exec_pb2.RETENTION_BLOCK, limit_bytes=5),
        labels={"k": "v"},
    )
    spec = spec_of(full)
    assert spec == Spec(
        argv=(b"a", b"\xff"),
        env={"A": b"\xff"},
        clear_env=True,
        cwd=b"/x",
        user=UserIds(1, 2, (3,)),
        umask=0o077,
        rlimits=((resource.RLIMIT_NOFILE, 9),),
        nice=5,
        limits=Limits(0.5, MIB, 7),
        terminal=Terminal(Size(1, 2, 3, 4), "vt100"),
        on_disconnect=OnDisconnect.KILL,
        on_exit=OnExit.LEAVE,
        output=OutputPolicy(Retention.BLOCK, 5),
        labels={"k": "v"},
    )
    assert exec_pb2.ExecSpec.FromString(spec.raw) == full


def test_terminal_without_size_has_the_usual_one() -> None:
    assert spec_of(message(pty=exec_pb2.Pty())).terminal == Terminal(Size(24, 80), "xterm-256color")
    assert not spec_of(message(pty=exec_pb2.Pty(), stdin=exec_pb2.STDIN_MODE_STREAM)).takes_input


@pytest.mark.parametrize(
    ("retention", "limit", "kept"),
    [
        (0, 0, 64 * MIB),
        (exec_pb2.RETENTION_KEEP, 7, 7),
        (exec_pb2.RETENTION_RING, 0, MIB),
        (exec_pb2.RETENTION_BLOCK, 0, MIB),
        (exec_pb2.RETENTION_DISCARD, 7, MIB),
    ],
)
def test_limit_of_output_depends_on_its_retention(retention: Any, limit: int, kept: int) -> None:
    output = exec_pb2.OutputPolicy(retention=retention, limit_bytes=limit)
    assert spec_of(message(output=output)).output.limit_bytes == kept


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"shell": ""}, "shell"),
        ({"shell": "a\0b"}, "shell"),
        ({"argv": exec_pb2.Argv()}, "argv.args"),
        ({"argv": exec_pb2.Argv(args=[b""])}, "argv.args"),
        ({"argv": exec_pb2.Argv(args=[b"a", b"b\0"])}, "argv.args[1]"),
        ({"env": {"1A": b""}}, "env"),
        ({"env": {"A=B": b""}}, "env"),
        ({"env": {"": b""}}, "env"),
        ({"env": {"A": b"\0"}}, "env.A"),
        ({"env": {f"A{i}": b"" for i in range(5000)}}, "env"),
        ({"cwd": b"relative"}, "cwd"),
        ({"cwd": b"/a\0"}, "cwd"),
        ({"cwd": b"/" + b"x" * 5000}, "cwd"),
        ({"user": exec_pb2.User()}, "user"),
        ({"user": exec_pb2.User(ids=exec_pb2.UserIds(uid=2**32 - 1))}, "user.ids.uid"),
        ({"user": exec_pb2.User(ids=exec_pb2.UserIds(groups=range(33)))}, "user.ids.groups"),
        ({"umask": 0o1000}, "umask"),
        ({"rlimits": [exec_pb2.Rlimit(name="NOPE")]}, "rlimits[0].name"),
        ({"rlimits": [exec_pb2.Rlimit(name="CPU")] * 2}, "rlimits[1].name"),
        ({"rlimits": [exec_pb2.Rlimit(name="CPU", value=2**64 - 1)]}, "rlimits[0].value"),
        ({"nice": -1}, "nice"),
        ({"nice": 20}, "nice"),
        ({"cgroup": exec_pb2.CgroupLimits(cpus=float("nan"))}, "cgroup.cpus"),
        ({"cgroup": exec_pb2.CgroupLimits(cpus=-1)}, "cgroup.cpus"),
        ({"pty": exec_pb2.Pty(rows=65_536)}, "pty.rows"),
        ({"pty": exec_pb2.Pty(term="a b")}, "pty.term"),
        ({"stdin": 9}, "stdin"),
        ({"on_disconnect": 9}, "on_disconnect"),
        ({"on_exit": 9}, "on_exit"),
        ({"output": exec_pb2.OutputPolicy(retention=9)}, "output.retention"),  # type: ignore[arg-type]
        ({"output": exec_pb2.OutputPolicy(retention=exec_pb2.RETENTION_RING, limit_bytes=2**30)}, "output.limit_bytes"),
        ({"labels": {str(i): "" for i in range(17)}}, "labels"),
        ({"labels": {"": ""}}, "labels"),
        ({"labels": {"k": "é" * 129}}, "labels"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_field_is_named(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        spec_of(message(**fields))
    assert caught.value.field == field


@pytest.mark.parametrize("name", ["timeout", "idle_output_timeout", "kill_grace", "drain_timeout"])
def test_duration_out_of_bounds_is_named(name: str) -> None:
    spec = message()
    getattr(spec, name).FromSeconds(-1)
    with pytest.raises(InvalidArgument) as caught:
        spec_of(spec)
    assert caught.value.field == name


def test_timeout_of_nothing_is_not_taken_for_none() -> None:
    spec = message()
    spec.timeout.FromSeconds(0)
    with pytest.raises(InvalidArgument, match="leave it out"):
        spec_of(spec)


def test_no_command_is_named() -> None:
    with pytest.raises(InvalidArgument) as caught:
        spec_of(exec_pb2.ExecSpec())
    assert caught.value.field == "argv"


def test_checkpoint_is_not_possible() -> None:
    with pytest.raises(Unsupported):
        spec_of(message(checkpoint=True))


def test_enums_of_the_api_have_our_numbers() -> None:
    for ours, theirs, prefix in (
        (Retention, exec_pb2.Retention, "RETENTION"),
        (OnDisconnect, exec_pb2.OnDisconnect, "ON_DISCONNECT"),
        (OnExit, exec_pb2.OnExit, "ON_EXIT"),
        (Cause, exec_pb2.EndCause, "END_CAUSE"),
        (FailureKind, exec_pb2.StartFailureKind, "START_FAILURE_KIND"),
    ):
        assert {f"{prefix}_{each.name}": each.value for each in ours}.items() <= dict(theirs.items()).items()
        assert len(theirs.keys()) - 1 <= len(ours), f"an enum value of {prefix} is unknown to us"
