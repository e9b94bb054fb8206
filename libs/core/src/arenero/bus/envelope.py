"""The envelope of a message: an `Event` as bytes and headers, and back.

In the stored bytes sequence and revision are zero, since only the log knows them; whoever reads an entry fills them in
from its position. The headers repeat what routing and tracing need, so that neither has to decode: the media type with
the message's full name, and the trace context.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from google.protobuf.message import DecodeError
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from arenero.api.events.v1.event_pb2 import Event
from arenero.bus.log import Entry
from arenero.bus.subjects import Kind, Subject, parse_subject
from arenero.model.ids import EventId
from arenero.model.time import to_unix_ns

MEDIA_TYPE: Final = "application/protobuf"
CONTENT_TYPE: Final = f"{MEDIA_TYPE}; type={Event.DESCRIPTOR.full_name}"
HEADER_CONTENT_TYPE: Final = "Content-Type"
HEADER_TRACE: Final = "traceparent"
_propagator: Final = TraceContextTextMapPropagator()


def new_event(
    event_id: EventId, subject: Subject, time: datetime, *, actor: str, source: str, cause: str = ""
) -> Event:
    """Return an event without its fact, in the trace that is being recorded.

    Args:
        event_id: The message id of its append.
        subject: What it will be stored under.
        time: When the fact happened.
        actor: Who caused it, such as `key:key_…` or `system:expiry`.
        source: Service and instance that appends it, such as `lifecycle/host-1`.
        cause: The event that led to this one.
    """
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    event = Event(
        id=event_id,
        subject=str(subject),
        tenant=subject.tenant,
        actor=actor,
        cause=cause,
        source=source,
        traceparent=carrier.get(HEADER_TRACE, ""),
    )
    event.time.FromNanoseconds(to_unix_ns(time))
    return event


def pack(event: Event) -> tuple[bytes, dict[str, str]]:
    """Return the bytes and headers to store; sequence and revision are left out."""
    stored = Event()
    stored.CopyFrom(event)
    stored.ClearField("sequence")
    stored.ClearField("revision")
    headers = {HEADER_CONTENT_TYPE: CONTENT_TYPE}
    if event.traceparent:
        headers[HEADER_TRACE] = event.traceparent
    return stored.SerializeToString(), headers


def unpack(entry: Entry) -> Event:
    """Return the event of an entry, with its sequence; for state, that is the record's revision too.

    Raises:
        ValueError: It is no event, or was stored under another subject than it names.
    """
    named = entry.headers.get(HEADER_CONTENT_TYPE, CONTENT_TYPE)
    if named != CONTENT_TYPE:
        raise ValueError(f"the message {entry.sequence} is {named[:100]!r}, no event")
    try:
        event = Event.FromString(entry.data)
    except DecodeError as error:
        raise ValueError(f"the message {entry.sequence} is no event: {error}") from None
    if event.subject != entry.subject:
        raise ValueError(f"the message {entry.sequence} says {event.subject[:200]!r} and lies under {entry.subject}")
    event.sequence = entry.sequence
    event.revision = 0 if parse_subject(entry.subject).kind is Kind.ACTIVITY else entry.sequence
    return event
