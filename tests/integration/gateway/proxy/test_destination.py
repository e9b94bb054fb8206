"""The second half of a call's way, and what becomes of a way that leads nowhere."""

import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arenero.errors import InvalidArgument, Unavailable, Unsupported
from arenero.gateway.proxy.destination import ToSandbox, ToService, named_sandbox
from arenero.gateway.proxy.pool import ChannelPool, PoolConfig
from arenero.gateway.proxy.sandboxes import Endpoint, Sandboxes
from arenero.model.ids import SandboxId, TenantId, new_sandbox_id
from arenero.model.time import SystemClock
from arenero.rpc.identity import Caller
from tests.fixtures.upstream import Upstream, serving

CALLER = Caller(TenantId("acme"), "key:key_x")
SANDBOX = new_sandbox_id()
NAMED = [("arenero-sandbox-id", SANDBOX)]
CONFIG = PoolConfig(patience_s=0.3)


class Ways:
    """Sandboxes whose addresses a test gives, one after the other; the last stays."""

    def __init__(self, *addresses: str) -> None:
        self._addresses = list(addresses)
        self.asked = 0
        self.sandboxes = Sandboxes(self._get, CONFIG, SystemClock())

    async def _get(self, caller: Caller, sandbox_id: SandboxId) -> Endpoint:
        self.asked += 1
        address = self._addresses.pop(0) if len(self._addresses) > 1 else self._addresses[0]
        return Endpoint(address, "token", datetime.now(UTC) + timedelta(hours=1), 1)


@pytest.fixture
async def address(tmp_path: Path) -> AsyncIterator[str]:
    async with serving(Upstream(), tmp_path / "up.sock"):
        yield f"unix:{tmp_path}/up.sock"


async def test_service_learns_who_calls(address: str) -> None:
    pool = ChannelPool(address, CONFIG, time.monotonic)
    leg = await ToService(pool).leg(CALLER, [])
    assert leg.metadata == [("arenero-tenant", "acme"), ("arenero-actor", "key:key_x")]
    assert pool.calls == 1
    leg.close()
    assert pool.calls == 0
    await pool.close()


async def test_absent_service_is_unsupported() -> None:
    with pytest.raises(Unsupported):
        await ToService(None).leg(CALLER, [])


async def test_sandbox_gets_its_token_and_no_name(address: str) -> None:
    ways = Ways(address)
    leg = await ToSandbox(ways.sandboxes).leg(CALLER, NAMED)
    assert leg.metadata == [("authorization", "Bearer token")]
    leg.close()
    await ways.sandboxes.close()


async def test_way_that_leads_nowhere_is_asked_for_once_more(address: str) -> None:
    ways = Ways("unix:/nowhere/at.all", address)
    leg = await ToSandbox(ways.sandboxes).leg(CALLER, NAMED)
    assert ways.asked == 2
    leg.close()
    await ways.sandboxes.close()


async def test_sandbox_that_is_nowhere_costs_two_questions(address: str) -> None:
    ways = Ways("unix:/nowhere/at.all")
    with pytest.raises(Unavailable):
        await ToSandbox(ways.sandboxes).leg(CALLER, NAMED)
    assert ways.asked == 2
    await ways.sandboxes.close()


async def test_distrusted_way_is_asked_for_at_the_next_call(address: str) -> None:
    ways = Ways(address)
    destination = ToSandbox(ways.sandboxes)
    leg = await destination.leg(CALLER, NAMED)
    destination.distrust(CALLER, leg)
    leg.close()
    (await destination.leg(CALLER, NAMED)).close()
    assert ways.asked == 2
    await ways.sandboxes.close()


@pytest.mark.parametrize("metadata", [[], [("arenero-sandbox-id", "")], [("arenero-sandbox-id", "x")]])
def test_call_must_name_a_sandbox(metadata: list[tuple[str, str | bytes]]) -> None:
    with pytest.raises(InvalidArgument):
        named_sandbox(metadata)
