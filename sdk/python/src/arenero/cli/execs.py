"""`arenero run`, `exec`, `shell` and `ps`: commands in sandboxes."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from typing import Any, Final

import click

from arenero.cli.options import DURATION, PAIR, USER
from arenero.cli.output import note, output_option, print_rows
from arenero.cli.raw_terminal import interact, screen_size
from arenero.cli.running import asynchronous, client
from arenero.cli.sandboxes import create, creation_options
from arenero.cli.standard_input import read_input
from arenero.sdk import Exit, Gap, Output, Process, Sandbox
from arenero.sdk._alongside import alongside
from arenero.sdk._frames import Frame, exit_of
from arenero.sdk.errors import AreneroError, FailedPrecondition, NotFound, OutcomeUnknown

_PIPED_SHELL: Final = ("/bin/sh", "-c", "exec ${SHELL:-/bin/sh} -l")
_LEASE_S: Final = 120.0
"""What is left of the sandbox of a `run` whose client is gone."""
_RENEW_S: Final = 40.0


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@creation_options
@click.option("-i", "--interactive", is_flag=True, help="Send standard input to the command.")
@click.option("-t", "--tty", is_flag=True, help="Give the command a terminal.")
@click.option("--timeout", type=DURATION, help="End the command when it runs longer.")
@click.option("--keep", is_flag=True, help="Don't delete the sandbox; print its id on the error stream.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@asynchronous
async def run(
    creation: dict[str, Any],
    interactive: bool,
    tty: bool,
    timeout: float | None,
    keep: bool,
    command: tuple[str, ...],
) -> int:
    """Create a sandbox, run COMMAND in it, delete it. Exits with the command's exit code.

    Without --ttl the sandbox lives as long as this command: it ends by itself soon after a client that was killed.
    """
    has_lease = creation["ttl_s"] is None and not keep
    if has_lease:
        creation = {**creation, "ttl_s": _LEASE_S + (creation["start_timeout_s"] or 0)}
    async with client() as connection:
        sandbox = await create(connection, creation)
        running = run_in(sandbox, command, interactive=interactive, tty=tty, timeout_s=timeout)
        try:
            return await (alongside(running, _renew(sandbox)) if has_lease else running)
        finally:
            if keep:
                note(sandbox.id)
            else:
                await _delete(sandbox)
            await sandbox.close()


@click.command("exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-i", "--interactive", is_flag=True, help="Send standard input to the command.")
@click.option("-t", "--tty", is_flag=True, help="Give the command a terminal.")
@click.option("-d", "--detach", is_flag=True, help="Start it, print its exec id and leave it running.")
@click.option("-e", "--env", type=PAIR, multiple=True, help="Variable for the command. Repeatable.")
@click.option("-u", "--user", type=USER, help="User to run as: a name, a uid or UID:GID.")
@click.option("-w", "--workdir", help="Working directory.")
@click.option("--timeout", type=DURATION, help="End the command when it runs longer.")
@click.argument("sandbox_id")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@asynchronous
async def exec_command(  # noqa: PLR0913 - one per option
    interactive: bool,
    tty: bool,
    detach: bool,
    env: tuple[tuple[str, str], ...],
    user: str | tuple[int, int] | None,
    workdir: str | None,
    timeout: float | None,
    sandbox_id: str,
    command: tuple[str, ...],
) -> int:
    """Run COMMAND in a sandbox. Exits with the command's exit code."""
    options: dict[str, Any] = {"env": dict(env), "user": user, "cwd": workdir}
    words = _without_dashes(command)
    async with client() as connection:
        sandbox = await Sandbox.connect(sandbox_id, client=connection)
        if detach:
            process = await sandbox.start(words, timeout_s=timeout, **options)
            click.echo(process.exec_id)
            return 0
        return await run_in(sandbox, words, interactive=interactive, tty=tty, timeout_s=timeout, **options)


@click.command()
@click.argument("sandbox_id")
@click.option("-u", "--user", type=USER, help="User to run as.")
@click.option("--attach", "exec_id", help="Attach to a terminal that is open, instead of starting a shell.")
@click.option("--takeover", is_flag=True, help="With --attach: take it from whoever is typing in it.")
@asynchronous
async def shell(sandbox_id: str, user: str | tuple[int, int] | None, exec_id: str | None, takeover: bool) -> int:
    """Open a shell in a sandbox. Ctrl-P Ctrl-Q leaves and lets it run on.

    When standard input is no terminal, the shell reads its commands from there and gets no terminal, as with ssh.
    """
    async with client() as connection:
        sandbox = await Sandbox.connect(sandbox_id, client=connection)
        if exec_id:
            terminal = await sandbox.attach_terminal(exec_id, takeover=takeover)
            return await interact(terminal)
        is_typed = sys.stdin.isatty()
        return await run_in(sandbox, () if is_typed else _PIPED_SHELL, interactive=True, tty=is_typed, user=user)


