"""The operations on sandboxes, over a whole lifecycle in memory."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from arenero.errors import (
    AlreadyExists,
    ArenError,
    Conflict,
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    Unavailable,
    Unsupported,
)
from arenero.lifecycle.config import AdmissionConfig, LifetimeConfig
from arenero.lifecycle.index import SandboxFilter
from arenero.lifecycle.sandboxes import Sandboxes, Until, failure_of
from arenero.model.ids import SandboxId, TenantId, new_sandbox_id, sandbox_id_for_request
from arenero.model.record import ExitFacts, Failure
from arenero.model.states import SandboxState as S
from arenero.rpc.identity import Caller
from tests.unit.lifecycle.kit import ACME, CALLER, LoopClock, World, make_world, request
from tests.unit.lifecycle.samples import a_record

STRANGER = Caller(TenantId("other"), "key:key_other")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


# --- create and delete ------------------------------------------------------------------------------------------------


async def test_create_runs_and_delete_leaves_nothing(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        assert (record.state, record.generation, record.started_at is not None) == (S.RUNNING, 1, True)
        assert world.host.ids() == {record.id}
        ended = await lifecycle.sandboxes.delete(CALLER, record.id)
        assert (ended.state, ended.handle, ended.ended_at is not None) == (S.TERMINATED, None, True)
        assert not world.host.ids()
        created = ["requested", "progressed", "progressed", "started"]
        assert await world.facts(record.id) == [*created, "stopping", "progressed", "terminated"]


async def test_the_same_request_again_is_the_same_sandbox(world: World) -> None:
    async with world.run() as lifecycle:
        first, was_repeated = await lifecycle.sandboxes.create(CALLER, request(request_id="r1"))
        again, is_repeated = await lifecycle.sandboxes.create(CALLER, request(request_id="r1"))
        assert (first.id, was_repeated, is_repeated) == (again.id, False, True)
        assert first.id == sandbox_id_for_request(ACME, "r1")
        assert len(world.host.ids()) == 1


async def test_another_request_with_the_same_id_is_refused(world: World) -> None:
    async with world.run() as lifecycle:
        record, _ = await lifecycle.sandboxes.create(CALLER, request(request_id="r1"))
        with pytest.raises(AlreadyExists) as refusal:
            await lifecycle.sandboxes.create(CALLER, request(request_id="r1", name="other"))
        assert (refusal.value.reason, refusal.value.field) == ("REQUEST_ID_REUSED", "request_id")
        assert refusal.value.metadata["sandbox_id"] == record.id
        assert len(world.host.ids()) == 1


async def test_tenants_have_request_ids_of_their_own(world: World) -> None:
    async with world.run() as lifecycle:
        mine, _ = await lifecycle.sandboxes.create(CALLER, request(request_id="r1"))
        theirs, repeated = await lifecycle.sandboxes.create(STRANGER, request(request_id="r1", name="other"))
        assert mine.id != theirs.id
        assert not repeated


async def test_twenty_at_once_with_one_request_id_make_one_sandbox(world: World) -> None:
    async with world.run() as lifecycle:
        calls = (lifecycle.sandboxes.create(CALLER, request(request_id="r1")) for _ in range(20))
        answers = await asyncio.gather(*calls)
        assert len({record.id for record, _ in answers}) == 1
        assert {record.state for record, _ in answers} == {S.RUNNING}
        assert [repeated for _, repeated in answers].count(False) == 1
        assert len(world.host.ids()) == 1
        assert [method for method, _ in world.driver.calls] == ["create", "start"]


async def test_twenty_at_once_count_once_against_the_quota(tmp_path: Path) -> None:
    world = make_world(tmp_path, admission=AdmissionConfig(sandboxes_per_tenant=1))
    async with world.run() as lifecycle:
        calls = (lifecycle.sandboxes.create(CALLER, request(request_id="r1")) for _ in range(20))
        answers = await asyncio.gather(*calls)
        assert len({record.id for record, _ in answers}) == 1
        again, repeated = await lifecycle.sandboxes.create(CALLER, request(request_id="r1"))
        assert (again.state, repeated) == (S.RUNNING, True)


async def test_a_repeat_of_what_has_ended_tells_so(world: World) -> None:
    async with world.run() as lifecycle:
        record, _ = await lifecycle.sandboxes.create(CALLER, request(request_id="r1"))
        await lifecycle.sandboxes.delete(CALLER, record.id)
        again, repeated = await lifecycle.sandboxes.create(CALLER, request(request_id="r1"))
        assert (again.state, repeated) == (S.TERMINATED, True)


async def test_accepted_answers_before_anything_is_made(world: World) -> None:
    gate = world.driver.faults.block("create")
    async with world.run() as lifecycle:
        record, _ = await lifecycle.sandboxes.create(CALLER, replace(request(), wait=False))
        assert record.state is S.PENDING
        assert record.progress is not None
        assert record.progress.step == "prepare"
        gate.set()
        await world.until(record, S.RUNNING)


async def test_a_caller_that_leaves_does_not_end_the_creation(world: World) -> None:
    gate = world.driver.faults.block("start")
    async with world.run() as lifecycle:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(lifecycle.sandboxes.create(CALLER, request(request_id="r1")), 0.02)
        gate.set()
        record, repeated = await lifecycle.sandboxes.create(CALLER, request(request_id="r1"))
        assert (record.state, repeated) == (S.RUNNING, True)


async def test_nothing_is_recorded_when_the_log_is_away(world: World) -> None:
    async with world.run() as lifecycle:
        world.log.go_away()
        with pytest.raises(Unavailable):
            await lifecycle.sandboxes.create(CALLER, request(request_id="r1"))
        assert not world.host.ids()
        await world.log.come_back()
        record, repeated = await lifecycle.sandboxes.create(CALLER, request(request_id="r1"))
        assert (record.state, repeated) == (S.RUNNING, False)


async def test_what_the_runtime_cannot_do_is_refused_before_anything_is_recorded(world: World) -> None:
    async with world.run() as lifecycle:
        with pytest.raises(Unsupported):
            await lifecycle.sandboxes.create(CALLER, request(oci_runtime="gvisor"))
        assert await world.log.head() == 0


async def test_a_creation_that_waits_tells_its_place_in_the_queue(tmp_path: Path) -> None:
    world = make_world(tmp_path, admission=AdmissionConfig(concurrent_creates=1))
    gate = world.driver.faults.block("create")
    async with world.run() as lifecycle:
        accepted = [(await lifecycle.sandboxes.create(CALLER, replace(request(), wait=False)))[0] for _ in range(4)]
        await asyncio.sleep(0.01)
        found = [await lifecycle.sandboxes.get(CALLER, record.id) for record in accepted]
        assert [record.progress and record.progress.queue_position for record in found] == [0, 1, 2, 3]
        gate.set()
        for record in accepted:
            await world.until(record, S.RUNNING)


async def test_deleting_twice_or_at_once_is_no_error(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        ended = await asyncio.gather(*(lifecycle.sandboxes.delete(CALLER, record.id) for _ in range(5)))
        assert {r.state for r in ended} == {S.TERMINATED}
        assert (await lifecycle.sandboxes.delete(CALLER, record.id)).state is S.TERMINATED
        assert (await world.facts(record.id)).count("stopping") == 1


async def test_deleting_what_has_failed_changes_nothing(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        world.host.exit(record.id, ExitFacts(signal=9, oom_killed=True))
        await world.until(record, S.FAILED)
        deleted = await lifecycle.sandboxes.delete(CALLER, record.id)
        assert deleted.state is S.FAILED
        assert deleted.failure is not None
        assert deleted.failure.reason == "OUT_OF_MEMORY"


async def test_a_deletion_may_demand_a_revision(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        with pytest.raises(Conflict) as refusal:
            await lifecycle.sandboxes.delete(CALLER, record.id, expected_revision=record.revision - 1)
        assert refusal.value.metadata["revision"] == str(record.revision)
        await lifecycle.sandboxes.delete(CALLER, record.id, expected_revision=record.revision)


@pytest.mark.looptime
async def test_a_deletion_that_takes_long_goes_on(tmp_path: Path) -> None:
    world = make_world(tmp_path, clock=LoopClock(), lifetime=LifetimeConfig(delete_wait_s=10))
    world.driver.faults.slow("destroy", 100)
    async with world.run() as lifecycle:
        record = await world.create()
        began_s = world.clock.monotonic_s()
        with pytest.raises(DeadlineExceeded) as refusal:
            await lifecycle.sandboxes.delete(CALLER, record.id)
        assert world.clock.monotonic_s() - began_s == pytest.approx(10, abs=0.1)
        assert refusal.value.reason == "DELETION_GOES_ON"
        await world.until(record, S.TERMINATED, timeout_s=200)


# --- quotas -----------------------------------------------------------------------------------------------------------


async def test_forty_creations_and_deletions_by_fifteen_workers_meet_no_quota_of_fifteen(tmp_path: Path) -> None:
    world = make_world(tmp_path, admission=AdmissionConfig(sandboxes_per_tenant=15))
    jobs = iter(range(40))

    async def work() -> None:
        for _ in jobs:
            record = await world.create()
            await world.lifecycle.sandboxes.delete(CALLER, record.id)

    async with world.run():
        async with asyncio.TaskGroup() as group:
            for _ in range(15):
                group.create_task(work())
        assert not world.host.ids()


async def test_of_forty_at_once_a_quota_of_fifteen_admits_fifteen(tmp_path: Path) -> None:
    world = make_world(tmp_path, admission=AdmissionConfig(sandboxes_per_tenant=15))
    async with world.run() as lifecycle:
        calls = (lifecycle.sandboxes.create(CALLER, request()) for _ in range(40))
        answers = await asyncio.gather(*calls, return_exceptions=True)
        refused = [a for a in answers if isinstance(a, ResourceExhausted)]
        made = [a for a in answers if isinstance(a, tuple)]
        assert (len(made), len(refused)) == (15, 25)
        assert {(e.reason, e.retry_after_s) for e in refused} == {("SANDBOX_QUOTA", 1.0)}
        assert len(world.host.ids()) == 15
        await lifecycle.sandboxes.create(STRANGER, request())


async def test_a_paused_sandbox_keeps_its_place_so_a_resume_needs_none(tmp_path: Path) -> None:
    world = make_world(tmp_path, admission=AdmissionConfig(sandboxes_per_tenant=1))
    async with world.run() as lifecycle:
        record = await world.create()
        await lifecycle.sandboxes.pause(CALLER, record.id, "freeze")
        with pytest.raises(ResourceExhausted):
            await world.create()
        assert (await lifecycle.sandboxes.resume(CALLER, record.id)).state is S.RUNNING


async def test_a_restart_counts_what_was_there_before(tmp_path: Path) -> None:
    world = make_world(tmp_path, admission=AdmissionConfig(sandboxes_per_tenant=2))
    async with world.run():
        await world.create()
    async with world.run():
        await world.create()
        with pytest.raises(ResourceExhausted):
            await world.create()


# --- renew ------------------------------------------------------------------------------------------------------------


async def test_a_renewal_sets_the_end_from_now_or_to_an_instant(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create(ttl_s=60.0)
        renewed = await lifecycle.sandboxes.renew(CALLER, record.id, Until(ttl_s=600.0))
        assert renewed.expires_at is not None
        assert (renewed.expires_at - world.clock.now()).total_seconds() == pytest.approx(600, abs=5)
        sooner = world.clock.now() + timedelta(seconds=30)
        assert (await lifecycle.sandboxes.renew(CALLER, record.id, Until(expires_at=sooner))).expires_at == sooner


@pytest.mark.parametrize(
    ("ttl_s", "asked_s", "extends"), [(600.0, 60.0, False), (60.0, 600.0, True), (None, 60.0, False)]
)
async def test_a_renewal_that_may_only_extend_never_shortens(
    world: World, ttl_s: float | None, asked_s: float, extends: bool
) -> None:
    async with world.run() as lifecycle:
        record = await world.create(ttl_s=ttl_s)
        renewed = await lifecycle.sandboxes.renew(CALLER, record.id, Until(ttl_s=asked_s), extend_only=True)
        assert (renewed != record) == extends


@pytest.mark.parametrize("offset_s", [-1.0, 0.0, 366 * 86_400.0])
async def test_an_end_in_the_past_or_far_away_is_refused(world: World, offset_s: float) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        end = world.clock.now() + timedelta(seconds=offset_s)
        with pytest.raises(InvalidArgument) as refusal:
            await lifecycle.sandboxes.renew(CALLER, record.id, Until(expires_at=end))
        assert refusal.value.field == "expires_at"


async def test_what_has_ended_cannot_be_renewed(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        await lifecycle.sandboxes.delete(CALLER, record.id)
        with pytest.raises(FailedPrecondition) as refusal:
            await lifecycle.sandboxes.renew(CALLER, record.id, Until(ttl_s=60.0))
        assert refusal.value.reason == "SANDBOX_TERMINATED"


async def test_a_renewal_during_the_creation_is_kept(world: World) -> None:
    gate = world.driver.faults.block("start")
    async with world.run() as lifecycle:
        record, _ = await lifecycle.sandboxes.create(CALLER, replace(request(ttl_s=60.0), wait=False))
        await asyncio.sleep(0.01)
        renewed = await lifecycle.sandboxes.renew(CALLER, record.id, Until(ttl_s=600.0))
        gate.set()
        running = await world.until(record, S.RUNNING)
        assert running.expires_at == renewed.expires_at


# --- labels -----------------------------------------------------------------------------------------------------------


async def test_labels_are_set_and_removed(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create(metadata={"a": "1", "b": "2"})
        changed = await lifecycle.sandboxes.update_metadata(
            CALLER, record.id, to_set={"b": "3", "c": "4"}, to_remove=["a", "absent"]
        )
        assert changed.spec.metadata == {"b": "3", "c": "4"}
        found = lifecycle.index.matching(ACME, SandboxFilter(metadata={"c": "4"}))
        assert found == (changed,)


async def test_identical_settings_sent_again_and_again_change_nothing(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create(metadata={"a": "1"})
        end = Until(expires_at=world.clock.now() + timedelta(hours=1))
        renewed = await lifecycle.sandboxes.renew(CALLER, record.id, end)
        for _ in range(5):
            await lifecycle.sandboxes.update_metadata(CALLER, record.id, to_set={"a": "1"}, to_remove=["b"])
            await lifecycle.sandboxes.renew(CALLER, record.id, end)
        assert (await world.read(record)).revision == renewed.revision


async def test_bad_labels_and_too_many_are_refused(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create(metadata={f"k{n}": "v" for n in range(60)})

        async def update(to_set: dict[str, str], to_remove: list[str] | None = None) -> str:
            with pytest.raises(InvalidArgument) as refusal:
                await lifecycle.sandboxes.update_metadata(CALLER, record.id, to_set=to_set, to_remove=to_remove or [])
            return refusal.value.field

        assert await update({"a": "line\nbreak"}) == "set[a]"
        assert await update({"bad key": "x"}) == "set"
        assert await update({f"n{n}": "v" for n in range(5)}) == "set"
        assert await update({"a": "1"}, ["a"]) == "remove"
        assert (await world.read(record)).revision == record.revision


async def test_labels_of_what_has_ended_stay(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        await lifecycle.sandboxes.delete(CALLER, record.id)
        with pytest.raises(FailedPrecondition):
            await lifecycle.sandboxes.update_metadata(CALLER, record.id, to_set={"a": "b"}, to_remove=[])


# --- pause and resume -------------------------------------------------------------------------------------------------


async def test_a_sandbox_is_paused_and_goes_on(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        for _ in range(2):
            assert (await lifecycle.sandboxes.pause(CALLER, record.id, "freeze")).state is S.PAUSED
        for _ in range(2):
            assert (await lifecycle.sandboxes.resume(CALLER, record.id)).state is S.RUNNING
        assert (await world.facts(record.id))[4:] == ["pausing", "progressed", "paused", "resuming", "resumed"]


async def test_two_hundred_pauses_and_resumes_by_eight_end_running(world: World) -> None:
    """Each call does what it says or is refused with a state; none is stuck in between."""
    async with world.run() as lifecycle:
        record = await world.create()

        async def cycle() -> None:
            for _ in range(25):
                for call in (
                    lifecycle.sandboxes.pause(CALLER, record.id, "freeze"),
                    lifecycle.sandboxes.resume(CALLER, record.id),
                ):
                    try:
                        await call
                    except FailedPrecondition as refusal:
                        word = refusal.reason.removeprefix("SANDBOX_")
                        if word not in ("RUNNING", "PAUSED", "PAUSING", "RESUMING"):
                            raise

        await asyncio.gather(*(cycle() for _ in range(8)))
        settled = await lifecycle.sandboxes.get(CALLER, record.id)
        if settled.state is not S.RUNNING:
            await lifecycle.sandboxes.resume(CALLER, record.id)
        assert (await lifecycle.sandboxes.get(CALLER, record.id)).state is S.RUNNING


async def test_a_pause_that_fails_is_taken_back_and_told(world: World) -> None:
    world.driver.faults.fail("freeze", FailedPrecondition("a process is stuck", reason="FREEZE_FAILED"))
    async with world.run() as lifecycle:
        record = await world.create()
        with pytest.raises(FailedPrecondition) as refusal:
            await lifecycle.sandboxes.pause(CALLER, record.id, "freeze")
        assert refusal.value.reason == "FREEZE_FAILED"
        running = await lifecycle.sandboxes.get(CALLER, record.id)
        assert running.state is S.RUNNING
        assert running.failure == Failure("FREEZE_FAILED", "a process is stuck", "FailedPrecondition")
        assert (await lifecycle.sandboxes.pause(CALLER, record.id, "freeze")).failure is None


@pytest.mark.parametrize("mode", ["checkpoint", "release"])
async def test_other_modes_are_not_there_yet(world: World, mode: str) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        with pytest.raises(Unsupported) as refusal:
            await lifecycle.sandboxes.pause(CALLER, record.id, mode)
        assert refusal.value.reason == "PAUSE_MODE_UNSUPPORTED"


async def test_a_runtime_that_cannot_freeze_refuses(world: World) -> None:
    world.driver._capabilities = replace(world.driver.capabilities, pause_freeze=False)
    async with world.run() as lifecycle:
        record = await world.create()
        with pytest.raises(Unsupported):
            await lifecycle.sandboxes.pause(CALLER, record.id, "freeze")
        assert (await lifecycle.sandboxes.get(CALLER, record.id)).state is S.RUNNING


async def test_a_paused_sandbox_can_be_deleted_and_expires(world: World) -> None:
    async with world.run() as lifecycle:
        gone, brief = await world.create(), await world.create(ttl_s=0.2)
        await lifecycle.sandboxes.pause(CALLER, gone.id, "freeze")
        await lifecycle.sandboxes.pause(CALLER, brief.id, "freeze")
        assert (await lifecycle.sandboxes.delete(CALLER, gone.id)).state is S.TERMINATED
        await world.until(brief, S.TERMINATED)
        assert not world.host.ids()


# --- reading ----------------------------------------------------------------------------------------------------------


async def test_stats_come_from_the_driver_while_it_runs(world: World) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        assert (await lifecycle.sandboxes.stats(CALLER, record.id)).pids == 2
        await lifecycle.sandboxes.delete(CALLER, record.id)
        with pytest.raises(FailedPrecondition) as refusal:
            await lifecycle.sandboxes.stats(CALLER, record.id)
        assert refusal.value.reason == "SANDBOX_TERMINATED"


Call = Callable[[Sandboxes, Caller, SandboxId], Awaitable[object]]
CALLS: dict[str, Call] = {
    "get": lambda s, c, i: s.get(c, i),
    "delete": lambda s, c, i: s.delete(c, i),
    "renew": lambda s, c, i: s.renew(c, i, Until(ttl_s=60.0)),
    "update_metadata": lambda s, c, i: s.update_metadata(c, i, to_set={"a": "b"}, to_remove=[]),
    "pause": lambda s, c, i: s.pause(c, i, "freeze"),
    "resume": lambda s, c, i: s.resume(c, i),
    "stats": lambda s, c, i: s.stats(c, i),
}


@pytest.mark.parametrize("name", CALLS)
async def test_another_tenants_sandbox_is_as_absent_as_none(world: World, name: str) -> None:
    async with world.run() as lifecycle:
        record = await world.create()
        messages = []
        for caller, sandbox_id in ((STRANGER, record.id), (CALLER, new_sandbox_id())):
            with pytest.raises(NotFound) as refusal:
                await CALLS[name](lifecycle.sandboxes, caller, sandbox_id)
            messages.append(refusal.value.message.replace(sandbox_id, "…"))
        assert len(set(messages)) == 1
        assert (await lifecycle.sandboxes.get(CALLER, record.id)).revision == record.revision


@pytest.mark.parametrize("kind", [*ArenError.__subclasses__(), type("Unknown", (), {})], ids=lambda kind: kind.__name__)
def test_a_failed_creation_has_the_class_that_was_recorded(kind: type) -> None:
    record = a_record(failure=Failure("WHY", "because", kind.__name__, "spec.x", "try y"))
    error = failure_of(record)
    expected = kind if issubclass(kind, ArenError) else FailedPrecondition
    assert (type(error), error.reason, error.message, error.field) == (expected, "WHY", "because", "spec.x")
    assert error.fix == "try y"


async def test_a_creation_that_fails_says_what_can_be_done(world: World) -> None:
    refusal = InvalidArgument("not there", reason="SOURCE_NOT_ALLOWED", field="spec.source", fix="move it")
    world.driver.faults.fail("create", refusal)
    async with world.run():
        for _ in range(2):
            with pytest.raises(InvalidArgument) as raised:
                await world.create(request_id="again")
            assert (raised.value.message, raised.value.fix) == ("not there", "move it")
    async with world.run():
        with pytest.raises(InvalidArgument) as raised:
            await world.create(request_id="again")
        assert (raised.value.field, raised.value.fix) == ("spec.source", "move it")


def test_a_record_without_a_cause_still_has_an_error() -> None:
    assert failure_of(a_record()).reason == "RUNTIME_ERROR"
