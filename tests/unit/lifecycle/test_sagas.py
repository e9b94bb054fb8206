"""Sagas over restarts: stopped after each step in turn, they come to the same end."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from arenero.errors import ArenError, FailedPrecondition
from arenero.lifecycle.sagas import CREATE, DELETE, SAGAS, death
from arenero.model.record import ExitFacts, SandboxRecord
from arenero.model.states import SandboxState as S
from tests.unit.lifecycle.kit import CALLER, World, make_world, request

CREATED = ["requested", "progressed", "progressed", "started"]
DELETED = ["stopping", "progressed", "terminated"]
CUTS = [(number, stored) for number in range(1, 6) for stored in (False, True)]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


async def crash_during(world: World, work: Coroutine[Any, Any, object]) -> None:
    """Do something in a lifecycle whose log is cut, and end that lifecycle when the cut is reached, or all is done."""
    async with world.run(), asyncio.TaskGroup() as group:
        doing = group.create_task(work)
        cut = group.create_task(world.log.cut.wait())
        await asyncio.wait((doing, cut), return_when=asyncio.FIRST_COMPLETED)
        doing.cancel()
        cut.cancel()
    world.log.mend()
    world.renew_driver()


async def create_once(world: World) -> SandboxRecord:
    record, _ = await world.lifecycle.sandboxes.create(CALLER, request(request_id="r1"))
    return record


def without_recovery(facts: list[str]) -> list[str]:
    return [fact for fact in facts if fact != "recovered"]


@pytest.mark.parametrize(("number", "stored"), CUTS)
async def test_a_creation_cut_at_any_append_runs_after_a_restart(world: World, number: int, stored: bool) -> None:
    world.log.cut_at(number, stored=stored)
    await crash_during(world, create_once(world))
    async with world.run():
        record = await create_once(world)
        assert record.state is S.RUNNING
        assert world.host.ids() == {record.id}
        assert without_recovery(await world.facts(record.id)) == CREATED


@pytest.mark.parametrize("method", ["create", "start"])
async def test_a_creation_cut_after_the_driver_acted_runs_after_a_restart(world: World, method: str) -> None:
    gate = asyncio.Event()
    real = getattr(world.driver, method)

    async def act_and_hang(*arguments: object) -> object:
        await real(*arguments)
        world.log.cut.set()
        await gate.wait()
        raise AssertionError("the process is dead by now")

    setattr(world.driver, method, act_and_hang)
    await crash_during(world, create_once(world))
    async with world.run():
        record = await create_once(world)
        assert record.state is S.RUNNING
        assert without_recovery(await world.facts(record.id)) == CREATED


@pytest.mark.parametrize(("number", "stored"), CUTS)
async def test_a_deletion_cut_at_any_append_is_done_after_a_restart(world: World, number: int, stored: bool) -> None:
    async with world.run():
        record = await create_once(world)
    world.log.cut_at(number, stored=stored)
    await crash_during(world, delete(world, record))
    async with world.run():
        ended = await delete(world, record)
        assert ended.state is S.TERMINATED
        assert not world.host.ids()
        assert without_recovery(await world.facts(record.id)) == CREATED + DELETED


@pytest.mark.parametrize(("number", "stored"), CUTS)
async def test_a_failing_creation_cut_at_any_append_leaves_nothing(world: World, number: int, stored: bool) -> None:
    """It fails in the first life or in the next; either way what was made is undone before it counts as failed."""
    world.driver.faults.fail("start", FailedPrecondition("no way", reason="NO_WAY"), times=9)
    world.log.cut_at(number, stored=stored)
    await crash_during(world, fail_once(world))
    world.driver.faults.fail("start", FailedPrecondition("no way", reason="NO_WAY"), times=9)
    async with world.run():
        failure = await fail_once(world)
        assert (type(failure), failure.reason) == (FailedPrecondition, "NO_WAY")
        assert not world.host.ids()
        sandbox_id = failure.metadata["sandbox_id"]
        assert without_recovery(await world.facts(sandbox_id)) == ["requested", "progressed", "progressed", "failed"]


async def delete(world: World, record: SandboxRecord) -> SandboxRecord:
    return await world.lifecycle.sandboxes.delete(CALLER, record.id)


async def fail_once(world: World) -> ArenError:
    with pytest.raises(ArenError) as failure:
        await create_once(world)
    return failure.value


@pytest.mark.parametrize("saga", SAGAS.values(), ids=lambda saga: saga.name)
def test_a_saga_that_can_fail_has_an_undo(saga: object) -> None:
    assert saga.name in SAGAS  # type: ignore[attr-defined]
    assert bool(saga.fail) == any(step.undo for step in saga.steps)  # type: ignore[attr-defined]


def test_steps_have_names_of_their_own() -> None:
    for saga in SAGAS.values():
        assert len({step.name for step in saga.steps}) == len(saga.steps)


def test_only_a_creation_has_a_time_limit() -> None:
    assert [saga for saga in SAGAS.values() if saga.timed] == [CREATE]
    assert DELETE.fail is None


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (None, "VANISHED"),
        (ExitFacts(), "VANISHED"),
        (ExitFacts(exit_code=3), "EXITED"),
        (ExitFacts(signal=9), "KILLED"),
        (ExitFacts(signal=9, oom_killed=True), "OUT_OF_MEMORY"),
    ],
)
def test_a_death_has_a_reason(facts: ExitFacts | None, reason: str) -> None:
    assert death(facts).reason == reason
