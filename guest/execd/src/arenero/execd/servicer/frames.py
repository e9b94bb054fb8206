"""From our values to the API's messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from arenero.api.execd.v1 import exec_pb2
from arenero.api.execd.v1 import exec_service_pb2 as api
from arenero.execd import inventory
from arenero.execd.execution import Exec
from arenero.execd.follow import Beat, Frame, StdinBroken
from arenero.execd.outcome import Ended, StartFailure, Usage
from arenero.execd.output import Chunk, Gap, Stream
from arenero.execd.servicer.payloads import as_message, output_frame


def enum(number: int) -> Any:
    """Return the number of an enum of ours as the API's: they are the same, which no type checker can know."""
    return number


def timestamp(at_ns: int) -> Timestamp:
    """Return a time that was given in nanoseconds since 1970-01-01 UTC."""
    return Timestamp(seconds=at_ns // 1_000_000_000, nanos=at_ns % 1_000_000_000)


def duration(seconds: float) -> Duration:
    """Return a span of time."""
    whole = int(seconds)
    return Duration(seconds=whole, nanos=int((seconds - whole) * 1e9))


def gap(missing: Gap) -> exec_pb2.OutputGap:
    """Return what is missing."""
    return exec_pb2.OutputGap(stream=enum(missing.stream), from_offset=missing.start, to_offset=missing.end)


def heartbeat(beat: Beat) -> exec_pb2.Heartbeat:
    """Return a sign of life."""
    return exec_pb2.Heartbeat(time=timestamp(beat.at_ns), offsets=offsets(beat.offsets), running=beat.running)


def offsets(places: Mapping[Stream, int]) -> list[exec_pb2.StreamOffset]:
    """Return places by stream."""
    return [exec_pb2.StreamOffset(stream=enum(stream), offset=offset) for stream, offset in places.items()]


def start_failure(failure: StartFailure) -> exec_pb2.StartFailure:
    """Return why an exec never ran."""
    return exec_pb2.StartFailure(
        kind=enum(failure.kind),
        errno_name=failure.errno_name,
        stage=failure.stage,
        message=failure.message,
    )


def usage(used: Usage) -> exec_pb2.ResourceUsage:
    """Return what was used."""
    return exec_pb2.ResourceUsage(
        user_time=duration(used.user_s),
        system_time=duration(used.system_s),
        max_rss_bytes=used.max_rss_bytes,
        major_faults=used.major_faults,
        voluntary_switches=used.voluntary_switches,
        involuntary_switches=used.involuntary_switches,
    )


def ended(end: Ended) -> exec_pb2.ExecEnded:
    """Return the end of an exec."""
    message = exec_pb2.ExecEnded(
        core_dumped=end.core_dumped,
        cause=enum(end.cause),
        final_offsets=offsets(end.offsets),
        dropped=offsets(end.dropped),
        started_at=timestamp(end.started_ns),
        ended_at=timestamp(end.ended_ns),
        stdio_held_open=end.stdio_held_open,
        escapees_possible=end.escapees_possible,
    )
    if end.failure is not None:
        message.start_failure.CopyFrom(start_failure(end.failure))
    elif end.signal is not None:
        message.signal = end.signal
    else:
        message.exit_code = end.exit_code or 0
    if end.usage is not None:
        message.usage.CopyFrom(usage(end.usage))
    return message


def record(exec_: Exec, *, with_spec: bool = True) -> exec_pb2.Exec:
    """Return an exec's record; without its spec in answers to the call that sent it."""
    message = exec_pb2.Exec(
        exec_id=exec_.id,
        pid=exec_.pid,
        running=exec_.ended is None,
        started_at=timestamp(exec_.started_ns),
        offsets=offsets(exec_.record.offsets()),
        first_kept=offsets(exec_.record.first_kept()),
        attached=exec_.attached,
        has_writer=exec_.writer is not None,
    )
    if with_spec:
        message.spec.ParseFromString(exec_.spec.raw)
    if exec_.ended is not None:
        message.ended.CopyFrom(ended(exec_.ended))
        message.retained_until.CopyFrom(timestamp(exec_.ended.ended_ns + int(exec_.spec.retain_s * 1e9)))
    return message


def started(exec_: Exec, *, repeated: bool) -> exec_pb2.ExecStarted:
    """Return the first frame of a start."""
    return exec_pb2.ExecStarted(exec=record(exec_, with_spec=repeated), repeated_start=repeated)


def run_response(frame: Frame) -> api.RunResponse:
    """Return a frame of Run; one with output is serialized already."""
    if isinstance(frame, Chunk):
        return as_message(api.RunResponse, output_frame(api.RunResponse.OUTPUT_FIELD_NUMBER, frame))
    return api.RunResponse(**_named(frame))


def attach_response(frame: Frame) -> api.AttachResponse:
    """Return a frame of Attach; one with output is serialized already."""
    if isinstance(frame, Chunk):
        return as_message(api.AttachResponse, output_frame(api.AttachResponse.OUTPUT_FIELD_NUMBER, frame))
    return api.AttachResponse(**_named(frame))


def interact_response(frame: Frame) -> api.InteractResponse:
    """Return a frame of Interact; one with output is serialized already."""
    if isinstance(frame, Chunk):
        return as_message(api.InteractResponse, output_frame(api.InteractResponse.OUTPUT_FIELD_NUMBER, frame))
    if isinstance(frame, StdinBroken):
        return api.InteractResponse(stdin_broken=True)
    return api.InteractResponse(**_named(frame))


def process(found: inventory.Process) -> api.Process:
    """Return a process."""
    return api.Process(
        pid=found.pid,
        parent_pid=found.parent,
        uid=found.uid,
        state=found.state,
        name=found.name,
        args=found.args,
        rss_bytes=found.rss_bytes,
        cpu_time=duration(found.cpu_s),
        exec_id=found.exec_id,
    )


def port(found: inventory.Port) -> api.ListeningPort:
    """Return a listening socket."""
    return api.ListeningPort(protocol=found.protocol, address=found.address, port=found.port, pid=found.pid)


def _named(frame: Frame) -> dict[str, Any]:
    """Return a rare frame under its field's name, which all streams have alike."""
    if isinstance(frame, Gap):
        return {"gap": gap(frame)}
    if isinstance(frame, Beat):
        return {"heartbeat": heartbeat(frame)}
    assert isinstance(frame, Ended), "only Interact has other frames"
    return {"ended": ended(frame)}
