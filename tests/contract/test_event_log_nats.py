"""The contract of the log, over a real nats-server."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from arenero.bus.connection import BusConfig, connect
from arenero.bus.nats import NatsEventLog, ensure_stream
from arenero.bus.server import NatsServer, NatsServerConfig
from arenero.bus.streams import STREAMS
from arenero.bus.subjects import Kind
from arenero.testing.bus_suite import EventLogSuite


class TestNatsEventLog(EventLogSuite):
    @pytest.fixture
    async def log(self, tmp_path: Path) -> AsyncIterator[NatsEventLog]:
        server = NatsServer(NatsServerConfig(tmp_path / "nats"))
        await server.start()
        try:
            async with connect(BusConfig(server.url), name="suite") as connection:
                await ensure_stream(connection, STREAMS[Kind.SANDBOX])
                yield NatsEventLog(connection, STREAMS[Kind.SANDBOX])
        finally:
            await server.stop()
