"""The reconciler over a whole lifecycle in memory: deaths, deadlines, restarts, repeats."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from arenero.errors import DeadlineExceeded, FailedPrecondition, Unavailable
from arenero.lifecycle.keys import key_of
from arenero.lifecycle.records import Change
from arenero.lifecycle.sandboxes import Until
from arenero.lifecycle.verdicts import expired
from arenero.model.record import ExitFacts, SandboxRecord
from arenero.model.states import SandboxState as S
from tests.unit.lifecycle.kit import CALLER, LoopClock, World, make_world, request

OOM = ExitFacts(signal=9, oom_killed=True)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
def timed_world(tmp_path: Path) -> World:
    """For tests marked looptime: hours pass in no time."""
    return make_world(tmp_path, clock=LoopClock())


async def settle(world: World) -> None:
    """Let everything happen that needs no time."""
    async with asyncio.timeout(5):
        while world.lifecycle.reconciler._jobs:
            await asyncio.sleep(0.001)


# --- ends behind our back ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (OOM, "OUT_OF_MEMORY"),
        (ExitFacts(exit_code=3), "EXITED"),
        (ExitFacts(signal=11), "KILLED"),
    ],
)
async def test_a_sandbox_whose_main_process_ends_has_failed_with_the_cause(
    world: World, facts: ExitFacts, reason: str
) -> None:
    async with world.run():
        record = await world.create()
        world.host.exit(record.id, facts)
        failed = await world.until(record, S.FAILED)
        assert failed.failure is not None
        assert (failed.failure.reason, failed.exit) == (reason, facts)
        await settle(world)
        assert not world.host.ids()
        assert (await world.read(record)).handle is None
        assert await world.facts(record.id) == [
            "requested",
            "progressed",
            "progressed",
            "started",
            "failed",
            "progressed",
        ]


async def test_lack_of_memory_during_a_restart_is_told_afterwards(world: World) -> None:
    async with world.run():
        record = await world.create()
    world.host.exit(record.id, OOM)
    world.renew_driver()
    async with world.run():
        failed = await world.until(record, S.FAILED)
        assert failed.failure is not None
        assert failed.failure.reason == "OUT_OF_MEMORY"
        await settle(world)
        assert not world.host.ids()


async def test_a_machine_that_lost_everything_leaves_failed_records(world: World) -> None:
    async with world.run():
        records = [await world.create() for _ in range(3)]
    world.host.lose_all()
    world.renew_driver()
    async with world.run():
        for record in records:
            failed = await world.until(record, S.FAILED)
            assert failed.failure is not None
            assert failed.failure.reason == "VANISHED"


async def test_a_paused_sandbox_that_is_killed_has_failed(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        await lifecycle.sandboxes.pause(CALLER, record.id, "freeze")
        world.host.exit(record.id, ExitFacts(signal=9))
        assert (await world.until(record, S.FAILED)).failure is not None


# --- restarts ---------------------------------------------------------------------------------------------------------


async def test_what_runs_is_adopted_and_told_its_deadline(world: World) -> None:
    async with world.run():
        record = await world.create(ttl_s=3600.0)
        assert not world.execd.leases
    world.renew_driver()
    async with world.run() as lifecycle:
        await settle(world)
        found = await world.read(record)
        assert (found.state, found.endpoint, found.generation) == (S.RUNNING, record.endpoint, 1)
        assert (await world.facts(record.id))[-1] == "recovered"
        [(sandbox_id, revision, ttl_s)] = world.execd.leases
        assert (sandbox_id, revision) == (record.id, found.revision)
        assert ttl_s == pytest.approx(3600 + lifecycle.config.lifetime.lease_slack_s, abs=5)
        world.host.exit(record.id, OOM)
        await world.until(record, S.FAILED)


async def test_a_paused_sandbox_stays_paused_over_a_restart(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        await lifecycle.sandboxes.pause(CALLER, record.id, "freeze")
    world.renew_driver()
    async with world.run() as lifecycle:
        await settle(world)
        assert (await world.read(record)).state is S.PAUSED
        resumed = await lifecycle.sandboxes.resume(CALLER, record.id)
        assert resumed.state is S.RUNNING


async def test_an_expiry_during_the_absence_happens_at_the_start(world: World) -> None:
    async with world.run():
        record = await world.create(ttl_s=0.05)
    await asyncio.sleep(0.1)
    world.renew_driver()
    async with world.run():
        ended = await world.until(record, S.TERMINATED)
        assert ended.failure is not None
        assert ended.failure.reason == "EXPIRED"
        assert not world.host.ids()


async def test_a_driver_that_is_away_at_the_start_is_asked_again(world: World) -> None:
    async with world.run():
        record = await world.create()
    world.renew_driver()
    world.driver.faults.fail("recover", Unavailable("the daemon is away"), times=3)
    async with world.run():
        async with asyncio.timeout(5):
            while (await world.facts(record.id))[-1] != "recovered":
                await asyncio.sleep(0.01)
        assert (await world.read(record)).state is S.RUNNING


async def test_a_sandbox_of_another_machine_is_left_alone(world: World) -> None:
    async with world.run():
        record = await world.create()
    elsewhere = replace(world, config=replace(world.config, instance="elsewhere"), host=type(world.host)())
    async with elsewhere.run() as lifecycle:
        await settle(elsewhere)
        assert not elsewhere.driver.calls
        requested = await lifecycle.sandboxes.delete(CALLER, record.id, wait=False)
        assert requested.state is S.STOPPING
        await settle(elsewhere)
        assert not [call for call in elsewhere.driver.calls if call[0] != "recover"]
    async with world.run():
        await world.until(record, S.TERMINATED)
        assert not world.host.ids()


async def test_two_machines_share_one_log(world: World) -> None:
    """Either can be asked; the owner acts when it hears of it in the log."""
    elsewhere = replace(world, config=replace(world.config, instance="elsewhere"), host=type(world.host)())
    async with world.run(), elsewhere.run() as other:
        record = await world.create()
        await elsewhere.until(record, S.RUNNING)
        ended = await other.sandboxes.delete(CALLER, record.id)
        assert ended.state is S.TERMINATED
        assert not world.host.ids()
        assert not elsewhere.driver.calls


# --- repeats ----------------------------------------------------------------------------------------------------------


async def test_everything_heard_twice_changes_nothing(world: World) -> None:
    """Each entry of the log is delivered twice, and each change wakes twice."""
    async with world.run() as lifecycle:
        take = lifecycle.feed.take
        lifecycle.projection._apply = lambda entry: (take(entry), take(entry))  # type: ignore[assignment]
        lifecycle.index.listen(lambda record: lifecycle.reconciler.wake(key_of(record)))
        record = await world.create(ttl_s=100.0)
        await lifecycle.sandboxes.pause(CALLER, record.id, "freeze")
        await lifecycle.sandboxes.resume(CALLER, record.id)
        await lifecycle.sandboxes.delete(CALLER, record.id)
        await settle(world)
        assert await world.facts(record.id) == [
            *("requested", "progressed", "progressed", "started"),
            *("pausing", "progressed", "paused", "resuming", "resumed"),
            *("stopping", "progressed", "terminated"),
        ]
        assert set(Counter(world.driver.calls).values()) == {1}


async def test_waking_what_is_at_rest_does_nothing(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        await settle(world)
        calls, facts = list(world.driver.calls), await world.facts(record.id)
        for _ in range(10):
            lifecycle.reconciler.wake(key_of(record))
            lifecycle.reconciler.wake_all()
            await settle(world)
        assert (world.driver.calls, await world.facts(record.id)) == (calls, facts)


async def test_work_that_fails_does_not_stop_the_others(world: World) -> None:
    world.driver.faults.fail("stop", ZeroDivisionError(), times=3)
    async with world.run() as lifecycle:
        broken, fine = await world.create(), await world.create()
        await lifecycle.sandboxes.delete(CALLER, broken.id, wait=False)
        await asyncio.sleep(0)
        assert (await lifecycle.sandboxes.delete(CALLER, fine.id)).state is S.TERMINATED
        await world.until(broken, S.TERMINATED)
        assert not world.host.ids()


# --- deadlines --------------------------------------------------------------------------------------------------------


@pytest.mark.looptime
async def test_a_sandbox_ends_at_its_deadline(timed_world: World) -> None:
    world = timed_world
    async with world.run():
        record = await world.create(ttl_s=600.0)
        began_s = world.clock.monotonic_s()
        ended = await world.until(record, S.TERMINATED, timeout_s=1000)
        assert world.clock.monotonic_s() - began_s == pytest.approx(600, abs=0.1)
        assert ended.failure is not None
        assert ended.failure.reason == "EXPIRED"
        assert not world.host.ids()


@pytest.mark.looptime
async def test_the_end_of_a_lifetime_interrupts_a_creation(timed_world: World) -> None:
    world = timed_world
    world.driver.faults.slow("start", 1000)
    async with world.run() as lifecycle:
        record, _ = await lifecycle.sandboxes.create(CALLER, replace(request(ttl_s=5.0), wait=False))
        await world.until(record, S.TERMINATED, timeout_s=10)
        assert not world.host.ids()


@pytest.mark.looptime
@pytest.mark.parametrize("step", ["create", "start"])
async def test_a_deletion_interrupts_a_creation(timed_world: World, step: str) -> None:
    world = timed_world
    world.driver.faults.slow(step, 1000)
    async with world.run() as lifecycle:
        record, _ = await lifecycle.sandboxes.create(CALLER, replace(request(), wait=False))
        await asyncio.sleep(1)
        began_s = world.clock.monotonic_s()
        ended = await lifecycle.sandboxes.delete(CALLER, record.id)
        assert ended.state is S.TERMINATED
        assert world.clock.monotonic_s() - began_s < 1
        assert not world.host.ids()


@pytest.mark.looptime
async def test_a_renewal_reaches_execd_and_moves_the_end(timed_world: World) -> None:
    world = timed_world
    async with world.run() as lifecycle:
        record = await world.create(ttl_s=10.0)
        await asyncio.sleep(5)
        world.execd.lease_errors += [Unavailable("not now"), FailedPrecondition("nor now")]
        renewed = await lifecycle.sandboxes.renew(CALLER, record.id, until(3600.0))
        await asyncio.sleep(3)
        slack_s = lifecycle.config.lifetime.lease_slack_s
        [(sandbox_id, revision, ttl_s)] = world.execd.leases
        assert (sandbox_id, revision) == (record.id, renewed.revision)
        assert ttl_s is not None
        assert 3600 - 3 < ttl_s - slack_s <= 3600
        await asyncio.sleep(3000)
        assert (await world.read(record)).state is S.RUNNING
        await world.until(record, S.TERMINATED, timeout_s=700)


@pytest.mark.looptime
async def test_execd_has_no_deadline_while_it_stands_still(timed_world: World) -> None:
    """Its clock goes on: with a deadline that passed meanwhile it would end the sandbox as it wakes."""
    world = timed_world
    async with world.run() as lifecycle:
        record = await world.create(ttl_s=60.0)
        await lifecycle.sandboxes.pause(CALLER, record.id, "freeze")
        await lifecycle.sandboxes.renew(CALLER, record.id, until(3600.0))
        await asyncio.sleep(600)
        assert [ttl_s for _, _, ttl_s in world.execd.leases] == [None]
        await lifecycle.sandboxes.resume(CALLER, record.id)
        await asyncio.sleep(1)
        _, last = [ttl_s for _, _, ttl_s in world.execd.leases]
        assert last == pytest.approx(3000 + lifecycle.config.lifetime.lease_slack_s, abs=1)


async def test_an_execd_that_cannot_be_told_does_not_prevent_a_pause(world: World) -> None:
    world.execd.lease_errors.append(DeadlineExceeded("it hangs"))
    async with world.run() as lifecycle:
        record = await world.create(ttl_s=60.0)
        assert (await lifecycle.sandboxes.pause(CALLER, record.id, "freeze")).state is S.PAUSED


@pytest.mark.looptime
async def test_a_thousand_renewals_at_the_very_moment_of_expiry(timed_world: World) -> None:
    """Each is renewed with the new deadline, or ended by expiry; nothing lives on past its deadline."""
    world = timed_world
    async with world.run() as lifecycle:
        records = [await world.create(ttl_s=60.0) for _ in range(1000)]
        ends = {record.id: record.expires_at for record in records}
        outcomes = await asyncio.gather(*(renew_at(world, record) for record in records))
        await asyncio.sleep(1)
        renewed = 0
        for record, outcome in zip(records, outcomes, strict=True):
            now = lifecycle.index.find(key_of(record))
            assert now is not None
            if outcome is None:
                assert (now.state, now.failure and now.failure.reason) == (S.TERMINATED, "EXPIRED")
                assert now.expires_at == ends[record.id]
            else:
                renewed += 1
                assert (now.state, now.expires_at) == (S.RUNNING, outcome.expires_at)
        assert world.host.ids() == {r.id for r, outcome in zip(records, outcomes, strict=True) if outcome}
        assert 0 < renewed < 1000, "the race was never close"
        await asyncio.sleep(600)
        assert not world.host.ids()


async def renew_at(world: World, record: SandboxRecord) -> SandboxRecord | None:
    """Renew a sandbox at the instant at which its lifetime ends, or the loop's smallest step around it."""
    assert record.expires_at is not None
    wait_s = (record.expires_at - world.clock.now()).total_seconds()
    await asyncio.sleep(wait_s - (int(record.id[-1] in "abcdefghijklmnop") * 0.0005))
    try:
        return await world.lifecycle.sandboxes.renew(CALLER, record.id, until(300.0))
    except FailedPrecondition:
        return None


def until(ttl_s: float) -> Until:
    return Until(ttl_s=ttl_s)


async def test_an_expiry_that_was_decided_too_late_is_taken_back_by_a_renewal(world: World) -> None:
    """A worker that decided on an old record loses the race at the log, reads again, and finds nothing to do."""
    async with world.run() as lifecycle:
        record = await world.create(ttl_s=100.0)
        renewed = await lifecycle.sandboxes.renew(CALLER, record.id, until(300.0))
        lifecycle.index._records[key_of(record)] = record  # as if this process had not heard of it yet
        over = record.expires_at

        def decide(newest: SandboxRecord, now: datetime) -> Change | None:
            return expired(newest, over) if over else None

        found = await lifecycle.records.change(key_of(record), decide)
        assert (found.state, found.expires_at) == (S.RUNNING, renewed.expires_at)
