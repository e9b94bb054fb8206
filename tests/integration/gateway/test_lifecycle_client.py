"""The way to a sandbox, asked of lifecycle over gRPC."""

from pathlib import Path
from typing import Any

import grpc
import pytest

from arenero.api.lifecycle.v1 import sandbox_service_pb2 as pb
from arenero.errors import NotFound, Unavailable
from arenero.gateway.lifecycle_client import LifecycleClient
from arenero.model.ids import TenantId, new_sandbox_id
from arenero.rpc.client import open_channel
from arenero.rpc.identity import Caller
from arenero.rpc.status import to_trailers
from tests.fixtures.upstream import Upstream, refusing, serving

CALLER = Caller(TenantId("acme"), "key:key_x")
SANDBOX = new_sandbox_id()


async def test_way_is_asked_for_in_the_callers_name(tmp_path: Path) -> None:
    requests: list[pb.GetEndpointRequest] = []

    async def answer(context: Any) -> None:
        requests.append(pb.GetEndpointRequest.FromString(await context.read()))
        endpoint = pb.Endpoint(address="unix:/x", token="t", generation=3, headers={"x-hop": "1"})
        endpoint.token_expires_at.FromJsonString("2030-01-01T00:00:00Z")
        await context.write(pb.GetEndpointResponse(endpoint=endpoint).SerializeToString())

    lifecycle = Upstream(GetEndpoint=answer)
    async with serving(lifecycle, tmp_path / "l.sock"), open_channel(f"unix:{tmp_path}/l.sock") as channel:
        found = await LifecycleClient(channel).get_endpoint(CALLER, SANDBOX)
    assert (found.address, found.token, found.generation, found.headers) == ("unix:/x", "t", 3, (("x-hop", "1"),))
    assert found.token_expires_at.isoformat() == "2030-01-01T00:00:00+00:00"
    assert requests[0].sandbox_id == SANDBOX
    assert lifecycle.calls[0].metadata["arenero-tenant"] == "acme"


async def test_refusal_is_lifecycles_own(tmp_path: Path) -> None:
    code, text, trailers = to_trailers(NotFound("no", reason="SANDBOX_NOT_FOUND"))
    lifecycle = Upstream(GetEndpoint=refusing(code, text, trailers))
    async with serving(lifecycle, tmp_path / "l.sock"), open_channel(f"unix:{tmp_path}/l.sock") as channel:
        with pytest.raises(NotFound):
            await LifecycleClient(channel).get_endpoint(CALLER, SANDBOX)


async def test_lifecycle_that_is_away_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arenero.gateway.lifecycle_client._TIMEOUT_S", 0.3)
    async with open_channel("unix:/nowhere/at.all") as channel:
        with pytest.raises((Unavailable, grpc.RpcError)):
            await LifecycleClient(channel).get_endpoint(CALLER, SANDBOX)
