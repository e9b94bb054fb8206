"""What the gateway consists of, and what is connected to what."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from grpc_health.v1 import health_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as otlp_grpc

from arenero.api.gateway.v1.key_service_pb2_grpc import add_KeyServiceServicer_to_server
from arenero.api.gateway.v1.trace_service_pb2_grpc import add_TraceServiceServicer_to_server
from arenero.bus.access import AccessFiles, NatsHandle
from arenero.bus.connection import BusConnection
from arenero.bus.connection import connect as connect_bus
from arenero.bus.nats import NatsEventLog, ensure_stream
from arenero.bus.projection import Projection
from arenero.bus.publisher import ActivityPublisher
from arenero.bus.streams import STREAMS
from arenero.bus.subjects import Kind, filter_of
from arenero.gateway.backends import Backends
from arenero.gateway.catalog import PUBLIC, Backend
from arenero.gateway.config import GatewayConfig
from arenero.gateway.http import HttpDoor, HttpParts
from arenero.gateway.key_servicer import KeyServicer, KeyTools
from arenero.gateway.keys.admission import Admission
from arenero.gateway.keys.bootstrap import ensure_key
from arenero.gateway.keys.keyring import Keyring
from arenero.gateway.keys.ledger import Ledger
from arenero.gateway.keys.record import KeyRecord
from arenero.gateway.lifecycle_client import LifecycleClient
from arenero.gateway.proxy.destination import Destination, ToSandbox, ToService
from arenero.gateway.proxy.door import Door
from arenero.gateway.proxy.live import LiveCalls
from arenero.gateway.proxy.meter import CallMetrics
from arenero.gateway.proxy.pool import ChannelPool
from arenero.gateway.proxy.relay import Books
from arenero.gateway.proxy.sandboxes import Sandboxes
from arenero.gateway.subscribers import NatsUsers, Subscribers
from arenero.gateway.subscriptions import SandboxFeed
from arenero.gateway.trace_servicer import TraceServicer
from arenero.gateway.traces import Traces
from arenero.gateway.usage import Usage
from arenero.host import heap
from arenero.host.service import Service
from arenero.host.tasks import Run
from arenero.model.time import Clock, SystemClock
from arenero.rpc.client import open_channel
from arenero.rpc.identity import Caller
from arenero.rpc.server import RpcServer, RpcServerConfig
from arenero.telemetry.metrics import Metrics
from arenero.telemetry.servicer import TraceServicer as OtlpServicer
from arenero.telemetry.store import SpanStore
from arenero.telemetry.tracing import instance_name

_SWEEP_S: Final = 1.0
_HEALTH: Final = {
    True: health_pb2.HealthCheckResponse.SERVING,
    False: health_pb2.HealthCheckResponse.NOT_SERVING,
}


@dataclass(frozen=True, slots=True)
class _Tools:
    """What all parts use."""

    config: GatewayConfig
    connection: BusConnection
    logs: Mapping[Kind, NatsEventLog]
    clock: Clock
    metrics: Metrics
    source: str


@dataclass(frozen=True, slots=True)
class _Keys:
    """Who may come in."""

    keyring: Keyring
    projection: Projection
    ledger: Ledger
    subscribers: Subscribers
    live: LiveCalls


@dataclass(frozen=True, slots=True)
class _Ways:
    """Where calls go."""

    door: Door
    sandboxes: Sandboxes
    pools: Mapping[Backend, ChannelPool]
    usage: Usage
    publisher: ActivityPublisher


@asynccontextmanager
async def build(config: GatewayConfig) -> AsyncIterator[Service]:
    """Open the log and the ways to the services, and yield the gateway."""
    heap.tune()
    async with AsyncExitStack() as stack:
        connection = await stack.enter_async_context(connect_bus(config.bus, name="gateway"))
        await ensure_stream(connection, STREAMS[Kind.KEY])
        logs = {kind: NatsEventLog(connection, STREAMS[kind]) for kind in (Kind.KEY, Kind.SANDBOX, Kind.ACTIVITY)}
        tools = _Tools(config, connection, logs, SystemClock(), Metrics(), f"gateway/{instance_name()}")
        keys = _make_keys(tools)
        lifecycle = await stack.enter_async_context(open_channel(config.services.lifecycle))
        ways = _make_ways(tools, keys, LifecycleClient(lifecycle))
        stack.push_async_callback(ways.sandboxes.close)
        for pool in ways.pools.values():
            stack.push_async_callback(pool.close)
        yield _assemble(tools, keys, ways)


def _make_keys(tools: _Tools) -> _Keys:
    live = LiveCalls()

    def end(key: KeyRecord) -> None:
        live.end(key.actor)
        subscribers.wake()

    keyring = Keyring(tools.clock, on_ended=end)
    users, sweep_s = _nats_users(tools.config), tools.config.events.sweep_s
    subscribers = Subscribers(keyring, tools.connection, users, sweep_s=sweep_s)
    log = tools.logs[Kind.KEY]
    projection = Projection(log, filter_of(Kind.KEY), keyring.apply)
    ledger = Ledger(log, projection, keyring, tools.clock, tools.source)
    return _Keys(keyring, projection, ledger, subscribers, live)


def _make_ways(tools: _Tools, keys: _Keys, lifecycle: LifecycleClient) -> _Ways:
    config = tools.config
    publisher = ActivityPublisher(
        tools.logs[Kind.ACTIVITY], source=tools.source, clock=tools.clock, window_s=config.activity.window_s
    )
    usage = Usage(publisher, interval_s=config.activity.interval_s)
    sandboxes = Sandboxes(lifecycle.get_endpoint, config.pool, tools.clock)
    pools = {
        Backend(name): ChannelPool(address, config.pool, tools.clock.monotonic_s)
        for name, address in config.services.present().items()
    }
    destinations: dict[Backend, Destination] = {
        backend: ToService(pools.get(backend)) for backend in Backend if backend is not Backend.GATEWAY
    }
    destinations[Backend.EXECD] = ToSandbox(sandboxes)
    door = Door(destinations, Books(CallMetrics(tools.metrics), keys.live, usage))
    return _Ways(door, sandboxes, pools, usage, publisher)


def _assemble(tools: _Tools, keys: _Keys, ways: _Ways) -> Service:
    config = tools.config
    store = SpanStore(max_spans=config.kept_spans) if config.otlp else None
    traces, admission = Traces(store), Admission(keys.keyring)
    public = _public_server(tools, keys, ways, traces, admission)
    backends = Backends(
        config.services.present(), on_changed=lambda name, serving: _show_health(public, Backend(name), serving)
    )
    servers = [public, *([_otlp_server(config.otlp, store)] if store is not None else [])]

    def health() -> Mapping[str, bool]:
        return {"gateway": public.health.is_serving, "nats": tools.connection.is_connected, **backends.serving}

    http = HttpDoor(config.http, HttpParts(admission, traces, tools.metrics, health))

    async def become_ready() -> None:
        await keys.projection.wait_ready()
        await ensure_key(config.bootstrap, keys.keyring, keys.ledger, tools.clock)
        await http.wait_listening()
        for backend in ways.door.backends:
            await _show_health(public, backend, backend is Backend.EXECD or backends.serving.get(backend.value, False))

    async def sweep() -> None:
        while True:
            await asyncio.sleep(_SWEEP_S)
            keys.keyring.end_expired()
            await ways.sandboxes.sweep()
            for pool in ways.pools.values():
                await pool.close_idle()

    return Service(
        servers=servers,
        tasks={
            "keys": keys.projection.run,
            "subscribers": keys.subscribers.run,
            "sandboxes": SandboxFeed(tools.logs[Kind.SANDBOX], ways.sandboxes).run,
            "backends": backends.run,
            "usage": ways.usage.run,
            "activity": ways.publisher.run,
            "sweep": sweep,
            "http": http.run,
            **{f"otlp:{server.address}": _serving_from_now(server) for server in servers[1:]},
        },
        ready=become_ready,
        announce=lambda: {"grpc": public.address, "http": http.address},
    )


def _public_server(tools: _Tools, keys: _Keys, ways: _Ways, traces: Traces, admission: Admission) -> RpcServer:
    config = tools.config
    server_config = RpcServerConfig(
        config.grpc, max_streams=config.max_streams, max_message_bytes=config.max_message_bytes
    )
    public = RpcServer(server_config, authenticate=admission, span_area="gateway")
    nats_url = config.events.public_url or config.bus.url
    key_tools = KeyTools(keys.keyring, keys.ledger, keys.subscribers, tools.clock, nats_url)
    public.add(add_KeyServiceServicer_to_server, KeyServicer(key_tools))
    public.add(add_TraceServiceServicer_to_server, TraceServicer(traces))
    public.add_generic(ways.door, services=ways.door.services)
    return public


async def _show_health(public: RpcServer, backend: Backend, serving: bool) -> None:
    for service in PUBLIC.values():
        if service.backend is backend:
            await public.health.servicer.set(service.name, _HEALTH[serving])


def _otlp_server(address: str, store: SpanStore) -> RpcServer:
    """Take spans in, on a socket that only the platform's parts can open."""
    server = RpcServer(RpcServerConfig(address), authenticate=_let_in)
    server.add(otlp_grpc.add_TraceServiceServicer_to_server, OtlpServicer(store))
    return server


async def _let_in(method: str, metadata: Mapping[str, str]) -> Caller | None:
    return None


def _serving_from_now(server: RpcServer) -> Run:
    """Take calls before the gateway is ready: the first spans of all parts come while it starts."""

    async def run() -> None:
        await server.health.set_serving(True)
        await asyncio.Event().wait()

    return run


def _nats_users(config: GatewayConfig) -> NatsUsers | None:
    access_dir, pid_file = config.events.access_dir, config.events.nats_pid_file
    if access_dir is None or pid_file is None:
        return None
    return NatsUsers(AccessFiles(access_dir), NatsHandle(config.bus.url, pid_file))
