"""Writes keys down: a change is one guarded append to their log, and counts once this gateway has read it back."""

from __future__ import annotations

from dataclasses import replace

from arenero.bus.envelope import new_event, pack
from arenero.bus.log import EventLog
from arenero.bus.projection import Projection
from arenero.bus.subjects import Kind as SubjectKind
from arenero.bus.subjects import Subject
from arenero.errors import Conflict, NotFound
from arenero.gateway.keys import codec
from arenero.gateway.keys.keyring import Keyring
from arenero.gateway.keys.record import KeyRecord
from arenero.model.ids import KeyId, event_id_for, new_event_id
from arenero.model.time import Clock


class Ledger:
    """Creates and revokes keys.

    Args:
        log: The log of keys.
        projection: Feeds the keyring from it.
        keyring: What is known.
        clock: The time.
        source: Service and instance, such as `gateway/host-1`.
    """

    def __init__(self, log: EventLog, projection: Projection, keyring: Keyring, clock: Clock, source: str) -> None:
        self._log = log
        self._projection = projection
        self._keyring = keyring
        self._clock = clock
        self._source = source

    async def create(self, record: KeyRecord, *, actor: str) -> KeyRecord:
        """Write a new key down. When this returns, the key opens what it is for.

        Raises:
            Conflict: There is a key of that id.
            Unavailable: The log is away; nothing was written.
            OutcomeUnknown: The log did not answer: the key may exist, and its secret was told nobody.
        """
        return await self._append(record, "created", actor, expected_revision=0)

    async def revoke(self, key_id: KeyId, *, actor: str) -> KeyRecord:
        """End a key; one that was revoked before is left as it is. When this returns, it opens nothing here.

        Raises:
            NotFound: There is no such key.
            Unavailable: The log is away; nothing was written.
        """
        while True:
            record = self._keyring.find(key_id)
            if record is None:
                raise NotFound(f"there is no key {key_id}", reason="KEY_NOT_FOUND")
            if record.revoked_at is not None:
                return record
            try:
                revoked = replace(record, revoked_at=self._clock.now())
                return await self._append(revoked, "revoked", actor, expected_revision=record.revision)
            except Conflict as error:
                # Somebody else was quicker, and there is only one thing to change about a key.
                await self._projection.wait_for(int(error.metadata.get("revision", "0")))

    async def _append(self, record: KeyRecord, fact: str, actor: str, *, expected_revision: int) -> KeyRecord:
        subject = Subject(SubjectKind.KEY, record.tenant, record.id, fact)
        event_id = event_id_for(record.id, fact) if fact == "created" else new_event_id()
        event = new_event(event_id, subject, self._clock.now(), actor=actor, source=self._source)
        codec.fill_event(event, record)
        data, headers = pack(event)
        appended = await self._log.append(
            str(subject),
            data,
            key_filter=subject.key,
            expected_revision=expected_revision,
            message_id=event_id,
            headers=headers,
        )
        await self._projection.wait_for(appended.sequence)
        return replace(record, revision=appended.sequence)
