"""WriteStdin: input in pieces at offsets, each acknowledged once the process has taken it."""

from __future__ import annotations

from collections.abc import AsyncIterator

from arenero.api.execd.v1 import exec_service_pb2 as api
from arenero.errors import Conflict, FailedPrecondition
from arenero.execd.execution import Exec, Writer
from arenero.execd.processes import Processes
from arenero.execd.servicer.fields import exec_id_of, invalid


async def write_stdin(
    processes: Processes, requests: AsyncIterator[api.WriteStdinRequest]
) -> AsyncIterator[api.WriteStdinResponse]:
    """Hand each piece over and yield its acknowledgement. While it lasts, this stream is a terminal's writer."""
    exec_: Exec | None = None
    writer = Writer(lambda: None)
    try:
        async for request in requests:
            if exec_ is None:
                exec_ = await _open(processes, request.exec_id, writer)
            elif request.exec_id and exec_id_of(request.exec_id) != exec_.id:
                raise invalid("exec_id", "changed within the stream")
            if exec_.spec.terminal is not None and exec_.writer is not writer:
                raise Conflict("another client has taken the terminal over", reason="TAKEN_OVER")
            yield await _write(exec_, request)
    finally:
        if exec_ is not None and exec_.writer is writer:
            exec_.writer = None


async def _open(processes: Processes, exec_id: str, writer: Writer) -> Exec:
    exec_ = processes.get(exec_id_of(exec_id))
    await exec_.begun.wait()
    if exec_.spec.terminal is None:
        if not exec_.spec.takes_input:
            raise FailedPrecondition("the exec was started without input", reason="NO_STDIN", field="exec_id")
    elif exec_.writer is not None:
        raise FailedPrecondition("another client holds the terminal", reason="WRITER_BUSY", field="exec_id")
    else:
        exec_.writer = writer
    return exec_


async def _write(exec_: Exec, request: api.WriteStdinRequest) -> api.WriteStdinResponse:
    target = exec_.input
    if request.data:
        await target.write(request.offset, request.data)
    if request.end_of_file:
        await target.end()
    return api.WriteStdinResponse(
        acknowledged_offset=target.acknowledged, broken_pipe=target.broken, closed=target.closed
    )
