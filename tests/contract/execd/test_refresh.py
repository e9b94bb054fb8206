"""A new identity: old tokens are void, the environment is replaced, and what can't be done is said."""

from __future__ import annotations

import grpc
import pytest

from arenero.api.execd.v1 import lease_service_pb2 as api
from tests.contract.execd import kit


async def test_refreshed_sandbox_takes_only_the_new_generation() -> None:
    with kit.execd(env={"OLD": "1"}) as guest:
        async with kit.connected(guest) as client:
            assert (await client.run("echo $OLD")).out == b"1\n"
            request = api.RefreshRequest(generation=2, random_seed=b"seed", env={"NEW": "2"})
            answer = await client.lease.Refresh(request, metadata=client.metadata)
            done = {hook.name: hook.done for hook in answer.hooks}
            assert done == {"identity": True, "env": True, "random_seed": True}
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await client.run("true")
            assert caught.value.code() is grpc.StatusCode.PERMISSION_DENIED
        async with kit.connected(guest, kit.token(generation=2)) as client:
            assert (await client.run("echo $OLD $NEW")).out == b"2\n"
            assert (await client.call("Hello")).generation == 2


async def test_hook_that_cannot_be_done_says_why() -> None:
    """Execd under an ordinary user may set neither clock nor host name."""
    prefix = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", "--"] if kit.IS_ROOT else []
    with kit.execd(prefix=prefix) as guest:
        async with kit.connected(guest) as client:
            request = api.RefreshRequest(hostname="other")
            request.wall_clock.GetCurrentTime()
            answer = await client.lease.Refresh(request, metadata=client.metadata)
    failed = {hook.name: hook.message for hook in answer.hooks if not hook.done}
    assert failed == {"hostname": "Operation not permitted", "wall_clock": "Operation not permitted"}
