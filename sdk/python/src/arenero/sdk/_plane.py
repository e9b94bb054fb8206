"""The way to one sandbox's execd: straight to its socket where this process may, through the gateway otherwise."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import grpc

from arenero.sdk._channels import Channels, Metadata, metadata

_RENEW_BEFORE_END_S: Final = 60.0
_TOKEN_UNKNOWN_END_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class DirectEndpoint:
    """Where execd answers, and with which token."""

    address: str
    token: str
    expires_at_s: float
    """Unix time."""

    @property
    def is_reachable(self) -> bool:
        """Whether this process may connect: only Unix sockets can be told beforehand."""
        scheme, _, path = self.address.partition(":")
        return scheme == "unix" and os.access(path, os.W_OK)


class Plane:
    """Channels and metadata for the data calls of one sandbox."""

    def __init__(
        self,
        sandbox_id: str,
        gateway: Channels,
        gateway_metadata: Metadata,
        find_endpoint: Callable[[], Awaitable[DirectEndpoint]],
        *,
        prefer_direct: bool,
    ) -> None:
        self._gateway = gateway
        self._gateway_metadata = (*gateway_metadata, *metadata([("arenero-sandbox-id", sandbox_id)]))
        self._find_endpoint = find_endpoint
        self._prefer_direct = prefer_direct
        self._endpoint: DirectEndpoint | None = None
        self._direct: Channels | None = None

    @property
    def is_direct(self) -> bool:
        """Whether the last call went straight to execd."""
        return self._direct is not None

    def learn(self, endpoint: DirectEndpoint) -> None:
        """Take an endpoint that came with another answer."""
        self._endpoint = endpoint

    async def short(self) -> tuple[Channels, grpc.aio.Channel, Metadata]:
        """Return where to make a call that ends soon."""
        channels, call_metadata = await self._route()
        return channels, channels.short(), call_metadata

    async def stream(self) -> tuple[Channels, grpc.aio.Channel, Metadata]:
        """Return where to make a call that stays open."""
        channels, call_metadata = await self._route()
        return channels, channels.stream(), call_metadata

    async def forget_direct(self) -> None:
        """The direct way failed: find the endpoint again before it is tried once more."""
        self._endpoint = None
        await self._close_direct()

    async def close(self) -> None:
        """Close what belongs to this sandbox alone."""
        await self._close_direct()

    async def _close_direct(self) -> None:
        direct, self._direct = self._direct, None
        if direct is not None:
            await direct.close()

    async def _route(self) -> tuple[Channels, Metadata]:
        if not self._prefer_direct:
            return self._gateway, self._gateway_metadata
        endpoint = self._endpoint
        if endpoint is None or endpoint.expires_at_s - time.time() < _RENEW_BEFORE_END_S:
            endpoint = self._endpoint = await self._find_endpoint()
        if not endpoint.is_reachable:
            self._prefer_direct = False
            await self._close_direct()
            return self._gateway, self._gateway_metadata
        if self._direct is None or self._direct.address != endpoint.address:
            await self._close_direct()
            self._direct = Channels(endpoint.address)
        return self._direct, metadata([("authorization", f"Bearer {endpoint.token}")])


def stub_method(channels: Channels, channel: grpc.aio.Channel, stub: type[Any], name: str) -> Any:
    """Return a method of a generated stub on a channel, made once per channel."""
    made = channels.method(channel, stub.__name__, lambda: stub(channel))
    return getattr(made, name)


def endpoint_of(address: str, token: str, expires_at_s: float | None) -> DirectEndpoint:
    """Build an endpoint; a token of unknown end is renewed soon."""
    return DirectEndpoint(
        address, token, expires_at_s if expires_at_s is not None else time.time() + _TOKEN_UNKNOWN_END_S
    )
