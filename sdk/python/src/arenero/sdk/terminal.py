"""A terminal in a sandbox: what is typed goes in, what the screen would get comes out."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Final, Literal, Self

import grpc

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from arenero.api.execd.v1.exec_service_pb2_grpc import ExecServiceStub
from arenero.sdk._deadline import Deadline
from arenero.sdk._frames import Exit, exit_of, start_failed
from arenero.sdk._plane import Plane
from arenero.sdk._writing import write
from arenero.sdk.commands import Command, ExecOptions, build_spec, deadline_of
from arenero.sdk.errors import (
    AreneroError,
    FailedPrecondition,
    OutcomeUnknown,
    TakenOver,
    Unauthenticated,
    Unavailable,
    typed,
)

_DETACH_S: Final = 2.0


class Terminal:
    """An open terminal. Leaving `async with` detaches: the process runs on and can be attached again by `exec_id`."""

    def __init__(self, call: Any, exec_id: str, pid: int, deadline: Deadline) -> None:
        self._call = call
        self._deadline = deadline
        self.exec_id = exec_id
        self.pid = pid
        self.exit: Exit | None = None
        """How it ended; None while it runs."""
        self.offset = 0
        """Bytes of the screen seen so far: where to attach again."""
        self._unread: list[bytes] = []
        self._reading: asyncio.Future[Any] | None = None
        self._writing = asyncio.Lock()

    @classmethod
    async def start(cls, plane: Plane, command: Command, options: ExecOptions, size: exec_pb2.Pty) -> Terminal:
        """Run a command in a new terminal.

        Raises:
            StartFailed: It never ran.
        """
        spec = build_spec(command, options)
        spec.pty.CopyFrom(size)
        start = exec_service_pb2.InteractStart(exec_id=str(uuid.uuid4()), spec=spec)
        return await cls._open(plane, exec_service_pb2.InteractRequest(start=start), deadline_of(options))

    @classmethod
    async def attach(
        cls,
        plane: Plane,
        exec_id: str,
        *,
        role: Literal["writer", "viewer"] = "writer",
        from_offset: int = 0,
        takeover: bool = False,
    ) -> Terminal:
        """Attach to a terminal, with what the screen has got since `from_offset`.

        Raises:
            Conflict: Another client is writing, and `takeover` was not asked for.
        """
        attach = exec_service_pb2.InteractAttach(
            exec_id=exec_id,
            role=f"ATTACH_ROLE_{role.upper()}",
            takeover=takeover,
            from_offsets=[exec_pb2.StreamOffset(stream=exec_pb2.OUTPUT_STREAM_PTY, offset=from_offset)],
        )
        return await cls._open(plane, exec_service_pb2.InteractRequest(attach=attach), Deadline())

    @classmethod
    async def _open(cls, plane: Plane, first: exec_service_pb2.InteractRequest, deadline: Deadline) -> Terminal:
        while True:
            way = await plane.stream()
            call = way.method(ExecServiceStub, "Interact")(metadata=way.metadata)
            try:
                with typed():
                    await write(call, first)
                    answer = await deadline.wait(_first_frame(call))
                break
            except (Unavailable, Unauthenticated) as error:
                if not plane.has_other(way, error):
                    raise
        if answer.WhichOneof("frame") == "ended":
            raise start_failed(answer.ended.start_failure)
        record = answer.started.exec if answer.HasField("started") else answer.exec
        return cls(call, record.exec_id, record.pid, deadline)

    async def write(self, data: bytes | str) -> None:
        """Type."""
        await self._send(exec_service_pb2.InteractRequest(stdin=data.encode() if isinstance(data, str) else data))

    async def resize(self, rows: int, columns: int, *, width_px: int = 0, height_px: int = 0) -> None:
        """Change the size."""
        size = exec_pb2.Pty(rows=rows, columns=columns, width_px=width_px, height_px=height_px)
        await self._send(exec_service_pb2.InteractRequest(resize=size))

    async def signal(self, name: str) -> None:
        """Send a signal to the foreground process group."""
        await self._send(exec_service_pb2.InteractRequest(signal=name))

    async def read(self) -> bytes:
        """Wait for output; empty when the process has ended, and `exit` then says how.

        Cancelling it, as a timeout does, loses nothing: the next call returns what came meanwhile.

        Raises:
            TakenOver: Another client writes from now on.
            OutcomeUnknown: The connection broke. Attach again, by `exec_id` and from `offset`.
        """
        if self._unread:
            return self._unread.pop(0)
        while self.exit is None:
            frame = await self._next_frame()
            kind = frame.WhichOneof("frame")
            if kind == "output":
                self.offset = frame.output.offset + len(frame.output.data)
                return bytes(frame.output.data)
            if kind == "gap":
                self.offset = frame.gap.to_offset
            elif kind == "ended":
                self.exit = exit_of(frame.ended)
            elif kind == "taken_over":
                raise TakenOver("another client took over this terminal", reason="TAKEN_OVER")
        return b""

    async def read_until(self, marker: bytes | str) -> bytes:
        """Read until the output holds `marker`, and return all up to its end; what came after it is read next.

        Raises:
            OutcomeUnknown: The process ended without it.
        """
        wanted = marker.encode() if isinstance(marker, str) else marker
        seen = b""
        while wanted not in seen:
            piece = await self.read()
            if not piece:
                raise OutcomeUnknown(f"the process ended without {wanted!r}; it wrote {seen[-2000:]!r}")
            seen += piece
        end = seen.index(wanted) + len(wanted)
        if rest := seen[end:]:
            self._unread.insert(0, rest)
        return seen[:end]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Read to the end."""
        while piece := await self.read():
            yield piece

    async def detach(self) -> None:
        """Leave; the process runs on."""
        try:
            if self.exit is None and not self._call.done():
                await self._send(exec_service_pb2.InteractRequest(detach=True))
                await self._call.done_writing()
                # A call that is cancelled may lose what was just sent, so its end is waited for.
                async with asyncio.timeout(_DETACH_S):
                    while True:
                        await self._next_frame()
        except (AreneroError, TimeoutError):
            pass  # the connection is gone, which detaches too
        finally:
            self._call.cancel()
            if self._reading is not None:
                await asyncio.gather(self._reading, return_exceptions=True)

    async def hangup(self) -> Exit:
        """Hang up the line, as closing a terminal window does, and wait for the end."""
        with contextlib.suppress(FailedPrecondition):
            await self._send(exec_service_pb2.InteractRequest(hangup=True))
        while self.exit is None:
            await self.read()
        return self.exit

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Detach."""
        await self.detach()

    async def _send(self, request: exec_service_pb2.InteractRequest) -> None:
        async with self._writing:
            if not await write(self._call, request):
                # Why is what reading tells; waiting for it here would wait for a screen that nobody reads.
                raise FailedPrecondition("the terminal has ended", reason="TERMINAL_ENDED")

    async def _next_frame(self) -> Any:
        # A call that is cancelled while it reads ends for good, so the reading itself outlives whoever waits for it.
        if self._reading is None:
            self._reading = asyncio.gather(self._call.read())
        with typed():
            [frame] = await self._deadline.wait(asyncio.shield(self._reading))
        self._reading = None
        if frame is grpc.aio.EOF:
            raise OutcomeUnknown("the terminal's connection was closed", reason="STREAM_BROKEN")
        return frame


def size_of(rows: int, columns: int, term: str) -> exec_pb2.Pty:
    """Build a terminal's shape."""
    return exec_pb2.Pty(rows=rows, columns=columns, term=term)


async def _first_frame(call: Any) -> Any:
    """Return the frame that says what became of the request; signs of life may come before it."""
    while (answer := await call.read()) is not grpc.aio.EOF:
        if answer.WhichOneof("frame") in ("started", "exec", "ended"):
            return answer
    raise OutcomeUnknown("the terminal's connection was closed", reason="STREAM_BROKEN")
