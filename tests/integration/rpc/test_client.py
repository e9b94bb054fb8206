"""Calls: errors come back as raised, broken ones are judged with care, streams never end falsely."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from arenero.api.gateway.v1 import key_service_pb2_grpc
from arenero.api.lifecycle.v1 import sandbox_service_pb2
from arenero.errors import (
    Conflict,
    DeadlineExceeded,
    InvalidArgument,
    OutcomeUnknown,
    Unavailable,
)
from arenero.rpc.client import call, open_channel, stream
from arenero.rpc.identity import trust_metadata
from arenero.rpc.server import RpcServer, RpcServerConfig
from tests.integration.rpc.servicers import ACME, Sandboxes, create, new_keys


async def test_client_raises_what_the_server_raised(keys: Any) -> None:
    with pytest.raises(Conflict) as caught:
        await call(keys.Create, create("conflict"), timeout_s=5, caller=ACME)
    assert caught.value.reason == "REVISION_CHANGED"
    assert caught.value.metadata["revision"] == "7"


async def test_deadline_is_its_own_error(keys: Any) -> None:
    with pytest.raises(DeadlineExceeded):
        await call(keys.Create, create("slow"), timeout_s=0.05, caller=ACME)


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
