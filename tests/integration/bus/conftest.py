"""A nats-server of its own for each test, and a log on it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from arenero.bus.connection import BusConfig, BusConnection, connect
from arenero.bus.nats import NatsEventLog, ensure_stream
from arenero.bus.server import NatsServer, NatsServerConfig
from arenero.bus.streams import STREAMS
from arenero.bus.subjects import Kind


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[NatsServer]:
    server = NatsServer(NatsServerConfig(tmp_path / "nats-server"))
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def connection(server: NatsServer) -> AsyncIterator[BusConnection]:
    async with connect(BusConfig(server.url), name="test") as connection:
        yield connection


@pytest.fixture
async def log(connection: BusConnection) -> NatsEventLog:
    await ensure_stream(connection, STREAMS[Kind.SANDBOX])
    return NatsEventLog(connection, STREAMS[Kind.SANDBOX])
