"""Following the event log over broken connections."""

import asyncio
from contextlib import aclosing

import grpc
import pytest

from arenero.api.events.v1 import event_pb2, event_service_pb2
from arenero.sdk.errors import PermissionDenied, Unavailable
from arenero.sdk.types import EventFilter
from tests.unit.sdk.wire import BROKEN, Refused, WirePair, detail


def fact(sequence: int) -> event_service_pb2.FollowResponse:
    made = event_pb2.Event(id=f"evt_{sequence}", sequence=sequence, subject="sandbox.acme.sbx_a.started")
    return event_service_pb2.FollowResponse(event=made)


def activity(number: int) -> event_service_pb2.FollowResponse:
    made = event_pb2.Event(id=f"act_{number}", sequence=number, subject="activity.acme.sbx_a.exec_started")
    return event_service_pb2.FollowResponse(event=made)


def alive(sequence: int) -> event_service_pb2.FollowResponse:
    return event_service_pb2.FollowResponse(heartbeat_sequence=sequence)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arenero.sdk._following._WAIT_S", 0.01)


async def ids_of(wires: WirePair, count: int, **options) -> list[str]:
    async with (
        wires.client() as client,
        asyncio.timeout(10),
        aclosing(client.follow(EventFilter(sandbox_id="sbx_a"), **options)) as events,  # type: ignore[type-var]
    ):
        return [(await anext(events)).id for _ in range(count)]


async def test_following_goes_on_after_the_last_event(wires: WirePair) -> None:
    wires.gateway.on("Follow", [fact(5), fact(7), BROKEN], [fact(9)])
    assert await ids_of(wires, 3, from_beginning=True) == ["evt_5", "evt_7", "evt_9"]
    first, second = (call.request for call in wires.gateway.called("Follow")[:2])
    assert first.from_beginning
    assert (second.sequence, second.filter.sandbox_id) == (8, "sbx_a")


async def test_signs_of_life_move_the_place_on(wires: WirePair) -> None:
    """Else what happened while nobody listened would be missed, or read again from far back."""
    wires.gateway.on("Follow", [alive(100), BROKEN], [fact(101)])
    assert await ids_of(wires, 1) == ["evt_101"]
    assert wires.gateway.called("Follow")[1].request.sequence == 101


async def test_activity_has_numbers_of_another_log(wires: WirePair) -> None:
    wires.gateway.on("Follow", [fact(5), activity(900), BROKEN], [activity(900), activity(901), fact(6)])
    assert await ids_of(wires, 4) == ["evt_5", "act_900", "act_901", "evt_6"]
    assert wires.gateway.called("Follow")[1].request.sequence == 6


async def test_following_begins_where_it_is_told(wires: WirePair) -> None:
    wires.gateway.on("Follow", BROKEN, [fact(42)])
    assert await ids_of(wires, 1, from_sequence=42) == ["evt_42"]
    assert [call.request.sequence for call in wires.gateway.called("Follow")[:2]] == [42, 42]


async def test_stream_that_falls_silent_is_opened_again(wires: WirePair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arenero.sdk.client._FOLLOW_SILENCE_S", 0.3)

    async def silent(request):
        yield fact(5)
        await asyncio.Event().wait()

    wires.gateway.on("Follow", silent, [fact(6)])
    assert await ids_of(wires, 2) == ["evt_5", "evt_6"]
    assert wires.gateway.called("Follow")[1].request.sequence == 6


async def test_stream_that_ends_is_opened_again(wires: WirePair) -> None:
    wires.gateway.on("Follow", [fact(1)], [fact(2)])
    assert await ids_of(wires, 2) == ["evt_1", "evt_2"]


async def test_error_is_raised_when_nobody_was_there_to_begin_with(wires: WirePair) -> None:
    await wires.gateway.stop()
    with pytest.raises(Unavailable):
        await ids_of(wires, 1)


async def test_platform_may_be_away_for_a_while(wires: WirePair) -> None:
    wires.gateway.on("Follow", [fact(1)], [fact(2)])
    async with (
        wires.client() as client,
        asyncio.timeout(10),
        aclosing(client.follow()) as events,  # type: ignore[type-var]
    ):
        assert (await anext(events)).id == "evt_1"
        await wires.gateway.stop()
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(next_of(events))
            await asyncio.sleep(0.1)
            await wires.gateway.start()
    assert waiting.result().id == "evt_2"


async def next_of(events) -> event_pb2.Event:
    found: event_pb2.Event = await anext(events)
    return found


async def test_refusal_ends_it(wires: WirePair) -> None:
    wires.gateway.on("Follow", [fact(1), BROKEN], Refused(grpc.StatusCode.PERMISSION_DENIED, "no", detail("NO")))
    with pytest.raises(PermissionDenied):
        await ids_of(wires, 2)
