"""What is known of a key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Final

from arenero.model.ids import KeyId, TenantId


class Kind(Enum):
    """What a key opens."""

    API = "api"
    EVENTS = "events"
    """The tenant's own events on NATS, read-only."""


class Scope(Enum):
    """What an API key may do."""

    TENANT = "tenant"
    READ = "read"
    ADMIN = "admin"


DEFAULT_SCOPES: Final = frozenset({Scope.TENANT})
ACTOR_PREFIX: Final = "key:"


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """One key."""

    id: KeyId
    tenant: TenantId
    name: str
    kind: Kind
    scopes: frozenset[Scope]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    hint: str = ""
    secret_digest: bytes = b""
    """Of an API key."""
    nats_password_hash: str = ""
    """Of an events key."""
    revision: int = 0

    @property
    def actor(self) -> str:
        """By which events and services name its holder."""
        return f"{ACTOR_PREFIX}{self.id}"

    def is_good(self, now: datetime) -> bool:
        """Whether it opens anything at this time."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)
