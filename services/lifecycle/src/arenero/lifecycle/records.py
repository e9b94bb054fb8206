"""Changing records: every change is one guarded append of a fact and the record after it.

`change` takes a decision and sees to it that it is made on the newest record: when another writer was faster, it reads
again and lets the decision be made anew. So a decision must be a pure function of the record and the time; it may be
called more than once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from arenero.bus.log import Entry, EventLog
from arenero.bus.subjects import sandbox_key, sandbox_subject
from arenero.errors import Conflict, NotFound, OutcomeUnknown
from arenero.lifecycle.codec.event import Envelope, EventCodec, Occurrence
from arenero.lifecycle.facts import Fact
from arenero.lifecycle.index import SandboxIndex
from arenero.lifecycle.keys import SandboxKey, key_of
from arenero.lifecycle.machine import apply
from arenero.model.ids import new_event_id
from arenero.model.record import SandboxRecord
from arenero.model.time import Clock

MAX_TRIES: Final = 64
"""Lost races in a row after which a change gives up; far more than writers of one record."""
_CONTENT_TYPE: Final = "application/protobuf; type=arenero.api.events.v1.Event"
_propagator: Final = TraceContextTextMapPropagator()

SYSTEM: Final = "system:reconciler"
EXPIRY: Final = "system:expiry"


@dataclass(frozen=True, slots=True)
class Change:
    """What a decision comes to: a fact, and fields of the record that change with it."""

    fact: Fact
    fields: Mapping[str, Any] = field(default_factory=dict)


Decide: TypeAlias = Callable[[SandboxRecord, datetime], Change | None]
"""Says what to change of a record at a time; None: nothing. It may raise, which ends the change."""


class Records:
    """Reads and changes records.

    Args:
        log: The SANDBOX log.
        codec: Writes and reads its messages.
        index: Is told of every change.
        clock: The time of facts.
        source: Service and instance, for example `lifecycle/host-1`.
    """

    def __init__(self, log: EventLog, codec: EventCodec, index: SandboxIndex, clock: Clock, source: str) -> None:
        self._log = log
        self._codec = codec
        self._index = index
        self._clock = clock
        self._source = source

    async def create(self, record: SandboxRecord, fact: Fact, *, actor: str) -> SandboxRecord:
        """Append the first fact of a sandbox.

        Raises:
            Conflict: There is a sandbox of that id.
        """
        return await self._append(record, fact, actor=actor, cause="")

    async def change(self, key: SandboxKey, decide: Decide, *, actor: str = SYSTEM) -> SandboxRecord:
        """Change a record as decided, or leave it; return the newest record.

        A change by the platform itself names the event before it as its cause; one that somebody asked for has none.

        Raises:
            NotFound: There is no such sandbox.
            Conflict: Others changed it faster than this could, again and again.
        """
        record = self._index.find(key) or await self.read(key)
        for _ in range(MAX_TRIES):
            now = self._clock.now()
            change = decide(record, now)
            if change is None:
                return record
            cause = self._index.event_id(key) if actor.startswith("system:") else ""
            after = apply(record, change.fact, now, **change.fields)
            try:
                return await self._append(after, change.fact, actor=actor, cause=cause)
            except Conflict:
                record = await self.read(key)
        raise Conflict(f"{key.id} is being changed too fast", reason="TOO_MANY_WRITERS", retry_after_s=0.1)

    async def read(self, key: SandboxKey) -> SandboxRecord:
        """Return the record as the log has it now.

        Raises:
            NotFound: There is no such sandbox.
        """
        entry = await self._log.last(sandbox_key(*key))
        if entry is None:
            raise absent(key)
        return self.take(entry).record

    async def get(self, key: SandboxKey) -> SandboxRecord:
        """Return the newest record known here, or look into the log for one that isn't.

        Raises:
            NotFound: There is no such sandbox.
        """
        return self._index.find(key) or await self.read(key)

    def take(self, entry: Entry) -> Occurrence:
        """Read an entry of the log and tell the index of it.

        Raises:
            ValueError: It is no message of this log.
        """
        occurrence = self._codec.decode(entry.data, entry.sequence)
        self._index.apply(occurrence.record, occurrence.event_id)
        return occurrence

    async def purge(self, key: SandboxKey) -> None:
        """Drop all facts about a sandbox from the log, and forget it."""
        await self._log.purge(sandbox_key(*key))
        self._index.remove(key)

    async def _append(self, record: SandboxRecord, fact: Fact, *, actor: str, cause: str) -> SandboxRecord:
        key, event_id = key_of(record), new_event_id()
        subject = sandbox_subject(*key, fact.word)
        headers = {"Content-Type": _CONTENT_TYPE}
        _propagator.inject(headers)
        envelope = Envelope(
            event_id=event_id,
            subject=subject,
            time=record.updated_at,
            actor=actor,
            source=self._source,
            cause=cause,
            traceparent=headers.get("traceparent", ""),
        )
        data = self._codec.encode(envelope, fact, record)
        try:
            appended = await self._log.append(
                subject,
                data,
                key_filter=sandbox_key(*key),
                expected_revision=record.revision,
                message_id=event_id,
                headers=headers,
            )
            sequence = appended.sequence
        except OutcomeUnknown:
            sequence = await self._look_for(key, event_id)
        stored = replace(record, revision=sequence)
        self._index.apply(stored, event_id)
        return stored

    async def _look_for(self, key: SandboxKey, event_id: str) -> int:
        """Return the sequence of an append whose answer was lost, when it is the newest of its key."""
        entry = await self._log.last(sandbox_key(*key))
        if entry is not None and entry.message_id == event_id:
            return entry.sequence
        raise OutcomeUnknown(f"it is not known whether the change of {key.id} was stored", reason="APPEND_UNKNOWN")


def absent(key: SandboxKey) -> NotFound:
    """Return the error of a sandbox that doesn't exist, or not for this tenant."""
    return NotFound(f"there is no sandbox {key.id}", reason="SANDBOX_NOT_FOUND", metadata={"sandbox_id": key.id})
