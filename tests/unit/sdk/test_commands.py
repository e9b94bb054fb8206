"""Commands: how they are asked for, and what comes of them."""

import grpc
import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from arenero.sdk import ExecOptions, Gap
from arenero.sdk.commands import build_spec
from arenero.sdk.errors import CommandFailed, StartFailed
from tests.unit.sdk.wire import (
    BROKEN,
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
    run_ended,
    started,
)


def test_spec_of_a_line_and_of_words() -> None:
    assert build_spec("ls | wc", ExecOptions()).shell == "ls | wc"
    assert [*build_spec(["ls", b"\xff", "\udcfe"], ExecOptions()).argv.args] == [b"ls", b"\xff", b"\xfe"]


def test_spec_has_every_option() -> None:
    spec = build_spec(
        "x",
        ExecOptions(
            env={"A": "ä", "B": b"\xff"},
            clear_env=True,
            cwd="/w",
            user=(1, 2),
            timeout_s=1.5,
            idle_output_timeout_s=2,
            kill_grace_s=0,
            drain_timeout_s=0.25,
            on_disconnect="kill",
            on_exit="leave",
            retention="ring",
            output_limit_bytes=10,
            umask=0,
            nice=5,
            rlimits={"NOFILE": 64},
            labels={"l": "v"},
        ),
    )
    assert dict(spec.env) == {"A": "ä".encode(), "B": b"\xff"}
    assert (spec.clear_env, spec.cwd, spec.nice, spec.umask) == (True, b"/w", 5, 0)
    assert spec.HasField("umask")
    assert (spec.user.ids.uid, spec.user.ids.gid) == (1, 2)
    assert (spec.timeout.seconds, spec.timeout.nanos) == (1, 500_000_000)
    assert spec.HasField("kill_grace")
    assert spec.drain_timeout.nanos == 250_000_000
    assert spec.idle_output_timeout.seconds == 2
    assert (spec.on_disconnect, spec.on_exit) == (exec_pb2.ON_DISCONNECT_KILL, exec_pb2.ON_EXIT_LEAVE)
    assert (spec.output.retention, spec.output.limit_bytes) == (exec_pb2.RETENTION_RING, 10)
    assert [(limit.name, limit.value) for limit in spec.rlimits] == [("NOFILE", 64)]
    assert dict(spec.labels) == {"l": "v"}


def test_spec_leaves_unset_what_is_not_said() -> None:
    spec = build_spec("x", ExecOptions())
    unset = ("user", "timeout", "idle_output_timeout", "kill_grace", "drain_timeout", "umask", "pty", "cgroup")
    assert not [name for name in unset if spec.HasField(name)]
    assert spec.cwd == b""


@pytest.mark.parametrize(("user", "uid"), [(0, 0), (1000, 1000)])
def test_spec_with_a_uid_has_the_group_of_that_number(user: int, uid: int) -> None:
    ids = build_spec("x", ExecOptions(user=user)).user.ids
    assert (ids.uid, ids.gid) == (uid, uid)
    assert build_spec("x", ExecOptions(user="alice")).user.name == "alice"


async def test_result_has_the_output_of_both_streams(wires: WirePair) -> None:
    wires.execd.on(
        "Run", [started(), out(0, "ä".encode()[:1]), out(0, b"!", STDERR), out(1, "ä".encode()[1:]), run_ended(2)]
    )
    async with wires.sandbox() as sandbox:
        result = await sandbox.exec("x")
    assert (result.stdout_text, result.stderr_text, result.exit_code, result.ok) == ("ä", "!", 2, False)
    assert not result.is_truncated


async def test_result_says_when_output_is_missing(wires: WirePair) -> None:
    wires.execd.on("Run", [started(), exec_service_pb2.RunResponse(gap=gap(0, 9)), out(9, b"x"), run_ended(stdout=10)])
    async with wires.sandbox() as sandbox:
        result = await sandbox.exec("x")
    assert result.is_truncated
    assert result.gaps == (Gap("stdout", 0, 9),)


