"""Decides about a call: whose key it comes with, and whether that key may do this.

Nobody needs a key for health and reflection; the server does not even ask. Everything else needs one. What a key may
call follows from its scopes and from what the method does; within its tenant, the services themselves decide.
"""

from __future__ import annotations

from collections.abc import Mapping

from arenero.errors import PermissionDenied
from arenero.gateway.catalog import PUBLIC, Method, find_method
from arenero.gateway.keys.keyring import Keyring
from arenero.gateway.keys.record import KeyRecord, Scope
from arenero.rpc.identity import Caller, bearer_token

_KEYS = PUBLIC["arenero.api.gateway.v1.KeyService"]


class Admission:
    """Finds out who calls, for the public server.

    Args:
        keyring: All keys.
    """

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    async def __call__(self, method: str, metadata: Mapping[str, str]) -> Caller | None:
        """Return the caller.

        Raises:
            Unauthenticated: No key, or none that is good.
            PermissionDenied: The key's scopes don't reach so far.
        """
        record = self.identify(metadata)
        wanted = find_method(method)
        if wanted is not None:
            check_scopes(record, wanted)
        return Caller(record.tenant, record.actor)

    def identify(self, metadata: Mapping[str, str]) -> KeyRecord:
        """Return the key of a call, or of an HTTP request by its headers in lower case."""
        return self._keyring.authenticate(bearer_token(metadata))


def check_scopes(record: KeyRecord, method: Method) -> None:
    """Check that a key may call a method.

    Raises:
        PermissionDenied: It may not.
    """
    if method.name in method.service.closed:
        text = f"{method.name} is for the platform's own parts"
        raise PermissionDenied(text, reason="CONTROL_PLANE_ONLY")
    if Scope.TENANT in record.scopes:
        return
    if Scope.READ in record.scopes and method.service.is_read(method.name):
        return
    if Scope.ADMIN in record.scopes and method.service is _KEYS:
        return
    raise PermissionDenied(
        f"the scopes of key {record.id} don't allow {method.name}",
        reason="SCOPE_MISSING",
        fix="use a key with the tenant scope",
        metadata={"scopes": ",".join(sorted(scope.value for scope in record.scopes))},
    )
