"""Whether a server takes calls: one switch, shown as gRPC health."""

from __future__ import annotations

from collections.abc import Iterable

from grpc_health.v1 import health_pb2
from grpc_health.v1.health import aio

_STATUS = {True: health_pb2.HealthCheckResponse.SERVING, False: health_pb2.HealthCheckResponse.NOT_SERVING}


class Health:
    """Starts as not serving. `servicer` answers `grpc.health.v1.Health`."""

    def __init__(self) -> None:
        self.servicer = aio.HealthServicer()
        self._services: list[str] = [""]
        self._is_serving = False

    @property
    def is_serving(self) -> bool:
        """Whether calls are taken."""
        return self._is_serving

    async def announce(self, services: Iterable[str]) -> None:
        """Name the services whose health is shown; the server itself is the empty name."""
        self._services = ["", *services]
        await self.set_serving(self._is_serving)

    async def set_serving(self, serving: bool) -> None:
        """Take calls from now on, or refuse them."""
        self._is_serving = serving
        for service in self._services:
            await self.servicer.set(service, _STATUS[serving])
