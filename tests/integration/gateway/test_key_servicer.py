"""Keys through the public door: made, used, listed, revoked."""

import asyncio
from typing import Any

import grpc
import nats
import pytest
from google.protobuf.duration_pb2 import Duration

from arenero.api.common.v1.page_pb2 import PageRequest
from arenero.api.gateway.v1 import key_pb2
from arenero.api.gateway.v1 import key_service_pb2 as pb
from arenero.api.gateway.v1.key_service_pb2_grpc import KeyServiceStub
from arenero.bus.provisioning import provisioned
from arenero.errors import ArenError, InvalidArgument, NotFound, PermissionDenied, Unauthenticated, Unsupported
from arenero.rpc.status import from_rpc_error
from tests.fixtures.upstream import hang
from tests.integration.gateway.conftest import Stage
from tests.integration.gateway.proxy.test_relay import RUN, failure


class Keys:
    """KeyService as the holder of one key sees it; errors come as ours."""

    def __init__(self, stage: Stage, secret: str = "") -> None:
        self._stub: Any = KeyServiceStub(stage.channel)
        self._metadata = stage.metadata(key=secret)

    async def __call__(self, method: str, request: Any) -> Any:
        try:
            return await getattr(self._stub, method)(request, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error) from None


async def refusal(awaitable: Any) -> ArenError:
    with pytest.raises(ArenError) as caught:
        await awaitable
    return caught.value


async def test_new_key_opens_its_tenant_at_once(stage: Stage) -> None:
    made = await stage.new_key("acme", name="ci")
    assert made.secret.startswith("ark_")
    me = (await Keys(stage, made.secret)("WhoAmI", pb.WhoAmIRequest())).key
    assert (me.id, me.tenant, me.name, list(me.scopes)) == (made.key.id, "acme", "ci", [key_pb2.KEY_SCOPE_TENANT])


async def test_secret_is_nowhere_but_in_the_answer(stage: Stage) -> None:
    made = await stage.new_key("acme")
    listed = await Keys(stage)("List", pb.ListRequest())
    assert made.secret not in str(listed)
    assert made.key.hint
    assert made.secret.startswith(made.key.hint)


async def test_list_has_pages_newest_first(stage: Stage) -> None:
    made = [(await stage.new_key("acme")).key.id for _ in range(5)]
    found: list[str] = []
    token = ""
    while True:
        page = PageRequest(page_size=2, page_token=token)
        answer = await Keys(stage)("List", pb.ListRequest(tenant="acme", page=page))
        found += [key.id for key in answer.keys]
        token = answer.page.next_page_token
        if not token:
            break
    assert found == made[::-1]
    assert answer.page.total_size == 5


async def test_revoked_key_opens_nothing_and_its_calls_end(stage: Stage) -> None:
    made = await stage.new_key()
    stage.execd.scripts["Run"] = hang
    stream = stage.answers(RUN)(b"", metadata=stage.metadata(key=made.secret))
    assert await stream.read() == b"first"
    revoked = (await Keys(stage)("Revoke", pb.RevokeRequest(key_id=made.key.id))).key
    assert revoked.HasField("revoked_at")
    assert isinstance(await refusal(Keys(stage, made.secret)("WhoAmI", pb.WhoAmIRequest())), Unauthenticated)
    error = from_rpc_error(await asyncio.wait_for(failure(stream), 5))
    assert (type(error), error.reason) == (Unauthenticated, "KEY_ENDED")
    await asyncio.wait_for(stage.execd.calls[0].ended.wait(), 5)
    again = (await Keys(stage)("Revoke", pb.RevokeRequest(key_id=made.key.id))).key
    assert again.revoked_at == revoked.revoked_at


async def test_expired_key_opens_nothing_and_its_calls_end(stage: Stage) -> None:
    made = await stage.new_key(ttl=Duration(seconds=1))
    stage.execd.scripts["Run"] = hang
    stream = stage.answers(RUN)(b"", metadata=stage.metadata(key=made.secret))
    assert await stream.read() == b"first"
    await asyncio.wait_for(stage.execd.calls[0].ended.wait(), 5)
    error = await refusal(Keys(stage, made.secret)("WhoAmI", pb.WhoAmIRequest()))
    assert error.reason == "KEY_EXPIRED"


