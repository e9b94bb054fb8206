"""The driver contract over the fake: in memory, and with its facts in files."""

from pathlib import Path

import pytest

from arenero.model.ids import SandboxId
from arenero.model.record import ExitFacts, Handle
from arenero.runtime.driver import Driver
from arenero.runtime.fake import FakeDriver
from arenero.runtime.fake_host import DirectoryHost, FakeHost, MemoryHost
from arenero.runtime.suite import DriverSuite


class FakeSuite(DriverSuite):
    """How the suite gets at a fake's host."""

    def make_driver(self, host: FakeHost) -> Driver:
        return FakeDriver(host=host)

    async def end_first_process(self, driver: Driver, handle: Handle) -> None:
        self.end(driver, handle, ExitFacts(exit_code=3))

    async def exhaust_memory(self, driver: Driver, handle: Handle) -> None:
        self.end(driver, handle, ExitFacts(signal=9, oom_killed=True))

    def end(self, driver: Driver, handle: Handle, facts: ExitFacts) -> None:
        assert isinstance(driver, FakeDriver)
        driver.host.exit(SandboxId(str(handle.facts["sandbox_id"])), facts)


class TestFakeDriverInMemory(FakeSuite):
    @pytest.fixture
    def host(self) -> FakeHost:
        return MemoryHost()


class TestFakeDriverInFiles(FakeSuite):
    @pytest.fixture
    def host(self, tmp_path: Path) -> FakeHost:
        return DirectoryHost(tmp_path)
