"""The messages of the SANDBOX log."""

import pytest
from hypothesis import given

from arenero.api.events.v1.event_pb2 import Event
from arenero.lifecycle.codec.event import Envelope, EventCodec
from arenero.lifecycle.facts import Fact, Requested
from arenero.lifecycle.secrets import Sealer
from arenero.model.record import Handle, SandboxRecord
from tests.unit.lifecycle.samples import EPOCH, a_record, all_facts, patiently, records

CODEC = EventCodec(Sealer(bytes(32)))
ENVELOPE = Envelope("evt_1", "sandbox.acme.x.started", EPOCH, "key:key_1", "lifecycle/here", "evt_0", "00-ab-cd-01")


@patiently
@given(records(), all_facts)
def test_fact_and_record_come_back_with_the_logs_revision(record: SandboxRecord, fact: Fact) -> None:
    found = CODEC.decode(CODEC.encode(ENVELOPE, fact, record), record.revision)
    assert (found.event_id, found.fact, found.record) == ("evt_1", fact, record)


def test_the_envelope_is_for_every_reader() -> None:
    event = Event.FromString(CODEC.encode(ENVELOPE, Requested("r1"), a_record()))
    assert (event.id, event.subject, event.tenant) == ("evt_1", "sandbox.acme.x.started", "acme")
    assert (event.actor, event.cause, event.source) == ("key:key_1", "evt_0", "lifecycle/here")
    assert event.traceparent == "00-ab-cd-01"
    assert (event.sequence, event.revision, event.sandbox.sandbox.revision) == (0, 0, 0)
    assert event.sandbox.requested.request_id == "r1"


def test_what_lifecycle_keeps_for_itself_is_sealed() -> None:
    record = a_record(handle=Handle("local", 1, {"path": "/var/lib/secret-path"}))
    assert b"secret-path" not in CODEC.encode(ENVELOPE, Requested(), record)


def test_with_another_key_the_rest_is_still_read(caplog: pytest.LogCaptureFixture) -> None:
    record = a_record(handle=Handle("local", 1), owner="here")
    data = EventCodec(Sealer(b"x" * 32)).encode(ENVELOPE, Requested(), record)
    found = CODEC.decode(data, 7).record
    assert (found.id, found.state, found.handle, found.owner) == (record.id, record.state, None, "")
    assert "sealed_with_another_key" in caplog.text


@pytest.mark.parametrize("data", [b"", b"\xff\xff", Event(id="x").SerializeToString()])
def test_another_message_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # protobuf's own error is a ValueError too
        CODEC.decode(data, 1)
