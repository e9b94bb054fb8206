"""Errors as the platform, or gRPC itself, sends them, and what the SDK makes of them."""

import asyncio

import grpc
import pytest

from arenero.api.lifecycle.v1 import sandbox_service_pb2
from arenero.sdk import errors
from tests.unit.sdk.wire import BROKEN, SANDBOX_ID, Refused, WirePair, detail

CLASSES = {
    grpc.StatusCode.INVALID_ARGUMENT: errors.InvalidArgument,
    grpc.StatusCode.OUT_OF_RANGE: errors.InvalidArgument,
    grpc.StatusCode.NOT_FOUND: errors.NotFound,
    grpc.StatusCode.ALREADY_EXISTS: errors.AlreadyExists,
    grpc.StatusCode.ABORTED: errors.Conflict,
    grpc.StatusCode.FAILED_PRECONDITION: errors.FailedPrecondition,
    grpc.StatusCode.PERMISSION_DENIED: errors.PermissionDenied,
    grpc.StatusCode.UNAUTHENTICATED: errors.Unauthenticated,
    grpc.StatusCode.RESOURCE_EXHAUSTED: errors.ResourceExhausted,
    grpc.StatusCode.UNAVAILABLE: errors.Unavailable,
    grpc.StatusCode.UNIMPLEMENTED: errors.Unsupported,
    grpc.StatusCode.DEADLINE_EXCEEDED: errors.DeadlineExceeded,
    grpc.StatusCode.CANCELLED: errors.Cancelled,
    grpc.StatusCode.UNKNOWN: errors.OutcomeUnknown,
    grpc.StatusCode.INTERNAL: errors.Internal,
    grpc.StatusCode.DATA_LOSS: errors.Internal,
}


async def error_of(wires: WirePair, refused: Refused) -> errors.AreneroError:
    wires.gateway.on("Get", refused)
    async with wires.client(reconnect_s=0) as client:
        with pytest.raises(errors.AreneroError) as raised:
            await client.get(SANDBOX_ID)
    return raised.value


@pytest.mark.parametrize("code", CLASSES, ids=lambda code: code.name)
async def test_class_and_all_details_arrive(wires: WirePair, code: grpc.StatusCode) -> None:
    told = detail("TOO_MANY", field="spec.pids", fix="ask for fewer", retry_after_s=0.25)
    error = await error_of(wires, Refused(code, "spec.pids: at most 3", told))
    assert type(error) is CLASSES[code]
    assert (error.message, error.reason, error.field) == ("at most 3", "TOO_MANY", "spec.pids")
    assert (error.fix, error.retry_after_s, error.metadata) == ("ask for fewer", 0.25, {"limit": "3"})
    assert str(error) == "spec.pids: at most 3 — ask for fewer"


def test_every_status_code_has_its_class() -> None:
    assert set(CLASSES) == set(grpc.StatusCode) - {grpc.StatusCode.OK}


async def test_waiting_helps_only_when_said_so(wires: WirePair) -> None:
    error = await error_of(wires, Refused(grpc.StatusCode.UNAVAILABLE, "later", detail("STARTING")))
    assert error.retry_after_s is None


async def test_unavailable_is_unknown_when_the_platform_says_that_it_may_have_acted(wires: WirePair) -> None:
    told = detail("LOST", outcome="OUTCOME_UNKNOWN")
    assert isinstance(await error_of(wires, Refused(grpc.StatusCode.UNAVAILABLE, "x", told)), errors.OutcomeUnknown)


async def test_broken_connection_is_unknown(wires: WirePair) -> None:
    error = await error_of(wires, BROKEN)
    assert type(error) is errors.OutcomeUnknown
    assert error.reason == "CONNECTION_LOST"


async def test_nothing_was_done_when_there_was_no_connection(wires: WirePair) -> None:
    await wires.gateway.stop()
    async with wires.client() as client:
        with pytest.raises(errors.Unavailable) as raised:
            await client.get(SANDBOX_ID)
    assert raised.value.reason == "NOT_SENT"


async def test_call_that_the_other_side_cancelled_is_unknown(wires: WirePair) -> None:
    assert type(await error_of(wires, Refused(grpc.StatusCode.CANCELLED, "stopping"))) is errors.OutcomeUnknown


@pytest.mark.parametrize("raw", [b"\xff\xff\xff", b"", b"text"], ids=["garbage", "empty", "text"])
async def test_damaged_details_are_left_aside(wires: WirePair, raw: bytes) -> None:
    error = await error_of(wires, Refused(grpc.StatusCode.NOT_FOUND, "gone", raw_detail=raw))
    assert type(error) is errors.NotFound
    assert (error.message, error.reason) == ("gone", "NOT_FOUND")


async def test_callers_own_cancellation_stays_one(wires: WirePair) -> None:
    async def hang(request):
        await asyncio.Event().wait()
        return sandbox_service_pb2.GetResponse()

    wires.gateway.on("Get", hang)
    async with wires.client() as client:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await client.get(SANDBOX_ID)


async def test_call_ends_with_an_error_when_its_client_is_closed_under_it(wires: WirePair) -> None:
    arrived = asyncio.Event()

    async def hang(request):
        arrived.set()
        await asyncio.Event().wait()
        return sandbox_service_pb2.GetResponse()

    wires.gateway.on("Get", hang)
    client = wires.client()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(raised_by(client.get(SANDBOX_ID)))
        await arrived.wait()
        await client.close()
    assert isinstance(waiting.result(), errors.OutcomeUnknown)
    assert waiting.result().reason == "CLIENT_CLOSED"


async def raised_by(call) -> errors.AreneroError:
    with pytest.raises(errors.AreneroError) as raised:
        await call
    return raised.value


def test_text_names_the_field_and_the_fix() -> None:
    assert str(errors.NotFound("gone")) == "gone"
    assert str(errors.InvalidArgument("is empty", field="spec.name")) == "spec.name: is empty"
    assert str(errors.Unavailable("down", fix="start it")) == "down — start it"