async def test_check_raises_with_the_end_of_stderr(wires: WirePair) -> None:
    wires.execd.on("Run", [started(), out(0, b"no such file\n", STDERR), run_ended(1)])
    async with wires.sandbox() as sandbox:
        with pytest.raises(CommandFailed, match=r"exit code 1 \(OWN_EXIT\): no such file") as raised:
            await sandbox.exec("x", check=True)
        assert getattr(raised.value.result, "exit_code", None) == 1


async def test_check_names_the_signal(wires: WirePair) -> None:
    killed = exec_pb2.ExecEnded(signal=9, cause=exec_pb2.END_CAUSE_OUT_OF_MEMORY)
    wires.execd.on("Run", [started(), exec_service_pb2.RunResponse(ended=killed)])
    async with wires.sandbox() as sandbox:
        with pytest.raises(CommandFailed, match=r"signal 9 \(OUT_OF_MEMORY\)"):
            await sandbox.exec("x", check=True)


async def test_start_is_repeated_under_the_same_id_when_the_connection_breaks(wires: WirePair) -> None:
    answer = exec_service_pb2.StartResponse(
        started=exec_pb2.ExecStarted(exec=exec_pb2.Exec(exec_id="x", pid=9), repeated_start=True)
    )
    wires.execd.on("Start", BROKEN, answer)
    async with wires.sandbox() as sandbox:
        process = await sandbox.start(["sleep", "1"])
    assert (process.exec_id, process.pid) == ("x", 9)
    first, second = wires.execd.called("Start")
    assert first.request == second.request
    assert first.request.exec_id
    assert first.request.spec.stdin == exec_pb2.STDIN_MODE_NONE


async def test_start_raises_when_it_never_ran(wires: WirePair) -> None:
    failure = exec_pb2.StartFailure(kind=exec_pb2.START_FAILURE_KIND_BAD_CWD, stage="chdir", message="no directory")
    wires.execd.on("Start", exec_service_pb2.StartResponse(failure=failure))
    async with wires.sandbox() as sandbox:
        with pytest.raises(StartFailed, match="no directory"):
            await sandbox.start("x")


async def test_text_never_cuts_a_character_in_two(wires: WirePair) -> None:
    content = "añ€😀!".encode()
    frames = [more(at, content[at : at + 1]) for at in range(len(content))]
    wires.execd.on("Attach", [attached(), *frames, more(0, b"err", STDERR), attach_ended(stdout=len(content))])
    async with wires.sandbox() as sandbox:
        pieces = [piece async for piece in sandbox.process("x").text()]
        assert pieces == ["a", "ñ", "€", "😀", "!"]
        assert [piece async for piece in sandbox.process("x").text("stderr")] == ["err"]


async def test_text_does_not_join_what_a_gap_parts(wires: WirePair) -> None:
    euro = "€".encode()
    lost = exec_service_pb2.AttachResponse(gap=gap(2, 10))
    wires.execd.on("Attach", [attached(), more(0, euro[:2]), lost, more(10, euro[2:] + b"x"), attach_ended(stdout=12)])
    async with wires.sandbox() as sandbox:
        text = "".join([piece async for piece in sandbox.process("x").text()])
    assert text == "��x"


async def test_output_that_ends_in_half_a_character_shows_it(wires: WirePair) -> None:
    wires.execd.on("Attach", [attached(), more(0, b"a\xe2\x82"), attach_ended(stdout=3)])
    async with wires.sandbox() as sandbox:
        assert "".join([piece async for piece in sandbox.process("x").text()]) == "a�"


async def test_wait_goes_on_when_the_connection_breaks(wires: WirePair) -> None:
    wires.execd.on("Wait", BROKEN, exec_service_pb2.WaitResponse(ended=ended(4)))
    async with wires.sandbox() as sandbox:
        assert (await sandbox.process("x").wait()).exit_code == 4


