"""Keys open one tenant, and nothing of another can be seen."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import nats
import nats.errors
import pytest

from arenero.api.events.v1.event_pb2 import Event
from arenero.sdk import Client, Sandbox
from arenero.sdk.errors import AreneroError, NotFound, PermissionDenied, Unauthenticated
from arenero.sdk.types import EventFilter, KeyKind, KeyScope
from tests.e2e.kit import Instance


@pytest.fixture
async def other(platform: Instance, client: Client) -> AsyncIterator[Client]:
    """A client of another tenant."""
    made = await client.create_key("other", tenant=f"other-{time.time_ns() % 10**9}")
    async with platform.client(api_key=made.secret) as found:
        yield found


async def test_sandbox_of_another_tenant_does_not_exist(platform: Instance, sandbox: Sandbox, other: Client) -> None:
    with pytest.raises(NotFound):
        await other.get(sandbox.id)
    with pytest.raises(NotFound):
        await other.delete(sandbox.id)
    with pytest.raises(NotFound):
        await Sandbox.connect(sandbox.id, client=other)
    assert not [found.id async for found in other.sandboxes(include_ended=True)]
    assert not [event async for event in other.replay()]
    assert not [event async for event in other.replay(EventFilter(sandbox_id=sandbox.id))]
    with contextlib.suppress(NotFound):
        # That somebody looked for it is a trace of its own: of whoever looked.
        assert (await other.trace(sandbox_id=sandbox.id)).tenant == (await other.who_am_i()).tenant
    # Data calls too: the gateway looks at whose sandbox it is.
    through = Sandbox(other, sandbox.record, owns_client=False)
    with pytest.raises(AreneroError) as raised:
        await through.exec("true")
    assert isinstance(raised.value, NotFound | PermissionDenied), raised.value
    await through.close()
    assert (await sandbox.exec("true")).ok


async def test_tenants_do_not_meet(client: Client, other: Client) -> None:
    request_id = f"same-{time.time_ns()}"
    async with (
        Sandbox.create(client=client, request_id=request_id) as ours,
        Sandbox.create(client=other, request_id=request_id) as theirs,
    ):
        assert ours.id != theirs.id
        assert [found.id async for found in other.sandboxes()] == [theirs.id]


async def test_revoked_key_opens_nothing(platform: Instance, client: Client) -> None:
    made = await client.create_key("short-lived")
    assert made.key is not None
    async with platform.client(api_key=made.secret) as found:
        assert (await found.who_am_i()).id == made.key.id
        await client.revoke_key(made.key.id)
        with pytest.raises(Unauthenticated):
            await found.who_am_i()
    listed = {key.id: key async for key in client.list_keys(include_ended=True)}
    assert listed[made.key.id].revoked_at is not None
    assert made.key.id not in [key.id async for key in client.list_keys()]


async def test_expired_key_opens_nothing(platform: Instance, client: Client) -> None:
    made = await client.create_key("short", ttl_s=1)
    async with platform.client(api_key=made.secret) as found:
        await asyncio.sleep(1.5)
        with pytest.raises(Unauthenticated):
            await found.who_am_i()


@pytest.mark.parametrize("key", ["", "nonsense", "arn_" + "x" * 40])
async def test_wrong_key_opens_nothing(platform: Instance, key: str) -> None:
    from arenero.sdk import Settings

    settings = Settings(platform.settings().address, key or " ")
    async with Client(settings=settings) as found:
        with pytest.raises(Unauthenticated):
            await found.who_am_i()


async def test_reading_key_changes_nothing(platform: Instance, client: Client, sandbox: Sandbox) -> None:
    made = await client.create_key("reader", scopes=(KeyScope.READ,))
    async with platform.client(api_key=made.secret) as reader:
        assert (await reader.get(sandbox.id)).id == sandbox.id
        assert sandbox.id in [found.id async for found in reader.sandboxes()]
        for attempt in (reader.delete(sandbox.id), _create(reader), reader.create_key("x")):
            with pytest.raises(PermissionDenied):
                await attempt
    assert (await sandbox.exec("true")).ok


async def _create(client: Client) -> None:
    await Sandbox.create(client=client)


async def test_tenants_key_makes_no_keys_of_others(other: Client) -> None:
    with pytest.raises(PermissionDenied):
        await other.create_key("x", tenant="somebody-else")
    with pytest.raises(PermissionDenied):
        await other.create_key("x", scopes=(KeyScope.ADMIN,))


async def test_subscriber_hears_its_own_tenant_only(client: Client, other: Client) -> None:
    """With a plain NATS client."""
    access = (await other.create_key("subscriber", kind=KeyKind.EVENTS)).nats
    assert access is not None
    connection = await nats.connect(
        access.url,
        user=access.user,
        password=access.password,
        inbox_prefix=access.inbox_prefix.encode(),
        error_cb=_ignore,
        allow_reconnect=False,
    )
    try:
        [subject] = [found for found in access.subjects if found.startswith("sandbox.")]
        heard = await connection.subscribe(subject)
        everything = await connection.subscribe("sandbox.>")
        await connection.flush()
        async with Sandbox.create(client=client), Sandbox.create(client=other) as theirs:
            pass
        facts: list[str | None] = []
        while not facts or facts[-1] != "terminated":
            message = await heard.next_msg(timeout=20)
            event = Event.FromString(message.data)
            assert event.sandbox.sandbox.id == theirs.id
            facts.append(event.sandbox.WhichOneof("fact"))
        assert facts[0] == "requested"
        with pytest.raises((TimeoutError, nats.errors.Error)):
            await everything.next_msg(timeout=0.5)
        await connection.publish(f"{subject.removesuffix('>')}sbx_fake.terminated", b"forged")
        with pytest.raises((TimeoutError, nats.errors.Error)):
            await heard.next_msg(timeout=0.5)
    finally:
        await connection.close()


async def _ignore(error: Exception) -> None:
    """Refusals of NATS come out here: they are what is wanted."""
