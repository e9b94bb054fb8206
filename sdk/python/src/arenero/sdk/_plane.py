"""The way to one sandbox's execd: straight to its socket where this process may, through the gateway otherwise."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

import grpc

from arenero.sdk._channels import Channels, Metadata, metadata, unary
from arenero.sdk._payloads import reuse_memory
from arenero.sdk._tracing import trace_metadata
from arenero.sdk.errors import (
    AreneroError,
    DeadlineExceeded,
    FailedPrecondition,
    OutcomeUnknown,
    Unauthenticated,
    Unavailable,
)
from arenero.sdk.settings import Settings

_RENEW_BEFORE_END_S: Final = 60.0
_TOKEN_UNKNOWN_END_S: Final = 600.0
_DIRECT_AGAIN_S: Final = 30.0
"""After the direct way failed, the gateway is taken for so long."""
_MOST_UPLOADS: Final = 4
_FIRST_WAIT_S: Final = 0.1
_LONGEST_WAIT_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class DirectEndpoint:
    """Where execd answers, and with which token."""

    address: str
    token: str = field(repr=False)
    expires_at_s: float
    """Unix time."""

    @property
    def is_reachable(self) -> bool:
        """Whether this process may connect: only Unix sockets can be told beforehand."""
        scheme, _, path = self.address.partition(":")
        return scheme == "unix" and os.access(path, os.W_OK)


@dataclass(frozen=True, slots=True)
class Way:
    """One way to make a call."""

    channels: Channels
    channel: grpc.aio.Channel
    metadata: Metadata
    endpoint: DirectEndpoint | None
    """None: through the gateway."""

    def method(self, stub: type[Any], name: str) -> Any:
        """Return a method of a generated stub, made once per channel."""
        made = self.channels.method(self.channel, stub.__name__, lambda: stub(self.channel))
        return getattr(made, name)

    def bulk(self, path: str, make: Callable[[grpc.aio.Channel], Any]) -> Any:
        """Return a method that carries bulk data, whose messages are read or written by hand; made once per channel."""
        reuse_memory()
        return self.channels.method(self.channel, path, lambda: make(self.channel))


class Plane:
    """Channels and metadata for the data calls of one sandbox."""

    def __init__(
        self,
        sandbox_id: str,
        gateway: Channels,
        gateway_metadata: Metadata,
        find_endpoint: Callable[[], Awaitable[DirectEndpoint]],
        settings: Settings,
    ) -> None:
        self._gateway = gateway
        self._gateway_metadata = (*gateway_metadata, *metadata([("arenero-sandbox-id", sandbox_id)]))
        self._find_endpoint = find_endpoint
        self._prefer_direct = settings.prefer_direct
        self._gateway_until_s = 0.0
        self._refusals = 0
        self._finding = asyncio.Lock()
        self._endpoint: DirectEndpoint | None = None
        self._direct: dict[str, Channels] = {}
        self._is_direct = False
        self.reconnect_s = settings.reconnect_s
        self.uploads = asyncio.Semaphore(_MOST_UPLOADS)
        """Turns to upload: of each upload, more waits in the sandbox's memory than a small one has for many."""

    @property
    def is_direct(self) -> bool:
        """Whether the last call went straight to execd."""
        return self._is_direct

    def learn(self, endpoint: DirectEndpoint) -> None:
        """Take an endpoint that came with another answer."""
        self._endpoint = endpoint

    async def short(self) -> Way:
        """Return where to make a call that ends soon."""
        return await self._way(Channels.short)

    async def stream(self) -> Way:
        """Return where to make a call that stays open."""
        return await self._way(Channels.stream)

    def has_other(self, way: Way, error: AreneroError) -> bool:
        """Learn from a call that failed on this way, with nothing done; return whether to try again at once.

        The channel stays open: other calls may be on it, and it connects again by itself.
        """
        if way.endpoint is None:
            return False
        if self._endpoint is not way.endpoint:
            return True  # another call has learnt it already
        self._endpoint = None
        self._refusals += isinstance(error, Unauthenticated)
        # One refusal says that the token is too old, two that it isn't the token.
        if not isinstance(error, Unauthenticated) or self._refusals > 1:
            self._gateway_until_s = time.monotonic() + _DIRECT_AGAIN_S
            self._refusals = 0
        return True

    async def close(self) -> None:
        """Close what belongs to this sandbox alone."""
        direct, self._direct, self._is_direct = self._direct, {}, False
        for channels in direct.values():
            await channels.close()

    async def _way(self, choose: Callable[[Channels], grpc.aio.Channel]) -> Way:
        endpoint = await self._usable_endpoint() if self._prefer_direct else None
        self._is_direct = endpoint is not None
        if endpoint is None:
            return Way(self._gateway, choose(self._gateway), (*self._gateway_metadata, *trace_metadata()), None)
        channels = self._direct.get(endpoint.address) or Channels(endpoint.address)
        self._direct[endpoint.address] = channels
        token = metadata([("authorization", f"Bearer {endpoint.token}")])
        return Way(channels, choose(channels), (*token, *trace_metadata()), endpoint)

    async def _usable_endpoint(self) -> DirectEndpoint | None:
        """Return where to go directly; None for the gateway, which also wakes a sandbox that sleeps."""
        if time.monotonic() < self._gateway_until_s:
            return None
        endpoint = self._endpoint
        if endpoint is None or endpoint.expires_at_s - time.time() < _RENEW_BEFORE_END_S:
            endpoint = await self._renewed_endpoint(endpoint)
        if endpoint is not None and endpoint.is_reachable:
            return endpoint
        self._gateway_until_s = time.monotonic() + _DIRECT_AGAIN_S
        return None

    async def _renewed_endpoint(self, old: DirectEndpoint | None) -> DirectEndpoint | None:
        async with self._finding:
            if self._endpoint is not old:
                return self._endpoint  # another call has found it meanwhile
            try:
                self._endpoint = await self._find_endpoint()
            except (Unavailable, OutcomeUnknown, DeadlineExceeded, FailedPrecondition):
                # The sandbox needs no control plane as long as the token holds.
                return old if old is not None and old.expires_at_s > time.time() else None
            return self._endpoint


