import asyncio
from datetime import timedelta

import pytest

from arenero.bus.memory import MemoryEventLog
from arenero.gateway.proxy.pool import PoolConfig
from arenero.gateway.proxy.sandboxes import Endpoint, Sandboxes
from arenero.gateway.subscriptions import MOVED, SandboxFeed
from arenero.model.ids import SandboxId, TenantId
from arenero.rpc.identity import Caller
from arenero.testing.clock import ManualClock

SANDBOX = SandboxId("sbx_aaaaaaaaaaaaaaaaaaaa")
CALLER = Caller(TenantId("acme"), "key:key_x")


async def made() -> tuple[SandboxFeed, Sandboxes, MemoryEventLog]:
    clock, log = ManualClock(), MemoryEventLog("sandbox.>")

    async def get_endpoint(caller: Caller, sandbox_id: SandboxId) -> Endpoint:
        return Endpoint("unix:/x", "token", clock.now() + timedelta(hours=1), 1)

    sandboxes = Sandboxes(get_endpoint, PoolConfig(), clock)
    await sandboxes.way(CALLER, SANDBOX)
    return SandboxFeed(log, sandboxes), sandboxes, log


@pytest.mark.parametrize("fact", sorted(MOVED))
async def test_way_is_forgotten_after_a_move(fact: str) -> None:
    feed, sandboxes, _ = await made()
    feed.take(f"sandbox.acme.{SANDBOX}.{fact}")
    assert sandboxes.known == 0


@pytest.mark.parametrize(
    "subject",
    [f"sandbox.acme.{SANDBOX}.renewed", f"sandbox.beta.{SANDBOX}.paused", "sandbox.acme.sbx_b.paused", "nonsense", ""],
)
async def test_way_is_kept_after_all_else(subject: str) -> None:
    feed, sandboxes, _ = await made()
    feed.take(subject)
    assert sandboxes.known == 1


async def test_what_was_learnt_before_following_is_forgotten() -> None:
    feed, sandboxes, log = await made()
    log.go_away()
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        running = group.create_task(feed.run())
        await asyncio.sleep(0.05)
        assert sandboxes.known == 1
        await log.come_back()
        while sandboxes.known:
            await asyncio.sleep(0.01)
        await sandboxes.way(CALLER, SANDBOX)
        await log.publish(f"sandbox.acme.{SANDBOX}.paused", b"", message_id="m1")
        while sandboxes.known:
            await asyncio.sleep(0.01)
        running.cancel()
