"""What comes in on standard input, whatever it is: a terminal, a pipe, a file, nothing."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from typing import Final

_READ_BYTES: Final = 64 * 1024


async def read_input() -> AsyncIterator[bytes]:
    """Stream what comes in, until its end. Nothing is read that nobody waits for."""
    source = sys.stdin.fileno()
    while piece := await _read(source):
        yield piece


async def _read(source: int) -> bytes:
    """Return the next bytes, empty at the end.

    A thread that reads could not be called back, and the command would wait at its end for one more line to be typed;
    so the event loop waits. Files, and /dev/null, it can't wait for, and needn't.
    """
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(source, ready.set)
    except PermissionError:
        return await asyncio.to_thread(os.read, source, _READ_BYTES)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(source)
    try:
        return os.read(source, _READ_BYTES)
    except OSError:
        return b""  # a terminal that was hung up