class Patience:
    """How long to go on trying after connections broke: waits longer each time, and begins anew after a success."""

    def __init__(self, total_s: float) -> None:
        self._total_s = total_s
        self._started_s: float | None = None
        self._wait_s = _FIRST_WAIT_S

    def renew(self) -> None:
        """Something worked."""
        self._started_s, self._wait_s = None, _FIRST_WAIT_S

    async def is_left(self, at_least_s: float = 0.0) -> bool:
        """Wait before the next try; False, at once, when it isn't worth another."""
        now_s = time.monotonic()
        self._started_s = self._started_s if self._started_s is not None else now_s
        wait_s = max(self._wait_s, at_least_s)
        if now_s - self._started_s + wait_s > self._total_s:
            return False
        await asyncio.sleep(wait_s)
        self._wait_s = min(2 * self._wait_s, _LONGEST_WAIT_S)
        return True


async def call(plane: Plane, stub: type[Any], method: str, request: Any, *, repeatable: bool = False) -> Any:
    """Make a unary call to a sandbox's execd.

    Args:
        plane: The way there.
        stub: Of the service.
        method: Its method.
        request: What is asked.
        repeatable: Asking twice does no more than asking once, so a broken connection is no reason to give up.
    """
    patience = Patience(plane.reconnect_s)
    while True:
        way = await plane.short()
        try:
            return await unary(way.method(stub, method), request, metadata=way.metadata)
        except (Unavailable, Unauthenticated, OutcomeUnknown) as error:
            is_undone = not isinstance(error, OutcomeUnknown)
            if is_undone and plane.has_other(way, error):
                continue
            if isinstance(error, Unauthenticated) or not repeatable or not await patience.is_left():
                raise


def endpoint_of(address: str, token: str, expires_at_s: float | None) -> DirectEndpoint:
    """Build an endpoint; a token of unknown end is renewed soon."""
    return DirectEndpoint(
        address, token, expires_at_s if expires_at_s is not None else time.time() + _TOKEN_UNKNOWN_END_S
    )
