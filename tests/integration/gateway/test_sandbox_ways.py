"""The way to a sandbox: of its tenant only, remembered, and forgotten in time."""

import asyncio
from typing import Any

import grpc
import pytest

from arenero.bus.nats import NatsEventLog
from arenero.bus.streams import STREAMS
from arenero.bus.subjects import Kind
from arenero.errors import InvalidArgument, NotFound
from arenero.model.ids import new_sandbox_id
from arenero.rpc.status import from_rpc_error
from tests.fixtures.upstream import echo
from tests.integration.gateway.conftest import Boot, Stage
from tests.integration.gateway.proxy.test_relay import START, failure


@pytest.fixture(autouse=True)
def answering(stage: Stage) -> None:
    stage.execd.scripts["Start"] = echo


async def start(stage: Stage, **who: str) -> bytes:
    answer: bytes = await stage.unary(START)(b"x", metadata=stage.metadata(**who))
    return answer


async def test_lifecycle_is_asked_once(stage: Stage) -> None:
    await asyncio.gather(*(start(stage) for _ in range(20)))
    await start(stage)
    assert stage.asked == [("default", stage.sandbox_id)]


async def test_sandbox_of_another_tenant_is_not_found(stage: Stage) -> None:
    await start(stage)
    other = (await stage.new_key("other")).secret
    for _ in range(2):
        error = from_rpc_error(await failure(stage.unary(START)(b"x", metadata=stage.metadata(key=other))))
        assert isinstance(error, NotFound)
        assert error.reason == "SANDBOX_NOT_FOUND"
    assert len(stage.execd.calls) == 1


async def test_two_tenants_with_a_sandbox_of_one_name_reach_each_their_own(stage: Stage) -> None:
    """Ids are never reused, yet nothing here may rest on that."""
    stage.boots["other", stage.sandbox_id] = Boot(f"unix:{stage.cable.source}", token="other-token")
    other = (await stage.new_key("other")).secret
    await start(stage)
    await start(stage, key=other)
    assert [seen.metadata["authorization"] for seen in stage.execd.calls] == [
        "Bearer token-of-the-sandbox",
        "Bearer other-token",
    ]


@pytest.mark.parametrize(
    "sandbox_id", ["x", "sbx_", "../../etc", "sbx_" + "A" * 20, "sbx_" + "a" * 21, "key_" + "a" * 20]
)
async def test_malformed_id_is_refused_here(stage: Stage, sandbox_id: str) -> None:
    metadata = stage.metadata(sandbox_id=sandbox_id)
    error = from_rpc_error(await failure(stage.unary(START)(b"x", metadata=metadata)))
    assert isinstance(error, InvalidArgument)
    assert error.field == "arenero-sandbox-id"
    assert not stage.asked


async def test_call_that_names_no_sandbox_is_refused(stage: Stage) -> None:
    metadata = (("authorization", f"Bearer {stage.admin_key}"),)
    error = from_rpc_error(await failure(stage.unary(START)(b"x", metadata=metadata)))
    assert isinstance(error, InvalidArgument)
    assert error.reason == "NO_SANDBOX_ID"


async def test_unknown_sandbox_is_not_found(stage: Stage) -> None:
    error = await failure(stage.unary(START)(b"x", metadata=stage.metadata(sandbox_id=new_sandbox_id())))
    assert isinstance(from_rpc_error(error), NotFound)


@pytest.mark.parametrize("fact", ["resumed", "paused", "stopping", "terminated", "failed"])
async def test_way_is_forgotten_when_the_sandbox_has_moved(stage: Stage, fact: str) -> None:
    await start(stage)
    stage.boots["default", stage.sandbox_id] = Boot(f"unix:{stage.cable.source}", token="second", generation=2)
    await publish(stage, fact)
    async with asyncio.timeout(5):
        while len(stage.asked) == 1:
            await start(stage)
    await start(stage)
    assert stage.execd.calls[-1].metadata["authorization"] == "Bearer second"
    assert len(stage.asked) == 2


async def test_other_facts_cost_no_question(stage: Stage) -> None:
    await start(stage)
    for fact in ("renewed", "metadata_updated", "progressed"):
        await publish(stage, fact)
    await publish(stage, "terminated", sandbox_id=new_sandbox_id())
    await asyncio.sleep(0.2)
    await start(stage)
    assert len(stage.asked) == 1


async def test_token_is_replaced_before_it_ends(stage: Stage) -> None:
    boot = stage.boots["default", stage.sandbox_id]
    boot.token_ttl_s = 60.0
    await start(stage)
    boot.token, boot.token_ttl_s = "fresh", 3600.0
    await start(stage)
    assert stage.execd.calls[-1].metadata["authorization"] == "Bearer fresh"
    # The connection is the same: only the token was old.
    assert stage.cable.connections == 1


async def test_sandbox_that_moved_without_a_word_is_found_again(stage: Stage) -> None:
    """The event may be late; a connection that fails is reason enough to ask."""
    boot = stage.boots["default", stage.sandbox_id]
    good, boot.address = boot.address, "unix:/nowhere/execd.sock"
    assert (await failure(stage.unary(START)(b"x", metadata=stage.metadata()))).code() is grpc.StatusCode.UNAVAILABLE
    boot.address = good
    assert await start(stage) == b"x"


async def test_restarted_execd_is_reached_again(stage: Stage) -> None:
    await start(stage)
    stage.cable.cut()
    assert await start(stage) == b"x"


async def publish(stage: Stage, fact: str, *, sandbox_id: str = "") -> None:
    log: Any = NatsEventLog(stage.platform, STREAMS[Kind.SANDBOX])
    subject = f"sandbox.default.{sandbox_id or stage.sandbox_id}.{fact}"
    await log.publish(subject, b"", message_id=f"{subject}-1")
