"""`EventService` without a socket."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from arenero.api.events.v1 import event_service_pb2 as pb
from arenero.api.events.v1.event_pb2 import Event
from arenero.errors import ArenError, InvalidArgument, PermissionDenied
from arenero.lifecycle.event_servicer import MAX_SUBJECTS, EventServicer
from arenero.model.ids import TenantId
from arenero.rpc.identity import Caller, set_caller
from tests.unit.lifecycle.kit import CALLER, World, make_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A lifecycle that runs."""
    world = make_world(tmp_path)
    async with world.run():
        yield world


@pytest.fixture
def servicer(world: World) -> EventServicer:
    """Its event servicer."""
    return world.lifecycle.event_servicer


async def replay(servicer: EventServicer, **fields: object) -> list[Event]:
    set_caller(CALLER)
    request = pb.ReplayRequest(**fields)  # type: ignore[arg-type]
    return [response.event async for response in servicer.Replay(request, None)]


async def test_events_tell_what_happened_and_the_record_after_it(world: World, servicer: EventServicer) -> None:
    record = await world.create(name="web")
    events = await replay(servicer)
    assert [event.sandbox.WhichOneof("fact") for event in events] == [
        "requested",
        "progressed",
        "progressed",
        "started",
    ]
    assert [event.sequence for event in events] == [1, 2, 3, 4]
    last = events[-1]
    assert (last.revision, last.sandbox.sandbox.revision, last.sandbox.sandbox.id) == (4, 4, record.id)
    assert last.subject == f"sandbox.acme.{record.id}.started"
    assert (last.tenant, last.sandbox.sandbox.spec.name) == ("acme", "web")


async def test_what_lifecycle_keeps_for_itself_is_left_out(world: World, servicer: EventServicer) -> None:
    record = await world.create()
    stored = (await world.log.history(f"sandbox.acme.{record.id}.*"))[-1]
    assert Event.FromString(stored.data).sandbox.internal_sealed
    set_caller(CALLER)
    follow = servicer.Follow(pb.FollowRequest(from_beginning=True), None)
    async with aclosing(follow) as stream:  # type: ignore[type-var]
        followed = [(await anext(stream)).event for _ in range(4)]
    for event in [*await replay(servicer), *followed]:
        assert not event.sandbox.internal_sealed


async def test_another_tenant_sees_nothing(world: World, servicer: EventServicer) -> None:
    record = await world.create()
    set_caller(Caller(TenantId("other"), "key:key_x"))
    for wanted in (pb.EventFilter(), pb.EventFilter(sandbox_id=record.id), pb.EventFilter(subjects=["sandbox.>"])):
        assert [r async for r in servicer.Replay(pb.ReplayRequest(filter=wanted), None)] == []


async def test_filter_start_and_limit_are_passed_on(world: World, servicer: EventServicer) -> None:
    first, second = await world.create(), await world.create()
    only = await replay(servicer, filter=pb.EventFilter(subjects=["sandbox.*.started"]))
    assert [event.sandbox.sandbox.id for event in only] == [first.id, second.id]
    assert len(await replay(servicer, filter=pb.EventFilter(sandbox_id=second.id, log=pb.EVENT_LOG_STATE))) == 4
    assert [event.sequence for event in await replay(servicer, sequence=3, limit=2)] == [3, 4]
    assert await replay(servicer, filter=pb.EventFilter(log=pb.EVENT_LOG_ACTIVITY)) == []


@pytest.mark.parametrize(
    ("request_", "kind", "field"),
    [
        (pb.ReplayRequest(filter=pb.EventFilter(log=9)), InvalidArgument, "filter.log"),  # type: ignore[arg-type]
        (pb.ReplayRequest(filter=pb.EventFilter(sandbox_id="x")), InvalidArgument, "filter.sandbox_id"),
        (pb.ReplayRequest(filter=pb.EventFilter(subjects=["nope.>"])), InvalidArgument, "filter.subjects[0]"),
        (pb.ReplayRequest(filter=pb.EventFilter(subjects=["key.>"])), PermissionDenied, "filter.subjects[0]"),
        (
            pb.ReplayRequest(filter=pb.EventFilter(subjects=["sandbox.>"] * (MAX_SUBJECTS + 1))),
            InvalidArgument,
            "filter.subjects",
        ),
        (pb.ReplayRequest(time=Timestamp(seconds=-5)), InvalidArgument, "time"),
    ],
)
async def test_bad_input_is_refused_by_field(
    servicer: EventServicer, request_: pb.ReplayRequest, kind: type[ArenError], field: str
) -> None:
    set_caller(CALLER)
    with pytest.raises(kind) as refusal:
        await anext(servicer.Replay(request_, None))
    assert refusal.value.field == field
