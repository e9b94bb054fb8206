"""An exec's input: bytes at offsets, acknowledged up to what the process's pipe or terminal has taken.

A client that lost its connection sends again from the acknowledged offset, or from before it: what was taken already is
skipped. That the process closed its end is a fact to report, not an error.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import Final

from arenero.errors import InvalidArgument
from arenero.execd import pty

_PIECE_BYTES: Final = 256 * 1024


class Input:
    """One exec's input. Without a descriptor it is closed from the start; a given one is closed by it."""

    def __init__(self, fd: int = -1, *, is_terminal: bool = False) -> None:
        if fd >= 0:
            os.set_blocking(fd, False)
        self._fd = fd
        self._is_terminal = is_terminal
        self._loop = asyncio.get_running_loop()
        self._turn = asyncio.Lock()
        self._room: asyncio.Future[None] | None = None
        self.acknowledged = 0
        """All bytes below this offset were taken."""
        self.broken = False
        """The process has closed its end, or is gone."""

    @property
    def closed(self) -> bool:
        """No more input is taken."""
        return self._fd < 0

    @property
    def terminal_fd(self) -> int:
        """Execd's side of the terminal; -1 without one."""
        return self._fd if self._is_terminal else -1

    async def write(self, offset: int, data: bytes) -> None:
        """Hand bytes over and wait until they are taken; `acknowledged` is true at any moment of it.

        Once the input is closed, all bytes are dropped: `broken` says so.

        Raises:
            InvalidArgument: Bytes between the acknowledged ones and these are missing.
        """
        async with self._turn:
            if self.closed:
                return
            if offset > self.acknowledged:
                message = f"is {offset}, but bytes are missing from {self.acknowledged} on"
                raise InvalidArgument(message, reason="STDIN_OFFSET", field="offset")
            await self._hand_over(memoryview(data)[self.acknowledged - offset :])

    async def append(self, data: bytes) -> None:
        """Hand bytes over after all that came before, and wait until they are taken."""
        async with self._turn:
            await self._hand_over(memoryview(data))

    async def end(self) -> None:
        """End the input: a pipe is closed, a terminal gets its end-of-file character."""
        async with self._turn:
            if self._is_terminal and not self.closed:
                before = self.acknowledged
                await self._hand_over(memoryview(pty.end_of_file(self._fd)))
                self.acknowledged = before
            else:
                self.close()

    def close(self, *, broken: bool = False) -> None:
        """Close it now; whoever waits for room goes on."""
        if self._fd < 0:
            return
        self._stop_waiting()
        os.close(self._fd)
        self._fd = -1
        self.broken = broken

    async def _hand_over(self, view: memoryview) -> None:
        while view and not self.closed:
            try:
                written = os.write(self._fd, view[:_PIECE_BYTES])
            except BlockingIOError:
                await self._wait_for_room()
                continue
            except OSError:
                # EPIPE from a pipe, EIO from a terminal.
                self.close(broken=True)
                return
            self.acknowledged += written
            view = view[written:]

    async def _wait_for_room(self) -> None:
        self._room = self._loop.create_future()
        self._loop.add_writer(self._fd, self._stop_waiting)
        try:
            await self._room
        finally:
            self._stop_waiting()

    def _stop_waiting(self) -> None:
        if self._room is None:
            return
        self._loop.remove_writer(self._fd)
        with contextlib.suppress(asyncio.InvalidStateError):
            self._room.set_result(None)
        self._room = None
