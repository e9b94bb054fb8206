"""The driver contract over the local driver: real namespaces, mounts and control groups of this machine."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arenero.model.record import Handle
from arenero.runtime.driver import Driver
from arenero.runtime.local.config import LocalConfig
from arenero.runtime.local.driver import LocalDriver
from arenero.runtime.suite import DriverSuite

pytestmark = pytest.mark.root


class LocalSuite(DriverSuite):
    """How the suite gets at a local sandbox behind the driver's back."""

    prepared = 0

    @pytest.fixture
    def host(self) -> Iterator[Path]:
        # Short, since sockets are in it: pytest's own directories have long names.
        directory = Path(tempfile.mkdtemp(prefix="arn-"))
        yield directory
        shutil.rmtree(directory)

    def make_driver(self, host: Path) -> Driver:
        return LocalDriver(LocalConfig(state_dir=host, prepared=self.prepared))

    async def end_first_process(self, driver: Driver, handle: Handle) -> None:
        os.kill(first_process(driver, handle), 9)


class TestLocalDriver(LocalSuite):
    pass


class TestLocalDriverWithPreparedCells(LocalSuite):
    prepared = 2


def first_process(driver: Driver, handle: Handle) -> int:
    assert isinstance(driver, LocalDriver)
    directory = driver.config.state_dir / "sandboxes" / str(handle.facts["sandbox_id"])
    return int((directory / "process").read_text().split()[0])
