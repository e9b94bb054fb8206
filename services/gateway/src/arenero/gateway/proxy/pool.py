"""Connections to one address: few, shared, opened when needed, closed when idle.

One HTTP/2 connection carries many calls, but its bytes stand in one line: with many streams on it a small answer waits
behind the output of others. So calls are spread: each takes the connection with the fewest calls, and another one is
opened when all are busy. A call is only begun on a connection that is up. If it can't be brought up, the call surely
was not sent; if it breaks later, nobody knows. Only here can the two be told apart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import grpc

from arenero.errors import Unavailable
from arenero.rpc.client import open_channel

_READY: Final = grpc.ChannelConnectivity.READY
_DEAD: Final = frozenset({grpc.ChannelConnectivity.TRANSIENT_FAILURE, grpc.ChannelConnectivity.SHUTDOWN})


@dataclass(frozen=True, slots=True)
class PoolConfig:
    """How connections are shared."""

    calls_per_connection: int = 24
    """Calls on each connection at which another one is opened. Few, since an idle stream costs nothing on any of them
    and a busy one delays its neighbours."""
    max_connections: int = 4
    """Connections to one address at most. Each costs some 100 KiB and a socket on both sides."""
    idle_s: float = 60.0
    """How long a connection without calls is kept: longer than the pauses of somebody who works in a sandbox."""
    patience_s: float = 2.0
    """How long a call waits for a connection: a service that is restarted is back within that."""


@dataclass(eq=False, slots=True)
class Lane:
    """One connection and the calls on it."""

    channel: grpc.aio.Channel
    calls: int = 0
    idle_since_s: float = 0.0


class ChannelPool:
    """The connections to one address.

    Args:
        address: gRPC target.
        config: How they are shared.
        monotonic_s: A clock that never jumps.
    """

    def __init__(self, address: str, config: PoolConfig, monotonic_s: Callable[[], float]) -> None:
        self.address = address
        self._config = config
        self._monotonic_s = monotonic_s
        self._lanes: list[Lane] = []
        self._is_retired = False

    @property
    def connections(self) -> int:
        """Connections that are open."""
        return len(self._lanes)

    @property
    def calls(self) -> int:
        """Calls under way."""
        return sum(lane.calls for lane in self._lanes)

    async def take(self, *, patience_s: float | None = None) -> Lane:
        """Return a connection that is up, for one call; it must be given back with `give_back`.

        Args:
            patience_s: How long to wait for it, when not as configured; 0: give up at the first failure to connect.

        Raises:
            Unavailable: There is none. Nothing was sent.
        """
        lane = self._choose()
        lane.calls += 1
        if lane.channel.get_state(try_to_connect=True) is not _READY:
            try:
                await self._wait_up(lane.channel, patience_s)
            except BaseException:
                self.give_back(lane)
                raise
        return lane

    def give_back(self, lane: Lane) -> None:
        """Note that a call is over."""
        lane.calls -= 1
        lane.idle_since_s = self._monotonic_s()

    async def close_idle(self) -> None:
        """Close connections that have had no call for a while; all without a call when the pool is retired."""
        limit_s = self._monotonic_s() - (0.0 if self._is_retired else self._config.idle_s)
        idle = [lane for lane in self._lanes if lane.calls == 0 and lane.idle_since_s <= limit_s]
        await self._close(idle)

    async def retire(self) -> None:
        """Use it no more: close what is idle now; the rest goes with `close_idle` when its calls are over."""
        self._is_retired = True
        await self.close_idle()

    async def close(self) -> None:
        """Close every connection; calls on them fail."""
        await self._close(list(self._lanes))

    def _choose(self) -> Lane:
        lane = min(self._lanes, key=lambda one: one.calls, default=None)
        if lane is None or (
            lane.calls >= self._config.calls_per_connection and len(self._lanes) < self._config.max_connections
        ):
            lane = Lane(open_channel(self.address))
            self._lanes.append(lane)
        return lane

    async def _wait_up(self, channel: grpc.aio.Channel, patience_s: float | None) -> None:
        try:
            async with asyncio.timeout(patience_s or self._config.patience_s):
                await _until_ready(channel, gives_up=patience_s == 0)
        except TimeoutError:
            raise away() from None

    async def _close(self, lanes: list[Lane]) -> None:
        for lane in lanes:
            self._lanes.remove(lane)
        for lane in lanes:
            await lane.channel.close()


async def _until_ready(channel: grpc.aio.Channel, *, gives_up: bool) -> None:
    while (state := channel.get_state(try_to_connect=True)) is not _READY:
        if gives_up and state in _DEAD:
            raise away()
        await channel.wait_for_state_change(state)


def away() -> Unavailable:
    """Return the error of a call that was not sent, since the other side can't be reached."""
    return Unavailable("the other side can't be reached; nothing was sent", reason="NOT_SENT", retry_after_s=0.2)
