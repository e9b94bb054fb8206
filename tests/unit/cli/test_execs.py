"""`arenero run`, `exec`, `shell` and `ps`."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import grpc
import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from arenero.api.lifecycle.v1 import sandbox_service_pb2
from tests.unit.sdk.test_stdin import Input
from tests.unit.sdk.test_terminal import echo
from tests.unit.sdk.wire import (
    BROKEN,
    SANDBOX_ID,
    STDERR,
    Refused,
    WirePair,
    attach_ended,
    attached,
    detail,
    ended,
    gap,
    more,
    out,
    record,
    run_ended,
    started,
)


@pytest.fixture(autouse=True)
def _created(wires: WirePair) -> None:
    wires.gateway.on("Create", sandbox_service_pb2.CreateResponse(sandbox=record(), execd=wires.endpoint()))


@pytest.fixture
def process(environment: dict[str, str]) -> Callable[..., subprocess.Popen[bytes]]:
    """Run the command as a process, for what needs real streams or signals."""

    def begin(*args: str, **options: Any) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "arenero.cli.main", *args]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **options}
        made: subprocess.Popen[bytes] = subprocess.Popen(command, env={**os.environ, **environment}, **options)
        return made

    return begin


def argv(wires: WirePair, method: str = "Run") -> Sequence[bytes]:
    found: Sequence[bytes] = wires.execd.called(method)[0].request.spec.argv.args
    return [*found]


@pytest.mark.parametrize("dashes", [(), ("--",)], ids=["plain", "dashes"])
def test_run_passes_output_and_exit_code_through(wires: WirePair, arenero, dashes: tuple[str, ...]) -> None:
    wires.execd.on("Run", [started(), out(0, b"out\xff\n"), out(0, b"err\n", STDERR), run_ended(42)])
    result = arenero("run", *dashes, "ls", "-l", "--", "-x")
    assert (result.exit_code, result.stdout_bytes, result.stderr) == (42, b"out\xff\n", "err\n")
    assert argv(wires) == [b"ls", b"-l", b"--", b"-x"]
    assert wires.execd.called("Run")[0].request.spec.on_disconnect == exec_pb2.ON_DISCONNECT_KILL
    assert wires.gateway.called("Delete")[0].request.sandbox_id == SANDBOX_ID


def test_run_takes_options_of_the_sandbox_before_the_command_only(wires: WirePair, arenero) -> None:
    wires.execd.on("Run", [started(), run_ended()])
    assert arenero("run", "--pids", "70", "--timeout", "5s", "tool", "--pids", "8").exit_code == 0
    assert argv(wires) == [b"tool", b"--pids", b"8"]
    assert wires.gateway.called("Create")[0].request.spec.resources.pids == 70
    assert wires.execd.called("Run")[0].request.spec.timeout.seconds == 5


def lifetime_of(wires: WirePair) -> Any:
    return wires.gateway.called("Create")[0].request.spec.lifetime


def test_sandbox_of_a_run_lives_as_long_as_its_client(
    wires: WirePair, arenero, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arenero.cli.execs._RENEW_S", 0.05)
    renewals: list[Any] = []
    is_renewed = threading.Event()

    async def renew(request):
        renewals.append(request)
        if len(renewals) == 1:
            raise BROKEN
        is_renewed.set()
        return sandbox_service_pb2.RenewResponse(sandbox=record())

    async def until_renewed(request):
        yield started()
        await asyncio.to_thread(is_renewed.wait, 30)
        yield run_ended()

    wires.gateway.on("Renew", renew)
    wires.execd.on("Run", until_renewed)
    result = arenero("run", "--start-timeout", "10s", "job")
    assert (result.exit_code, result.output) == (0, "")
    assert lifetime_of(wires).ttl.seconds == 130
    assert (renewals[-1].ttl.seconds, renewals[-1].extend_only) == (120, True)


@pytest.mark.parametrize(("option", "ttl_s"), [(("--ttl", "7s"), 7), (("--keep",), None)])
def test_lifetime_that_was_asked_for_is_left_alone(
    wires: WirePair, arenero, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...], ttl_s: int | None
) -> None:
    monkeypatch.setattr("arenero.cli.execs._RENEW_S", 0.0)
    wires.execd.on("Run", [started(), run_ended()])
    assert arenero("run", *option, "job").exit_code == 0
    assert (lifetime_of(wires).ttl.seconds if lifetime_of(wires).HasField("ttl") else None) == ttl_s
    assert not wires.gateway.called("Renew")


def test_sandbox_that_can_not_be_renewed_is_no_reason_to_end(
    wires: WirePair, arenero, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arenero.cli.execs._RENEW_S", 0.01)
    is_refused = threading.Event()

    async def refuse(request):
        is_refused.set()
        raise Refused(grpc.StatusCode.NOT_FOUND, "it is gone", detail("SANDBOX_NOT_FOUND"))

    async def until_refused(request):
        yield started()
        await asyncio.to_thread(is_refused.wait, 30)
        yield run_ended(5)

    wires.gateway.on("Renew", refuse)
    wires.execd.on("Run", until_refused)
    assert (arenero("run", "job").exit_code, is_refused.is_set()) == (5, True)


def test_run_keeps_the_sandbox_when_asked_to(wires: WirePair, arenero) -> None:
    wires.execd.on("Run", [started(), run_ended()])
    result = arenero("run", "--keep", "true")
    assert (result.stdout, result.stderr) == ("", f"{SANDBOX_ID}\n")
    assert not wires.gateway.called("Delete")


@pytest.mark.parametrize(
    ("kind", "code"),
    [("NOT_FOUND", 127), ("NOT_EXECUTABLE", 126), ("BAD_CWD", 125)],
)
def test_run_says_when_the_command_never_ran_and_deletes(wires: WirePair, arenero, kind: str, code: int) -> None:
    failure = exec_pb2.StartFailure(kind=f"START_FAILURE_KIND_{kind}", message="it can't be")
    wires.execd.on("Run", [exec_service_pb2.RunResponse(ended=exec_pb2.ExecEnded(start_failure=failure))])
    result = arenero("run", "nope")
    assert (result.exit_code, result.stderr) == (code, f"arenero: it can't be [{kind}]\n")
    assert wires.gateway.called("Delete")


def test_run_names_the_cause_when_the_command_was_ended(wires: WirePair, arenero) -> None:
    killed = exec_pb2.ExecEnded(signal=9, cause=exec_pb2.END_CAUSE_OUT_OF_MEMORY)
    wires.execd.on("Run", [started(), exec_service_pb2.RunResponse(ended=killed)])
    result = arenero("run", "hungry")
    assert (result.exit_code, result.stderr) == (137, "arenero: the command was ended: OUT_OF_MEMORY\n")


def test_run_tells_of_output_that_is_gone(wires: WirePair, arenero) -> None:
    lost = exec_service_pb2.RunResponse(gap=gap(0, 100))
    wires.execd.on("Run", [started(), lost, out(100, b"x"), run_ended(stdout=101)])
    result = arenero("run", "loud")
    assert (result.stdout, result.stderr) == ("x", "arenero: 100 bytes of stdout are gone\n")


def test_run_keeps_the_commands_code_when_deleting_fails(wires: WirePair, arenero) -> None:
    wires.execd.on("Run", [started(), run_ended(3)])
    wires.gateway.on("Delete", Refused(grpc.StatusCode.INTERNAL, "a defect", detail("INTERNAL")))
    result = arenero("run", "x")
    assert result.exit_code == 3
    assert f"warning: {SANDBOX_ID} was not deleted: a defect" in result.stderr


def test_run_without_a_command_is_wrong_usage(wires: WirePair, arenero) -> None:
    assert arenero("run").exit_code == 2
    assert not wires.gateway.called("Create")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_run_deletes_its_sandbox_when_it_is_interrupted(wires: WirePair, process, number: signal.Signals) -> None:
    async def endless(request):
        yield started()
        yield out(0, b"running\n")
        await asyncio.Event().wait()

    wires.execd.on("Run", endless)
    with process("run", "sleep", "60") as running:
        assert running.stdout.readline() == b"running\n"
        running.send_signal(number)
        assert running.wait(30) == 128 + number
    assert wires.gateway.called("Delete")


def test_run_deletes_what_is_made_while_it_is_interrupted(wires: WirePair, process) -> None:
    arrived = threading.Event()

    async def slow(request):
        arrived.set()
        await asyncio.Event().wait()

    wires.gateway.on("Create", slow, sandbox_service_pb2.CreateResponse(sandbox=record()))
    with process("run", "true") as running:
        assert arrived.wait(30)
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 130
    first, second = wires.gateway.called("Create")
    assert first.request.request_id == second.request.request_id
    assert wires.gateway.called("Delete")[0].request.sandbox_id == SANDBOX_ID


@pytest.mark.parametrize("kind", ["pipe", "file", "nothing"])
def test_input_is_passed_on_whatever_it_is(wires: WirePair, process, tmp_path: Path, kind: str) -> None:
    content = b"" if kind == "nothing" else b"line\n" * 50_000
    stdin, done = Input(), threading.Event()

    async def take(requests):
        async for answer in stdin.take(requests):
            yield answer
        if stdin.is_closed:
            done.set()

    async def wait_for_input(request):
        yield attached()
        await asyncio.to_thread(done.wait, 30)
        yield more(0, b"%d" % len(stdin.taken))
        yield attach_ended()

    wires.execd.on("Start", exec_service_pb2.StartResponse(started=started().started))
    wires.execd.on("WriteStdin", take)
    wires.execd.on("Attach", wait_for_input)
    (tmp_path / "input").write_bytes(content)
    source: Any = {"pipe": subprocess.PIPE, "nothing": subprocess.DEVNULL}.get(kind) or (tmp_path / "input").open("rb")
    with process("exec", "-i", SANDBOX_ID, "--", "wc", "-c", stdin=source) as running:
        output, errors = running.communicate(content if kind == "pipe" else None, timeout=30)
    assert (output, errors, running.returncode) == (b"%d" % len(content), b"", 0)
    assert argv(wires, "Start") == [b"wc", b"-c"]
    if kind == "file":
        source.close()


def test_command_that_does_not_read_its_input_ends_all_the_same(wires: WirePair, process) -> None:
    """Nobody must type one more line for it."""
    wires.execd.on("Start", exec_service_pb2.StartResponse(started=started().started))
    wires.execd.on("WriteStdin", Refused(grpc.StatusCode.FAILED_PRECONDITION, "it has ended", detail("ENDED")))
    wires.execd.on("Attach", [attached(), more(0, b"done\n"), attach_ended(5, stdout=5)])
    with process("run", "-i", "true", stdin=subprocess.PIPE) as running:
        assert running.wait(30) == 5
        assert running.stdout.read() == b"done\n"
        assert running.stderr.read() == b""


def test_exec_has_its_options(wires: WirePair, arenero) -> None:
    wires.execd.on("Run", [started(), run_ended(7)])
    result = arenero("exec", "-e", "A=b", "-u", "1000:5", "-w", "/w", "--timeout", "2s", SANDBOX_ID, "--", "id", "-u")
    assert result.exit_code == 7
    spec = wires.execd.called("Run")[0].request.spec
    assert (dict(spec.env), spec.cwd, spec.timeout.seconds) == ({"A": b"b"}, b"/w", 2)
    assert (spec.user.ids.uid, spec.user.ids.gid) == (1000, 5)
    assert argv(wires) == [b"id", b"-u"]
    assert not wires.gateway.called("Delete")


def test_exec_detached_prints_the_exec_id(wires: WirePair, arenero) -> None:
    wires.execd.on("Start", exec_service_pb2.StartResponse(started=started("exec-7").started))
    assert arenero("exec", "-d", SANDBOX_ID, "sleep", "60").stdout == "exec-7\n"
    assert wires.execd.called("Start")[0].request.spec.on_disconnect == exec_pb2.ON_DISCONNECT_DETACH


def test_exec_in_a_missing_sandbox_says_so(wires: WirePair, arenero) -> None:
    wires.gateway.on("Get", Refused(grpc.StatusCode.NOT_FOUND, "there is none", detail("SANDBOX_NOT_FOUND")))
    assert arenero("exec", "sbx_x", "true").exit_code == 3


def test_terminal_without_one_here_takes_its_input_from_a_pipe(wires: WirePair, process) -> None:
    wires.execd.on("Interact", echo)
    with process("exec", "-t", SANDBOX_ID, "sh", stdin=subprocess.PIPE) as running:
        output, _ = running.communicate(b"exit\n", timeout=30)
    assert (output, running.returncode) == (b"exit\n", 3)


def test_shell_reads_its_commands_from_a_pipe(wires: WirePair, process) -> None:
    """Without a terminal here there is none there: nothing is echoed, and the end of the input is the end."""
    stdin = Input()
    wires.execd.on("Start", exec_service_pb2.StartResponse(started=exec_pb2.ExecStarted(exec={"exec_id": "e"})))
    wires.execd.on("WriteStdin", stdin.take)
    wires.execd.on("Attach", [attached(), more(0, b"out\n"), attach_ended(3, stdout=4)])
    with process("shell", SANDBOX_ID, stdin=subprocess.PIPE) as running:
        output, errors = running.communicate(b"echo out; exit 3\n", timeout=30)
    assert (output, errors, running.returncode) == (b"out\n", b"", 3)
    assert b"SHELL" in argv(wires, "Start")[-1]
    assert not wires.execd.called("Interact")


def test_ps_lists_processes(wires: WirePair, arenero) -> None:
    processes = [
        exec_service_pb2.Process(pid=1, name="execd", uid=0, state="S", rss_bytes=5 << 20),
        exec_service_pb2.Process(pid=9, parent_pid=1, uid=1000, state="R", args=[b"sh", b"-c", b"\x1b[31m\xff"]),
    ]
    wires.execd.on("ListProcesses", exec_service_pb2.ListProcessesResponse(processes=processes))
    head, first, second = arenero("ps", SANDBOX_ID).stdout.splitlines()
    assert head.split() == ["PID", "PARENT_PID", "UID", "STATE", "RSS_MIB", "CPU_S", "COMMAND"]
    assert first.split() == ["1", "0", "0", "S", "5.0", "0.0", "[execd]"]
    assert second.endswith("sh -c \N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}")


def test_ps_lists_execs(wires: WirePair, arenero) -> None:
    spec = exec_pb2.ExecSpec(shell="sleep 60")
    execs = [
        exec_pb2.Exec(exec_id="a", pid=9, spec=spec, running=True),
        exec_pb2.Exec(exec_id="b", pid=8, spec=exec_pb2.ExecSpec(argv=exec_pb2.Argv(args=[b"ls"])), ended=ended(2)),
    ]
    wires.execd.on("List", exec_service_pb2.ListResponse(execs=execs))
    shown = json.loads(arenero("ps", "--all", SANDBOX_ID, "-o", "json").stdout)
    assert shown == [
        {"exec_id": "a", "pid": 9, "running": True, "exit": None, "cause": None, "command": "sleep 60"},
        {"exec_id": "b", "pid": 8, "running": False, "exit": 2, "cause": "own_exit", "command": "ls"},
    ]