async def test_signal_by_name_and_by_number(wires: WirePair) -> None:
    wires.execd.on("Signal", exec_service_pb2.SignalResponse(delivered=2))
    async with wires.sandbox() as sandbox:
        process = sandbox.process("x")
        assert await process.signal("TERM") == 2
        assert await process.signal(10, target="all") == 2
    by_name, by_number = wires.execd.called("Signal")
    assert (by_name.request.name, by_name.request.target) == ("TERM", exec_pb2_target("GROUP"))
    assert (by_number.request.number, by_number.request.target) == (10, exec_pb2_target("ALL"))


def exec_pb2_target(name: str) -> int:
    return exec_service_pb2.SignalTarget.Value(f"SIGNAL_TARGET_{name}")


async def test_signal_is_not_repeated_when_the_connection_breaks(wires: WirePair) -> None:
    wires.execd.on("Signal", BROKEN)
    async with wires.sandbox() as sandbox:
        with pytest.raises(Exception, match="Socket closed"):
            await sandbox.process("x").signal("TERM")
    assert len(wires.execd.called("Signal")) == 1


async def test_kill_answers_the_end(wires: WirePair) -> None:
    wires.execd.on("Kill", exec_service_pb2.KillResponse(ended=ended(0)))
    async with wires.sandbox() as sandbox:
        assert (await sandbox.process("x").kill(grace_s=1.5)).exit_code == 0
    assert wires.execd.called("Kill")[0].request.grace.nanos == 500_000_000


async def test_input_of_a_command_is_sent_while_its_output_is_read(wires: WirePair) -> None:
    answer = exec_service_pb2.StartResponse(started=exec_pb2.ExecStarted(exec=exec_pb2.Exec(exec_id="x", pid=9)))
    wires.execd.on("Start", answer)
    sent = bytearray()

    async def take(requests):
        async for request in requests:
            sent.extend(request.data)
            yield exec_service_pb2.WriteStdinResponse(acknowledged_offset=len(sent), closed=request.end_of_file)

    async def echo(request):
        yield attached()
        yield more(0, b"seen")
        yield attach_ended(stdout=4)

    wires.execd.on("WriteStdin", take)
    wires.execd.on("Attach", echo)
    async with wires.sandbox() as sandbox:
        result = await sandbox.exec("cat", stdin="hello")
    assert result.stdout == b"seen"
    assert wires.execd.called("Start")[0].request.spec.stdin == exec_pb2.STDIN_MODE_STREAM


async def test_command_need_not_read_its_input(wires: WirePair) -> None:
    answer = exec_service_pb2.StartResponse(started=exec_pb2.ExecStarted(exec=exec_pb2.Exec(exec_id="x", pid=9)))
    wires.execd.on("Start", answer)
    wires.execd.on("WriteStdin", Refused(grpc.StatusCode.FAILED_PRECONDITION, "it has ended", detail("ENDED")))
    wires.execd.on("Attach", [attached(), more(0, b"x"), attach_ended(stdout=1)])
    async with wires.sandbox() as sandbox:
        assert (await sandbox.exec("true", stdin=b"unread")).stdout == b"x"


async def test_error_beside_the_output_comes_out_as_itself(wires: WirePair) -> None:
    answer = exec_service_pb2.StartResponse(started=exec_pb2.ExecStarted(exec=exec_pb2.Exec(exec_id="x", pid=9)))
    wires.execd.on("Start", answer)
    wires.execd.on("WriteStdin", Refused(grpc.StatusCode.INTERNAL, "a defect", detail("INTERNAL")))
    wires.execd.on("Attach", [attached(), *[more(at, b"x") for at in range(3)]])
    async with wires.sandbox() as sandbox:
        with pytest.raises(Exception, match="a defect") as raised:
            await sandbox.exec("cat", stdin=b"x")
    assert type(raised.value).__name__ == "Internal"
