"""All keys, in memory: built from the log of keys, asked at every call."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable, Iterable
from datetime import datetime

from arenero.bus.log import Entry
from arenero.errors import Unauthenticated
from arenero.gateway.keys import codec
from arenero.gateway.keys.record import KeyRecord, Kind
from arenero.gateway.keys.secrets import digest_of, is_secret
from arenero.model.ids import KeyId, TenantId
from arenero.model.time import Clock

_log = logging.getLogger(__name__)
Ended = Callable[[KeyRecord], None]


class Keyring:
    """Every key of every tenant.

    Args:
        clock: The time, for keys that end by themselves.
        on_ended: Told of each key that was revoked or has expired.
    """

    def __init__(self, clock: Clock, *, on_ended: Ended) -> None:
        self._clock = clock
        self._on_ended = on_ended
        self._keys: dict[KeyId, KeyRecord] = {}
        self._by_digest: dict[bytes, KeyId] = {}
        self._ending: dict[KeyId, datetime] = {}
        """Keys that are good now and will expire."""

    def __len__(self) -> int:
        return len(self._keys)

    def apply(self, entry: Entry) -> None:
        """Take in one event; for a `Projection`."""
        try:
            record = codec.from_entry(entry)
        except ValueError as error:
            _log.warning("keys.unreadable", extra={"sequence": entry.sequence, "error": str(error)})
            return
        known = self._keys.get(record.id)
        if known is not None and known.revision >= record.revision:
            return
        self._keys[record.id] = record
        if record.secret_digest:
            self._by_digest[record.secret_digest] = record.id
        self._watch(record)

    def authenticate(self, secret: str) -> KeyRecord:
        """Return the key whose secret this is.

        Raises:
            Unauthenticated: There is none, or it is no longer good. Which of these, only who has a secret that was good
                once learns.
        """
        digest = digest_of(secret)
        record = self._keys.get(self._by_digest.get(digest, KeyId("")))
        if record is None or not is_secret(secret) or not hmac.compare_digest(record.secret_digest, digest):
            raise Unauthenticated("the API key is not known here", reason="KEY_UNKNOWN")
        if record.revoked_at is not None:
            raise Unauthenticated("the API key was revoked", reason="KEY_REVOKED")
        if not record.is_good(self._clock.now()):
            raise Unauthenticated("the API key has expired", reason="KEY_EXPIRED")
        return record

    def find(self, key_id: KeyId) -> KeyRecord | None:
        """Return a key, ended or not; None when there is none."""
        return self._keys.get(key_id)

    def find_by_secret(self, secret: str) -> KeyRecord | None:
        """Return the key that a secret belongs to, ended or not; None when there is none."""
        key_id = self._by_digest.get(digest_of(secret))
        return self._keys[key_id] if key_id is not None else None

    def keys(self, tenant: TenantId | None = None, *, include_ended: bool = False) -> list[KeyRecord]:
        """Return keys, newest first: of one tenant or of all."""
        now = self._clock.now()
        found = (
            record
            for record in self._keys.values()
            if (tenant is None or record.tenant == tenant) and (include_ended or record.is_good(now))
        )
        return sorted(found, key=lambda record: (record.created_at, record.id), reverse=True)

    def good_events_keys(self) -> Iterable[KeyRecord]:
        """Return the events keys that are good now."""
        return [record for record in self.keys() if record.kind is Kind.EVENTS]

    def end_expired(self) -> None:
        """Tell of keys that have expired since the last time; call it about once a second."""
        now = self._clock.now()
        for key_id in [key_id for key_id, expires_at in self._ending.items() if expires_at <= now]:
            del self._ending[key_id]
            self._on_ended(self._keys[key_id])

    def _watch(self, record: KeyRecord) -> None:
        self._ending.pop(record.id, None)
        if record.revoked_at is not None:
            self._on_ended(record)
        elif record.expires_at is not None:
            self._ending[record.id] = record.expires_at
