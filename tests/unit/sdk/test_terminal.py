"""Terminals: keys in, screen out, and who holds the line."""

import asyncio

import grpc
import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from arenero.sdk import Terminal
from arenero.sdk.errors import Conflict, FailedPrecondition, OutcomeUnknown, StartFailed, TakenOver
from tests.unit.sdk.wire import PTY, Refused, WirePair, chunk, detail, ended, gap


def frame(**kind) -> exec_service_pb2.InteractResponse:
    return exec_service_pb2.InteractResponse(**kind)


def opened() -> exec_service_pb2.InteractResponse:
    return frame(started=exec_pb2.ExecStarted(exec=exec_pb2.Exec(exec_id="t1", pid=5)))


def screen(offset: int, data: bytes) -> exec_service_pb2.InteractResponse:
    return frame(output=chunk(offset, data, PTY))


async def echo(requests):
    """A terminal that shows what is typed, and ends on `exit`."""
    offset = 0
    async for request in requests:
        kind = request.WhichOneof("message")
        if kind in ("start", "attach"):
            yield frame(heartbeat=exec_pb2.Heartbeat())
            yield opened() if kind == "start" else frame(exec=exec_pb2.Exec(exec_id=request.attach.exec_id, pid=5))
        elif kind == "stdin":
            yield screen(offset, request.stdin)
            offset += len(request.stdin)
            if request.stdin.startswith(b"exit"):
                yield frame(ended=ended(3))
                return
        elif kind == "hangup":
            yield frame(ended=exec_pb2.ExecEnded(signal=1, cause=exec_pb2.END_CAUSE_CANCELLED))
            return
        elif kind == "detach":
            return


def kinds(wires: WirePair) -> list[str]:
    return [request.WhichOneof("message") for request in wires.execd.called("Interact")[0].requests]


async def test_terminal_begins_with_its_size_and_shows_what_is_typed(wires: WirePair) -> None:
    wires.execd.on("Interact", echo)
    async with wires.sandbox() as sandbox, await sandbox.terminal(["sh"], rows=40, columns=100) as terminal:
        assert (terminal.exec_id, terminal.pid) == ("t1", 5)
        await terminal.write("ls\n")
        assert await terminal.read() == b"ls\n"
        await terminal.resize(50, 120)
        await terminal.signal("INT")
        await terminal.write(b"exit\n")
        assert await terminal.read_until("exit") == b"exit"
        assert await terminal.read() == b"\n"
        assert await terminal.read() == b""
        assert terminal.exit is not None
        assert terminal.exit.exit_code == 3
        assert terminal.offset == 8
    spec = wires.execd.called("Interact")[0].requests[0].start.spec
    assert (spec.pty.rows, spec.pty.columns, spec.pty.term) == (40, 100, "xterm-256color")
    assert kinds(wires) == ["start", "stdin", "resize", "signal", "stdin"]


async def test_login_shell_is_started_when_no_command_is_named(wires: WirePair) -> None:
    wires.execd.on("Interact", echo)
    async with wires.sandbox() as sandbox, await sandbox.terminal():
        pass
    assert "SHELL" in wires.execd.called("Interact")[0].requests[0].start.spec.shell


async def test_leaving_detaches(wires: WirePair) -> None:
    wires.execd.on("Interact", echo)
    async with wires.sandbox() as sandbox, await sandbox.terminal() as terminal:
        await terminal.write("x")
        await terminal.read()
    assert kinds(wires) == ["start", "stdin", "detach"]
    assert terminal.exit is None


async def test_hangup_waits_for_the_end(wires: WirePair) -> None:
    wires.execd.on("Interact", echo)
    async with wires.sandbox() as sandbox, await sandbox.terminal() as terminal:
        await terminal.write("unread")
        assert (await terminal.hangup()).signal == 1


async def test_hangup_of_a_terminal_that_has_ended_tells_how(wires: WirePair) -> None:
    wires.execd.on("Interact", [opened(), screen(0, b"bye"), frame(ended=ended(3))])
    async with wires.sandbox() as sandbox, await sandbox.terminal() as terminal, asyncio.timeout(10):
        await asyncio.sleep(0.05)
        assert (await terminal.hangup()).exit_code == 3


async def test_reading_goes_on_after_it_was_given_up(wires: WirePair) -> None:
    wires.execd.on("Interact", echo)
    async with wires.sandbox() as sandbox, await sandbox.terminal() as terminal:
        for _ in range(3):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await terminal.read()
        await terminal.write("still here")
        assert await terminal.read() == b"still here"


async def test_terminal_can_be_left_while_it_is_read(wires: WirePair) -> None:
    wires.execd.on("Interact", echo)
    async with wires.sandbox() as sandbox:
        terminal = await sandbox.terminal()
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(error_of(terminal.read()))
            await asyncio.sleep(0.02)
            await terminal.detach()
    assert isinstance(reading.result(), OutcomeUnknown)


