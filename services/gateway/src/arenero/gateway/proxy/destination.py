"""Where calls go: to a service of the platform, or to the execd of the sandbox that the call names.

Both hand out a `Leg`: a connection that is up, and the metadata with which the other side knows the gateway. Handing it
out is the last moment at which a failure certainly means that nothing was sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import grpc

from arenero.errors import InvalidArgument, Unavailable, Unsupported
from arenero.gateway.proxy.metadata import Pairs
from arenero.gateway.proxy.pool import ChannelPool, Lane
from arenero.gateway.proxy.sandboxes import Sandboxes, Way
from arenero.model.ids import SandboxId, parse_sandbox_id
from arenero.rpc.identity import SANDBOX_KEY, Caller


@dataclass(frozen=True, slots=True)
class Leg:
    """The second half of one call's way. Close it when the call is over."""

    pool: ChannelPool
    lane: Lane
    metadata: list[tuple[str, str | bytes]]
    way: Way | None = None
    """Of a sandbox, to forget when it turns out to be wrong."""

    @property
    def channel(self) -> grpc.aio.Channel:
        """The connection."""
        return self.lane.channel

    def close(self) -> None:
        """Give the connection back."""
        self.pool.give_back(self.lane)


class Destination(Protocol):
    """Hands out the second half of the way."""

    async def leg(self, caller: Caller, metadata: Pairs) -> Leg:
        """Return a place for one call on a connection that is up.

        Args:
            caller: On whose behalf.
            metadata: The client's own, without what is not passed on.

        Raises:
            Unavailable: There is no connection; nothing was sent.
            ArenError: Whatever lifecycle says about the sandbox.
        """

    def distrust(self, caller: Caller, leg: Leg) -> None:
        """Note that a leg did not lead where it should."""


class ToService:
    """To a service of the platform, which believes whom the gateway names."""

    def __init__(self, pool: ChannelPool | None) -> None:
        self._pool = pool

    async def leg(self, caller: Caller, metadata: Pairs) -> Leg:
        """Hand out a connection; see `Destination.leg`."""
        if self._pool is None:
            raise Unsupported("this platform runs without that service", reason="SERVICE_ABSENT")
        return Leg(self._pool, await self._pool.take(), [*caller.to_metadata()])

    def distrust(self, caller: Caller, leg: Leg) -> None:
        """Do nothing: a service has one address."""


class ToSandbox:
    """To the execd of the sandbox that the metadata names. Tenant and actor stay outside: nobody there needs them."""

    def __init__(self, sandboxes: Sandboxes) -> None:
        self._sandboxes = sandboxes

    async def leg(self, caller: Caller, metadata: Pairs) -> Leg:
        """Hand out a connection; if the remembered way leads nowhere, the way is asked for once more."""
        sandbox_id = named_sandbox(metadata)
        way = await self._sandboxes.way(caller, sandbox_id)
        try:
            lane = await way.pool.take(patience_s=0)
        except Unavailable:
            self._sandboxes.forget(caller.tenant, sandbox_id, way=way)
            way = await self._sandboxes.way(caller, sandbox_id)
            lane = await way.pool.take()
        return Leg(way.pool, lane, way.metadata, way)

    def distrust(self, caller: Caller, leg: Leg) -> None:
        """Ask for the way again at the next call."""
        if leg.way is not None:
            self._sandboxes.forget(caller.tenant, leg.way.sandbox_id, way=leg.way)


def named_sandbox(metadata: Pairs) -> SandboxId:
    """Return the sandbox that a call names.

    Raises:
        InvalidArgument: It names none.
    """
    value = next((value for key, value in metadata if key == SANDBOX_KEY), "")
    if not isinstance(value, str) or not value:
        raise InvalidArgument(f"the call's metadata has no {SANDBOX_KEY}", reason="NO_SANDBOX_ID", field=SANDBOX_KEY)
    try:
        return parse_sandbox_id(value)
    except ValueError as error:
        raise InvalidArgument(str(error), field=SANDBOX_KEY) from None
