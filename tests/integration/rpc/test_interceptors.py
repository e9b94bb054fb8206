"""What surrounds a handler: identity, errors, and refusals of what nobody handles."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest

from arenero.api.events.v1 import event_service_pb2, event_service_pb2_grpc
from arenero.api.gateway.v1 import key_service_pb2
from arenero.errors import (
    Conflict,
    Internal,
    Unauthenticated,
    Unsupported,
)
from arenero.model.ids import TenantId
from arenero.rpc.client import call, open_channel, stream
from arenero.rpc.identity import Caller, current_caller, trust_metadata
from arenero.rpc.server import RpcServer, RpcServerConfig
from tests.integration.rpc.servicers import ACME, create


async def test_caller_reaches_the_handler(keys: Any) -> None:
    answer = await call(keys.Create, create("whoami"), timeout_s=5, caller=ACME)
    assert answer.secret == "acme key:key_1"


async def test_callers_of_concurrent_calls_do_not_mix(keys: Any) -> None:
    callers = [Caller(TenantId(f"t{number}"), str(number)) for number in range(50)]
    answers = await asyncio.gather(*(call(keys.Create, create("whoami"), timeout_s=5, caller=c) for c in callers))
    assert [answer.secret for answer in answers] == [f"{caller.tenant} {caller.actor}" for caller in callers]


async def test_call_without_caller_is_refused(keys: Any) -> None:
    with pytest.raises(Unauthenticated):
        await call(keys.Create, create("whoami"), timeout_s=5)


async def test_defect_is_logged_and_not_told(keys: Any, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(Internal) as caught:
        await call(keys.Create, create("defect"), timeout_s=5, caller=ACME)
    assert "secret detail" not in str(caught.value)
    assert "secret detail" in caplog.text


async def test_method_without_handler_is_unsupported(keys: Any) -> None:
    with pytest.raises(Unsupported):
        await call(keys.Revoke, key_service_pb2.RevokeRequest(), timeout_s=5, caller=ACME)


async def test_stream_without_handler_is_unsupported(server: RpcServer, channel: grpc.aio.Channel) -> None:
    follow = event_service_pb2_grpc.EventServiceStub(channel).Follow
    with pytest.raises(Unsupported):
        await anext(stream(follow, event_service_pb2.FollowRequest(), caller=ACME))


async def test_generic_handler_gets_the_surroundings(tmp_path: Path) -> None:
    class Echo(grpc.GenericRpcHandler):
        def service(self, details: grpc.HandlerCallDetails) -> Any:
            async def echo(request: bytes, context: Any) -> bytes:
                if request == b"conflict":
                    raise Conflict("moved on")
                return f"{current_caller().tenant} {request.decode()}".encode()

            return grpc.unary_unary_rpc_method_handler(echo) if details.method == "/any.Service/Echo" else None

    server = RpcServer(RpcServerConfig(f"unix:{tmp_path}/run/g.sock"), authenticate=trust_metadata)
    server.add_generic(Echo())
    await server.start()
    await server.health.set_serving(True)
    async with open_channel(server.address) as channel:
        echo: Any = channel.unary_unary("/any.Service/Echo")
        assert await call(echo, b"hello", timeout_s=5, caller=ACME) == b"acme hello"
        with pytest.raises(Conflict):
            await call(echo, b"conflict", timeout_s=5, caller=ACME)
        with pytest.raises(Unsupported):
            await call(channel.unary_unary("/any.Service/Other"), b"", timeout_s=5, caller=ACME)
    await server.stop(0)
