"""The ways to sandboxes' execds: asked of lifecycle once, remembered, forgotten when they may have changed.

A way is an address and a token of the gateway's own. It is asked for in the name of the caller's tenant, so a sandbox
of another tenant is not found, and remembered under the tenant, so it is never found later either. It is forgotten when
lifecycle's events say that the sandbox ended, paused or started anew, when a connection fails, when execd refuses the
token, and some time before the token ends. Nothing here decides anything: a stale way costs one more question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from arenero.gateway.proxy.pool import ChannelPool, PoolConfig
from arenero.model.ids import SandboxId, TenantId
from arenero.model.time import Clock
from arenero.rpc.identity import AUTHORIZATION_KEY, Caller

_TOKEN_MARGIN_S: Final = 300.0
"""A token is replaced this long before it ends, since a stream may begin late and clocks differ."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What lifecycle answers."""

    address: str
    token: str
    token_expires_at: datetime
    generation: int
    headers: tuple[tuple[str, str], ...] = ()


GetEndpoint = Callable[[Caller, SandboxId], Awaitable[Endpoint]]
"""Asks lifecycle; raises NotFound and FailedPrecondition as it does."""


class SandboxKey(NamedTuple):
    """A sandbox as one tenant may name it."""

    tenant: TenantId
    id: SandboxId


@dataclass(eq=False, slots=True)
class Way:
    """How to reach one execd."""

    sandbox_id: SandboxId
    endpoint: Endpoint
    pool: ChannelPool
    used_s: float

    @property
    def metadata(self) -> list[tuple[str, str | bytes]]:
        """What execd wants to see."""
        return [(AUTHORIZATION_KEY, f"Bearer {self.endpoint.token}"), *self.endpoint.headers]


@dataclass(eq=False, slots=True)
class _Place:
    """One sandbox: its way, if known, and the lock of whoever asks for it."""

    way: Way | None = None
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


class Sandboxes:
    """Remembers ways.

    Args:
        get_endpoint: Asks lifecycle.
        pool_config: How connections to one execd are shared.
        clock: The time.
        forget_s: A way that was not used for so long is forgotten.
    """

    def __init__(
        self, get_endpoint: GetEndpoint, pool_config: PoolConfig, clock: Clock, *, forget_s: float = 600.0
    ) -> None:
        self._get_endpoint = get_endpoint
        self._pool_config = pool_config
        self._clock = clock
        self._forget_s = forget_s
        self._places: dict[SandboxKey, _Place] = {}
        self._retired: list[ChannelPool] = []

    @property
    def known(self) -> int:
        """Sandboxes whose way is known."""
        return sum(place.way is not None for place in self._places.values())

    @property
    def connections(self) -> int:
        """Connections to execds."""
        return sum(pool.connections for pool in self._pools())

    async def way(self, caller: Caller, sandbox_id: SandboxId) -> Way:
        """Return the way to a sandbox; several callers at once ask lifecycle once.

        Raises:
            NotFound: The caller's tenant has no such sandbox.
            FailedPrecondition: It does not run.
            Unavailable: Lifecycle can't be asked.
        """
        place = self._places.setdefault(SandboxKey(caller.tenant, sandbox_id), _Place())
        way = place.way
        if way is None or not self._is_fresh(way):
            way = await self._ask(place, caller, sandbox_id)
        way.used_s = self._clock.monotonic_s()
        return way

    def forget(self, tenant: TenantId, sandbox_id: SandboxId, *, way: Way | None = None) -> None:
        """Forget the way to a sandbox, so that the next call asks; with `way`, only if it still is that one.

        Calls under way go on. Their connections close after them.
        """
        place = self._places.get(SandboxKey(tenant, sandbox_id))
        if place is None or place.way is None or (way is not None and place.way is not way):
            return
        self._retired.append(place.way.pool)
        place.way = None

    def forget_all(self) -> None:
        """Forget every way."""
        for key in self._places:
            self.forget(*key)

    async def sweep(self) -> None:
        """Close connections that are idle, and forget what was not used for long. Call it now and then."""
        limit_s = self._clock.monotonic_s() - self._forget_s
        for key, place in list(self._places.items()):
            if place.way is not None and place.way.used_s <= limit_s and not place.way.pool.calls:
                self.forget(*key)
            if place.way is None and not place.asking.locked():
                del self._places[key]
        for pool in self._pools():
            await (pool.retire() if pool in self._retired else pool.close_idle())
        self._retired = [pool for pool in self._retired if pool.connections]

    async def close(self) -> None:
        """Close every connection."""
        for pool in self._pools():
            await pool.close()

    def _pools(self) -> list[ChannelPool]:
        return [*(place.way.pool for place in self._places.values() if place.way is not None), *self._retired]

    def _is_fresh(self, way: Way) -> bool:
        return self._clock.now() + timedelta(seconds=_TOKEN_MARGIN_S) < way.endpoint.token_expires_at

    async def _ask(self, place: _Place, caller: Caller, sandbox_id: SandboxId) -> Way:
        async with place.asking:
            known = place.way
            if known is not None and self._is_fresh(known):
                return known
            endpoint = await self._get_endpoint(caller, sandbox_id)
            pool = self._pool_for(endpoint, known)
            place.way = Way(sandbox_id, endpoint, pool, self._clock.monotonic_s())
            self._places[SandboxKey(caller.tenant, sandbox_id)] = place  # A sweep may have dropped it meanwhile.
            return place.way

    def _pool_for(self, endpoint: Endpoint, known: Way | None) -> ChannelPool:
        """Keep the connections if only the token is new."""
        if known is not None:
            before = known.endpoint
            if (before.address, before.generation) == (endpoint.address, endpoint.generation):
                return known.pool
            self._retired.append(known.pool)
        return ChannelPool(endpoint.address, self._pool_config, self._clock.monotonic_s)
