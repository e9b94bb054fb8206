"""The contract of the log, over the in-memory one."""

import pytest

from arenero.bus.memory import MemoryEventLog
from arenero.testing.bus_suite import EventLogSuite


class TestMemoryEventLog(EventLogSuite):
    @pytest.fixture
    def log(self) -> MemoryEventLog:
        return MemoryEventLog("sandbox.>")
