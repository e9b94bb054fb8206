"""`EventService` on the wire: the caller's own events, without what lifecycle keeps in them for itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

from arenero.api.events.v1 import event_service_pb2 as pb
from arenero.api.events.v1.event_pb2 import Event
from arenero.api.events.v1.event_service_pb2_grpc import EventServiceServicer
from arenero.bus.log import Entry
from arenero.bus.subjects import Kind
from arenero.errors import InvalidArgument
from arenero.lifecycle.codec.scalars import read_timestamp
from arenero.lifecycle.replay import EventReader, Heartbeat, Selection, Start, select
from arenero.model.fields import FieldError
from arenero.model.ids import SandboxId, parse_sandbox_id
from arenero.rpc.identity import current_caller

_Context = Any
"""A `grpc.aio.ServicerContext`; no code here looks at it."""

_KINDS: Final = {
    pb.EVENT_LOG_UNSPECIFIED: (Kind.SANDBOX, Kind.ACTIVITY),
    pb.EVENT_LOG_STATE: (Kind.SANDBOX,),
    pb.EVENT_LOG_ACTIVITY: (Kind.ACTIVITY,),
}
MAX_SUBJECTS: Final = 32


class EventServicer(EventServiceServicer):
    """Serves `EventService`."""

    def __init__(self, reader: EventReader) -> None:
        self._reader = reader

    async def Replay(self, request: pb.ReplayRequest, context: _Context) -> AsyncIterator[pb.ReplayResponse]:  # noqa: N802
        """Stream what is stored now."""
        selections, start = _read_filter(request.filter), _read_start(request)
        async for entry in self._reader.replay(selections, start or Start(), request.limit):
            yield pb.ReplayResponse(event=open_event(entry))

    async def Follow(self, request: pb.FollowRequest, context: _Context) -> AsyncIterator[pb.FollowResponse]:  # noqa: N802
        """Stream events as they come."""
        selections = _read_filter(request.filter)
        start = Start() if request.from_beginning else _read_start(request)
        async for item in self._reader.follow(selections, start):
            if isinstance(item, Heartbeat):
                yield pb.FollowResponse(heartbeat_sequence=item.sequence)
            else:
                yield pb.FollowResponse(event=open_event(item))


def open_event(entry: Entry) -> Event:
    """Return a stored event as its tenant may see it: with its place in the log, without what is sealed in it."""
    event = Event.FromString(entry.data)
    event.sequence = entry.sequence
    if event.HasField("sandbox"):
        event.revision = entry.sequence
        event.sandbox.sandbox.revision = entry.sequence
        event.sandbox.ClearField("internal_sealed")
    return event


def _read_filter(message: pb.EventFilter) -> list[Selection]:
    if message.log not in _KINDS:
        raise InvalidArgument(f"has the value {message.log}, which is no log", field="filter.log")
    if (asked := len(message.subjects)) > MAX_SUBJECTS:
        raise InvalidArgument(f"has {asked} filters; at most {MAX_SUBJECTS} are allowed", field="filter.subjects")
    sandbox_id = _read_id(message.sandbox_id) if message.sandbox_id else None
    return select(current_caller().tenant, list(message.subjects), sandbox_id, _KINDS[message.log])


def _read_id(text: str) -> SandboxId:
    try:
        return parse_sandbox_id(text)
    except ValueError as error:
        raise InvalidArgument(str(error), field="filter.sandbox_id") from None


def _read_start(request: pb.ReplayRequest | pb.FollowRequest) -> Start | None:
    match request.WhichOneof("start"):
        case "sequence":
            return Start(sequence=request.sequence)
        case "time":
            faults: list[FieldError] = []
            instant = read_timestamp(request.time, "time", faults)
            if faults:
                raise InvalidArgument.from_fields(faults)
            return Start(time=instant)
        case _:
            return None
