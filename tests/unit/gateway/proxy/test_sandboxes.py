import asyncio
from datetime import timedelta

import pytest

from arenero.errors import NotFound
from arenero.gateway.proxy.pool import PoolConfig
from arenero.gateway.proxy.sandboxes import Endpoint, Sandboxes
from arenero.model.ids import SandboxId, TenantId, new_sandbox_id
from arenero.rpc.identity import Caller
from arenero.testing.clock import ManualClock

ACME, BETA = (Caller(TenantId(tenant), "key:key_x") for tenant in ("acme", "beta"))
ONE, OTHER = new_sandbox_id(), new_sandbox_id()


class Lifecycle:
    """Answers with where it is told that sandboxes are."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.asked: list[tuple[str, str]] = []
        self.endpoints: dict[tuple[str, str], tuple[str, int]] = {("acme", ONE): ("unix:/one", 1)}
        self.ttl_s = 3600.0
        self.hold: asyncio.Event | None = None

    async def get_endpoint(self, caller: Caller, sandbox_id: SandboxId) -> Endpoint:
        self.asked.append((caller.tenant, sandbox_id))
        if self.hold is not None:
            await self.hold.wait()
        try:
            address, generation = self.endpoints[caller.tenant, sandbox_id]
        except KeyError:
            raise NotFound("no such sandbox") from None
        expires_at = self._clock.now() + timedelta(seconds=self.ttl_s)
        return Endpoint(address, f"token-{len(self.asked)}", expires_at, generation, (("x-hop", "1"),))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def lifecycle(clock: ManualClock) -> Lifecycle:
    return Lifecycle(clock)


@pytest.fixture
def sandboxes(lifecycle: Lifecycle, clock: ManualClock) -> Sandboxes:
    return Sandboxes(lifecycle.get_endpoint, PoolConfig(), clock, forget_s=600.0)


async def test_way_is_remembered_with_what_execd_wants_to_see(sandboxes: Sandboxes, lifecycle: Lifecycle) -> None:
    way = await sandboxes.way(ACME, ONE)
    assert await sandboxes.way(ACME, ONE) is way
    assert way.metadata == [("authorization", "Bearer token-1"), ("x-hop", "1")]
    assert lifecycle.asked == [("acme", ONE)]
    assert sandboxes.known == 1


async def test_callers_at_once_share_one_question(sandboxes: Sandboxes, lifecycle: Lifecycle) -> None:
    lifecycle.hold = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        asking = [group.create_task(sandboxes.way(ACME, ONE)) for _ in range(10)]
        await asyncio.sleep(0)
        lifecycle.hold.set()
    assert len({id(task.result()) for task in asking}) == 1
    assert len(lifecycle.asked) == 1


async def test_tenants_do_not_share_a_way(sandboxes: Sandboxes, lifecycle: Lifecycle) -> None:
    await sandboxes.way(ACME, ONE)
    for _ in range(2):
        with pytest.raises(NotFound):
            await sandboxes.way(BETA, ONE)
    assert lifecycle.asked == [("acme", ONE), ("beta", ONE), ("beta", ONE)]


async def test_failure_is_not_remembered(sandboxes: Sandboxes, lifecycle: Lifecycle) -> None:
    with pytest.raises(NotFound):
        await sandboxes.way(ACME, OTHER)
    lifecycle.endpoints["acme", OTHER] = ("unix:/other", 1)
    assert (await sandboxes.way(ACME, OTHER)).endpoint.address == "unix:/other"


async def test_forgotten_way_is_asked_for_again(sandboxes: Sandboxes, lifecycle: Lifecycle) -> None:
    first = await sandboxes.way(ACME, ONE)
    lifecycle.endpoints["acme", ONE] = ("unix:/moved", 2)
    sandboxes.forget(TenantId("acme"), ONE)
    second = await sandboxes.way(ACME, ONE)
    assert (second.endpoint.address, second.endpoint.generation) == ("unix:/moved", 2)
    # Somebody who found out late about the first must not cost the second.
    sandboxes.forget(TenantId("acme"), ONE, way=first)
    assert await sandboxes.way(ACME, ONE) is second


async def test_everything_can_be_forgotten(sandboxes: Sandboxes, lifecycle: Lifecycle) -> None:
    lifecycle.endpoints["acme", OTHER] = ("unix:/other", 1)
    await sandboxes.way(ACME, ONE)
    await sandboxes.way(ACME, OTHER)
    sandboxes.forget_all()
    assert sandboxes.known == 0


async def test_token_is_replaced_in_time_and_connections_are_kept(
    sandboxes: Sandboxes, lifecycle: Lifecycle, clock: ManualClock
) -> None:
    first = await sandboxes.way(ACME, ONE)
    clock.advance(3299)
    assert await sandboxes.way(ACME, ONE) is first
    clock.advance(2)
    second = await sandboxes.way(ACME, ONE)
    assert second.endpoint.token == "token-2"
    assert second.pool is first.pool


async def test_other_boot_gets_other_connections(
    sandboxes: Sandboxes, lifecycle: Lifecycle, clock: ManualClock
) -> None:
    first = await sandboxes.way(ACME, ONE)
    lifecycle.endpoints["acme", ONE] = ("unix:/one", 2)
    clock.advance(3400)
    assert (await sandboxes.way(ACME, ONE)).pool is not first.pool


async def test_what_is_not_used_is_forgotten(sandboxes: Sandboxes, clock: ManualClock) -> None:
    await sandboxes.way(ACME, ONE)
    clock.advance(599)
    await sandboxes.sweep()
    assert sandboxes.known == 1
    clock.advance(2)
    await sandboxes.sweep()
    await sandboxes.sweep()
    assert sandboxes.known == 0
    assert sandboxes.connections == 0
