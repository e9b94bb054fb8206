"""Whether a server takes calls, and what that does to callers."""

import asyncio
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2

from arenero.errors import DeadlineExceeded, Unavailable
from arenero.rpc.client import call
from arenero.rpc.server import RpcServer
from tests.integration.rpc.servicers import ACME, create


async def test_calls_wait_until_the_server_is_ready(server: RpcServer, keys: Any) -> None:
    await server.health.set_serving(False)
    # The last try may be cut off by the deadline before it is refused.
    with pytest.raises((Unavailable, DeadlineExceeded)):
        await call(keys.Create, create(""), timeout_s=0.2, caller=ACME)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(call(keys.Create, create(""), timeout_s=5, caller=ACME))
        await asyncio.sleep(0.05)
        await server.health.set_serving(True)
    assert waiting.result().secret == "done"


async def test_health_is_open_and_follows_the_switch(server: RpcServer, channel: grpc.aio.Channel) -> None:
    check: Any = channel.unary_unary(
        "/grpc.health.v1.Health/Check",
        request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
        response_deserializer=health_pb2.HealthCheckResponse.FromString,
    )
    service = "arenero.api.gateway.v1.KeyService"
    for name in ("", service):
        assert (await check(health_pb2.HealthCheckRequest(service=name))).status == 1
    await server.health.set_serving(False)
    assert (await check(health_pb2.HealthCheckRequest(service=service))).status == 2
