"""An event as a message, and back."""

from datetime import UTC, datetime

import pytest
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from arenero.api.events.v1.event_pb2 import Event
from arenero.bus.envelope import CONTENT_TYPE, new_event, pack, unpack
from arenero.bus.log import Entry
from arenero.bus.subjects import Kind, Subject
from arenero.model.ids import EventId, TenantId
from arenero.model.time import EPOCH

SUBJECT = Subject(Kind.POOL, TenantId("acme"), "pool_1", "requested")
NOW = datetime(2030, 1, 2, 3, 4, 5, 678901, UTC)


def made() -> Event:
    event = new_event(EventId("evt_1"), SUBJECT, NOW, actor="key:key_1", source="warmpool/h", cause="evt_0")
    event.pool.SetInParent()
    return event


def entry(data: bytes, headers: dict[str, str], subject: str = str(SUBJECT)) -> Entry:
    return Entry(subject, 42, EPOCH, data, headers)


def test_event_comes_back_with_its_position() -> None:
    event = made()
    event.sequence = event.revision = 7
    data, headers = pack(event)
    assert Event.FromString(data).sequence == 0
    assert headers == {"Content-Type": CONTENT_TYPE}
    assert CONTENT_TYPE == "application/protobuf; type=arenero.api.events.v1.Event"
    back = unpack(entry(data, headers))
    assert (back.sequence, back.revision) == (42, 42)
    assert (back.id, back.tenant, back.actor, back.cause) == ("evt_1", "acme", "key:key_1", "evt_0")
    assert back.time.ToDatetime(UTC) == NOW


def test_activity_has_no_revision() -> None:
    subject = Subject(Kind.ACTIVITY, TenantId("acme"), "sbx_1", "exec_started")
    data, headers = pack(new_event(EventId("evt_1"), subject, NOW, actor="", source=""))
    back = unpack(entry(data, headers, str(subject)))
    assert (back.sequence, back.revision) == (42, 0)


def test_trace_of_the_moment_travels_in_event_and_headers() -> None:
    context = SpanContext(0xABC, 0xDEF, is_remote=False, trace_flags=TraceFlags(1))
    with trace.use_span(NonRecordingSpan(context)):
        event = made()
    _, headers = pack(event)
    assert headers["traceparent"] == event.traceparent == f"00-{0xABC:032x}-{0xDEF:016x}-01"


def test_message_of_another_kind_is_refused() -> None:
    data, headers = pack(made())
    with pytest.raises(ValueError, match="no event"):
        unpack(entry(b"\xff\xff", headers))
    with pytest.raises(ValueError, match="no event"):
        unpack(entry(data, {"Content-Type": "text/plain"}))
    with pytest.raises(ValueError, match="lies under"):
        unpack(entry(data, headers, "pool.other.pool_1.requested"))
