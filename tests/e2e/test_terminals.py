"""Terminals in real sandboxes, by both ways."""

import asyncio

import pytest

from arenero.sdk import Sandbox, Terminal
from arenero.sdk.errors import AreneroError, Conflict, FailedPrecondition, StartFailed, TakenOver


async def test_size_is_there_from_the_start_and_changes(sandbox_either_way: Sandbox) -> None:
    """Case 28."""
    program = "trap 'echo now; stty size' WINCH; stty size; echo $TERM; while :; do sleep 0.1; done"
    terminal = await sandbox_either_way.terminal(["sh", "-c", program], rows=43, columns=132)
    async with terminal, asyncio.timeout(30):
        await terminal.read_until("43 132")
        await terminal.read_until("xterm-256color")
        await terminal.resize(50, 200)
        assert (await terminal.read_until("50 200")).count(b"now") == 1


async def test_login_shell_is_the_users(sandbox: Sandbox) -> None:
    async with await sandbox.terminal() as terminal, asyncio.timeout(30):
        await terminal.write("echo I am $(id -un) in $(pwd)\n")
        await terminal.read_until("I am sandbox in /home/sandbox")


async def test_ctrl_c_reaches_the_foreground_program(sandbox_either_way: Sandbox) -> None:
    async with await sandbox_either_way.terminal(["bash", "--norc"]) as terminal, asyncio.timeout(30):
        await terminal.write("sleep 600; echo code $?\n")
        await asyncio.sleep(0.5)
        await terminal.write(b"\x03")
        await terminal.write("echo 'still' here\n")
        await terminal.read_until("still here")
        await terminal.write("sleep 600; echo code $?\n")
        await asyncio.sleep(0.5)
        await terminal.signal("INT")
        await terminal.write("echo 'and' here\n")
        await terminal.read_until("and here")


async def test_terminal_runs_on_and_is_attached_to_again(sandbox_either_way: Sandbox) -> None:
    sandbox = sandbox_either_way
    async with await sandbox.terminal(["bash", "--norc"]) as terminal, asyncio.timeout(30):
        await terminal.write("X=kept; echo 'first' line\n")
        await terminal.read_until("first line")
    async with await sandbox.attach_terminal(terminal.exec_id, from_offset=terminal.offset) as again:
        async with asyncio.timeout(30):
            await again.write("echo X is $X\n")
            seen = await again.read_until("X is kept")
    assert b"first line" not in seen
    async with await sandbox.attach_terminal(terminal.exec_id, role="viewer") as viewer, asyncio.timeout(30):
        await viewer.read_until("first line")
        await viewer.read_until("X is kept")
        with pytest.raises(AreneroError):
            await type_and_wait(viewer)


async def type_and_wait(terminal: Terminal) -> None:
    await terminal.write("typed by a viewer\n")
    await terminal.read_until("never")


async def test_one_writes_others_look_until_one_takes_over(sandbox: Sandbox) -> None:
    async with await sandbox.terminal(["bash", "--norc"]) as first, asyncio.timeout(30):
        await first.write("echo 'from' first\n")
        await first.read_until("from first")
        with pytest.raises((Conflict, FailedPrecondition)):
            await sandbox.attach_terminal(first.exec_id)
        async with await sandbox.attach_terminal(first.exec_id, takeover=True) as second:
            await second.write("echo 'from' second\n")
            await second.read_until("from second")
            with pytest.raises(TakenOver):
                await first.read_until("never")


async def test_hangup_ends_the_shell(sandbox: Sandbox) -> None:
    async with await sandbox.terminal(["bash", "--norc"]) as terminal, asyncio.timeout(30):
        await terminal.write("echo 'ready' now\n")
        await terminal.read_until("ready now")
        ended = await terminal.hangup()
        assert ended.signal == 1 or ended.exit_code == 129


async def test_program_that_is_missing_is_a_start_failure(sandbox: Sandbox) -> None:
    with pytest.raises(StartFailed):
        await sandbox.terminal(["no-such-program"])


async def test_terminals_come_and_go_without_a_trace(sandbox: Sandbox) -> None:
    """Case 30, a few of its thousand."""
    for _ in range(20):
        async with await sandbox.terminal(["sh", "-c", "echo hello; exit 3"]) as terminal, asyncio.timeout(30):
            seen = b"".join([piece async for piece in terminal])
            assert b"hello" in seen
            assert terminal.exit is not None
            assert terminal.exit.exit_code == 3
    assert not [found for found in await sandbox.processes() if found.state == "Z"]
