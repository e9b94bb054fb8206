"""What the gateway itself asks of lifecycle: the way to a sandbox."""

from __future__ import annotations

from datetime import UTC
from typing import Final

import grpc
from google.protobuf.duration_pb2 import Duration

from arenero.api.lifecycle.v1 import sandbox_service_pb2
from arenero.api.lifecycle.v1.sandbox_service_pb2_grpc import SandboxServiceStub
from arenero.gateway.proxy.sandboxes import Endpoint
from arenero.model.ids import SandboxId
from arenero.rpc.client import call
from arenero.rpc.identity import Caller

_TIMEOUT_S: Final = 5.0
_TOKEN_TTL: Final = Duration(seconds=6 * 3600)
"""The gateway keeps its tokens in memory and replaces them early; the shorter, the more often a call waits for that."""


class LifecycleClient:
    """Asks on a connection of its own, so that no answer waits behind what clients are sent."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = SandboxServiceStub(channel)

    async def get_endpoint(self, caller: Caller, sandbox_id: SandboxId) -> Endpoint:
        """Return the way to a sandbox of the caller's tenant.

        Raises:
            NotFound: It has no such sandbox.
            FailedPrecondition: It does not run.
            Unavailable: Lifecycle is away.
        """
        request = sandbox_service_pb2.GetEndpointRequest(sandbox_id=sandbox_id, token_ttl=_TOKEN_TTL)
        answer = await call(self._stub.GetEndpoint, request, timeout_s=_TIMEOUT_S, caller=caller)
        found = answer.endpoint
        return Endpoint(
            address=found.address,
            token=found.token,
            token_expires_at=found.token_expires_at.ToDatetime(tzinfo=UTC),
            generation=found.generation,
            headers=tuple(found.headers.items()),
        )