@click.command()
@click.argument("sandbox_id")
@click.option("-a", "--all", "every", is_flag=True, help="Ended execs too, instead of processes.")
@output_option
@asynchronous
async def ps(sandbox_id: str, every: bool, output: str) -> None:
    """List the processes of a sandbox, or its execs with --all."""
    async with client() as connection:
        sandbox = await Sandbox.connect(sandbox_id, client=connection)
        if every:
            rows = [_exec_row(found) for found in await sandbox.execs()]
            print_rows(rows, ("exec_id", "pid", "running", "exit", "cause", "command"), output)
            return
        processes = [_process_row(found) for found in await sandbox.processes()]
        print_rows(processes, ("pid", "parent_pid", "uid", "state", "rss_mib", "cpu_s", "command"), output)


async def run_in(sandbox: Sandbox, command: tuple[str, ...], *, interactive: bool, tty: bool, **options: Any) -> int:
    """Run a command with this process's standard streams and return its exit code."""
    words = _without_dashes(command)
    if tty:
        return await interact(await sandbox.terminal(words, **terminal_size(), **options))
    if interactive:
        return await _with_stdin(sandbox, words, options)
    return await _show(sandbox.stream(words, on_disconnect="kill", **options))


def write_frame(frame: Output | Exit) -> int | None:
    """Write output where it belongs; return the exit code of an end."""
    if isinstance(frame, Exit):
        if frame.cause not in ("OWN_EXIT", "CANCELLED"):
            note(f"arenero: the command was ended: {frame.cause}")
        return frame.shell_code
    out = sys.stderr.buffer if frame.stream == "stderr" else sys.stdout.buffer
    out.write(frame.data)
    out.flush()
    return None


def terminal_size() -> dict[str, Any]:
    """Return the size of this process's terminal, as arguments of `Sandbox.terminal`."""
    size = screen_size()
    return {"rows": size.lines, "columns": size.columns}


async def _show(frames: AsyncIterator[Frame]) -> int:
    """Write output as it comes and return the exit code."""
    async for frame in frames:
        if isinstance(frame, Gap):
            note(f"arenero: {frame.to_offset - frame.from_offset} bytes of {frame.stream} are gone")
        elif (exit_code := write_frame(frame)) is not None:
            return exit_code
    raise OutcomeUnknown("the output ended without an end frame", reason="STREAM_BROKEN")


async def _with_stdin(sandbox: Sandbox, words: tuple[str, ...], options: dict[str, Any]) -> int:
    process = await sandbox.start(words, stdin=True, **options)
    try:
        return await alongside(_show(process.output()), _feed(process))
    except asyncio.CancelledError:
        await process.kill()
        raise


async def _feed(process: Process) -> None:
    with contextlib.suppress(FailedPrecondition, NotFound):  # it need not read all of its input
        async for piece in read_input():
            await process.write_stdin(piece)
        await process.write_stdin(b"", end=True)


async def _renew(sandbox: Sandbox) -> None:
    """Keep a sandbox alive for as long as this process is; what may end it otherwise comes with its output."""
    while True:
        await asyncio.sleep(_RENEW_S)
        with contextlib.suppress(AreneroError):
            await sandbox.renew(_LEASE_S, extend_only=True)


async def _delete(sandbox: Sandbox) -> None:
    """Delete a sandbox; the command's own outcome stands even where that fails."""
    try:
        await sandbox.delete()
    except AreneroError as error:
        note(f"arenero: warning: {sandbox.id} was not deleted: {error}")


def _without_dashes(command: tuple[str, ...]) -> tuple[str, ...]:
    return command[1:] if command[:1] == ("--",) else command


def _exec_row(found: Any) -> dict[str, Any]:
    spec = found.spec
    words = spec.shell or " ".join(word.decode(errors="replace") for word in spec.argv.args)
    ended = found.ended if found.HasField("ended") else None
    return {
        "exec_id": found.exec_id,
        "pid": found.pid,
        "running": found.running,
        "exit": ended.exit_code if ended and ended.WhichOneof("result") == "exit_code" else None,
        "cause": exit_of(ended).cause.lower() if ended else None,
        "command": words[:200],
    }


def _process_row(found: Any) -> dict[str, Any]:
    return {
        "pid": found.pid,
        "parent_pid": found.parent_pid,
        "uid": found.uid,
        "state": found.state,
        "rss_mib": round(found.rss_bytes / 1024**2, 1),
        "cpu_s": round(found.cpu_time.ToTimedelta().total_seconds(), 2),
        "command": b" ".join(found.args).decode(errors="replace") or f"[{found.name}]",
        "exec_id": found.exec_id,
    }
