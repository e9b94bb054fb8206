"""Which driver is for what."""

import pytest

from arenero.errors import InvalidArgument, Unsupported
from arenero.lifecycle.drivers import Drivers, OpenDriver
from arenero.model.spec import SandboxSpec
from arenero.runtime.capabilities import Fingerprint
from arenero.runtime.fake import FakeDriver
from tests.unit.lifecycle.samples import a_record

GOOD, BAD = FakeDriver(), FakeDriver()
DRIVERS = Drivers(
    {"fake": OpenDriver(GOOD, Fingerprint(True)), "bad": OpenDriver(BAD, Fingerprint(False, "no KVM"))}, "fake"
)


def test_only_usable_ones_are_used_and_all_are_told() -> None:
    assert DRIVERS.usable() == (GOOD,)
    assert [opened.driver for opened in DRIVERS.all()] == [GOOD, BAD]
    assert DRIVERS.choose("fake") is GOOD


def test_a_runtime_that_is_not_there_or_not_usable_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        DRIVERS.choose("nope")
    with pytest.raises(Unsupported, match="no KVM"):
        DRIVERS.choose("bad")


def test_a_sandbox_keeps_its_driver_even_an_unusable_one() -> None:
    assert DRIVERS.of(a_record(spec=SandboxSpec(runtime="bad"))) is BAD
    with pytest.raises(Unsupported):
        DRIVERS.of(a_record(spec=SandboxSpec(runtime="gone")))
