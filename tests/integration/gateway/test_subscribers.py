"""NATS is brought in step with the events keys, wherever a crash came between."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from arenero.bus import accounts, provisioning
from arenero.bus.access import NatsHandle
from arenero.bus.accounts import Subscriber
from arenero.bus.connection import BusConnection
from arenero.bus.memory import MemoryEventLog
from arenero.errors import Unavailable, Unsupported
from arenero.gateway.keys.record import KeyRecord, Kind
from arenero.gateway.subscribers import NatsUsers, Subscribers
from arenero.model.ids import KeyId, TenantId, new_key_id
from tests.fixtures.guarded_nats import GuardedNats, guarded_nats
from tests.unit.gateway.keys.kit import Keys, keys_over
from tests.unit.gateway.keys.samples import a_key


@dataclass(frozen=True)
class Scene:
    nats: GuardedNats
    connection: BusConnection
    keys: Keys
    subscribers: Subscribers

    async def new_key(self) -> KeyRecord:
        hashed = accounts.hash_password("p")
        record = a_key(kind=Kind.EVENTS, scopes=frozenset(), secret_digest=b"", nats_password_hash=hashed)
        return await self.keys.ledger.create(record, actor="key:key_x")

    def admitted(self) -> set[KeyId]:
        return {one.key_id for one in self.nats.files.subscribers()}

    async def provisioned(self) -> set[KeyId]:
        return await provisioning.provisioned(self.connection)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with (
        guarded_nats(tmp_path) as nats,
        nats.connected("gateway") as connection,
        keys_over(MemoryEventLog("key.>")) as keys,
    ):
        users = NatsUsers(nats.files, NatsHandle(nats.url, nats.server.pid_path))
        yield Scene(nats, connection, keys, Subscribers(keys.keyring, connection, users, sweep_s=0.1))


async def test_key_gets_a_user_and_consumers_and_loses_both(scene: Scene) -> None:
    key = await scene.new_key()
    await scene.subscribers.settle()
    assert (scene.admitted(), await scene.provisioned()) == ({key.id}, {key.id})
    await scene.keys.ledger.revoke(key.id, actor="key:key_x")
    await scene.subscribers.settle()
    assert (scene.admitted(), await scene.provisioned()) == (set(), set())


async def test_nothing_is_reloaded_when_nothing_changed(scene: Scene) -> None:
    await scene.new_key()
    await scene.subscribers.settle()
    before = scene.nats.files.config.stat().st_mtime_ns
    await scene.subscribers.settle()
    assert scene.nats.files.config.stat().st_mtime_ns == before


async def test_what_a_crash_left_is_mended_in_the_background(scene: Scene) -> None:
    """A user without a key, consumers without a key, a key without consumers."""
    stray = Subscriber(new_key_id(), TenantId("acme"), accounts.hash_password("x"))
    await scene.nats.put_in_force([stray])
    await provisioning.provision(scene.connection, Subscriber(new_key_id(), TenantId("acme"), ""))
    key = await scene.new_key()
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        running = group.create_task(scene.subscribers.run())
        while (scene.admitted(), await scene.provisioned()) != ({key.id}, {key.id}):
            await asyncio.sleep(0.02)
        await provisioning.withdraw(scene.connection, key.id)
        while await scene.provisioned() != {key.id}:
            await asyncio.sleep(0.02)
        running.cancel()


async def test_waking_is_enough(scene: Scene) -> None:
    slow = Subscribers(scene.keys.keyring, scene.connection, scene.subscribers._users, sweep_s=3600)
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        running = group.create_task(slow.run())
        await asyncio.sleep(0.3)
        key = await scene.new_key()
        slow.wake()
        while scene.admitted() != {key.id}:
            await asyncio.sleep(0.02)
        running.cancel()


async def test_server_that_is_away_is_said(scene: Scene) -> None:
    await scene.new_key()
    await scene.nats.server.kill()
    with pytest.raises(Unavailable):
        await scene.subscribers.settle()


async def test_foreign_nats_has_no_subscribers(scene: Scene) -> None:
    without = Subscribers(scene.keys.keyring, scene.connection, None, sweep_s=1)
    with pytest.raises(Unsupported):
        without.check_possible()
    await without.settle()
    scene.subscribers.check_possible()
