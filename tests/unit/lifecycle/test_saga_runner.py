"""The runner: failures turn a saga round, deadlines end it, traces show what it did."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from arenero.errors import (
    ArenError,
    DeadlineExceeded,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    ResourceExhausted,
    Unavailable,
    Unsupported,
)
from arenero.lifecycle import saga_runner
from arenero.lifecycle.requests import CreateRequest
from arenero.model.record import SandboxRecord
from arenero.model.spec import SandboxSpec
from arenero.model.states import SandboxState as S
from arenero.model.time import to_unix_ns
from arenero.runtime.driver import Created, Launch, StepSpan
from tests.unit.lifecycle.kit import CALLER, LoopClock, World, make_world, request


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


async def fail(world: World, wanted: CreateRequest | None = None) -> ArenError:
    with pytest.raises(ArenError) as failure:
        await world.lifecycle.sandboxes.create(CALLER, wanted or request())
    return failure.value


@pytest.mark.parametrize("step", ["create", "start", "ready"])
@pytest.mark.parametrize(
    "error",
    [
        InvalidArgument("no such directory", field="spec.source.rootfs_directory"),
        ResourceExhausted("no room", reason="DISK_FULL"),
        Unsupported("no seccomp here", reason="NO_SECCOMP"),
        FailedPrecondition("mount: EPERM", reason="MOUNT_FAILED"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_step_that_fails_is_undone_and_its_error_reaches_the_caller(
    world: World, step: str, error: ArenError
) -> None:
    if step == "ready":
        world.execd.hello_errors.append(error)
    else:
        world.driver.faults.fail(step, error, after_acting=True)
    async with world.run() as lifecycle:
        raised = await fail(world, request(request_id="r1"))
        assert (type(raised), raised.reason, raised.message, raised.field) == (
            type(error),
            error.reason,
            error.message,
            error.field,
        )
        assert not world.host.ids()
        again = await fail(world, request(request_id="r1"))
        assert (type(again), again.reason) == (type(raised), raised.reason)
        [record] = lifecycle.index.all()
        assert (record.state, record.handle) == (S.FAILED, None)


async def test_a_defect_of_a_driver_is_told_as_internal_and_undone(world: World) -> None:
    world.driver.faults.fail("start", KeyError("secret detail"))
    async with world.run():
        failure = await fail(world)
        assert isinstance(failure, Internal)
        assert "secret detail" not in str(failure)
        assert not world.host.ids()


@pytest.mark.looptime
@pytest.mark.parametrize("where", ["create", "start", "ready", "queue"])
async def test_a_creation_that_takes_too_long_fails(tmp_path: Path, where: str) -> None:
    world = make_world(tmp_path, clock=LoopClock())
    async with world.run() as lifecycle:
        if where == "ready":
            world.execd.silent = True
        elif where != "queue":
            world.driver.faults.slow(where, 1000)
        slots = lifecycle.admission.slots
        while where == "queue" and slots._free:
            await slots._take(None)  # type: ignore[arg-type]
        began_s = asyncio.get_running_loop().time()
        wanted = CreateRequest(spec=SandboxSpec(), start_timeout_s=5.0)
        failure = await fail(world, wanted)
        assert isinstance(failure, DeadlineExceeded)
        assert failure.reason == "START_TIMEOUT"
        assert asyncio.get_running_loop().time() - began_s == pytest.approx(5.0, abs=0.1)
        assert not world.host.ids()


async def test_a_sandbox_that_dies_before_execd_answers_fails_at_once(world: World) -> None:
    world.execd.silent = True
    async with world.run():
        wanted = request(extensions={"fake.exit_after_s": "0.05", "fake.oom": "true"})
        failure = await asyncio.wait_for(fail(world, wanted), 5)
        assert failure.reason == "OUT_OF_MEMORY"
        assert not world.host.ids()


async def test_what_is_unavailable_is_tried_again(world: World) -> None:
    world.driver.faults.fail("create", Unavailable("the daemon is away"), times=2)
    world.driver.faults.fail("start", Unavailable("the daemon is away"), times=1)
    async with world.run():
        record = await asyncio.wait_for(world.create(), 10)
        assert record.state is S.RUNNING


async def test_an_undo_that_fails_is_tried_again(world: World) -> None:
    world.driver.faults.fail("start", FailedPrecondition("no"))
    world.driver.faults.fail("destroy", FailedPrecondition("busy"), times=2)
    async with world.run():
        await asyncio.wait_for(fail(world), 10)
        assert not world.host.ids()


async def test_execd_is_not_asked_where_there_is_none(tmp_path: Path) -> None:
    world = make_world(tmp_path, address="")
    async with world.run():
        record = await world.create()
        assert (record.state, record.endpoint, world.execd.hellos) == (S.RUNNING, None, [])


async def test_execd_is_not_asked_where_the_driver_knows_that_it_serves(world: World) -> None:
    world.driver._capabilities = replace(world.driver.capabilities, tells_when_ready=True)
    async with world.run():
        record = await world.create()
        assert (record.state, world.execd.hellos) == (S.RUNNING, [])
        assert record.endpoint is not None


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(saga_runner, "_tracer", provider.get_tracer("test"))
    return exporter


async def test_the_trace_shows_steps_drivers_parts_and_what_execd_says(
    world: World, spans: InMemorySpanExporter
) -> None:
    made_ns: list[int] = []

    def boot(record: SandboxRecord) -> list[StepSpan]:
        made_ns.append(to_unix_ns(record.created_at))
        true = StepSpan("execd.start", made_ns[0] + 1_000, made_ns[0] + 2_000)
        return [true, StepSpan("execd.forged", 0, 2**62)]

    world.execd.boot = boot
    async with world.run():
        await world.create()
    found = {span.name: span for span in spans.get_finished_spans()}
    tree = {name: parent_name(span, found) for name, span in found.items()}
    assert tree == {
        "saga.create": None,
        "saga.create.prepare": "saga.create",
        "driver.fake.create": "saga.create.prepare",
        "saga.create.start": "saga.create",
        "driver.fake.start": "saga.create.start",
        "saga.create.ready": "saga.create",
        "execd.start": "saga.create",
        "execd.forged": "saga.create",
    }
    forged, saga = found["execd.forged"], found["saga.create"]
    assert forged.start_time is not None
    assert forged.end_time is not None
    assert saga.end_time is not None
    assert made_ns[0] <= forged.start_time <= forged.end_time <= saga.end_time


def parent_name(span: ReadableSpan, found: dict[str, ReadableSpan]) -> str | None:
    ids = {s.context.span_id: name for name, s in found.items() if s.context}
    return ids[span.parent.span_id] if span.parent else None


async def test_the_work_is_part_of_the_callers_trace(world: World, spans: InMemorySpanExporter) -> None:
    tracer = TracerProvider().get_tracer("caller")
    launches: list[Launch] = []
    create = world.driver.create

    async def note(launch: Launch) -> Created:
        launches.append(launch)
        return await create(launch)

    world.driver.create = note  # type: ignore[method-assign]
    async with world.run():
        with tracer.start_as_current_span("caller") as caller:
            await world.create()
    trace_ids = {span.context.trace_id for span in spans.get_finished_spans() if span.context}
    assert trace_ids == {caller.get_span_context().trace_id}
    [launch] = launches
    assert launch.traceparent.split("-")[1] == f"{caller.get_span_context().trace_id:032x}"
    assert trace.get_current_span() is trace.INVALID_SPAN
