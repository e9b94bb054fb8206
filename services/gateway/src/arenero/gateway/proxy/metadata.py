"""What of a call's metadata goes on, and what does not.

Who calls is for the gateway to say: a client's own `arenero-tenant` would make it anybody. Its key stays here, too: a
service does not need it, and a sandbox must never see it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from arenero.rpc.identity import ACTOR_KEY, AUTHORIZATION_KEY, TENANT_KEY
from arenero.rpc.status import DETAILS_KEY

Pairs = Iterable[tuple[str, str | bytes]]
_DROPPED: Final = frozenset(
    {TENANT_KEY, ACTOR_KEY, AUTHORIZATION_KEY, "cookie", "traceparent", "tracestate", "user-agent", "te", "host"}
)
"""The trace context is set anew, from the gateway's own span; the rest belongs to the connection, or to nobody else."""
_DROPPED_PREFIXES: Final = (":", "grpc-", "proxy-")


def forwarded(metadata: Pairs) -> list[tuple[str, str | bytes]]:
    """Return what of a client's metadata goes on to the other side."""
    return [(key, value) for key, value in metadata if key not in _DROPPED and not key.startswith(_DROPPED_PREFIXES)]


def returned(metadata: Pairs | None) -> tuple[tuple[str, str | bytes], ...]:
    """Return what of the other side's metadata goes back to the client; status details are among it."""
    return tuple((key, value) for key, value in metadata or () if key == DETAILS_KEY or not key.startswith("grpc-"))
