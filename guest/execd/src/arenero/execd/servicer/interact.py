"""Interact: a terminal, or a process with input and output, in one stream.

Two things go on at once: frames go out, and messages come in. What comes in is acted on in order, but input waits in a
queue of its own, so a program that doesn't read can still be signalled and resized. What goes wrong on the way in is
kept and raised by the stream itself, since only that can answer the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from arenero.api.execd.v1 import exec_service_pb2 as api
from arenero.errors import Conflict, FailedPrecondition, PermissionDenied
from arenero.execd.execution import Exec, Writer
from arenero.execd.follow import FROM_START, Follower, Place, StdinBroken
from arenero.execd.outcome import Cause, Ended
from arenero.execd.processes import Processes
from arenero.execd.servicer import frames
from arenero.execd.servicer.fields import (
    at_most,
    exec_id_of,
    heartbeat_of,
    invalid,
    new_exec_id_of,
    offsets_of,
    signal_named,
)
from arenero.execd.servicer.specs import size_of, spec_of
from arenero.execd.spec import OnDisconnect
from arenero.host.tasks import TaskScope

_QUEUED_INPUTS: Final = 64


class Interaction:
    """One stream of one client."""

    def __init__(self, processes: Processes, requests: AsyncIterator[api.InteractRequest]) -> None:
        self._processes = processes
        self._requests = requests
        self._inputs: asyncio.Queue[bytes | None] = asyncio.Queue(_QUEUED_INPUTS)
        self._writer = Writer(self._lose_terminal)
        self._writes = True
        self._started = False
        self._repeated = False
        self._detached = False
        self._error: Exception | None = None
        self._beat_s: float | None = None
        self._place = FROM_START

    async def run(self, traceparent: str) -> AsyncIterator[api.InteractResponse]:
        """Yield the frames of the stream."""
        exec_ = await self._open(traceparent)
        ended = False
        try:
            if exec_.pid or not self._started:
                yield self._opening(exec_)
            with Follower(exec_, self._place.resolve(exec_), self._beat_s) as follower:
                self._follower = follower
                async with TaskScope("interact") as scope:
                    scope.spawn("listen", self._listen(exec_))
                    scope.spawn("feed", self._feed(exec_))
                    while (frame := await follower.next()) is not None:
                        ended = isinstance(frame, Ended)
                        yield frames.interact_response(frame)
                        if ended:
                            break
        finally:
            self._leave(exec_, ended=ended)
        if self._error is not None and not ended:
            if isinstance(self._error, Conflict):
                yield api.InteractResponse(taken_over=True)
            raise self._error

    # --- the first message

    async def _open(self, traceparent: str) -> Exec:
        async for first in self._requests:
            kind = first.WhichOneof("message")
            if kind == "start":
                return await self._start(first.start, traceparent)
            if kind == "attach":
                return await self._attach(first.attach)
            break
        raise invalid("start", "is missing: the first message starts or attaches")

    async def _start(self, request: api.InteractStart, traceparent: str) -> Exec:
        exec_id = new_exec_id_of(request.exec_id, "start.exec_id")
        if not request.HasField("spec"):
            raise invalid("start.spec", "is missing")
        self._beat_s = heartbeat_of(request)
        exec_, self._repeated = self._processes.start(exec_id, spec_of(request.spec), traceparent)
        if self._repeated:
            self._place = Place()
        self._started = True
        await exec_.begun.wait()
        self._take_terminal(exec_, takeover=False)
        return exec_

    async def _attach(self, request: api.InteractAttach) -> Exec:
        exec_ = self._processes.get(exec_id_of(request.exec_id, "attach.exec_id"))
        role = at_most("attach.role", request.role, api.ATTACH_ROLE_VIEWER)
        self._beat_s = heartbeat_of(request)
        self._place = Place(offsets_of(request.from_offsets, "attach.from_offsets"))
        self._writes = role != api.ATTACH_ROLE_VIEWER
        await exec_.begun.wait()
        self._place.resolve(exec_)
        if self._writes:
            self._take_terminal(exec_, takeover=request.takeover)
        return exec_

    def _take_terminal(self, exec_: Exec, *, takeover: bool) -> None:
        if exec_.writer is not None:
            if not takeover:
                raise FailedPrecondition(
                    "another client writes to this exec", reason="WRITER_BUSY", fix="attach as a viewer, or take over"
                )
            exec_.writer.lose()
        exec_.writer = self._writer

    def _opening(self, exec_: Exec) -> api.InteractResponse:
        if self._started:
            return api.InteractResponse(started=frames.started(exec_, repeated=self._repeated))
        return api.InteractResponse(exec=frames.record(exec_))

    # --- what comes in

    async def _listen(self, exec_: Exec) -> None:
        """Act on messages until the client has said all."""
        try:
            async for request in self._requests:
                await self._act(exec_, request)
        except Exception as error:  # noqa: BLE001 - raised again by the stream, which alone can answer
            self._fail(error)

    async def _act(self, exec_: Exec, request: api.InteractRequest) -> None:
        kind = request.WhichOneof("message")
        if kind == "detach":
            self._detached = True
            self._follower.interrupt()
            return
        if not self._writes:
            raise PermissionDenied("a viewer can only read and detach", reason="NOT_WRITER")
        if kind == "stdin":
            await self._inputs.put(request.stdin)
        elif kind == "stdin_end" and request.stdin_end:
            await self._inputs.put(None)
        elif kind == "resize":
            exec_.resize(size_of(request.resize, "resize"))
        elif kind == "signal":
            target = "foreground" if exec_.spec.terminal else "group"
            await exec_.signal(signal_named(request.signal, "signal"), target)
        elif kind == "hangup" and request.hangup:
            exec_.hang_up()
        elif kind in ("start", "attach"):
            raise invalid(kind, "is only for the first message")

    async def _feed(self, exec_: Exec) -> None:
        """Hand input over as the process takes it."""
        told = False
        try:
            while True:
                data = await self._inputs.get()
                if data is None:
                    await exec_.input.end()
                else:
                    await exec_.input.append(data)
                if exec_.input.broken and not exec_.ended and not told:
                    told = True
                    self._follower.insert(StdinBroken())
        except Exception as error:  # noqa: BLE001 - as in _listen
            self._fail(error)

    # --- the end

    def _fail(self, error: Exception) -> None:
        if self._error is None:
            self._error = error
        self._follower.interrupt()

    def _lose_terminal(self) -> None:
        self._writes = False
        self._fail(Conflict("another client has taken the terminal over", reason="TAKEN_OVER"))

    def _leave(self, exec_: Exec, *, ended: bool) -> None:
        if exec_.writer is self._writer:
            exec_.writer = None
        gone = not ended and not self._detached and self._error is None
        if gone and self._started and exec_.spec.on_disconnect is OnDisconnect.KILL:
            exec_.stop(Cause.CANCELLED, exec_.spec.kill_grace_s)
