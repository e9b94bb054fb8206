"""One call through the gateway: what goes in comes out, and what ends it on one side ends it on the other."""

import asyncio
from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status

from arenero.api.common.v1 import error_pb2
from arenero.errors import FailedPrecondition
from arenero.rpc.status import DETAILS_KEY, to_trailers
from tests.fixtures.upstream import EOF, echo, hang, refusing, saying
from tests.integration.gateway.conftest import TOKEN, Stage

RUN = "/arenero.api.execd.v1.ExecService/Run"
START = "/arenero.api.execd.v1.ExecService/Start"
INTERACT = "/arenero.api.execd.v1.ExecService/Interact"
WRITE = "/arenero.api.execd.v1.FileService/Write"
CREATE = "/arenero.api.lifecycle.v1.SandboxService/Create"
WATCH = "/arenero.api.lifecycle.v1.SandboxService/Watch"


async def collected(call: Any) -> list[bytes]:
    found = []
    while (message := await call.read()) is not EOF:
        found.append(message)
    return found


def detail_of(error: grpc.aio.AioRpcError) -> error_pb2.ErrorDetail:
    raw = dict(error.trailing_metadata() or ())[DETAILS_KEY]
    detail = error_pb2.ErrorDetail()
    assert Status.FromString(raw).details[0].Unpack(detail)
    return detail