async def error_of(call) -> Exception:
    with pytest.raises(OutcomeUnknown) as raised:
        await call
    return raised.value


async def test_keys_and_sizes_may_be_sent_at_once(wires: WirePair) -> None:
    """gRPC itself knows only one write at a time."""
    wires.execd.on("Interact", echo)
    async with wires.sandbox() as sandbox, await sandbox.terminal() as terminal:
        await asyncio.gather(*(terminal.write("x" * 50_000) for _ in range(20)), terminal.resize(1, 2))
        assert await terminal.read_until("x" * 100_000)


async def test_start_failure_is_raised(wires: WirePair) -> None:
    failure = exec_pb2.StartFailure(kind=exec_pb2.START_FAILURE_KIND_NOT_FOUND, message="no such program")
    wires.execd.on("Interact", [frame(ended=exec_pb2.ExecEnded(start_failure=failure))])
    async with wires.sandbox() as sandbox:
        with pytest.raises(StartFailed, match="no such program"):
            await sandbox.terminal(["nope"])


async def test_attaching_says_from_where_and_as_whom(wires: WirePair) -> None:
    wires.execd.on("Interact", echo)
    async with (
        wires.sandbox() as sandbox,
        await sandbox.attach_terminal("t9", role="viewer", from_offset=7, takeover=True) as terminal,
    ):
        assert (terminal.exec_id, terminal.pid) == ("t9", 5)
    attach = wires.execd.called("Interact")[0].requests[0].attach
    assert (attach.role, attach.takeover) == (exec_service_pb2.ATTACH_ROLE_VIEWER, True)
    assert [(at.stream, at.offset) for at in attach.from_offsets] == [(PTY, 7)]


async def test_attaching_is_refused_when_another_client_types(wires: WirePair) -> None:
    wires.execd.on("Interact", Refused(grpc.StatusCode.ABORTED, "somebody types", detail("WRITER_ATTACHED")))
    async with wires.sandbox() as sandbox:
        with pytest.raises(Conflict, match="somebody types"):
            await sandbox.attach_terminal("t1")


async def test_loser_of_a_takeover_is_told(wires: WirePair) -> None:
    wires.execd.on("Interact", [opened(), screen(0, b"$ "), frame(taken_over=True)])
    async with wires.sandbox() as sandbox, await sandbox.terminal() as terminal:
        assert await terminal.read() == b"$ "
        with pytest.raises(TakenOver):
            await terminal.read()


async def test_broken_connection_is_no_end(wires: WirePair) -> None:
    wires.execd.on("Interact", [opened(), screen(0, b"$ ")])
    async with wires.sandbox() as sandbox, await sandbox.terminal() as terminal:
        assert await terminal.read() == b"$ "
        with pytest.raises(OutcomeUnknown):
            await terminal.read()
        assert terminal.exit is None
        assert terminal.offset == 2


async def test_typing_into_an_ended_terminal_is_refused(wires: WirePair) -> None:
    wires.execd.on("Interact", [opened(), frame(ended=ended(0))])
    async with wires.sandbox() as sandbox, await sandbox.terminal() as terminal:
        assert await terminal.read() == b""
        with pytest.raises(FailedPrecondition, match="has ended"):
            await keep_typing(terminal)


async def keep_typing(terminal: Terminal) -> None:
    for _ in range(50):
        await terminal.write("x")
        await asyncio.sleep(0.01)


async def test_missing_marker_is_an_error_that_shows_what_came(wires: WirePair) -> None:
    wires.execd.on("Interact", [opened(), screen(0, b"other"), frame(gap=gap(5, 9, PTY)), frame(ended=ended(0))])
    async with wires.sandbox() as sandbox, await sandbox.terminal() as terminal:
        with pytest.raises(OutcomeUnknown, match="other"):
            await terminal.read_until("prompt")
        assert terminal.offset == 9


async def test_iterating_ends_with_the_process(wires: WirePair) -> None:
    wires.execd.on("Interact", [opened(), screen(0, b"a"), screen(1, b"b"), frame(ended=ended(0))])
    async with wires.sandbox() as sandbox, await sandbox.terminal() as terminal:
        assert [piece async for piece in terminal] == [b"a", b"b"]


async def test_terminal_opens_through_the_gateway_when_execd_does_not_answer(wires: WirePair) -> None:
    await wires.execd.stop()
    wires.execd.path.touch()
    wires.gateway.on("Interact", echo)
    async with wires.sandbox() as sandbox, await sandbox.terminal() as terminal:
        await terminal.write("x")
        assert await terminal.read() == b"x"
