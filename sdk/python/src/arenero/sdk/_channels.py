"""gRPC channels to the gateway and, where it can be reached, straight to a sandbox's execd.

One HTTP/2 connection carries about a hundred streams before some servers queue them; so calls that stay open are spread
over several channels, and short calls always find one that is not behind bulk data.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from itertools import cycle
from typing import Any, Final, TypeVar

import grpc

from arenero.sdk.errors import typed

_STREAM_SHARDS: Final = 4
_MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", _MAX_MESSAGE_BYTES),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.keepalive_permit_without_calls", 0),
    ("grpc.enable_http_proxy", 0),
    # Despite its name this is also how long to wait for a connection: one that the kernel has made, and nobody takes.
    ("grpc.min_reconnect_backoff_ms", 10_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)

Answer = TypeVar("Answer")
Metadata = tuple[tuple[str, str], ...]


class Channels:
    """Channels to one target: one for short calls, a few for streams, opened when first used."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._short: grpc.aio.Channel | None = None
        self._streams: list[grpc.aio.Channel] = []
        self._next_stream = cycle(range(_STREAM_SHARDS))
        self._methods: dict[tuple[int, str], Any] = {}

    def short(self) -> grpc.aio.Channel:
        """Return the channel for calls that end soon."""
        if self._short is None:
            self._short = self._open(shard=0)
        return self._short

    def stream(self) -> grpc.aio.Channel:
        """Return a channel for a call that stays open."""
        index = next(self._next_stream)
        while len(self._streams) <= index:
            self._streams.append(self._open(shard=len(self._streams) + 1))
        return self._streams[index]

    def method(self, channel: grpc.aio.Channel, path: str, make: Callable[[], Any]) -> Any:
        """Return the callable of a method, made once per channel."""
        key = (id(channel), path)
        if key not in self._methods:
            self._methods[key] = make()
        return self._methods[key]

    async def close(self) -> None:
        """Close all of them; calls that are open are cancelled."""
        channels = [*([self._short] if self._short else []), *self._streams]
        self._short, self._streams, self._methods = None, [], {}
        for channel in channels:
            await channel.close()

    def _open(self, shard: int) -> grpc.aio.Channel:
        # Equal options would make grpc share one connection between the channels.
        options = (*_OPTIONS, ("arenero.shard", shard), ("grpc.use_local_subchannel_pool", 1))
        return grpc.aio.insecure_channel(self.address, options=options)


async def unary(call: Callable[..., Awaitable[Answer]], request: Any, **options: Any) -> Answer:
    """Make a unary call and raise the typed error."""
    with typed():
        return await call(request, **options)


def metadata(pairs: Iterable[tuple[str, str]]) -> Metadata:
    """Build call metadata; empty values are left out."""
    return tuple((key, value) for key, value in pairs if value)
