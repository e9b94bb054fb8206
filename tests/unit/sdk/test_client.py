"""The connection to a platform."""

import asyncio
import gc
from datetime import UTC, datetime

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from arenero.api.common.v1 import page_pb2
from arenero.api.events.v1 import event_pb2, event_service_pb2
from arenero.api.gateway.v1 import key_pb2, key_service_pb2, trace_service_pb2
from arenero.api.lifecycle.v1 import sandbox_pb2, sandbox_service_pb2
from arenero.sdk import Client, Sandbox
from arenero.sdk.client import SANDBOX_SERVICE
from arenero.sdk.errors import (
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    OutcomeUnknown,
    Unavailable,
)
from arenero.sdk.types import EventFilter, KeyKind, KeyScope, SandboxState
from tests.unit.sdk.wire import BROKEN, SANDBOX_ID, Refused, WirePair, detail, record


def page(next_token: str) -> page_pb2.PageResult:
    return page_pb2.PageResult(next_page_token=next_token)


def event(sequence: int) -> event_pb2.Event:
    return event_pb2.Event(id=f"evt_{sequence}", sequence=sequence, subject="sandbox.acme.sbx_a.started")


@pytest.fixture
def environment(wires: WirePair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings as a program finds them that passes none."""
    monkeypatch.setenv("ARENERO_ADDRESS", wires.gateway.address)
    monkeypatch.setenv("ARENERO_API_KEY", "key-env")


async def test_every_call_carries_the_key(wires: WirePair) -> None:
    async with wires.client() as client:
        await client.get(SANDBOX_ID)
    assert wires.gateway.called("Get")[0].metadata["authorization"] == "Bearer key-1"


async def test_list_goes_through_all_pages(wires: WirePair) -> None:
    wires.gateway.on(
        "List",
        sandbox_service_pb2.ListResponse(sandboxes=[record(), record()], page=page("more")),
        sandbox_service_pb2.ListResponse(sandboxes=[record()], page=page("")),
    )
    async with wires.client() as client:
        found = [
            found
            async for found in client.sandboxes(
                states=(SandboxState.RUNNING,), metadata={"a": "b"}, name="n", include_ended=True
            )
        ]
    assert len(found) == 3
    first, second = (call.request for call in wires.gateway.called("List"))
    assert (first.page.page_token, second.page.page_token) == ("", "more")
    assert [*first.filter.states] == [sandbox_pb2.SANDBOX_STATE_RUNNING]
    assert (dict(first.filter.metadata), first.filter.name, first.filter.include_ended) == ({"a": "b"}, "n", True)


async def test_list_asks_for_no_page_that_nobody_wants(wires: WirePair) -> None:
    wires.gateway.on("List", sandbox_service_pb2.ListResponse(sandboxes=[record()], page=page("more")))
    async with wires.client() as client:
        async for _ in client.sandboxes():
            break
    assert len(wires.gateway.called("List")) == 1


async def test_deleting_need_not_wait(wires: WirePair) -> None:
    async with wires.client() as client:
        assert (await client.delete(SANDBOX_ID, wait=False)).state is SandboxState.TERMINATED
    assert wires.gateway.called("Delete")[0].request.no_wait


async def test_runtimes_and_templates(wires: WirePair) -> None:
    runtime = sandbox_service_pb2.Runtime(name="local", usable=True)
    wires.gateway.on("ListRuntimes", sandbox_service_pb2.ListRuntimesResponse(runtimes=[runtime]))
    template = sandbox_service_pb2.Template(name="host")
    wires.gateway.on("ListTemplates", sandbox_service_pb2.ListTemplatesResponse(templates=[template]))
    async with wires.client() as client:
        assert [(found.name, found.usable) for found in await client.runtimes()] == [("local", True)]
        assert [found.name for found in await client.templates()] == ["host"]


async def test_replay_ends_with_the_newest(wires: WirePair) -> None:
    wires.gateway.on("Replay", [event_service_pb2.ReplayResponse(event=event(number)) for number in (1, 2)])
    since = datetime(2026, 1, 2, tzinfo=UTC)
    async with wires.client() as client:
        found = [
            seen.sequence async for seen in client.replay(EventFilter(subjects=["sandbox.>"]), from_time=since, limit=5)
        ]
    assert found == [1, 2]
    request = wires.gateway.called("Replay")[0].request
    assert (request.time, request.limit) == (Timestamp(seconds=int(since.timestamp())), 5)
    assert [*request.filter.subjects] == ["sandbox.>"]


async def test_keys_are_made_listed_and_revoked(wires: WirePair) -> None:
    key = key_pb2.Key(id="key_1", tenant="acme")
    wires.gateway.on("Create", key_service_pb2.CreateResponse(key=key, secret="s"))
    wires.gateway.on(
        "List",
        key_service_pb2.ListResponse(keys=[key], page=page("more")),
        key_service_pb2.ListResponse(keys=[key]),
    )
    wires.gateway.on("Revoke", key_service_pb2.RevokeResponse(key=key))
    wires.gateway.on("WhoAmI", key_service_pb2.WhoAmIResponse(key=key))
    async with wires.client() as client:
        made = await client.create_key("n", tenant="acme", scopes=(KeyScope.READ,), ttl_s=60)
        assert made.secret == "s"
        await client.create_key(kind=KeyKind.EVENTS)
        assert [found.id async for found in client.list_keys(include_ended=True)] == ["key_1", "key_1"]
        assert (await client.revoke_key("key_1")).tenant == "acme"
        assert (await client.who_am_i()).id == "key_1"
    first, second = (call.request for call in wires.gateway.called("Create"))
    assert (first.name, first.tenant, first.kind, first.ttl.seconds) == ("n", "acme", key_pb2.KEY_KIND_API, 60)
    assert [*first.scopes] == [key_pb2.KEY_SCOPE_READ]
    assert (second.kind, second.HasField("ttl")) == (key_pb2.KEY_KIND_EVENTS, False)


async def test_key_that_can_not_be_asked_for_is_refused_with_the_field(wires: WirePair) -> None:
    async with wires.client() as client:
        for field, options in {"ttl": {"ttl_s": float("nan")}, "name": {"name": "\udcff"}}.items():
            with pytest.raises(InvalidArgument) as refused:
                await client.create_key(**options)  # type: ignore[arg-type]
            assert refused.value.field == field
    assert not wires.gateway.called("Create")


async def test_trace_is_found_by_its_id_or_by_its_sandbox(wires: WirePair) -> None:
    wires.gateway.on("GetTrace", trace_service_pb2.GetTraceResponse(trace=trace_service_pb2.Trace(trace_id="t")))
    async with wires.client() as client:
        assert (await client.trace("t" * 32)).trace_id == "t"
        await client.trace(sandbox_id=SANDBOX_ID, root_name="gateway.sandbox.Create")
    by_id, by_sandbox = (call.request for call in wires.gateway.called("GetTrace"))
    assert by_id.WhichOneof("selector") == "trace_id"
    assert (by_sandbox.sandbox_id, by_sandbox.root_name) == (SANDBOX_ID, "gateway.sandbox.Create")


async def test_call_has_the_deadline_and_the_metadata_that_it_is_given(wires: WirePair) -> None:
    from arenero.sdk._types.arenero.api.lifecycle import v1

    async def hang(request):
        await asyncio.Event().wait()
        return sandbox_service_pb2.GetResponse()

    wires.gateway.on("Get", hang)
    async with wires.client() as client:
        with pytest.raises(DeadlineExceeded):
            await client.call(
                SANDBOX_SERVICE + "Get",
                v1.GetRequest(sandbox_id=SANDBOX_ID),
                v1.GetResponse,
                timeout_s=0.1,
                extra={"traceparent": "00-a"},
            )
    assert wires.gateway.called("Get")[0].metadata["traceparent"] == "00-a"


async def test_call_is_repeated_while_a_gateway_that_has_answered_is_away(wires: WirePair) -> None:
    async with wires.client() as client:
        await client.get(SANDBOX_ID)
        await wires.gateway.stop()
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            deleting = group.create_task(client.delete(SANDBOX_ID))
            await asyncio.sleep(0.2)
            await wires.gateway.start()
    assert deleting.result().state is SandboxState.TERMINATED


async def test_call_is_not_repeated_where_nobody_has_ever_answered(wires: WirePair) -> None:
    await wires.gateway.stop()
    async with wires.client(reconnect_s=60) as client, asyncio.timeout(5):
        with pytest.raises(Unavailable):
            await client.get(SANDBOX_ID)


@pytest.mark.parametrize(
    "last",
    [
        Refused(grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses"),
        Refused(grpc.StatusCode.UNAVAILABLE, "starting", detail("STARTING")),
        Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many calls", detail("RATE", fix="ask less")),
    ],
    ids=["not sent", "unavailable", "exhausted"],
)
async def test_what_may_be_done_is_not_forgotten_for_a_later_try_that_was_not(wires: WirePair, last: Refused) -> None:
    wires.gateway.on("Delete", BROKEN, last)
    async with wires.client(reconnect_s=0.3) as client:
        with pytest.raises(OutcomeUnknown, match=last.message) as raised:
            await client.delete(SANDBOX_ID)
    assert raised.value.reason == "CONNECTION_LOST"
    assert len(wires.gateway.called("Delete")) > 1


async def test_answer_about_the_thing_itself_is_final_whatever_was_before(wires: WirePair) -> None:
    gone = Refused(grpc.StatusCode.NOT_FOUND, "there is none", detail("SANDBOX_NOT_FOUND"))
    wires.gateway.on("Delete", BROKEN, gone)
    async with wires.client() as client:
        with pytest.raises(NotFound):
            await client.delete(SANDBOX_ID)


async def test_what_was_never_done_is_unavailable_after_any_number_of_tries(wires: WirePair) -> None:
    wires.gateway.on("Delete", Refused(grpc.StatusCode.UNAVAILABLE, "starting", detail("STARTING")))
    async with wires.client(reconnect_s=0.3) as client:
        with pytest.raises(Unavailable):
            await client.delete(SANDBOX_ID)
    assert len(wires.gateway.called("Delete")) > 1


async def test_gateway_that_broke_the_first_call_of_all_is_waited_for(wires: WirePair) -> None:
    """It was there, so it may be again."""

    async def dies(request):
        await asyncio.gather(wires.gateway.stop(), asyncio.Event().wait())

    wires.gateway.on("Get", dies, sandbox_service_pb2.GetResponse(sandbox=record()))
    async with wires.client() as client, asyncio.timeout(10), asyncio.TaskGroup() as group:
        getting = group.create_task(client.get(SANDBOX_ID))
        while not wires.gateway.called("Get"):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        await wires.gateway.start()
    assert getting.result().id == SANDBOX_ID


async def test_call_that_makes_something_is_not_repeated(wires: WirePair) -> None:
    wires.gateway.on("Create", BROKEN)
    async with wires.client() as client:
        with pytest.raises(OutcomeUnknown):
            await client.create_key("n")
    assert len(wires.gateway.called("Create")) == 1


async def test_answer_without_its_record_is_an_error(wires: WirePair) -> None:
    wires.gateway.on("Get", sandbox_service_pb2.GetResponse())
    async with wires.client() as client:
        with pytest.raises(OutcomeUnknown) as raised:
            await client.get(SANDBOX_ID)
    assert raised.value.reason == "MALFORMED_ANSWER"


async def test_closed_client_says_so(wires: WirePair) -> None:
    client = wires.client()
    await client.get(SANDBOX_ID)
    channel = client._gateway.short()
    await client.close()
    with pytest.raises(FailedPrecondition, match="closed"):
        await raise_on(channel)


async def raise_on(channel) -> None:
    from arenero.sdk._channels import unary

    await unary(channel.unary_unary("/x/y"), b"")


@pytest.mark.usefixtures("environment")
async def test_sandboxes_share_one_client_until_the_last_is_closed(wires: WirePair) -> None:
    wires.gateway.on("Create", sandbox_service_pb2.CreateResponse(sandbox=record()))
    first, second = await Sandbox.create(), await Sandbox.connect(SANDBOX_ID)
    assert first._client is second._client
    await first.close()
    await first.close()
    await second.refresh()
    shared = second._client
    await second.close()
    third = await Sandbox.connect(SANDBOX_ID)
    assert third._client is not shared
    await third.close()
    assert wires.gateway.called("Create")[0].metadata["authorization"] == "Bearer key-env"


@pytest.mark.usefixtures("environment")
async def test_shared_client_is_given_back_when_nothing_comes_of_it(wires: WirePair) -> None:
    with pytest.raises(Exception, match="says nothing"):
        await Sandbox.create()
    kept = Client.shared()
    assert kept._users == 1
    await kept.release()


@pytest.mark.usefixtures("environment")
def test_each_event_loop_has_a_shared_client_of_its_own() -> None:
    async def share() -> int:
        client = Client.shared()
        await client.release()
        return id(client)

    kept = [asyncio.run(share()) for _ in range(2)]
    gc.collect()
    assert len(kept) == 2
