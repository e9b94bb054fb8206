"""Errors travel over gRPC and come back as what they were."""

import grpc
import pytest

from arenero.api.common.v1 import error_pb2
from arenero.errors import (
    ArenError,
    Conflict,
    DeadlineExceeded,
    Internal,
    InvalidArgument,
    OutcomeUnknown,
    ResourceExhausted,
    Unavailable,
    Unsupported,
)
from arenero.rpc.status import CODES, class_of, code_of, from_status, to_detail, to_trailers


def test_every_class_has_its_own_code() -> None:
    assert set(CODES) == set(ArenError.__subclasses__())
    assert len(set(CODES.values())) == len(CODES)


@pytest.mark.parametrize("kind", list(CODES))
def test_error_survives_the_way_there_and_back(kind: type[ArenError]) -> None:
    error = kind(
        "it went wrong",
        reason="SOME_REASON",
        field="spec.ttl",
        fix="do otherwise",
        retry_after_s=1.5,
        metadata={"sandbox_id": "sbx_1", "limit": "3"},
    )
    code, message, trailers = to_trailers(error)
    back = from_status(code, message, trailers)
    assert type(back) is kind
    assert (back.message, back.reason, back.field, back.fix) == (
        "it went wrong",
        "SOME_REASON",
        "spec.ttl",
        "do otherwise",
    )
    assert back.retry_after_s == 1.5
    assert dict(back.metadata) == {"sandbox_id": "sbx_1", "limit": "3"}


def test_subclass_travels_as_its_parent() -> None:
    class LostRace(Conflict):
        pass

    assert class_of(LostRace("x")) is Conflict
    assert code_of(LostRace("x")) is grpc.StatusCode.ABORTED


def test_detail_says_whether_it_happened() -> None:
    assert to_detail(Unavailable("x")).outcome == error_pb2.OUTCOME_NOT_SENT
    assert to_detail(InvalidArgument("x")).outcome == error_pb2.OUTCOME_REFUSED
    assert to_detail(OutcomeUnknown("x")).outcome == error_pb2.OUTCOME_UNKNOWN


def test_retry_after_is_absent_when_waiting_does_not_help() -> None:
    code, message, trailers = to_trailers(ResourceExhausted("full"))
    assert from_status(code, message, trailers).retry_after_s is None


def test_huge_error_still_fits_into_a_trailer() -> None:
    error = InvalidArgument("m" * 100_000, fix="f" * 100_000, metadata={f"k{n}": "v" * 10_000 for n in range(500)})
    _, message, trailers = to_trailers(error)
    assert len(message) + sum(len(value) for _, value in trailers) < 16_384


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        (grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses; last error: …", Unavailable),
        (grpc.StatusCode.UNAVAILABLE, "DNS resolution failed for x", Unavailable),
        (grpc.StatusCode.UNAVAILABLE, "Socket closed", OutcomeUnknown),
        (grpc.StatusCode.UNAVAILABLE, "recvmsg:Connection reset by peer", OutcomeUnknown),
        (grpc.StatusCode.UNAVAILABLE, "", OutcomeUnknown),
        (grpc.StatusCode.CANCELLED, "CANCELLED", OutcomeUnknown),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded", DeadlineExceeded),
        (grpc.StatusCode.UNIMPLEMENTED, "Method not found!", Unsupported),
        (grpc.StatusCode.DATA_LOSS, "", Internal),
    ],
)
def test_plain_status_is_judged_with_care(code: grpc.StatusCode, message: str, kind: type[ArenError]) -> None:
    assert type(from_status(code, message, ())) is kind


@pytest.mark.parametrize("raw", [b"\xff\xff\xff", b"", "text"])
def test_garbage_in_the_trailer_is_ignored(raw: bytes | str) -> None:
    back = from_status(grpc.StatusCode.NOT_FOUND, "gone", [("grpc-status-details-bin", raw)])
    assert (type(back).__name__, back.message) == ("NotFound", "gone")
