"""The fake's own knobs; what it shares with every driver is in the contract suite."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from arenero.errors import FailedPrecondition, ResourceExhausted
from arenero.model.ids import TenantId, new_sandbox_id
from arenero.model.record import ExitFacts
from arenero.model.spec import SandboxSpec
from arenero.runtime.driver import Launch
from arenero.runtime.fake import FakeConfig, FakeDriver
from arenero.runtime.fake_host import DirectoryHost, MemoryHost


def launch(**extensions: str) -> Launch:
    knobs = {key.replace("__", "."): value for key, value in extensions.items()}
    return Launch(
        sandbox_id=new_sandbox_id(),
        tenant=TenantId("acme"),
        generation=1,
        spec=SandboxSpec(extensions=knobs),
        hostname="box",
        execd_public_key=bytes(32),
    )


async def test_it_says_that_it_is_unusable_when_told_so() -> None:
    fingerprint = await FakeDriver(FakeConfig(usable=False)).open()
    assert not fingerprint.usable
    assert fingerprint.reason
    assert fingerprint.fix


async def test_an_ordered_error_comes_as_often_as_ordered_before_the_work() -> None:
    driver, wanted = FakeDriver(), launch()
    driver.faults.fail("create", ResourceExhausted("full"), times=2)
    for _ in range(2):
        with pytest.raises(ResourceExhausted):
            await driver.create(wanted)
        assert not driver.host.ids()
    await driver.create(wanted)


async def test_a_late_error_comes_after_the_work() -> None:
    driver, wanted = FakeDriver(), launch()
    driver.faults.fail("create", ResourceExhausted("full"), after_acting=True)
    with pytest.raises(ResourceExhausted):
        await driver.create(wanted)
    assert driver.host.ids() == {wanted.sandbox_id}


async def test_a_blocked_method_waits_for_its_gate() -> None:
    driver = FakeDriver()
    gate = driver.faults.block("create")
    async with asyncio.TaskGroup() as group:
        creating = group.create_task(driver.create(launch()))
        await asyncio.sleep(0.01)
        assert not creating.done()
        gate.set()


@pytest.mark.looptime
async def test_methods_take_as_long_as_configured_or_ordered() -> None:
    driver, loop = FakeDriver(FakeConfig(create_s=3, start_s=5, destroy_s=7)), asyncio.get_running_loop()
    driver.faults.slow("stop", 11)
    began_s = loop.time()
    wanted = launch(fake__start__delay_s="100")
    created = await driver.create(wanted)
    await driver.start(wanted, created.handle)
    await driver.stop(created.handle)
    await driver.destroy(created.handle)
    assert loop.time() - began_s == pytest.approx(3 + 5 + 100 + 11 + 7, abs=0.1)


async def test_a_sandbox_can_ask_for_its_own_failure() -> None:
    driver, wanted = FakeDriver(), launch(fake__start__fail="NO_LUCK")
    created = await driver.create(wanted)
    with pytest.raises(FailedPrecondition) as refusal:
        await driver.start(wanted, created.handle)
    assert refusal.value.reason == "NO_LUCK"


@pytest.mark.parametrize(
    ("knobs", "facts"),
    [
        ({}, ExitFacts(exit_code=0)),
        ({"fake__exit_code": "3"}, ExitFacts(exit_code=3)),
        ({"fake__oom": "true"}, ExitFacts(signal=9, oom_killed=True)),
    ],
)
async def test_a_sandbox_can_ask_for_its_own_end(knobs: dict[str, str], facts: ExitFacts) -> None:
    driver, wanted = FakeDriver(), launch(fake__exit_after_s="0.05", **knobs)
    created = await driver.create(wanted)
    await driver.start(wanted, created.handle)
    assert (await driver.recover(created.handle)).running
    assert await asyncio.wait_for(driver.wait(created.handle), 5) == facts
    assert not (await driver.recover(created.handle)).running


async def test_an_end_comes_in_its_time_while_no_driver_looks(tmp_path: Path) -> None:
    wanted = launch(fake__exit_after_s="0.05", fake__exit_code="7")
    first = FakeDriver(host=DirectoryHost(tmp_path))
    handle = (await first.create(wanted)).handle
    await first.start(wanted, handle)
    await asyncio.sleep(0.1)
    second = FakeDriver(FakeConfig(state_dir=str(tmp_path)))
    found = await second.recover(handle)
    assert (found.running, found.exit) == (False, ExitFacts(exit_code=7))


async def test_what_was_called_is_noted() -> None:
    driver, wanted = FakeDriver(host=MemoryHost()), launch()
    handle = (await driver.create(wanted)).handle
    await driver.destroy(handle)
    assert driver.calls == [("create", wanted.sandbox_id), ("destroy", wanted.sandbox_id)]


async def test_the_same_id_in_another_boot_is_the_same_sandbox() -> None:
    driver, wanted = FakeDriver(), launch()
    first = await driver.create(wanted)
    again = await driver.create(replace(wanted, generation=2))
    assert again.handle == first.handle
