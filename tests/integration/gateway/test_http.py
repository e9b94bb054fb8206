"""The HTTP door as any client sees it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub

from arenero.api.gateway.v1 import key_pb2
from arenero.gateway.http import is_local
from arenero.rpc.client import open_channel
from tests.fixtures.upstream import echo
from tests.integration.gateway.conftest import Stage
from tests.integration.gateway.proxy.test_relay import START
from tests.unit.gateway.spans import TRACE, exported

SANDBOX = "sbx_aaaaaaaaaaaaaaaaaaaa"


@pytest.fixture
async def web(stage: Stage) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(f"http://{stage.http}") as session:
        yield session


async def got(web: aiohttp.ClientSession, path: str, key: str = "") -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with web.get(path, headers=headers) as answer:
        return answer.status, await answer.json()


async def deliver(stage: Stage, *spans: Any, **more: Any) -> None:
    [otlp] = [server for server in stage.gateway.servers if server.address != stage.address]
    async with open_channel(otlp.address) as channel:
        stub: Any = TraceServiceStub(channel)
        await stub.Export(ExportTraceServiceRequest(resource_spans=exported(*spans, **more)))


async def test_health_is_of_all_parts(stage: Stage, web: aiohttp.ClientSession) -> None:
    async with asyncio.timeout(5):
        while (found := await got(web, "/healthz"))[0] != 200:
            await asyncio.sleep(0.02)
    assert found[1] == {"status": "ok", "parts": {"gateway": "serving", "lifecycle": "serving", "nats": "serving"}}


async def test_part_that_is_away_is_named(stage: Stage, web: aiohttp.ClientSession) -> None:
    await stage.nats.server.kill()
    async with asyncio.timeout(5):
        while (found := await got(web, "/healthz"))[0] != 503:
            await asyncio.sleep(0.02)
    assert found[1]["parts"]["nats"] == "not serving"
    assert found[1]["status"] == "degraded"


async def test_metrics_are_prometheus_and_name_no_tenant(stage: Stage, web: aiohttp.ClientSession) -> None:
    stage.execd.scripts["Start"] = echo
    await stage.unary(START)(b"12345", metadata=stage.metadata())
    async with web.get("/metrics") as answer:
        text = await answer.text()
    assert 'arenero_gateway_calls_total{code="OK",method="ExecService/Start"} 1.0' in text
    assert 'arenero_gateway_bytes_total{direction="up",method="ExecService/Start"} 5.0' in text
    assert "sbx_" not in text
    assert "key_" not in text
    assert "default" not in text


@pytest.mark.parametrize(
    ("remote", "local"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("10.0.0.1", False), ("", False), (None, False)],
)
def test_this_machine_is_known_by_its_addresses(remote: str | None, local: bool) -> None:
    assert is_local(remote) is local


async def test_traces_are_their_tenants(stage: Stage, web: aiohttp.ClientSession) -> None:
    await deliver(stage, ("a", "", "root", 10), ("b", "a", "step", 20), tenant="acme", sandbox=SANDBOX)
    acme = (await stage.new_key("acme")).secret
    status, found = await got(web, f"/v1/traces/{TRACE}", acme)
    assert status == 200
    assert [(span["name"], span.get("depth", 0)) for span in found["trace"]["spans"]] == [("root", 0), ("step", 1)]
    status, found = await got(web, f"/v1/traces?sandbox_id={SANDBOX}", acme)
    assert [trace["trace_id"] for trace in found["traces"]] == [TRACE]
    beta = (await stage.new_key("beta")).secret
    assert (await got(web, f"/v1/traces/{TRACE}", beta))[0] == 404
    assert (await got(web, f"/v1/traces?sandbox_id={SANDBOX}", beta))[1] == {}


async def test_traces_need_a_key(stage: Stage, web: aiohttp.ClientSession) -> None:
    for path in (f"/v1/traces/{TRACE}", "/v1/traces"):
        for key in ("", "ark_wrong"):
            status, found = await got(web, path, key)
            assert status == 401
            assert found["code"] == "UNAUTHENTICATED"


@pytest.mark.parametrize(
    ("path", "status", "reason"),
    [
        ("/v1/traces/xyz", 400, "INVALID_ARGUMENT"),
        ("/v1/traces/..%2f..%2fetc", 400, "INVALID_ARGUMENT"),
        ("/v1/traces?sandbox_id=x", 400, "INVALID_ARGUMENT"),
        (f"/v1/traces/{'0' * 32}", 404, "TRACE_NOT_FOUND"),
        ("/nothing", 404, "HTTP"),
        ("/healthz/", 404, "HTTP"),
    ],
)
async def test_errors_are_flat_and_have_a_reason(
    stage: Stage, web: aiohttp.ClientSession, path: str, status: int, reason: str
) -> None:
    found_status, found = await got(web, path, stage.admin_key)
    assert found_status == status
    assert found.keys() == {"code", "reason", "message"}
    assert found["reason"] == reason


async def test_other_methods_are_refused(stage: Stage, web: aiohttp.ClientSession) -> None:
    async with web.post("/healthz", data=b"x") as answer:
        assert answer.status == 405


async def test_large_header_is_refused(stage: Stage, web: aiohttp.ClientSession) -> None:
    async with web.get("/healthz", headers={"X-Large": "x" * 100_000}) as answer:
        assert answer.status == 400
    assert (await got(web, "/healthz"))[1]["parts"]


async def test_kind_of_key_that_is_no_api_key_opens_nothing(stage: Stage, web: aiohttp.ClientSession) -> None:
    made = await stage.new_key("acme", kind=key_pb2.KEY_KIND_EVENTS)
    assert (await got(web, "/v1/traces", made.nats.password))[0] == 401
