from dataclasses import replace
from datetime import timedelta

import pytest

from arenero.api.events.v1.event_pb2 import Event
from arenero.api.gateway.v1 import key_pb2
from arenero.api.gateway.v1.key_service_pb2 import CreateRequest
from arenero.bus.envelope import new_event, pack
from arenero.bus.log import Entry
from arenero.bus.subjects import Kind as SubjectKind
from arenero.bus.subjects import Subject
from arenero.gateway.keys import codec
from arenero.gateway.keys.record import KeyRecord, Kind, Scope
from arenero.model.ids import new_event_id
from tests.unit.gateway.keys.samples import NOW, a_key


def stored(record: KeyRecord) -> Entry:
    fact = "created" if record.revoked_at is None else "revoked"
    subject = Subject(SubjectKind.KEY, record.tenant, record.id, fact)
    event = new_event(new_event_id(), subject, NOW, actor="key:key_x", source="gateway/test")
    codec.fill_event(event, record)
    data, headers = pack(event)
    return Entry(str(subject), 7, NOW, data, headers)


@pytest.mark.parametrize(
    "record",
    [
        a_key(),
        a_key(scopes=frozenset(Scope), expires_at=NOW + timedelta(microseconds=1)),
        a_key(kind=Kind.EVENTS, scopes=frozenset(), secret_digest=b"", nats_password_hash="$2a$04$x"),
        a_key(revoked_at=NOW),
    ],
)
def test_record_survives_the_log(record: KeyRecord) -> None:
    assert codec.from_entry(stored(record)) == replace(record, revision=7)


def test_fact_is_named() -> None:
    assert Event.FromString(stored(a_key()).data).key.WhichOneof("fact") == "created"
    assert Event.FromString(stored(a_key(revoked_at=NOW)).data).key.WhichOneof("fact") == "revoked"


def test_api_shows_no_hash() -> None:
    record = a_key(nats_password_hash="$2a$04$hash")
    shown = codec.to_message(record).SerializeToString()
    assert record.secret_digest not in shown
    assert b"$2a$" not in shown


def test_scope_of_a_later_version_gives_nothing() -> None:
    entry = stored(a_key(scopes=frozenset({Scope.READ})))
    event = Event.FromString(entry.data)
    event.key.key.scopes.append(99)  # type: ignore[arg-type]
    found = codec.from_entry(replace(entry, data=event.SerializeToString()))
    assert found.scopes == {Scope.READ}


def test_kind_of_a_later_version_opens_no_api() -> None:
    entry = stored(a_key())
    event = Event.FromString(entry.data)
    event.key.key.kind = 99  # type: ignore[assignment]
    assert codec.from_entry(replace(entry, data=event.SerializeToString())).kind is not Kind.API


@pytest.mark.parametrize("data", [b"\xff", b""])
def test_other_messages_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="the message 7"):
        codec.from_entry(replace(stored(a_key()), data=data))


def test_event_about_something_else_is_refused() -> None:
    entry = stored(a_key())
    event = Event.FromString(entry.data)
    event.ClearField("key")
    with pytest.raises(ValueError, match="not about a key"):
        codec.from_entry(replace(entry, data=event.SerializeToString()))


def test_unspecified_choices_of_a_request_have_their_documented_meaning() -> None:
    assert codec.kind_of(key_pb2.KEY_KIND_UNSPECIFIED) is Kind.API
    assert codec.scope_of(key_pb2.KEY_SCOPE_UNSPECIFIED) is Scope.TENANT
    # An enum field holds any number; the request's type says nothing about that.
    request = CreateRequest(kind=99, scopes=[99])  # type: ignore[arg-type, list-item]
    with pytest.raises(KeyError):
        codec.kind_of(request.kind)
    with pytest.raises(KeyError):
        codec.scope_of(request.scopes[0])