async def test_tenant_manages_its_events_keys_and_sees_nobody_elses(stage: Stage) -> None:
    user = Keys(stage, (await stage.new_key("acme")).secret)
    foreign = await stage.new_key("beta")
    own = (await user("Create", pb.CreateRequest(kind=key_pb2.KEY_KIND_EVENTS))).key
    assert {key.tenant for key in (await user("List", pb.ListRequest())).keys} == {"acme"}
    await user("Revoke", pb.RevokeRequest(key_id=own.id))
    for method, request in (
        ("Create", pb.CreateRequest()),
        ("Create", pb.CreateRequest(kind=key_pb2.KEY_KIND_EVENTS, tenant="beta")),
        ("List", pb.ListRequest(tenant="beta")),
        ("Revoke", pb.RevokeRequest(key_id=foreign.key.id)),
        ("Revoke", pb.RevokeRequest(key_id="key_aaaaaaaaaaaaaaaaaaaa")),
    ):
        assert isinstance(await refusal(user(method, request)), PermissionDenied)


async def test_read_key_makes_no_keys(stage: Stage) -> None:
    reader = Keys(stage, (await stage.new_key(scopes=[key_pb2.KEY_SCOPE_READ])).secret)
    assert (await reader("WhoAmI", pb.WhoAmIRequest())).key.scopes == [key_pb2.KEY_SCOPE_READ]
    error = await refusal(reader("Create", pb.CreateRequest(kind=key_pb2.KEY_KIND_EVENTS)))
    assert isinstance(error, PermissionDenied)


async def test_wrong_requests_name_the_field(stage: Stage) -> None:
    error = await refusal(Keys(stage)("Create", pb.CreateRequest(tenant="A b")))
    assert isinstance(error, InvalidArgument)
    assert error.field == "tenant"
    assert isinstance(await refusal(Keys(stage)("Revoke", pb.RevokeRequest(key_id="x"))), InvalidArgument)
    unknown = pb.RevokeRequest(key_id="key_aaaaaaaaaaaaaaaaaaaa")
    assert isinstance(await refusal(Keys(stage)("Revoke", unknown)), NotFound)


async def test_events_key_reads_the_tenants_events_right_away(stage: Stage) -> None:
    access = (await stage.new_key("acme", kind=key_pb2.KEY_KIND_EVENTS)).nats
    assert access.subjects == ["sandbox.acme.>", "activity.acme.>"]
    client = await nats.connect(access.url, user=access.user, password=access.password)
    try:
        stream = client.jetstream(prefix=access.api_prefix)
        for consumer in access.consumers:
            pull = await stream.pull_subscribe_bind(consumer.name, consumer.stream)
            info = await pull.consumer_info()
            assert info.config.filter_subject == consumer.filter
    finally:
        await client.close()


async def test_revoked_events_key_is_cut_off_before_the_answer(stage: Stage) -> None:
    made = await stage.new_key("acme", kind=key_pb2.KEY_KIND_EVENTS)
    lost = asyncio.Event()

    async def on_lost() -> None:
        lost.set()

    client = await nats.connect(
        made.nats.url, user=made.nats.user, password=made.nats.password, allow_reconnect=False,
        disconnected_cb=on_lost,
    )  # fmt: skip
    try:
        await Keys(stage)("Revoke", pb.RevokeRequest(key_id=made.key.id))
        await asyncio.wait_for(lost.wait(), 2)
    finally:
        await client.close()
    async with stage.nats.connected("gateway") as connection:
        assert await provisioned(connection) == set()


async def test_several_events_keys_at_once(stage: Stage) -> None:
    made = await asyncio.gather(*(stage.new_key("acme", kind=key_pb2.KEY_KIND_EVENTS) for _ in range(5)))
    for one in made:
        client = await nats.connect(one.nats.url, user=one.nats.user, password=one.nats.password)
        await client.close()


class TestForeignNats:
    @pytest.fixture
    def with_events(self) -> bool:
        return False

    async def test_events_keys_are_refused_where_nats_is_not_ours(self, stage: Stage) -> None:
        error = await refusal(Keys(stage)("Create", pb.CreateRequest(kind=key_pb2.KEY_KIND_EVENTS)))
        assert isinstance(error, Unsupported)
        assert error.reason == "EVENTS_KEYS_UNSUPPORTED"
        assert not (await Keys(stage)("List", pb.ListRequest(tenant="acme"))).keys
