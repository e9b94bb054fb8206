"""Whether the services behind the gateway take calls: watched, not asked, so that nobody waits for the answer.

Each service's own health is followed as a stream. When that breaks the service counts as away until it answers again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from arenero.rpc.client import open_channel

_log = logging.getLogger(__name__)
_SERVING: Final = health_pb2.HealthCheckResponse.SERVING
_RETRY_S: Final = 0.2
Changed = Callable[[str, bool], Awaitable[None]]


class Backends:
    """The health of services; run it as a named task.

    Args:
        addresses: Where each service listens, by name.
        on_changed: Told, with the name, when a service begins or ceases to serve.
    """

    def __init__(self, addresses: Mapping[str, str], *, on_changed: Changed) -> None:
        self._addresses = dict(addresses)
        self._on_changed = on_changed
        self._serving = dict.fromkeys(addresses, False)

    @property
    def serving(self) -> Mapping[str, bool]:
        """Whether each service takes calls, as far as is known."""
        return dict(self._serving)

    async def run(self) -> None:
        """Watch until cancelled."""
        async with asyncio.TaskGroup() as group:
            for name, address in self._addresses.items():
                group.create_task(self._watch(name, address), name=f"health:{name}")
            await asyncio.Event().wait()

    async def _watch(self, name: str, address: str) -> None:
        async with open_channel(address) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            while True:
                try:
                    async for answer in stub.Watch(health_pb2.HealthCheckRequest(), wait_for_ready=True):
                        await self._set(name, answer is not None and answer.status == _SERVING)
                except grpc.aio.AioRpcError as error:
                    _log.debug("backends.lost", extra={"backend": name, "code": error.code().name})
                await self._set(name, False)
                await asyncio.sleep(_RETRY_S)

    async def _set(self, name: str, serving: bool) -> None:
        if self._serving[name] is not serving:
            self._serving[name] = serving
            _log.info("backends.changed", extra={"backend": name, "serving": serving})
            await self._on_changed(name, serving)
