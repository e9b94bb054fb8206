"""Reading a command's frames over as many connections as it takes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final

import grpc

from arenero.api.execd.v1 import exec_service_pb2
from arenero.sdk._deadline import Deadline
from arenero.sdk._frames import Cursor, Frame, StreamName, exit_of, named_offsets, start_failed
from arenero.sdk._payloads import OutputPart, frame_parser
from arenero.sdk._plane import Patience, Plane, Way
from arenero.sdk.errors import (
    AreneroError,
    FailedPrecondition,
    NotFound,
    OutcomeUnknown,
    Unauthenticated,
    Unavailable,
    typed,
)

_SERVICE: Final = f"/{exec_service_pb2.DESCRIPTOR.services_by_name['ExecService'].full_name}"
_MESSAGES: Final[Mapping[str, tuple[type[Any], type[Any]]]] = {
    "Run": (exec_service_pb2.RunRequest, exec_service_pb2.RunResponse),
    "Attach": (exec_service_pb2.AttachRequest, exec_service_pb2.AttachResponse),
}
_EVERY_STREAM: tuple[StreamName, ...] = ("stdout", "stderr", "pty")


class Reader:
    """One reader of one exec: what to ask on the next connection, and what the frames of this one mean."""

    def __init__(self, method: str, request: Any) -> None:
        self.method = method
        """`Run` or `Attach`."""
        self.request = request
        self.is_over = False
        self._has_started = False
        self._cursor = Cursor()
        if method == "Run":
            self._cursor.begin(dict.fromkeys(_EVERY_STREAM, 0))

    @property
    def may_end_early(self) -> bool:
        """Whether the stream ends without an end frame when the exec still runs."""
        return self.method == "Attach" and bool(self.request.no_follow)

    def take(self, message: Any) -> Iterator[Frame]:
        """Translate one message.

        Raises:
            StartFailed: The process never ran.
        """
        kind = "part" if isinstance(message, OutputPart) else message.WhichOneof("frame")
        if kind == "part":
            yield from self._cursor.output(message)
        elif kind == "output":
            yield from self._cursor.output(message.output)
        elif kind == "gap":
            yield from self._cursor.gap(message.gap)
        elif kind == "exec":
            self._begin(message.exec)
        elif kind == "ended":
            if message.ended.HasField("start_failure"):
                raise start_failed(message.ended.start_failure)
            yield from self._cursor.end(message.ended)
            self.is_over = True
            yield exit_of(message.ended)
        self._has_started = True

    def resume(self) -> None:
        """Ask for the rest. An exec that is known to run is attached to, so that nothing is run or shown twice."""
        if not self._has_started:
            return
        request = exec_service_pb2.AttachRequest(exec_id=self.request.exec_id, no_follow=self.may_end_early)
        request.offsets.offsets.extend(self._cursor.offsets())
        self.method, self.request = "Attach", request

    def lost(self, error: AreneroError) -> AreneroError:
        """Return what to raise when there is no going on: once it ran, its end is unknown."""
        if not self._has_started:
            return error
        lost = OutcomeUnknown(f"lost the connection to exec {self.request.exec_id}: {error}", reason="STREAM_BROKEN")
        lost.__cause__ = error
        return lost

    def _begin(self, exec_record: Any) -> None:
        """Note where reading begins when that was said relative to the end, so that a resumed reading begins there."""
        start = self.request.WhichOneof("from") if self.method == "Attach" else None
        at_most = self.request.last_bytes if start == "last_bytes" else 0
        if start in ("now", "last_bytes"):
            now = named_offsets(exec_record.offsets)
            self._cursor.begin({name: max(0, offset - at_most) for name, offset in now.items()})
        elif start == "offsets":
            self._cursor.begin(named_offsets(self.request.offsets.offsets))


async def read_frames(
    plane: Plane, method: str, request: Any, deadline: Deadline | None = None
) -> AsyncIterator[Frame]:
    """Stream an exec's frames and, last, its `Exit`.

    Raises:
        StartFailed: It never ran.
        DeadlineExceeded: Nothing is heard of it after its deadline.
        OutcomeUnknown: The connection broke and could not be resumed.
    """
    reader = Reader(method, request)
    patience = Patience(plane.reconnect_s)
    deadline = deadline or Deadline()
    while True:
        way = await plane.stream()
        call = _frames_of(way, reader.method)(reader.request, metadata=way.metadata)
        try:
            while (message := await deadline.wait(_next(call))) is not None:
                for frame in reader.take(message):
                    patience.renew()
                    yield frame
                if reader.is_over:
                    return
            if reader.may_end_early:
                return
            broken: AreneroError = OutcomeUnknown("the output ended without an end frame", reason="STREAM_BROKEN")
        except (Unavailable, Unauthenticated, OutcomeUnknown, NotFound, FailedPrecondition) as error:
            broken = error
        finally:
            call.cancel()
        if not await _is_worth_another(plane, way, broken, patience):
            raise reader.lost(broken)
        reader.resume()


def _frames_of(way: Way, method: str) -> Any:
    """Return `Run` or `Attach`, with a way of its own to read output."""
    request, response = _MESSAGES[method]

    def make(channel: Any) -> Any:
        return channel.unary_stream(
            f"{_SERVICE}/{method}",
            request_serializer=request.SerializeToString,
            response_deserializer=frame_parser(response),
        )

    return way.bulk(method, make)


async def _is_worth_another(plane: Plane, way: Way, broken: AreneroError, patience: Patience) -> bool:
    """Whether to try again, after a wait unless there is another way."""
    if isinstance(broken, Unavailable | Unauthenticated) and plane.has_other(way, broken):
        return True
    return isinstance(broken, Unavailable | OutcomeUnknown) and await patience.is_left()


async def _next(call: Any) -> Any:
    """Return the next message; None at the end of the stream."""
    with typed():
        message = await call.read()
        return None if message is grpc.aio.EOF else message
