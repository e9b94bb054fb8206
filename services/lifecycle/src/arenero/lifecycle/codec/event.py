"""The messages of the SANDBOX log: a fact and the record after it, in the envelope that all events share."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime

from google.protobuf.message import DecodeError

from arenero.api.events.v1.event_pb2 import Event
from arenero.api.events.v1.sandbox_events_pb2 import SandboxEvent, SandboxInternal
from arenero.lifecycle.codec.facts import decode_fact, encode_fact
from arenero.lifecycle.codec.record import decode_record, encode_internal, encode_sandbox
from arenero.lifecycle.codec.scalars import to_timestamp
from arenero.lifecycle.facts import Fact
from arenero.lifecycle.secrets import Sealer
from arenero.model.record import SandboxRecord

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Envelope:
    """What is said about a fact beside the fact itself."""

    event_id: str
    subject: str
    time: datetime
    actor: str
    source: str
    """Service and instance that appends it."""
    cause: str = ""
    traceparent: str = ""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One message of the log, read."""

    event_id: str
    fact: Fact | None
    """None: a fact of a later version."""
    record: SandboxRecord


class EventCodec:
    """Writes and reads the messages of the SANDBOX log."""

    def __init__(self, sealer: Sealer) -> None:
        self._sealer = sealer

    def encode(self, envelope: Envelope, fact: Fact, record: SandboxRecord) -> bytes:
        """Return the message of a fact. Revision and sequence stay zero in it: only the log knows them."""
        sandbox = encode_sandbox(record)
        sandbox.ClearField("revision")
        about = SandboxEvent(
            sandbox=sandbox, internal_sealed=self._sealer.seal(encode_internal(record).SerializeToString())
        )
        getattr(about, fact.word).CopyFrom(encode_fact(fact))
        event = Event(
            id=envelope.event_id,
            subject=envelope.subject,
            time=to_timestamp(envelope.time),
            tenant=record.tenant,
            actor=envelope.actor,
            cause=envelope.cause,
            traceparent=envelope.traceparent,
            source=envelope.source,
            sandbox=about,
        )
        return event.SerializeToString()

    def decode(self, data: bytes, sequence: int) -> Occurrence:
        """Return what a stored message says; its sequence is the record's revision.

        Raises:
            ValueError: It is no message of this log.
        """
        try:
            event = Event.FromString(data)
        except DecodeError as error:
            raise ValueError(f"this is no event: {error}") from None
        if not event.HasField("sandbox"):
            raise ValueError("an event of this log must be about a sandbox")
        record = decode_record(event.sandbox.sandbox, self._open(event.sandbox), revision=sequence)
        return Occurrence(event.id, decode_fact(event.sandbox), record)

    def _open(self, about: SandboxEvent) -> SandboxInternal:
        """Return the sealed part. With another key it is as good as gone: the sandbox will count as vanished."""
        plain = self._sealer.open(about.internal_sealed)
        if plain is None:
            _log.error("lifecycle.record.sealed_with_another_key", extra={"sandbox_id": about.sandbox.id})
            return SandboxInternal()
        return SandboxInternal.FromString(plain)
