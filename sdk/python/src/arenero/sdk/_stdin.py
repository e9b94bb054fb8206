"""The input of one exec, sent at offsets, so that a broken connection neither repeats nor loses a byte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import grpc

from arenero.api.execd.v1 import exec_service_pb2
from arenero.api.execd.v1.exec_service_pb2_grpc import ExecServiceStub
from arenero.sdk._plane import Patience, Plane
from arenero.sdk._writing import write
from arenero.sdk.errors import FailedPrecondition, OutcomeUnknown, Unauthenticated, Unavailable, typed

_CHUNK_BYTES: Final = 256 * 1024


class Stdin:
    """One writer of one exec's input."""

    def __init__(self, plane: Plane, exec_id: str, *, offset: int | None) -> None:
        """Begin at `offset`; None: where the input is when the first bytes are sent."""
        self._plane = plane
        self._exec_id = exec_id
        self._offset = offset
        self._is_closed = False

    async def write(self, data: bytes, *, end: bool = False) -> int:
        """Send bytes, and the end of the input; return how many bytes the process was handed so far.

        Raises:
            FailedPrecondition: The process takes no input, or has closed it.
        """
        patience = Patience(self._plane.reconnect_s)
        while self._offset is None:
            await self._send([exec_service_pb2.WriteStdinRequest(exec_id=self._exec_id)], patience)
        begin = self._offset
        while True:
            left = memoryview(data)[self._offset - begin :]
            is_sent = await self._send(self._messages(left, end=end), patience)
            if is_sent and self._offset >= begin + len(data):
                return self._offset
            if self._is_closed:
                raise FailedPrecondition("the input of the process is closed", reason="STDIN_CLOSED")
            if is_sent and not await patience.is_left():
                raise OutcomeUnknown("the input was not acknowledged", reason="STREAM_BROKEN")

    def _messages(self, data: memoryview, *, end: bool) -> Iterator[exec_service_pb2.WriteStdinRequest]:
        offset = self._offset or 0
        last = max(0, len(data) - 1) // _CHUNK_BYTES * _CHUNK_BYTES
        for begin in range(0, last + 1, _CHUNK_BYTES):
            yield exec_service_pb2.WriteStdinRequest(
                exec_id=self._exec_id,
                offset=offset + begin,
                data=bytes(data[begin : begin + _CHUNK_BYTES]),
                end_of_file=end and begin == last,
            )

    async def _send(self, messages: Iterable[exec_service_pb2.WriteStdinRequest], patience: Patience) -> bool:
        """Send messages and take what is acknowledged; False when the connection broke and it is to be tried again."""
        is_answered = False
        way = await self._plane.stream()
        call = way.method(ExecServiceStub, "WriteStdin")(metadata=way.metadata)
        try:
            with typed():
                await _write_all(call, messages)
                while (answer := await call.read()) is not grpc.aio.EOF:
                    is_answered = True
                    self._offset = max(self._offset or 0, answer.acknowledged_offset)
                    self._is_closed |= answer.broken_pipe or answer.closed
            if not is_answered:
                raise OutcomeUnknown("the input was not acknowledged", reason="STREAM_BROKEN")
            return True
        except (Unavailable, Unauthenticated, OutcomeUnknown) as error:
            if isinstance(error, Unavailable | Unauthenticated) and self._plane.has_other(way, error):
                return False
            if isinstance(error, Unauthenticated) or not await patience.is_left():
                raise
            return False
        finally:
            call.cancel()


async def _write_all(call: Any, messages: Iterable[exec_service_pb2.WriteStdinRequest]) -> None:
    for message in messages:
        if not await write(call, message):
            return
    await call.done_writing()
