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

from arenero.sdk import Terminal

DETACH_KEYS = b"\x10\x11"
"""Ctrl-P Ctrl-Q, as in Docker."""
_READ_BYTES = 64 * 1024


async def interact(terminal: Terminal) -> int:
    """Pass keys in and the screen out until the process ends or the person detaches; return the exit code."""
    loop = asyncio.get_running_loop()
    keys: asyncio.Queue[bytes] = asyncio.Queue()
    resized = asyncio.Event()
    with _raw_mode(), _reading_keys(keys), _on_resize(loop, resized):
        async with terminal, asyncio.TaskGroup() as group:
            screen = group.create_task(_show(terminal))
            typing = group.create_task(_type(terminal, keys))
            sizing = group.create_task(_resize(terminal, resized))
            await asyncio.wait([screen, typing], return_when=asyncio.FIRST_COMPLETED)
            for task in (screen, typing, sizing):
                task.cancel()
    if terminal.exit is None:
        sys.stderr.write(f"\r\ndetached; attach again with --attach {terminal.exec_id}\r\n")
        return 0
    return terminal.exit.shell_code


async def _show(terminal: Terminal) -> None:
    async for piece in terminal:
        sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()


async def _type(terminal: Terminal, keys: asyncio.Queue[bytes]) -> None:
    """Send keys; ends when the detach keys were typed or there are no more."""
    held = b""
    while data := await keys.get():
        data = held + data
        held = b""
        if DETACH_KEYS in data:
            return
        if data.endswith(DETACH_KEYS[:1]):
            data, held = data[:-1], DETACH_KEYS[:1]
        if data:
            await terminal.write(data)
    if not sys.stdin.isatty():
        await terminal.write(b"\x04")
        await asyncio.Event().wait()


async def _resize(terminal: Terminal, resized: asyncio.Event) -> None:
    while True:
        await resized.wait()
        resized.clear()
        size = shutil.get_terminal_size()
        await terminal.resize(size.lines, size.columns)


@contextmanager
def _reading_keys(keys: asyncio.Queue[bytes]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    source = sys.stdin.fileno()

    def read() -> None:
        data = os.read(source, _READ_BYTES)
        if not data:
            loop.remove_reader(source)
        keys.put_nowait(data)

    loop.add_reader(source, read)
    try:
        yield
    finally:
        loop.remove_reader(source)


@contextmanager
def _raw_mode() -> Iterator[None]:
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    tty.setraw(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


@contextmanager
def _on_resize(loop: asyncio.AbstractEventLoop, resized: asyncio.Event) -> Iterator[None]:
    loop.add_signal_handler(signal.SIGWINCH, resized.set)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGWINCH)