async def failure(call: Any) -> grpc.aio.AioRpcError:
    """The error of a call of any kind; that it fails is what the caller expects."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await (call if isinstance(call, grpc.aio.UnaryUnaryCall) else collected(call))
    return caught.value


# --- what is passed on ------------------------------------------------------------------------------------------------


async def test_bytes_pass_unread(stage: Stage) -> None:
    stage.execd.scripts.update(Start=echo, Run=saying(b"", b"\x00\xff not protobuf", b"x" * 3_000_000, b""))
    assert await stage.unary(START)(b"\xff\xfe", metadata=stage.metadata()) == b"\xff\xfe"
    answers = await collected(stage.answers(RUN)(b"go", metadata=stage.metadata()))
    assert answers == [b"", b"\x00\xff not protobuf", b"x" * 3_000_000, b""]


async def test_client_stream_is_passed_on_and_its_end_too(stage: Stage) -> None:
    async def count(context: Any) -> None:
        sizes = [len(message) for message in await collected(context)]
        await context.write(repr(sizes).encode())

    stage.execd.scripts["Write"] = count
    call: Any = stage.channel.stream_unary(WRITE)(metadata=stage.metadata())
    for size in (1, 0, 100_000):
        await call.write(bytes(size))
    await call.done_writing()
    assert await call == b"[1, 0, 100000]"


async def test_both_directions_are_independent(stage: Stage) -> None:
    stage.execd.scripts["Interact"] = echo
    call = stage.both(INTERACT)(metadata=stage.metadata())
    for number in range(20):
        await call.write(b"%d" % number)
        assert await call.read() == b"%d" % number
    await call.done_writing()
    assert await call.read() is EOF
    assert await call.code() is grpc.StatusCode.OK


async def test_other_side_may_end_a_stream_that_the_client_still_writes_to(stage: Stage) -> None:
    stage.execd.scripts["Interact"] = saying(b"enough")
    call = stage.both(INTERACT)(metadata=stage.metadata())
    await call.write(b"one")
    assert await asyncio.wait_for(collected(call), 5) == [b"enough"]
    assert await call.code() is grpc.StatusCode.OK


async def test_method_of_a_later_version_is_passed_on(stage: Stage) -> None:
    stage.execd.scripts["Teleport"] = echo
    assert await stage.unary("/arenero.api.execd.v1.ExecService/Teleport")(b"x", metadata=stage.metadata()) == b"x"


async def test_metadata_goes_both_ways(stage: Stage) -> None:
    async def answer(context: Any) -> None:
        await context.send_initial_metadata((("x-first", "1"), ("x-first-bin", b"\x00\x01")))
        await context.read()
        await context.write(b"ok")
        context.set_trailing_metadata((("x-last", "2"), ("x-last-bin", b"\xff")))

    stage.execd.scripts.update(Start=answer, Run=answer, Interact=answer)
    sent = (("x-mine", "3"), ("x-mine-bin", b"\x00\xfe"))
    unary = stage.unary(START)(b"", metadata=stage.metadata(*sent))
    assert await unary == b"ok"
    streamed = stage.answers(RUN)(b"", metadata=stage.metadata(*sent))
    assert await collected(streamed) == [b"ok"]
    for call in (unary, streamed):
        assert dict(await call.initial_metadata()).items() >= {"x-first": "1", "x-first-bin": b"\x00\x01"}.items()
        assert dict(await call.trailing_metadata()).items() >= {"x-last": "2", "x-last-bin": b"\xff"}.items()
    for seen in stage.execd.calls:
        assert seen.metadata.items() >= {"x-mine": "3", "x-mine-bin": b"\x00\xfe"}.items()


async def test_execd_sees_its_own_token_and_nobody_elses(stage: Stage) -> None:
    stage.execd.scripts["Start"] = echo
    forged = (("arenero-tenant", "other"), ("arenero-actor", "key:forged"), ("cookie", "c"))
    await stage.unary(START)(b"", metadata=stage.metadata(*forged))
    [seen] = stage.execd.calls
    assert seen.metadata["authorization"] == f"Bearer {TOKEN}"
    assert not {"arenero-tenant", "arenero-actor", "cookie"} & seen.metadata.keys()
    assert stage.admin_key not in repr(seen.metadata)


async def test_service_learns_from_the_gateway_alone_who_calls(stage: Stage) -> None:
    stage.lifecycle.scripts["Create"] = echo
    forged = (("arenero-tenant", "other"), ("arenero-actor", "key:forged"))
    await stage.unary(CREATE)(b"", metadata=stage.metadata(*forged))
    [seen] = stage.lifecycle.calls
    assert seen.metadata["arenero-tenant"] == "default"
    assert str(seen.metadata["arenero-actor"]).startswith("key:key_")
    assert seen.metadata["arenero-actor"] != "key:forged"
    assert "authorization" not in seen.metadata


async def test_trace_goes_on(stage: Stage) -> None:
    stage.execd.scripts["Start"] = echo
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    await stage.unary(START)(b"", metadata=stage.metadata(("traceparent", f"00-{trace_id}-b7ad6b7169203331-01")))
    assert trace_id in str(stage.execd.calls[0].metadata["traceparent"])


# --- how it ends ------------------------------------------------------------------------------------------------------


async def test_status_of_the_other_side_comes_back_as_it_is(stage: Stage) -> None:
    refusal = FailedPrecondition("not now", reason="BUSY", fix="wait", metadata={"a": "b"})
    code, text, trailers = to_trailers(refusal)
    script = refusing(code, text, (*trailers, ("x-more", "1")))
    stage.execd.scripts.update(Start=script, Run=script, Interact=script)
    calls = [stage.unary(START)(b"", metadata=stage.metadata()), stage.answers(RUN)(b"", metadata=stage.metadata())]
    both = stage.both(INTERACT)(metadata=stage.metadata())
    await both.done_writing()
    for call in (*calls, both):
        error = await failure(call)
        assert (error.code(), error.details()) == (grpc.StatusCode.FAILED_PRECONDITION, "not now")
        assert dict(error.trailing_metadata() or ())[DETAILS_KEY] == trailers[0][1]
        assert dict(error.trailing_metadata() or ())["x-more"] == "1"


async def test_failure_after_output_comes_after_the_output(stage: Stage) -> None:
    async def fail_late(context: Any) -> None:
        await context.write(b"one")
        await context.abort(grpc.StatusCode.DATA_LOSS, "lost", ((DETAILS_KEY, b""),))

    stage.execd.scripts["Run"] = fail_late
    call = stage.answers(RUN)(b"", metadata=stage.metadata())
    assert await call.read() == b"one"
    assert (await failure(call)).code() is grpc.StatusCode.DATA_LOSS


@pytest.mark.parametrize("method", [START, RUN, INTERACT])
async def test_client_that_cancels_cancels_the_other_side(stage: Stage, method: str) -> None:
    stage.execd.scripts.update(Start=hang, Run=hang, Interact=hang)
    call = begin(stage, method)
    [seen] = await stage.execd.wait_calls(1)
    call.cancel()
    await asyncio.wait_for(seen.ended.wait(), 5)
    assert seen.cancelled


@pytest.mark.parametrize("method", [START, RUN, INTERACT])
async def test_deadline_is_passed_on_and_ends_the_other_side(stage: Stage, method: str) -> None:
    stage.execd.scripts.update(Start=hang, Run=hang, Interact=hang)
    call = begin(stage, method, timeout_s=0.5)
    [seen] = await stage.execd.wait_calls(1)
    assert seen.time_remaining_s is not None
    assert 0 < seen.time_remaining_s <= 0.5
    assert (await failure(call)).code() is grpc.StatusCode.DEADLINE_EXCEEDED
    await asyncio.wait_for(seen.ended.wait(), 5)


@pytest.mark.parametrize("method", [START, RUN, INTERACT])
async def test_other_side_that_cancels_is_no_success_and_no_hang(stage: Stage, method: str) -> None:
    script = refusing(grpc.StatusCode.CANCELLED, "gave up")
    stage.execd.scripts.update(Start=script, Run=script, Interact=script)
    error = await asyncio.wait_for(failure(begin(stage, method)), 5)
    assert detail_of(error).outcome == error_pb2.OUTCOME_UNKNOWN


@pytest.mark.parametrize("method", [START, RUN, INTERACT])
async def test_connection_that_breaks_leaves_the_outcome_unknown(stage: Stage, method: str) -> None:
    stage.execd.scripts.update(Start=hang, Run=hang, Interact=hang)
    call = begin(stage, method)
    await stage.execd.wait_calls(1)
    stage.cable.cut()
    error = await asyncio.wait_for(failure(call), 5)
    assert error.code() is grpc.StatusCode.UNKNOWN
    assert detail_of(error).outcome == error_pb2.OUTCOME_UNKNOWN


async def test_sandbox_that_can_not_be_reached_was_not_sent_to(stage: Stage) -> None:
    stage.boots["default", stage.sandbox_id].address = "unix:/nowhere/execd.sock"
    error = await failure(begin(stage, RUN))
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert detail_of(error).outcome == error_pb2.OUTCOME_NOT_SENT


async def test_message_that_is_too_large_is_refused_with_a_reason(stage: Stage) -> None:
    stage.execd.scripts["Run"] = saying(bytes(17 * 1024 * 1024))
    error = await failure(stage.answers(RUN)(b"", metadata=stage.metadata()))
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_method_that_execd_does_not_know_is_unimplemented(stage: Stage) -> None:
    error = await failure(begin(stage, START))
    assert error.code() is grpc.StatusCode.UNIMPLEMENTED
    assert detail_of(error).outcome == error_pb2.OUTCOME_REFUSED


# --- a token that is void ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [START, RUN])
async def test_refused_token_is_replaced_and_the_call_begun_again(stage: Stage, method: str) -> None:
    async def check(context: Any) -> None:
        if dict(context.invocation_metadata())["authorization"] != "Bearer new":
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "old")
        await echo(context)

    stage.execd.scripts.update(Start=check, Run=check)
    stage.boots["default", stage.sandbox_id].token = "new"
    stage.execd.scripts["Hello"] = echo
    assert await stage.unary("/arenero.api.execd.v1.ExecService/Hello")(b"", metadata=stage.metadata()) == b""
    stage.boots["default", stage.sandbox_id].token = "old"
    # The gateway remembers "new" still; let it learn "old" and be refused with it.
    stage.execd.scripts["Hello"] = refusing(grpc.StatusCode.UNAUTHENTICATED, "x")
    error = await failure(stage.unary("/arenero.api.execd.v1.ExecService/Hello")(b"", metadata=stage.metadata()))
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    stage.boots["default", stage.sandbox_id].token = "new"
    call = begin(stage, method)
    assert (await call if method == START else (await collected(call))[0]) == b"begin"


async def test_refused_token_is_not_the_clients_fault(stage: Stage) -> None:
    stage.execd.scripts.update(
        Start=refusing(grpc.StatusCode.UNAUTHENTICATED, "no"), Interact=refusing(grpc.StatusCode.UNAUTHENTICATED, "no")
    )
    for method in (START, INTERACT):
        error = await failure(begin(stage, method))
        assert error.code() is grpc.StatusCode.UNAVAILABLE
        assert detail_of(error).outcome == error_pb2.OUTCOME_NOT_SENT


def begin(stage: Stage, method: str, *, timeout_s: float | None = None) -> Any:
    """Begin a call of the method's kind with one request."""
    metadata = stage.metadata()
    if method == START:
        return stage.unary(method)(b"begin", metadata=metadata, timeout=timeout_s)
    if method == RUN:
        return stage.answers(method)(b"begin", metadata=metadata, timeout=timeout_s)

    async def requests() -> Any:
        yield b"begin"

    return stage.both(method)(requests(), metadata=metadata, timeout=timeout_s)
