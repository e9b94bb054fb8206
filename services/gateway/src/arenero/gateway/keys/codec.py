"""Keys between the log, the API and the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from arenero.api.events.v1.event_pb2 import Event
from arenero.api.events.v1.key_events_pb2 import KeyCreated, KeyEvent, KeyRevoked
from arenero.api.gateway.v1 import key_pb2
from arenero.bus.envelope import unpack
from arenero.bus.log import Entry
from arenero.gateway.keys.record import KeyRecord, Kind, Scope
from arenero.model.ids import parse_key_id, parse_tenant_id
from arenero.model.time import from_unix_ns, to_unix_ns

_KINDS: Final[Mapping[key_pb2.KeyKind, Kind]] = {
    key_pb2.KEY_KIND_UNSPECIFIED: Kind.API,
    key_pb2.KEY_KIND_API: Kind.API,
    key_pb2.KEY_KIND_EVENTS: Kind.EVENTS,
}
_SCOPES: Final[Mapping[key_pb2.KeyScope, Scope]] = {
    key_pb2.KEY_SCOPE_UNSPECIFIED: Scope.TENANT,
    key_pb2.KEY_SCOPE_TENANT: Scope.TENANT,
    key_pb2.KEY_SCOPE_READ: Scope.READ,
    key_pb2.KEY_SCOPE_ADMIN: Scope.ADMIN,
}
_KIND_VALUES: Final = {kind: value for value, kind in _KINDS.items()}
_SCOPE_VALUES: Final = {scope: value for value, scope in _SCOPES.items()}


def kind_of(value: key_pb2.KeyKind) -> Kind:
    """Return the kind that a request names; KeyError when it is unknown here."""
    return _KINDS[value]


def scope_of(value: key_pb2.KeyScope) -> Scope:
    """Return the scope that a request names; KeyError when it is unknown here."""
    return _SCOPES[value]


def to_message(record: KeyRecord) -> key_pb2.Key:
    """Return the record as the API shows it: without hashes."""
    message = key_pb2.Key(
        id=record.id,
        tenant=record.tenant,
        name=record.name,
        kind=_KIND_VALUES[record.kind],
        scopes=sorted(_SCOPE_VALUES[scope] for scope in record.scopes),
        created_at=_timestamp(record.created_at),
        hint=record.hint,
    )
    if record.expires_at is not None:
        message.expires_at.CopyFrom(_timestamp(record.expires_at))
    if record.revoked_at is not None:
        message.revoked_at.CopyFrom(_timestamp(record.revoked_at))
    return message


def fill_event(event: Event, record: KeyRecord) -> None:
    """Put the record and the fact that led to it into an event."""
    fact = KeyEvent(
        key=to_message(record), secret_sha256=record.secret_digest, nats_password_hash=record.nats_password_hash
    )
    if record.revoked_at is None:
        fact.created.CopyFrom(KeyCreated())
    else:
        fact.revoked.CopyFrom(KeyRevoked())
    event.key.CopyFrom(fact)


def from_entry(entry: Entry) -> KeyRecord:
    """Return the record of a stored event.

    Raises:
        ValueError: It is none of this version.
    """
    event = unpack(entry)
    if event.WhichOneof("fact") != "key":
        raise ValueError(f"the event {event.id} is not about a key")
    key = event.key.key
    record = KeyRecord(
        id=parse_key_id(key.id),
        tenant=parse_tenant_id(key.tenant),
        name=key.name,
        kind=_KINDS.get(key.kind, Kind.EVENTS),
        # A scope of a later version gives nothing here.
        scopes=frozenset(_SCOPES[scope] for scope in key.scopes if scope in _SCOPES),
        created_at=_datetime(key.created_at),
        hint=key.hint,
        secret_digest=event.key.secret_sha256,
        nats_password_hash=event.key.nats_password_hash,
        revision=entry.sequence,
    )
    return replace(
        record,
        expires_at=_datetime(key.expires_at) if key.HasField("expires_at") else None,
        revoked_at=_datetime(key.revoked_at) if key.HasField("revoked_at") else None,
    )


def _timestamp(instant: datetime) -> Timestamp:
    message = Timestamp()
    message.FromNanoseconds(to_unix_ns(instant))
    return message


def _datetime(message: Timestamp) -> datetime:
    return from_unix_ns(message.ToNanoseconds()).astimezone(UTC)
