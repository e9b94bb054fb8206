"""A real server and a real client: errors, identities, health, reflection, streams, stopping."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from arenero.api.events.v1 import event_service_pb2, event_service_pb2_grpc
from arenero.api.gateway.v1 import key_service_pb2, key_service_pb2_grpc
from arenero.api.lifecycle.v1 import sandbox_service_pb2, sandbox_service_pb2_grpc
from arenero.errors import (
    Conflict,
    DeadlineExceeded,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    OutcomeUnknown,
    Unauthenticated,
    Unavailable,
    Unsupported,
)
from arenero.model.ids import TenantId
from arenero.rpc.client import call, open_channel, stream
from arenero.rpc.identity import Caller, current_caller, trust_metadata
from arenero.rpc.server import RpcServer, RpcServerConfig

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


@pytest.fixture
async def sandboxes() -> Sandboxes:
    return Sandboxes()  # type: ignore[abstract]  # the rest stays unimplemented


@pytest.fixture(params=["unix", "tcp"])
async def server(request: pytest.FixtureRequest, tmp_path: Path, sandboxes: Sandboxes) -> AsyncIterator[RpcServer]:
    address = f"unix:{tmp_path}/run/test.sock" if request.param == "unix" else "127.0.0.1:0"
    server = RpcServer(RpcServerConfig(address), authenticate=trust_metadata)
    server.add(key_service_pb2_grpc.add_KeyServiceServicer_to_server, new_keys())
    nothing = event_service_pb2_grpc.EventServiceServicer()  # type: ignore[abstract]
    server.add(event_service_pb2_grpc.add_EventServiceServicer_to_server, nothing)
    server.add(sandbox_service_pb2_grpc.add_SandboxServiceServicer_to_server, sandboxes)
    await server.start()
    await server.health.set_serving(True)
    yield server
    await server.stop(0)


@pytest.fixture
async def channel(server: RpcServer) -> AsyncIterator[grpc.aio.Channel]:
    async with open_channel(server.address) as channel:
        yield channel


@pytest.fixture
def keys(channel: grpc.aio.Channel) -> Any:
    return key_service_pb2_grpc.KeyServiceStub(channel)


@pytest.fixture
def watch(channel: grpc.aio.Channel) -> Any:
    return sandbox_service_pb2_grpc.SandboxServiceStub(channel).Watch


def create(name: str) -> key_service_pb2.CreateRequest:
    return key_service_pb2.CreateRequest(name=name)


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


async def test_client_raises_what_the_server_raised(keys: Any) -> None:
    with pytest.raises(Conflict) as caught:
        await call(keys.Create, create("conflict"), timeout_s=5, caller=ACME)
    assert caught.value.reason == "REVISION_CHANGED"
    assert caught.value.metadata["revision"] == "7"


async def test_defect_is_logged_and_not_told(keys: Any, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(Internal) as caught:
        await call(keys.Create, create("defect"), timeout_s=5, caller=ACME)
    assert "secret detail" not in str(caught.value)
    assert "secret detail" in caplog.text


async def test_deadline_is_its_own_error(keys: Any) -> None:
    with pytest.raises(DeadlineExceeded):
        await call(keys.Create, create("slow"), timeout_s=0.05, caller=ACME)


async def test_method_without_handler_is_unsupported(keys: Any) -> None:
    with pytest.raises(Unsupported):
        await call(keys.Revoke, key_service_pb2.RevokeRequest(), timeout_s=5, caller=ACME)


async def test_stream_without_handler_is_unsupported(server: RpcServer, channel: grpc.aio.Channel) -> None:
    follow = event_service_pb2_grpc.EventServiceStub(channel).Follow
    with pytest.raises(Unsupported):
        await anext(stream(follow, event_service_pb2.FollowRequest(), caller=ACME))


async def test_stream_arrives_whole(watch: Any) -> None:
    request = sandbox_service_pb2.WatchRequest(sandbox_id="1000")
    facts = [answer.fact async for answer in stream(watch, request, caller=ACME)]
    assert facts == [str(number) for number in range(1000)]


async def test_stream_that_fails_never_ends_normally(watch: Any) -> None:
    answers = stream(watch, sandbox_service_pb2.WatchRequest(sandbox_id="3-fail"), caller=ACME)
    assert [(await anext(answers)).fact for _ in range(3)] == ["0", "1", "2"]
    with pytest.raises(InvalidArgument) as caught:
        await anext(answers)
    assert caught.value.field == "sandbox_id"


async def test_handler_is_closed_when_the_client_leaves(watch: Any, sandboxes: Sandboxes) -> None:
    answers = stream(watch, sandbox_service_pb2.WatchRequest(sandbox_id="1-hang"), caller=ACME)
    assert (await anext(answers)).fact == "0"
    assert not sandboxes.closed.is_set()
    await answers.aclose()  # type: ignore[attr-defined]  # an async generator, typed as an iterator
    async with asyncio.timeout(5):
        await sandboxes.closed.wait()


async def test_two_hundred_streams_of_one_channel_run_at_once(watch: Any) -> None:
    request = sandbox_service_pb2.WatchRequest(sandbox_id="1-hang")
    streams = [stream(watch, request, caller=ACME) for _ in range(200)]
    async with asyncio.timeout(10):
        firsts = await asyncio.gather(*(anext(answers) for answers in streams))
    assert len(firsts) == 200
    for answers in streams:
        await answers.aclose()  # type: ignore[attr-defined]


async def test_calls_wait_until_the_server_is_ready(server: RpcServer, keys: Any) -> None:
    await server.health.set_serving(False)
    with pytest.raises(Unavailable):
        await call(keys.Create, create(""), timeout_s=0.05, caller=ACME)
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


async def test_reflection_lists_what_was_added(channel: grpc.aio.Channel) -> None:
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)  # type: ignore[arg-type]
    calls = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
    [answer] = [answer async for answer in calls]
    names = {service.name for service in answer.list_services_response.service}
    assert {"arenero.api.gateway.v1.KeyService", "grpc.health.v1.Health"} <= names


async def test_stop_lets_running_calls_finish(server: RpcServer, keys: Any) -> None:
    async with asyncio.TaskGroup() as group:
        running = group.create_task(call(keys.Create, create("slow"), timeout_s=5, caller=ACME))
        await asyncio.sleep(0.1)
        await server.stop(5)
    assert running.result().secret == "done"


async def test_call_cut_off_by_a_stop_has_an_unknown_outcome(server: RpcServer, keys: Any) -> None:
    async def cut_off() -> None:
        with pytest.raises(OutcomeUnknown):
            await call(keys.Create, create("slow"), timeout_s=5, caller=ACME)

    async with asyncio.TaskGroup() as group:
        group.create_task(cut_off())
        await asyncio.sleep(0.1)
        await server.stop(0)


async def test_nobody_there_is_unavailable(tmp_path: Path) -> None:
    async with open_channel(f"unix:{tmp_path}/nobody.sock") as channel:
        with pytest.raises(Unavailable):
            await call(key_service_pb2_grpc.KeyServiceStub(channel).Create, create(""), timeout_s=0.3, caller=ACME)


async def test_client_finds_a_restarted_server(tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/run/again.sock"
    async with open_channel(address) as channel:
        keys = key_service_pb2_grpc.KeyServiceStub(channel)
        for _ in range(2):
            server = RpcServer(RpcServerConfig(address), authenticate=trust_metadata)
            server.add(key_service_pb2_grpc.add_KeyServiceServicer_to_server, new_keys())
            await server.start()
            await server.health.set_serving(True)
            assert (await call(keys.Create, create(""), timeout_s=5, caller=ACME)).secret == "done"
            await server.stop(0)


async def test_socket_is_private_and_not_taken_from_a_living_server(tmp_path: Path) -> None:
    path = tmp_path / "run/private.sock"
    first = RpcServer(RpcServerConfig(f"unix:{path}"), authenticate=trust_metadata)
    await first.start()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o700
    second = RpcServer(RpcServerConfig(f"unix:{path}"), authenticate=trust_metadata)
    with pytest.raises(FailedPrecondition) as caught:
        await second.start()
    assert caught.value.reason == "ADDRESS_IN_USE"
    await first.stop(0)


async def test_taken_port_and_endless_path_are_refused(tmp_path: Path) -> None:
    first = RpcServer(RpcServerConfig("127.0.0.1:0"), authenticate=trust_metadata)
    await first.start()
    for address in (first.address, f"unix:{tmp_path}/{'x' * 120}.sock"):
        with pytest.raises(FailedPrecondition):
            await RpcServer(RpcServerConfig(address), authenticate=trust_metadata).start()
    await first.stop(0)


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
