"""A server: many streams at once, reflection, sockets, stopping."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from arenero.api.gateway.v1 import key_service_pb2_grpc
from arenero.api.lifecycle.v1 import sandbox_service_pb2, sandbox_service_pb2_grpc
from arenero.errors import (
    FailedPrecondition,
    OutcomeUnknown,
    Unavailable,
    Unsupported,
)
from arenero.rpc.client import call, open_channel, stream
from arenero.rpc.identity import trust_metadata
from arenero.rpc.server import RpcServer, RpcServerConfig
from tests.integration.rpc.servicers import ACME, create, new_keys


async def test_two_hundred_streams_of_one_channel_run_at_once(watch: Any) -> None:
    request = sandbox_service_pb2.WatchRequest(sandbox_id="1-hang")
    streams = [stream(watch, request, caller=ACME) for _ in range(200)]
    async with asyncio.timeout(10):
        firsts = await asyncio.gather(*(anext(answers) for answers in streams))
    assert len(firsts) == 200
    for answers in streams:
        await answers.aclose()  # type: ignore[attr-defined]


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


async def test_what_is_added_while_it_listens_is_served_once_it_is_started(tmp_path: Path) -> None:
    server = RpcServer(RpcServerConfig(f"unix:{tmp_path}/s"), authenticate=trust_metadata)
    await server.listen()
    async with open_channel(server.address) as channel:
        keys: Any = key_service_pb2_grpc.KeyServiceStub(channel)
        with pytest.raises(Unsupported):
            await call(keys.Create, create("quick"), timeout_s=5, caller=ACME)
        server.add(key_service_pb2_grpc.add_KeyServiceServicer_to_server, new_keys())
        with pytest.raises(Unavailable):
            await call(keys.Create, create("quick"), timeout_s=0.3, caller=ACME)
        await server.start()
        await server.health.set_serving(True)
        assert await call(keys.Create, create("quick"), timeout_s=5, caller=ACME)
    await server.stop(1)


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


async def test_stop_ends_streams_soon_and_calls_late(server: RpcServer, keys: Any, watch: Any) -> None:
    """A stream may last for ever, so it has a grace of its own; a call is given the whole one."""
    answers = stream(watch, sandbox_service_pb2.WatchRequest(sandbox_id="1-hang"), caller=ACME)
    assert (await anext(answers)).fact == "0"
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        running = group.create_task(call(keys.Create, create("slow"), timeout_s=5, caller=ACME))
        await asyncio.sleep(0.1)
        group.create_task(server.stop(10, stream_grace_s=0.1))
        with pytest.raises(OutcomeUnknown):
            await anext(answers)
    assert running.result().secret == "done"


class Twice(sandbox_service_pb2_grpc.SandboxServiceServicer):
    """Answers what it was sent, unread, in a message and as one that is serialized already."""

    async def Watch(self, request: Any, context: Any) -> AsyncIterator[Any]:  # noqa: N802
        answer = sandbox_service_pb2.WatchResponse(fact=request.hex())
        yield answer
        yield answer.SerializeToString()


async def test_bulk_messages_may_be_read_and_written_by_hand(tmp_path: Path) -> None:
    server = RpcServer(RpcServerConfig(f"unix:{tmp_path}/run/test.sock"), authenticate=trust_metadata)
    twice: Any = Twice()  # type: ignore[abstract]
    server.add(sandbox_service_pb2_grpc.add_SandboxServiceServicer_to_server, twice, parsers={"Watch": bytes})
    await server.start()
    await server.health.set_serving(True)
    request = sandbox_service_pb2.WatchRequest(sandbox_id="sbx_1")
    try:
        async with open_channel(server.address) as channel:
            watch: Any = sandbox_service_pb2_grpc.SandboxServiceStub(channel).Watch
            answers = [answer async for answer in stream(watch, request, caller=ACME)]
    finally:
        await server.stop(0)
    assert [answer.fact for answer in answers] == [request.SerializeToString().hex()] * 2
