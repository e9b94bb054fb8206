"""Keys for tests."""

from datetime import UTC, datetime
from typing import Any

from arenero.gateway.keys.record import KeyRecord, Kind, Scope
from arenero.gateway.keys.secrets import digest_of, hint_of, new_secret
from arenero.model.ids import TenantId, new_key_id

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def a_key(secret: str = "", **fields: Any) -> KeyRecord:
    secret = secret or new_secret()
    given = {
        "id": new_key_id(),
        "tenant": TenantId("acme"),
        "name": "test",
        "kind": Kind.API,
        "scopes": frozenset({Scope.TENANT}),
        "created_at": NOW,
        "hint": hint_of(secret),
        "secret_digest": digest_of(secret),
        **fields,
    }
    return KeyRecord(**given)
