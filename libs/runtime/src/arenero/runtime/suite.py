"""The contract of `arenero.runtime.driver` as tests: every driver passes them, the fake first.

A driver's test module has one class derived from `DriverSuite` that says how to make the driver:

    class TestLocalDriver(DriverSuite):
        @pytest.fixture
        def host(self, tmp_path): ...         # whatever two drivers of one host share
        def make_driver(self, host): ...      # a new driver over it; called again, it is a restart
        async def end_first_process(self, driver, handle): ...

Tests that need a power skip, with the reason, where the driver's capabilities deny it. After each test everything that
the driver still holds is destroyed, and then it must hold nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest

from arenero.errors import ArenError, NotFound, Unsupported
from arenero.model.ids import TenantId, new_sandbox_id
from arenero.model.record import Handle
from arenero.model.spec import (
    ImageSource,
    OciLayoutSource,
    Resources,
    RootfsSource,
    SandboxSpec,
    Source,
    TemplateSource,
)
from arenero.model.volumes import NamedVolume, VolumeMount
from arenero.runtime.driver import Driver, Freezer, Launch, Started

PATIENCE_S: Final = 10.0
"""How long anything that is not meant to wait may take."""


@dataclass(frozen=True, slots=True)
class Made:
    """A sandbox that a test has made."""

    launch: Launch
    handle: Handle
    started: Started | None = None


class DriverSuite:
    """What holds for every driver. Derive from it; see the module."""

    template: str = "host"
    """A template that the driver has."""
    _latest: Driver
    """The open driver: the first one, or the one after the last restart."""

    @pytest.fixture
    def host(self) -> Any:
        """Return what all drivers of one test share: the machine, as far as it matters."""
        raise pytest.UsageError(f"{type(self).__name__} must define the fixture `host`")

    def make_driver(self, host: Any) -> Driver:
        """Return a new driver over the host; not yet open."""
        raise pytest.UsageError(f"{type(self).__name__} must define make_driver()")

    async def end_first_process(self, driver: Driver, handle: Handle) -> None:
        """End a sandbox's first process behind the driver's back."""
        pytest.skip("this suite has no way to end a sandbox behind the driver's back")

    async def exhaust_memory(self, driver: Driver, handle: Handle) -> None:
        """Have a sandbox ended for lack of memory."""
        pytest.skip("this suite has no way to exhaust a sandbox's memory")

    @pytest.fixture
    async def driver(self, host: Any) -> AsyncIterator[Driver]:
        """Open a driver, and leave nothing of the test's sandboxes."""
        self._latest = driver = self.make_driver(host)
        fingerprint = await driver.open()
        try:
            if not fingerprint.usable:
                pytest.skip(f"{driver.name} can't be used here: {fingerprint.reason}")
            yield driver
        finally:
            for sandbox_id in await self._latest.list_held():
                await self._latest.destroy_orphan(sandbox_id)
            left = await self._latest.list_held()
            await self._latest.close()
        assert not left

    def make_launch(self, **spec: Any) -> Launch:
        """Return what asks for a small sandbox of the suite's template."""
        source: Source = TemplateSource(self.template)
        wanted = replace(SandboxSpec(source=source, resources=Resources(memory_bytes=256 * 1024 * 1024)), **spec)
        sandbox_id = new_sandbox_id()
        return Launch(
            sandbox_id=sandbox_id,
            tenant=TenantId("acme"),
            generation=1,
            spec=wanted,
            hostname="box",
            execd_public_key=bytes(32),
        )

    async def create(self, driver: Driver, launch: Launch | None = None) -> Made:
        """Make a sandbox that was created and not started."""
        launch = launch or self.make_launch()
        return Made(launch, (await driver.create(launch)).handle)

    async def run(self, driver: Driver, launch: Launch | None = None) -> Made:
        """Make a sandbox that runs."""
        made = await self.create(driver, launch)
        started = await driver.start(made.launch, made.handle)
        return Made(made.launch, started.handle, started)

    async def restart(self, driver: Driver, host: Any) -> Driver:
        """Close a driver as a stop of lifecycle would, and open another one over the same host."""
        await driver.close()
        self._latest = self.make_driver(host)
        await self._latest.open()
        return self._latest

    # --- create and start ---------------------------------------------------------------------------------------------

    async def test_create_holds_it_and_names_the_driver(self, driver: Driver) -> None:
        made = await self.create(driver)
        assert made.handle.driver == driver.name
        assert made.handle.version >= 1
        assert await driver.list_held() == {made.launch.sandbox_id}

    async def test_create_answers_the_same_when_repeated(self, driver: Driver) -> None:
        launch = self.make_launch()
        first, second = await driver.create(launch), await driver.create(launch)
        assert first.handle == second.handle
        assert first.source == second.source
        assert await driver.list_held() == {launch.sandbox_id}

    async def test_start_says_what_isolates_it(self, driver: Driver) -> None:
        made = await self.run(driver)
        assert made.started is not None
        assert made.started.isolation.runtime == driver.name
        assert not set(made.started.isolation.features) & {m.partition(":")[0] for m in made.started.isolation.missing}

    async def test_start_answers_the_same_when_repeated(self, driver: Driver) -> None:
        made = await self.run(driver)
        again = await driver.start(made.launch, made.handle)
        assert made.started is not None
        assert (again.address, again.handle) == (made.started.address, made.started.handle)
        assert (await driver.recover(again.handle)).running

    async def test_start_works_from_the_handle_of_create_and_of_start(self, driver: Driver) -> None:
        created = await self.create(driver)
        started = await driver.start(created.launch, created.handle)
        again = await driver.start(created.launch, created.handle)
        assert again.address == started.address

    async def test_start_raises_not_found_when_it_was_destroyed(self, driver: Driver) -> None:
        made = await self.create(driver)
        await driver.destroy(made.handle)
        with pytest.raises(NotFound):
            await driver.start(made.launch, made.handle)
        assert not await driver.list_held()

    async def test_steps_are_timed_within_the_call(self, driver: Driver) -> None:
        launch = self.make_launch()
        created = await driver.create(launch)
        started = await driver.start(launch, created.handle)
        for span in (*created.spans, *started.spans):
            assert span.name.startswith("driver.")
            assert 0 < span.start_unix_ns <= span.end_unix_ns

    async def test_many_are_made_at_once(self, driver: Driver) -> None:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self.run(driver)) for _ in range(8)]
        made = [task.result() for task in tasks]
        assert await driver.list_held() == {m.launch.sandbox_id for m in made}
        addresses = [m.started.address for m in made if m.started and m.started.address]
        assert len(set(addresses)) == len(addresses)

    # --- stop and destroy ---------------------------------------------------------------------------------------------

    async def test_stop_ends_it_and_may_be_repeated(self, driver: Driver) -> None:
        made = await self.run(driver)
        await driver.stop(made.handle)
        await driver.stop(made.handle)
        assert not (await driver.recover(made.handle)).running

    async def test_destroy_leaves_nothing_and_may_be_repeated(self, driver: Driver) -> None:
        made = await self.run(driver)
        await driver.stop(made.handle)
        await driver.destroy(made.handle)
        await driver.destroy(made.handle)
        assert not await driver.list_held()

    @pytest.mark.parametrize("state", ["created", "running", "stopped", "ended", "frozen"])
    async def test_destroy_works_from_any_state(self, driver: Driver, state: str) -> None:
        made = await self.bring_to(driver, state)
        await asyncio.wait_for(driver.destroy(made.handle), PATIENCE_S)
        assert not await driver.list_held()
        assert not (await driver.recover(made.handle)).running

    async def test_destroy_leaves_the_others_alone(self, driver: Driver) -> None:
        gone, kept = await self.run(driver), await self.run(driver)
        await driver.destroy(gone.handle)
        assert await driver.list_held() == {kept.launch.sandbox_id}
        assert (await driver.recover(kept.handle)).running

    async def test_stop_and_destroy_at_once_are_no_error(self, driver: Driver) -> None:
        made = await self.run(driver)
        calls = (driver.destroy(made.handle), driver.stop(made.handle), driver.destroy(made.handle))
        await asyncio.wait_for(asyncio.gather(*calls), PATIENCE_S)
        assert not await driver.list_held()

    async def test_its_id_may_be_used_again_after_destroy(self, driver: Driver) -> None:
        made = await self.run(driver)
        await driver.destroy(made.handle)
        again = await self.run(driver, made.launch)
        assert (await driver.recover(again.handle)).running

    # --- recover, list_held, destroy_orphan ---------------------------------------------------------------------------

    async def test_recover_adopts_what_runs_over_a_restart(self, driver: Driver, host: Any) -> None:
        made = await self.run(driver)
        other = await self.restart(driver, host)
        found = await other.recover(made.handle)
        assert made.started is not None
        assert (found.running, found.address) == (True, made.started.address)
        handle = found.handle or made.handle
        assert (await other.stats(handle)) is not None
        await other.destroy(handle)
        assert not await other.list_held()

    async def test_recover_finds_nothing_running_before_start(self, driver: Driver, host: Any) -> None:
        made = await self.create(driver)
        other = await self.restart(driver, host)
        assert not (await other.recover(made.handle)).running

    async def test_start_goes_on_after_a_restart(self, driver: Driver, host: Any) -> None:
        made = await self.create(driver)
        other = await self.restart(driver, host)
        again = await other.create(made.launch)
        started = await other.start(made.launch, again.handle)
        assert (await other.recover(started.handle)).running

    async def test_a_start_that_was_never_told_of_is_found_and_repeated(self, driver: Driver, host: Any) -> None:
        """Lifecycle may die after a start and before it has stored its handle: it has the one of `create` then."""
        made = await self.create(driver)
        started = await driver.start(made.launch, made.handle)
        other = await self.restart(driver, host)
        assert (await other.recover(made.handle)).running
        again = await other.start(made.launch, made.handle)
        assert again.address == started.address
        assert await other.list_held() == {made.launch.sandbox_id}

    async def test_recover_answers_for_one_that_is_gone(self, driver: Driver) -> None:
        made = await self.run(driver)
        await driver.destroy(made.handle)
        assert not (await driver.recover(made.handle)).running

    async def test_orphans_are_found_and_destroyed_after_a_restart(self, driver: Driver, host: Any) -> None:
        orphans = {(await self.create(driver)).launch.sandbox_id, (await self.run(driver)).launch.sandbox_id}
        other = await self.restart(driver, host)
        assert await other.list_held() == orphans
        for sandbox_id in orphans:
            await other.destroy_orphan(sandbox_id)
            await other.destroy_orphan(sandbox_id)
        assert not await other.list_held()

    async def test_destroy_orphan_of_an_unknown_one_is_no_error(self, driver: Driver) -> None:
        await driver.destroy_orphan(new_sandbox_id())

    # --- wait ---------------------------------------------------------------------------------------------------------

    async def test_wait_returns_when_it_is_stopped(self, driver: Driver) -> None:
        made = await self.run(driver)
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
            waiting = group.create_task(driver.wait(made.handle))
            await asyncio.sleep(0)
            await driver.stop(made.handle)
        assert not waiting.result().oom_killed

    async def test_wait_returns_at_once_when_it_has_ended(self, driver: Driver) -> None:
        made = await self.run(driver)
        await driver.stop(made.handle)
        first = await asyncio.wait_for(driver.wait(made.handle), PATIENCE_S)
        second = await asyncio.wait_for(driver.wait(made.handle), PATIENCE_S)
        assert first == second

    async def test_wait_goes_on_while_it_runs_and_may_be_cancelled(self, driver: Driver) -> None:
        made = await self.run(driver)
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(driver.wait(made.handle), 0.05)
        await driver.stop(made.handle)
        await asyncio.wait_for(driver.wait(made.handle), PATIENCE_S)

    async def test_wait_tells_of_an_end_behind_the_drivers_back(self, driver: Driver) -> None:
        made = await self.run(driver)
        await self.end_first_process(driver, made.handle)
        facts = await asyncio.wait_for(driver.wait(made.handle), PATIENCE_S)
        assert facts.exit_code is not None or facts.signal is not None
        assert not facts.oom_killed
        assert not (await driver.recover(made.handle)).running

    async def test_wait_tells_lack_of_memory(self, driver: Driver) -> None:
        made = await self.run(driver)
        await self.exhaust_memory(driver, made.handle)
        assert (await asyncio.wait_for(driver.wait(made.handle), PATIENCE_S)).oom_killed

    # --- stats --------------------------------------------------------------------------------------------------------

    async def test_stats_measure_what_is_limited(self, driver: Driver) -> None:
        made = await self.run(driver)
        stats = await driver.stats(made.handle)
        if "memory_bytes" in driver.capabilities.limits:
            assert stats.memory_bytes is not None
            assert stats.memory_bytes > 0
        if "pids" in driver.capabilities.limits:
            assert stats.pids is not None
            assert stats.pids >= 1

    async def test_stats_raise_not_found_when_it_is_gone(self, driver: Driver) -> None:
        made = await self.run(driver)
        await driver.destroy(made.handle)
        with pytest.raises(NotFound):
            await driver.stats(made.handle)

    # --- cancelling ---------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("after_s", [0.0, 0.001, 0.005, 0.02])
    async def test_create_and_start_may_be_cancelled_and_repeated(self, driver: Driver, after_s: float) -> None:
        launch = self.make_launch()
        await _cancel_after(after_s, lambda: self.run(driver, launch))
        made = await asyncio.wait_for(self.run(driver, launch), PATIENCE_S)
        assert (await driver.recover(made.handle)).running

    @pytest.mark.parametrize("after_s", [0.0, 0.001, 0.005, 0.02])
    async def test_nothing_is_left_of_a_cancelled_creation(self, driver: Driver, after_s: float) -> None:
        launch = self.make_launch()
        await _cancel_after(after_s, lambda: self.run(driver, launch))
        await asyncio.wait_for(driver.destroy_orphan(launch.sandbox_id), PATIENCE_S)
        await asyncio.sleep(0.05)
        assert not await driver.list_held()

    @pytest.mark.parametrize("after_s", [0.0, 0.001, 0.005])
    async def test_destroy_may_be_cancelled_and_repeated(self, driver: Driver, after_s: float) -> None:
        made = await self.run(driver)
        await _cancel_after(after_s, lambda: driver.destroy(made.handle))
        await asyncio.wait_for(driver.destroy(made.handle), PATIENCE_S)
        assert not await driver.list_held()

    # --- powers -------------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("kind", "source"),
        [
            ("image", ImageSource("registry.invalid/nothing:1")),
            ("rootfs_directory", RootfsSource("/nonexistent")),
            ("oci_layout", OciLayoutSource("/nonexistent")),
        ],
    )
    async def test_a_source_is_refused_that_is_denied_or_not_there(
        self, driver: Driver, kind: str, source: Source
    ) -> None:
        with pytest.raises(ArenError) as refusal:
            await self.run(driver, self.make_launch(source=source))
        if kind not in driver.capabilities.sources:
            assert isinstance(refusal.value, Unsupported)
        assert refusal.value.field.startswith("spec.source")

    async def test_an_unknown_template_is_refused(self, driver: Driver) -> None:
        with pytest.raises(ArenError) as refusal:
            await driver.create(self.make_launch(source=TemplateSource("no-such-template")))
        assert refusal.value.field == "spec.source.template"
        assert not await driver.list_held()

    async def test_powers_that_are_denied_are_refused(self, driver: Driver) -> None:
        can = driver.capabilities
        demands: dict[str, tuple[bool, dict[str, Any]]] = {
            "gpus": (can.gpus, {"resources": Resources(gpus=1)}),
            "volumes": (can.volumes, {"volumes": (VolumeMount("data", "/data", NamedVolume("data")),)}),
            "oci-runtime": ("nope" in can.oci_runtimes, {"oci_runtime": "nope"}),
        }
        for word, (has, spec) in demands.items():
            if not has:
                with pytest.raises(Unsupported):
                    await driver.create(self.make_launch(**spec))
                assert not await driver.list_held(), word

    async def test_freeze_and_thaw_may_be_repeated(self, driver: Driver) -> None:
        freezer = _freezer(driver)
        made = await self.run(driver)
        for _ in range(2):
            await freezer.freeze(made.handle)
            await freezer.freeze(made.handle)
            assert (await driver.recover(made.handle)).running
            await freezer.thaw(made.handle)
            await freezer.thaw(made.handle)
        assert (await driver.recover(made.handle)).running

    async def test_powers_are_named_once_and_kept(self, driver: Driver) -> None:
        names = driver.capabilities.names()
        assert sorted(set(names)) == list(names)
        assert driver.capabilities.pause_freeze == isinstance(driver, Freezer) or not driver.capabilities.pause_freeze

    async def bring_to(self, driver: Driver, state: str) -> Made:
        """Make a sandbox and bring it to a state; skip where the driver or the suite can't."""
        if state == "created":
            return await self.create(driver)
        made = await self.run(driver)
        if state == "stopped":
            await driver.stop(made.handle)
        elif state == "ended":
            await self.end_first_process(driver, made.handle)
            await asyncio.wait_for(driver.wait(made.handle), PATIENCE_S)
        elif state == "frozen":
            await _freezer(driver).freeze(made.handle)
        return made


async def _cancel_after(after_s: float, call: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Begin a call and cancel it after that long; it may have come to its end by then."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(call())
        await asyncio.sleep(after_s)
        task.cancel()


def _freezer(driver: Driver) -> Freezer:
    if not driver.capabilities.pause_freeze:
        pytest.skip(f"{driver.name} can't freeze here")
    assert isinstance(driver, Freezer)
    return driver
