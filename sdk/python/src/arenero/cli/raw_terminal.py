"""Joins this process's terminal to one in a sandbox: raw mode, resize, and a way out that leaves it running."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from arenero.cli.standard_input import read_input
from arenero.sdk import Terminal
from arenero.sdk.errors import FailedPrecondition, OutcomeUnknown

DETACH_KEYS = b"\x10\x11"
"""Ctrl-P Ctrl-Q, as in Docker."""
_END_OF_FILE = b"\x04"
_END_AGAIN_S = 0.5


async def interact(terminal: Terminal) -> int:
    """Pass keys in and the screen out until the process ends or the person detaches; return the exit code."""
    resized = asyncio.Event()
    with _raw_mode(), _on_resize(resized):
        async with terminal, asyncio.TaskGroup() as group:
            screen = group.create_task(_show(terminal))
            typing = group.create_task(_type(terminal))
            sizing = group.create_task(_resize(terminal, resized))
            await asyncio.wait([screen, typing], return_when=asyncio.FIRST_COMPLETED)
            for task in (screen, typing, sizing):
                task.cancel()
    if terminal.exit is None:
        sys.stderr.write(f"\ndetached; attach again with --attach {terminal.exec_id}\n")
        return 0
    return terminal.exit.shell_code


def screen_size() -> os.terminal_size:
    """Return the size of this process's terminal, as it is now; 24 by 80 when it has none."""
    for stream in (sys.stdout, sys.stdin, sys.stderr):
        try:
            return os.get_terminal_size(stream.fileno())
        except (OSError, ValueError):
            continue
    return shutil.get_terminal_size()


async def _show(terminal: Terminal) -> None:
    async for piece in terminal:
        sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()


async def _type(terminal: Terminal) -> None:
    """Send keys; ends when the detach keys were typed or the person's terminal is gone."""
    try:
        if await _pass_keys(terminal) or sys.stdin.isatty():
            return
        # Input that has ended reads as ended each time, but one such key may get lost: who has it for a line that it
        # was reading, or switches modes as shells do, is told again.
        while True:
            await terminal.write(_END_OF_FILE)
            await asyncio.sleep(_END_AGAIN_S)
    except (FailedPrecondition, OutcomeUnknown):
        pass  # typed into a terminal that has ended: what became of it comes with the screen
    await asyncio.Event().wait()


async def _pass_keys(terminal: Terminal) -> bool:
    """Send keys to their end; True when the detach keys were among them."""
    held = b""
    async for piece in read_input():
        before, detach, _ = (held + piece).partition(DETACH_KEYS)
        held = DETACH_KEYS[:1] if not detach and before.endswith(DETACH_KEYS[:1]) else b""
        if keys := before.removesuffix(held):
            await terminal.write(keys)
        if detach:
            return True
    if held:
        await terminal.write(held)
    return False


async def _resize(terminal: Terminal, resized: asyncio.Event) -> None:
    while True:
        await resized.wait()
        resized.clear()
        size = screen_size()
        await terminal.resize(size.lines, size.columns)


@contextmanager
def _raw_mode() -> Iterator[None]:
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    tty.setraw(sys.stdin, termios.TCSADRAIN)  # what was typed ahead counts
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


@contextmanager
def _on_resize(resized: asyncio.Event) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGWINCH, resized.set)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGWINCH)
