"""Terminals: size, signals, one writer and its viewers, leaving and hanging up."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from arenero.api.execd.v1.exec_service_pb2 import InteractRequest
from tests.contract.execd import kit
from tests.contract.execd.kit import Client, Execd, Seen

VIEWER = exec_service_pb2.ATTACH_ROLE_VIEWER


class Terminal:
    """One Interact stream, typed into by hand."""

    def __init__(self, client: Client) -> None:
        self._said: asyncio.Queue[InteractRequest | None] = asyncio.Queue()
        self.call = client.execs.Interact(self._requests(), metadata=client.metadata)
        self._frames = aiter(self.call)
        self.seen = Seen()
        self.last: Any = None

    async def _requests(self) -> AsyncIterator[InteractRequest]:
        while (request := await self._said.get()) is not None:
            yield request

    def say(self, **message: Any) -> None:
        self._said.put_nowait(InteractRequest(**message))

    async def next(self) -> Any:
        self.last = await asyncio.wait_for(anext(self._frames), 10)
        self.seen.add(self.last)
        return self.last

    async def until(self, text: bytes) -> None:
        while text not in self.seen.screen + self.seen.out:
            await self.next()

    async def to_end(self) -> Seen:
        async for frame in self._frames:
            self.last = frame
            self.seen.add(frame)
        return self.seen

    def close(self) -> None:
        self._said.put_nowait(None)


def open_terminal(
    client: Client, *argv: str, exec_id: str = "", rows: int = 24, columns: int = 80, **spec: Any
) -> Terminal:
    terminal = Terminal(client)
    size = exec_pb2.Pty(rows=rows, columns=columns)
    message = kit.spec_message(argv=argv or ("bash", "--norc"), pty=size, env={"PS1": b"$ "}, **spec)
    terminal.say(start=exec_service_pb2.InteractStart(exec_id=exec_id, spec=message))
    return terminal


def attach_terminal(client: Client, exec_id: str, **attach: Any) -> Terminal:
    terminal = Terminal(client)
    terminal.say(attach=exec_service_pb2.InteractAttach(exec_id=exec_id, **attach))
    return terminal


async def test_size_is_there_before_the_first_command_and_changes_once(client: Client) -> None:
    """Case 28."""
    terminal = open_terminal(
        client,
        "bash",
        "-c",
        "trap 'echo winch' WINCH; stty size; echo up; while read l; do $l; done",
        rows=43,
        columns=132,
    )
    await terminal.until(b"up\r\n")
    assert b"43 132\r\n" in terminal.seen.screen
    terminal.say(resize=exec_pb2.Pty(rows=50, columns=200))
    terminal.say(stdin=b"stty size\n")
    await terminal.until(b"50 200\r\n")
    terminal.say(stdin=b"\x04")
    seen = await terminal.to_end()
    assert seen.screen.count(b"winch\r\n") == 1


async def test_resize_before_the_shells_first_read_is_not_lost(client: Client) -> None:
    """Case 28."""
    terminal = open_terminal(client, "sh", "-c", "sleep 0.5; stty size", rows=43, columns=132)
    terminal.say(resize=exec_pb2.Pty(rows=50, columns=200))
    assert b"50 200" in (await terminal.to_end()).screen


async def test_shell_that_exits_ends_the_stream(guest: Execd, client: Client) -> None:
    """Case 30: an exit event, and nothing in the log."""
    terminal = open_terminal(client)
    await terminal.until(b"$ ")
    terminal.say(stdin=b"exit 3\n")
    assert (await terminal.to_end()).end.exit_code == 3
    assert guest.log() == ""


async def test_client_that_leaves_while_output_flows_leaves_no_trace(guest: Execd, client: Client) -> None:
    """Case 30: ten cycles here, a thousand in the slow twin."""
    await leave_while_output_flows(guest, client, 10)


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_thousand_clients_that_leave_leak_nothing(guest: Execd, client: Client) -> None:
    """Case 30."""
    await leave_while_output_flows(guest, client, 1000)


async def leave_while_output_flows(guest: Execd, client: Client, times: int) -> None:
    def descriptors() -> tuple[int, int]:
        return tuple(len(os.listdir(f"/proc/{pid}/fd")) for pid in (guest.init_pid, guest.server_pid))  # type: ignore[return-value]

    async def cycle() -> None:
        # A ring: output that is kept would stay open as a file, which is no leak.
        ring = exec_pb2.OutputPolicy(retention=exec_pb2.RETENTION_RING)
        terminal = open_terminal(client, "yes", on_disconnect=exec_pb2.ON_DISCONNECT_KILL, kill_grace=0, output=ring)
        await terminal.until(b"y\r\n")
        terminal.call.cancel()

    await cycle()
    await gone(guest, "yes")
    before = descriptors()
    for _ in range(times // 10):
        await asyncio.gather(*(cycle() for _ in range(10)))
    await gone(guest, "yes")
    after = descriptors()
    assert after[0] <= before[0]
    assert after[1] <= before[1] + 4
    assert guest.log() == ""


async def gone(guest: Execd, command: str) -> None:
    for _ in range(250):
        if command not in kit.commands(guest):
            await asyncio.sleep(0.1)
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{command} still runs")


async def test_terminal_is_the_controlling_one_and_belongs_to_the_user(client: Client) -> None:
    terminal = open_terminal(client, "bash", "-c", "tty; stat -c %u $(tty); id -u; echo $TERM; ps -o tty= -p $$")
    words = (await terminal.to_end()).screen.split()
    assert words[0].startswith(b"/dev/pts/")
    assert words[1] == words[2]
    assert words[3] == b"xterm-256color"
    assert words[0].endswith(words[4])


async def test_keys_and_signals_reach_the_foreground_group(client: Client) -> None:
    terminal = open_terminal(client)
    await terminal.until(b"$ ")
    terminal.say(stdin=b"sleep 100\n")
    await asyncio.sleep(0.5)
    terminal.say(signal="INT")
    terminal.say(stdin=b'echo "ended $?"; sleep 100\n')
    await terminal.until(b"ended 130\r\n")
    await asyncio.sleep(0.5)
    terminal.say(stdin=b"\x03")
    terminal.say(stdin=b'echo "again $?"\n')
    await terminal.until(b"again 130\r\n")
    terminal.say(stdin_end=True)
    assert (await terminal.to_end()).end.exit_code == 0


async def test_viewer_sees_the_screen_and_may_not_type(client: Client) -> None:
    exec_id = str(uuid.uuid4())
    writer = open_terminal(client, exec_id=exec_id)
    await writer.until(b"$ ")
    writer.say(stdin=b"echo to''gether\n")
    await writer.until(b"together")
    viewer = attach_terminal(client, exec_id, role=VIEWER)
    await viewer.until(b"together")
    viewer.say(stdin=b"exit\n")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await viewer.to_end()
    assert caught.value.code() is grpc.StatusCode.PERMISSION_DENIED
    writer.say(stdin=b"exit\n")
    await writer.to_end()


async def test_second_writer_is_refused_unless_it_takes_over(client: Client) -> None:
    exec_id = str(uuid.uuid4())
    first = open_terminal(client, exec_id=exec_id)
    await first.until(b"$ ")
    second = attach_terminal(client, exec_id)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await second.to_end()
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    third = attach_terminal(client, exec_id, takeover=True)
    assert (await third.next()).exec.has_writer
    with pytest.raises(grpc.aio.AioRpcError) as lost:
        await first.to_end()
    assert first.last.taken_over
    assert lost.value.code() is grpc.StatusCode.ABORTED
    third.say(stdin=b"exit 4\n")
    assert (await third.to_end()).end.exit_code == 4


async def test_detached_terminal_is_replayed_and_goes_on(client: Client) -> None:
    exec_id = str(uuid.uuid4())
    first = open_terminal(client, exec_id=exec_id)
    await first.until(b"$ ")
    first.say(stdin=b"echo be''fore\n")
    await first.until(b"before")
    first.say(detach=True)
    assert (await first.to_end()).ended is None
    second = attach_terminal(client, exec_id)
    await second.until(b"before")
    second.say(stdin=b"echo af''ter; exit\n")
    seen = await second.to_end()
    assert b"after" in seen.screen
    seen.check()


async def test_hangup_ends_the_shell_and_detach_does_not(client: Client) -> None:
    terminal = open_terminal(client)
    await terminal.until(b"$ ")
    terminal.say(hangup=True)
    seen = await terminal.to_end()
    assert seen.end.cause == exec_pb2.END_CAUSE_CANCELLED


async def test_terminal_of_a_user_without_rights_to_it_is_theirs(client: Client) -> None:
    """The slow way of launching takes the terminal as well."""
    terminal = open_terminal(client, "bash", "-c", "ps -o tty= -p $$; stty size", nice=1, rows=30, columns=90)
    seen = await terminal.to_end()
    assert b"30 90" in seen.screen
    assert seen.screen.startswith(b"pts/")


async def test_process_without_terminal_takes_input_and_reports_its_closing(client: Client) -> None:
    stream = Terminal(client)
    spec = kit.spec_message("head -n 1; exec <&-; sleep 0.5; echo end", stdin=exec_pb2.STDIN_MODE_STREAM)
    stream.say(start=exec_service_pb2.InteractStart(spec=spec))
    stream.say(stdin=b"line\n")
    await stream.until(b"line\n")
    await asyncio.sleep(0.2)
    stream.say(stdin=b"more\n")
    broken = False
    while stream.seen.ended is None:
        broken |= (await stream.next()).stdin_broken
    assert broken
    assert stream.seen.out == b"line\nend\n"


async def test_first_message_must_start_or_attach(client: Client) -> None:
    terminal = Terminal(client)
    terminal.say(stdin=b"x")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await terminal.to_end()
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
