"""Servicers that do what a request tells them, and the caller of the tests."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from arenero.api.gateway.v1 import key_service_pb2, key_service_pb2_grpc
from arenero.api.lifecycle.v1 import sandbox_service_pb2, sandbox_service_pb2_grpc
from arenero.errors import Conflict, InvalidArgument
from arenero.model.ids import TenantId
from arenero.rpc.identity import Caller, current_caller

ACME = Caller(TenantId("acme"), "key:key_1")


class Keys(key_service_pb2_grpc.KeyServiceServicer):
    """Does what the request's name says."""

    async def Create(self, request: Any, context: Any) -> key_service_pb2.CreateResponse:  # noqa: N802
        match request.name:
            case "whoami":
                caller = current_caller()
                return key_service_pb2.CreateResponse(secret=f"{caller.tenant} {caller.actor}")
            case "conflict":
                raise Conflict("moved on", reason="REVISION_CHANGED", metadata={"revision": "7"})
            case "defect":
                raise KeyError("a secret detail")
            case "slow":
                await asyncio.sleep(0.3)
        return key_service_pb2.CreateResponse(secret="done")


def new_keys() -> Keys:
    return Keys()  # type: ignore[abstract]  # the rest stays unimplemented


class Sandboxes(sandbox_service_pb2_grpc.SandboxServiceServicer):
    """Streams as many messages as the id says, then fails if told so."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()

    async def Watch(self, request: Any, context: Any) -> AsyncIterator[sandbox_service_pb2.WatchResponse]:  # noqa: N802
        count, _, then = request.sandbox_id.partition("-")
        try:
            for number in range(int(count)):
                yield sandbox_service_pb2.WatchResponse(fact=str(number))
            if then == "fail":
                raise InvalidArgument("enough", field="sandbox_id")
            if then == "hang":
                await asyncio.Event().wait()
        finally:
            self.closed.set()


def create(name: str) -> key_service_pb2.CreateRequest:
    return key_service_pb2.CreateRequest(name=name)
