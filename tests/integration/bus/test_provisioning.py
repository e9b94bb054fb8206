"""The platform's users on a real nats-server: each service can do its work, and subscribers get consumers."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from arenero.bus import access, accounts, jetstream, provisioning
from arenero.bus.accounts import GRANTS, Subscriber, consumer_name
from arenero.bus.nats import NatsEventLog
from arenero.bus.streams import STREAMS
from arenero.bus.subjects import Kind
from arenero.errors import NotFound, PermissionDenied, Unavailable
from arenero.model.ids import TenantId, new_key_id
from tests.fixtures.guarded_nats import GuardedNats, guarded_nats


@pytest.fixture
async def nats(tmp_path: Path) -> AsyncIterator[GuardedNats]:
    async with guarded_nats(tmp_path) as nats:
        yield nats


async def append(log: NatsEventLog, kind: Kind, tenant: str = "acme") -> int:
    key = f"{kind.value}.{tenant}.id1"
    last = await log.last(f"{key}.>")
    appended = await log.append(
        f"{key}.made", b"x", key_filter=f"{key}.>", expected_revision=last.sequence if last else 0, message_id="m1"
    )
    return appended.sequence


@pytest.mark.parametrize("service", GRANTS)
async def test_service_can_do_all_that_a_log_does_on_its_own_streams(nats: GuardedNats, service: str) -> None:
    async with nats.connected(service) as connection:
        for kind in GRANTS[service].owns:
            log = NatsEventLog(connection, STREAMS[kind])
            async with await log.follow(f"{kind.value}.>") as following:
                sequence = await append(log, kind)
                assert (await anext(following)).sequence == sequence
            assert [entry.sequence async for entry in log.latest(f"{kind.value}.>")] == [sequence]
            assert len(await log.history(f"{kind.value}.>")) == 1
            assert await log.head() == sequence
            assert await log.purge(f"{kind.value}.acme.id1.>") == 1


@pytest.mark.parametrize("service", [name for name, grant in GRANTS.items() if grant.reads])
async def test_service_can_follow_what_it_reads_and_append_nothing_there(nats: GuardedNats, service: str) -> None:
    async with nats.connected(service) as connection:
        for kind in GRANTS[service].reads:
            log = NatsEventLog(connection, STREAMS[kind])
            async with await log.follow(f"{kind.value}.>"):
                assert await log.last(f"{kind.value}.>") is None
            if kind not in GRANTS[service].writes:
                with pytest.raises(PermissionDenied):
                    await log.publish(f"{kind.value}.acme.id1.made", b"x", message_id="m2")


async def test_nobody_but_the_gateway_reads_keys(nats: GuardedNats) -> None:
    for service in set(GRANTS) - {"gateway"}:
        async with nats.connected(service) as connection:
            with pytest.raises(PermissionDenied):
                await NatsEventLog(connection, STREAMS[Kind.KEY]).last("key.>")


async def test_consumers_are_made_once_and_keep_their_place(nats: GuardedNats) -> None:
    [(subscriber, _)] = await nats.admit(["acme"])
    async with nats.connected("gateway") as connection:
        assert await provisioning.provisioned(connection) == {subscriber.key_id}
        before = await info(connection, subscriber)
        await provisioning.provision(connection, subscriber)
        assert (await info(connection, subscriber))["created"] == before["created"]


async def test_consumers_are_withdrawn(nats: GuardedNats) -> None:
    [(one, _), (other, _)] = await nats.admit(["acme", "beta"])
    async with nats.connected("gateway") as connection:
        await provisioning.withdraw(connection, one.key_id)
        await provisioning.withdraw(connection, one.key_id)
        assert await provisioning.provisioned(connection) == {other.key_id}
        with pytest.raises(NotFound):
            await info(connection, one)


async def test_services_stay_connected_while_subscribers_change(nats: GuardedNats) -> None:
    async with nats.connected("lifecycle") as connection:
        log = NatsEventLog(connection, STREAMS[Kind.SANDBOX])
        async with await log.follow("sandbox.>") as following:
            await nats.admit(["acme"])
            await nats.put_in_force([])
            assert connection.is_connected
            sequence = await append(log, Kind.SANDBOX)
            assert (await anext(following)).sequence == sequence


async def test_configuration_that_the_server_refuses_is_noticed(
    nats: GuardedNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "_RELOAD_TIMEOUT_S", 0.3)
    broken = Subscriber(new_key_id(), TenantId("acme"), "not a hash")
    monkeypatch.setattr(accounts, "tenant_subjects", lambda kind, tenant: "a..b")
    with pytest.raises(Unavailable, match="did not take"):
        await nats.put_in_force([broken])


async def info(connection, subscriber):
    consumer = consumer_name(subscriber.key_id, Kind.SANDBOX)
    return await jetstream.read(connection, f"CONSUMER.INFO.SANDBOX.{consumer}")
