"""Who calls: the tenant and the actor of the call that is being served.

The gateway finds them out from an API key and passes them on as metadata. A service believes that metadata because it
listens on a socket that only the platform's own processes can open; the gateway removes what a client sent under these
names. A guest has its own way (`Authenticate` is what differs between the kinds of server).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Protocol

from arenero.errors import Unauthenticated
from arenero.model.ids import TenantId, parse_tenant_id

TENANT_KEY: Final = "arenero-tenant"
ACTOR_KEY: Final = "arenero-actor"
SANDBOX_KEY: Final = "arenero-sandbox-id"
AUTHORIZATION_KEY: Final = "authorization"
_BEARER: Final = "bearer "


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a call is made."""

    tenant: TenantId
    actor: str
    """Such as `key:key_…` or `system:reconciler`; goes into events."""

    def to_metadata(self) -> list[tuple[str, str]]:
        """Return the metadata by which another service knows this caller."""
        return [(TENANT_KEY, self.tenant), (ACTOR_KEY, self.actor)]


class Authenticate(Protocol):
    """Finds out who calls."""

    async def __call__(self, method: str, metadata: Mapping[str, str]) -> Caller | None:
        """Return the caller; None where the method is open to everybody.

        Raises:
            Unauthenticated: No credential, or a wrong one.
            PermissionDenied: The caller is known and may not call this method.
        """


_current: ContextVar[Caller | None] = ContextVar("arenero_caller", default=None)


def current_caller() -> Caller:
    """Return the caller of the call that is being served.

    Raises:
        Unauthenticated: There is none: the method is open, or this is no call.
    """
    caller = _current.get()
    if caller is None:
        raise Unauthenticated("this needs a caller and there is none")
    return caller


def set_caller(caller: Caller | None) -> None:
    """Set the caller for the rest of this context: a call's own task, or a background task that acts for a tenant."""
    _current.set(caller)


async def trust_metadata(method: str, metadata: Mapping[str, str]) -> Caller | None:
    """Believe the tenant and actor in the metadata: for servers on a private socket only."""
    tenant = metadata.get(TENANT_KEY)
    if not tenant:
        raise Unauthenticated(f"the call {method} has no {TENANT_KEY}", reason="NO_TENANT")
    try:
        return Caller(parse_tenant_id(tenant), metadata.get(ACTOR_KEY, ""))
    except ValueError as error:
        raise Unauthenticated(str(error), reason="BAD_TENANT") from None


def bearer_token(metadata: Mapping[str, str]) -> str:
    """Return the token of `authorization: Bearer …`.

    Raises:
        Unauthenticated: There is none.
    """
    value = metadata.get(AUTHORIZATION_KEY, "")
    if value[: len(_BEARER)].lower() != _BEARER:
        raise Unauthenticated("the call has no bearer token", reason="NO_TOKEN")
    return value[len(_BEARER) :].strip()
