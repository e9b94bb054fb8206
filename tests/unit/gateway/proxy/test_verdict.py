from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status

from arenero.api.common.v1 import error_pb2
from arenero.errors import Conflict
from arenero.gateway.proxy.verdict import Verdict, refuses_token, verdict_of
from arenero.rpc.status import DETAILS_KEY, to_trailers


class Ended:
    """A call that has ended, as grpc.aio shows one."""

    def __init__(self, code: grpc.StatusCode, details: str | None = "", trailers: Any = ()) -> None:
        self._end = code, details, trailers

    async def code(self) -> grpc.StatusCode:
        return self._end[0]

    async def details(self) -> str | None:
        return self._end[1]

    async def trailing_metadata(self) -> Any:
        return self._end[2]


def outcome(verdict: Verdict) -> int:
    detail = error_pb2.ErrorDetail()
    assert Status.FromString(dict(verdict.trailers)[DETAILS_KEY]).details[0].Unpack(detail)
    return detail.outcome


async def test_success_has_its_trailers_and_nothing_else() -> None:
    found = await verdict_of(Ended(grpc.StatusCode.OK, None, (("x", "1"),)))
    assert found.is_ok
    assert found.trailers == (("x", "1"),)
    assert not found.broke


async def test_status_with_details_is_the_other_sides_own() -> None:
    code, text, trailers = to_trailers(Conflict("moved on"))
    found = await verdict_of(Ended(code, text, trailers))
    assert (found.code, found.message, found.trailers, found.broke) == (code, text, trailers, False)


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        (grpc.StatusCode.UNAVAILABLE, "Socket closed", error_pb2.OUTCOME_UNKNOWN),
        (grpc.StatusCode.UNAVAILABLE, "recvmsg:Connection reset by peer", error_pb2.OUTCOME_UNKNOWN),
        (grpc.StatusCode.UNAVAILABLE, "", error_pb2.OUTCOME_UNKNOWN),
        (grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses", error_pb2.OUTCOME_NOT_SENT),
        (grpc.StatusCode.CANCELLED, "", error_pb2.OUTCOME_UNKNOWN),
        (grpc.StatusCode.UNKNOWN, "Stream removed", error_pb2.OUTCOME_UNKNOWN),
        (grpc.StatusCode.INTERNAL, "RST_STREAM", error_pb2.OUTCOME_UNKNOWN),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "", error_pb2.OUTCOME_UNKNOWN),
        (grpc.StatusCode.UNIMPLEMENTED, "Method not found!", error_pb2.OUTCOME_REFUSED),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "too large", error_pb2.OUTCOME_REFUSED),
    ],
)
async def test_status_of_grpc_itself_gets_an_outcome(code: grpc.StatusCode, text: str, expected: int) -> None:
    found = await verdict_of(Ended(code, text, (("x", "1"),)))
    assert not found.is_ok
    assert outcome(found) == expected
    assert ("x", "1") in found.trailers
    assert found.broke


async def test_refused_token_is_known_by_its_code() -> None:
    assert refuses_token(await verdict_of(Ended(grpc.StatusCode.UNAUTHENTICATED)))
    assert not refuses_token(await verdict_of(Ended(grpc.StatusCode.PERMISSION_DENIED)))
