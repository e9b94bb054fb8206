"""What is connected to what: `connect` puts lifecycle together, `build` opens what it needs to be a process."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from arenero.api.egress.v1.egress_service_pb2_grpc import EgressServiceServicer, add_EgressServiceServicer_to_server
from arenero.api.events.v1.event_service_pb2_grpc import add_EventServiceServicer_to_server
from arenero.api.lifecycle.v1.sandbox_service_pb2_grpc import add_SandboxServiceServicer_to_server
from arenero.bus.connection import connect as connect_bus
from arenero.bus.log import EventLog
from arenero.bus.nats import NatsEventLog, ensure_stream
from arenero.bus.projection import Projection
from arenero.bus.streams import STREAMS
from arenero.bus.subjects import Kind
from arenero.host.service import Service
from arenero.lifecycle.admission import Admission
from arenero.lifecycle.codec.event import EventCodec
from arenero.lifecycle.config import LifecycleConfig
from arenero.lifecycle.draining import DrainOnStop, drain
from arenero.lifecycle.drivers import Drivers, OpenDriver
from arenero.lifecycle.endpoints import Endpoints
from arenero.lifecycle.event_servicer import EventServicer
from arenero.lifecycle.execd import Execd
from arenero.lifecycle.execd_client import ExecdClient
from arenero.lifecycle.expiry import ExpiryTimer
from arenero.lifecycle.feed import Feed
from arenero.lifecycle.index import SandboxIndex
from arenero.lifecycle.reconciler import Reconciler
from arenero.lifecycle.records import Records
from arenero.lifecycle.replay import EventReader
from arenero.lifecycle.requests import Defaults
from arenero.lifecycle.saga_runner import SagaRunner
from arenero.lifecycle.sagas import Tools
from arenero.lifecycle.sandboxes import Sandboxes
from arenero.lifecycle.secrets import load_sealer, load_signing_key
from arenero.lifecycle.servicer import SandboxServicer
from arenero.lifecycle.sweeper import Sweeper
from arenero.lifecycle.tokens import TokenSigner
from arenero.lifecycle.watching import Watching
from arenero.model.time import Clock, SystemClock
from arenero.rpc.identity import trust_metadata
from arenero.rpc.server import RpcServer, RpcServerConfig
from arenero.runtime import registry

EVERYTHING = "sandbox.>"
"""What lifecycle follows: every tenant's sandboxes."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What lifecycle is made of from outside: what a test may put in place of the real thing."""

    logs: Mapping[Kind, EventLog]
    drivers: Drivers
    clock: Clock
    is_serving: Callable[[], bool] = lambda: True
    execd: Execd | None = None
    """None: calls real ones over gRPC."""


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """Lifecycle, put together."""

    index: SandboxIndex
    records: Records
    drivers: Drivers
    feed: Feed
    projection: Projection
    admission: Admission
    reconciler: Reconciler
    expiry: ExpiryTimer
    sweeper: Sweeper
    sandboxes: Sandboxes
    sandbox_servicer: SandboxServicer
    event_servicer: EventServicer
    config: LifecycleConfig

    async def load(self) -> None:
        """Wait until every record of the past is known."""
        await self.projection.wait_ready()
        self.feed.end_of_past()

    def tasks(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Return what has to run, by name. What works on sandboxes waits for their records."""
        work, lifetime = self.config.work, self.config.lifetime
        return {
            "projection": self.projection.run,
            "reconciler": self._after_load(self.reconciler.run),
            "expiry": self._after_load(self.expiry.run),
            "sweeper": self._after_load(partial(self.sweeper.run, work.sweep_s, lifetime.history_s)),
        }

    def _after_load(self, run: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        async def run_after_load() -> None:
            await self.load()
            await run()

        return run_after_load


def connect(config: LifecycleConfig, parts: Parts) -> Lifecycle:
    """Put lifecycle together. Nothing runs yet."""
    instance = config.instance or socket.gethostname()
    clock, log = parts.clock, parts.logs[Kind.SANDBOX]
    signer = TokenSigner(load_signing_key(config.secrets_dir), clock)
    execd = parts.execd or ExecdClient(signer, config.work.execd_timeout_s)
    tools = Tools(parts.drivers, execd, clock, signer.public_key, config.lifetime.lease_slack_s)
    index = SandboxIndex()
    records = Records(log, EventCodec(load_sealer(config.secrets_dir)), index, clock, f"lifecycle/{instance}")
    feed = Feed(records, index)
    admission = Admission(config.admission, index)
    runner = SagaRunner(records, tools, admission.slots)
    reconciler = Reconciler(records, index, runner, tools, config.work, instance)
    defaults = Defaults(config.default_template, config.resources, config.lifetime.start_timeout_s)
    sandboxes = Sandboxes(
        records, index, parts.drivers, admission, clock, defaults, instance, config.lifetime.delete_wait_s
    )
    watching = Watching(records, index, feed, parts.is_serving)
    reader = EventReader(parts.logs, clock, config.work.heartbeat_s, parts.is_serving)
    return Lifecycle(
        index=index,
        records=records,
        drivers=parts.drivers,
        feed=feed,
        projection=Projection(log, EVERYTHING, feed.take),
        admission=admission,
        reconciler=reconciler,
        expiry=ExpiryTimer(index, clock, reconciler.wake),
        sweeper=Sweeper(log, records, index, reconciler, parts.drivers, clock),
        sandboxes=sandboxes,
        sandbox_servicer=SandboxServicer(sandboxes, index, watching, Endpoints(signer), parts.drivers, clock),
        event_servicer=EventServicer(reader),
        config=config,
    )


@asynccontextmanager
async def open_drivers(config: LifecycleConfig) -> AsyncIterator[Drivers]:
    """Open the configured drivers; the sandboxes live on when they are closed."""
    opened: dict[str, OpenDriver] = {}
    async with AsyncExitStack() as stack:
        for runtime in config.runtimes:
            driver = registry.make(runtime, config.runtime)
            stack.push_async_callback(driver.close)
            opened[runtime] = OpenDriver(driver, await driver.open())
        yield Drivers(opened, config.default_runtime or config.runtimes[0])


@asynccontextmanager
async def open_lifecycle(config: LifecycleConfig, is_serving: Callable[[], bool]) -> AsyncIterator[Lifecycle]:
    """Open the log and the drivers, and yield lifecycle, put together."""
    async with AsyncExitStack() as stack:
        connection = await stack.enter_async_context(connect_bus(config.bus, name="lifecycle"))
        logs: dict[Kind, EventLog] = {}
        for kind in (Kind.SANDBOX, Kind.ACTIVITY):
            await ensure_stream(connection, STREAMS[kind])
            logs[kind] = NatsEventLog(connection, STREAMS[kind])
        drivers = await stack.enter_async_context(open_drivers(config))
        yield connect(config, Parts(logs, drivers, SystemClock(), is_serving=is_serving))


@asynccontextmanager
async def build(config: LifecycleConfig) -> AsyncIterator[Service]:
    """Yield the service."""
    server = RpcServer(RpcServerConfig(config.address), authenticate=trust_metadata)
    draining = DrainOnStop()
    async with open_lifecycle(config, lambda: server.health.is_serving) as lifecycle:
        server.add(add_SandboxServiceServicer_to_server, lifecycle.sandbox_servicer)
        server.add(add_EventServiceServicer_to_server, lifecycle.event_servicer)
        # The policy is part of the sandbox's record; there is no egress to enforce it yet, so every method is refused.
        server.add(add_EgressServiceServicer_to_server, EgressServiceServicer())  # type: ignore[abstract]
        yield Service(
            servers=[server],
            tasks=lifecycle.tasks(),
            ready=lifecycle.load,
            drain=lambda: draining.run(lifecycle),
        )


@asynccontextmanager
async def build_drain(config: LifecycleConfig) -> AsyncIterator[Service]:
    """Yield a process that ends every sandbox of this machine, and then itself."""
    async with open_lifecycle(config, is_serving=lambda: True) as lifecycle:
        yield Service(tasks=lifecycle.tasks(), job=lambda: drain(lifecycle))
