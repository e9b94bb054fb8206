"""A gateway before a scripted lifecycle and a scripted execd, over a real nats-server."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest

from arenero.api.gateway.v1 import key_service_pb2, key_service_pb2_grpc
from arenero.api.lifecycle.v1 import sandbox_service_pb2 as lifecycle_pb2
from arenero.bus.connection import BusConnection
from arenero.errors import NotFound
from arenero.gateway import wiring
from arenero.gateway.config import ActivityConfig, GatewayConfig, ServicesConfig
from arenero.gateway.keys.bootstrap import BootstrapConfig
from arenero.gateway.proxy.pool import PoolConfig
from arenero.gateway.subscribers import EventsConfig
from arenero.host.service import Service
from arenero.model.ids import SandboxId, new_sandbox_id
from arenero.rpc.status import to_trailers
from tests.fixtures.guarded_nats import GuardedNats, guarded_nats
from tests.fixtures.services import running
from tests.fixtures.upstream import Cable, Upstream, serving

TOKEN = "token-of-the-sandbox"


@dataclass
class Boot:
    """Where a sandbox is."""

    address: str
    token: str = TOKEN
    generation: int = 1
    token_ttl_s: float = 3600.0


@dataclass
class Stage:
    """All parts of a test."""

    nats: GuardedNats
    gateway: Service
    address: str
    http: str
    admin_key: str
    channel: grpc.aio.Channel
    lifecycle: Upstream
    execd: Upstream
    cable: Cable
    """Between the gateway and execd."""
    sandbox_id: SandboxId
    boots: dict[tuple[str, str], Boot]
    """Where each tenant's sandboxes are."""
    platform: BusConnection
    """Lifecycle's connection to NATS."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Sandboxes that lifecycle was asked the way to, with the tenant."""

    def metadata(self, *more: tuple[str, str | bytes], key: str = "", sandbox_id: str = "") -> tuple[Any, ...]:
        return (
            ("authorization", f"Bearer {key or self.admin_key}"),
            ("arenero-sandbox-id", sandbox_id or self.sandbox_id),
            *more,
        )

    def unary(self, method: str) -> Any:
        return self.channel.unary_unary(method)

    def answers(self, method: str) -> Any:
        return self.channel.unary_stream(method)

    def both(self, method: str) -> Any:
        return self.channel.stream_stream(method)

    async def new_key(self, tenant: str = "default", **fields: Any) -> key_service_pb2.CreateResponse:
        stub: Any = key_service_pb2_grpc.KeyServiceStub(self.channel)
        request = key_service_pb2.CreateRequest(tenant=tenant, **fields)
        answer: key_service_pb2.CreateResponse = await stub.Create(request, metadata=self.metadata())
        return answer


@pytest.fixture
def gateway_config() -> GatewayConfig:
    """What a test may want otherwise; addresses and files are filled in."""
    return GatewayConfig(
        grpc="127.0.0.1:0",
        http="127.0.0.1:0",
        pool=PoolConfig(patience_s=0.5),
        activity=ActivityConfig(window_s=0.05, interval_s=0.1),
    )


@pytest.fixture
def with_events() -> bool:
    """Whether the gateway may change NATS's users."""
    return True


@pytest.fixture
async def stage(tmp_path: Path, gateway_config: GatewayConfig, with_events: bool) -> AsyncIterator[Stage]:
    async with AsyncExitStack() as stack:
        nats = await stack.enter_async_context(guarded_nats(tmp_path))
        platform = await stack.enter_async_context(nats.connected("lifecycle"))
        lifecycle, execd = Upstream(), Upstream()
        await stack.enter_async_context(serving(lifecycle, tmp_path / "lifecycle.sock"))
        await stack.enter_async_context(serving(execd, tmp_path / "execd.sock"))
        cable = await stack.enter_async_context(Cable(tmp_path / "cable.sock", tmp_path / "execd.sock").plugged_in())
        config = replace(
            gateway_config,
            otlp=f"unix:{tmp_path}/otlp.sock",
            services=ServicesConfig(f"unix:{tmp_path}/lifecycle.sock", snapshot="", warmpool="", vault=""),
            bootstrap=BootstrapConfig(tmp_path / "admin.key"),
            events=EventsConfig(nats.files.directory, nats.server.pid_path) if with_events else EventsConfig(),
            bus=nats.bus_config("gateway"),
        )
        gateway = await stack.enter_async_context(running(wiring.build(config)))
        assert gateway.announce is not None
        addresses = gateway.announce()
        channel = await stack.enter_async_context(
            grpc.aio.insecure_channel(str(addresses["grpc"]), options=[("grpc.max_receive_message_length", -1)])
        )
        sandbox_id = new_sandbox_id()
        boots = {("default", str(sandbox_id)): Boot(f"unix:{cable.source}")}
        stage = Stage(
            nats, gateway, str(addresses["grpc"]), str(addresses["http"]), (tmp_path / "admin.key").read_text().strip(),
            channel, lifecycle, execd, cable, sandbox_id, boots, platform,
        )  # fmt: skip
        lifecycle.scripts["GetEndpoint"] = endpoint_script(stage)
        yield stage


def endpoint_script(stage: Stage) -> Any:
    async def get_endpoint(context: Any) -> None:
        request = lifecycle_pb2.GetEndpointRequest.FromString(await context.read())
        tenant = dict(context.invocation_metadata())["arenero-tenant"]
        stage.asked.append((tenant, request.sandbox_id))
        boot = stage.boots.get((tenant, request.sandbox_id))
        if boot is None:
            code, text, trailers = to_trailers(NotFound("there is no such sandbox", reason="SANDBOX_NOT_FOUND"))
            await context.abort(code, text, trailers)
            return
        endpoint = lifecycle_pb2.Endpoint(address=boot.address, token=boot.token, generation=boot.generation)
        endpoint.token_expires_at.FromDatetime(datetime.now(UTC) + timedelta(seconds=boot.token_ttl_s))
        await context.write(lifecycle_pb2.GetEndpointResponse(endpoint=endpoint).SerializeToString())

    return get_endpoint
