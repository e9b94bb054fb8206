"""Errors over gRPC: the only table from error class to status code, both ways.

The code is for generic clients; what ours need travels as an `ErrorDetail` inside a `google.rpc.Status` in the trailer
`grpc-status-details-bin`, so any client library can read it. A status without our detail comes from gRPC itself or from
another server; then the code decides, and a broken connection is never taken for "not sent" unless it surely was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status

from arenero.api.common.v1 import error_pb2
from arenero.errors import (
    AlreadyExists,
    ArenError,
    Conflict,
    DeadlineExceeded,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    NotFound,
    OutcomeUnknown,
    PermissionDenied,
    ResourceExhausted,
    Unauthenticated,
    Unavailable,
    Unsupported,
)

DETAILS_KEY: Final = "grpc-status-details-bin"
_MAX_MESSAGE_CHARS: Final = 2048
_MAX_VALUE_CHARS: Final = 512
_MAX_METADATA: Final = 16
"""Trailers are headers: HTTP/2 peers refuse them beyond some kilobytes, and the whole error would be lost."""

CODES: Final[Mapping[type[ArenError], grpc.StatusCode]] = {
    InvalidArgument: grpc.StatusCode.INVALID_ARGUMENT,
    NotFound: grpc.StatusCode.NOT_FOUND,
    AlreadyExists: grpc.StatusCode.ALREADY_EXISTS,
    Conflict: grpc.StatusCode.ABORTED,
    FailedPrecondition: grpc.StatusCode.FAILED_PRECONDITION,
    PermissionDenied: grpc.StatusCode.PERMISSION_DENIED,
    Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
    ResourceExhausted: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Unavailable: grpc.StatusCode.UNAVAILABLE,
    Unsupported: grpc.StatusCode.UNIMPLEMENTED,
    DeadlineExceeded: grpc.StatusCode.DEADLINE_EXCEEDED,
    OutcomeUnknown: grpc.StatusCode.UNKNOWN,
    Internal: grpc.StatusCode.INTERNAL,
}
_CLASSES: Final[Mapping[grpc.StatusCode, type[ArenError]]] = {
    **{code: kind for kind, code in CODES.items()},
    grpc.StatusCode.OUT_OF_RANGE: InvalidArgument,
    grpc.StatusCode.DATA_LOSS: Internal,
    grpc.StatusCode.CANCELLED: OutcomeUnknown,
}
_OUTCOMES: Final[Mapping[type[ArenError], error_pb2.Outcome]] = {
    Unavailable: error_pb2.OUTCOME_NOT_SENT,
    DeadlineExceeded: error_pb2.OUTCOME_UNKNOWN,
    OutcomeUnknown: error_pb2.OUTCOME_UNKNOWN,
    Internal: error_pb2.OUTCOME_UNKNOWN,
}
_NEVER_SENT: Final = (
    "failed to connect to all addresses",
    "connections to all backends failing",
    "dns resolution failed",
    "name resolution failure",
    "channel is in state transient_failure",
)
"""How gRPC words an UNAVAILABLE of a call that never left: matched in lower case."""


def class_of(error: ArenError) -> type[ArenError]:
    """Return the class of the table that an error belongs to: its own, or the nearest of its parents."""
    return next((kind for kind in type(error).__mro__ if kind in CODES), Internal)


def code_of(error: ArenError) -> grpc.StatusCode:
    """Return the status code of an error."""
    return CODES[class_of(error)]


def to_trailers(error: ArenError) -> tuple[grpc.StatusCode, str, tuple[tuple[str, bytes], ...]]:
    """Return what a server sends for an error: code, message, trailing metadata."""
    code, message = code_of(error), str(error)[:_MAX_MESSAGE_CHARS]
    status = Status(code=code.value[0], message=message, details=[_packed(to_detail(error))])
    return code, message, ((DETAILS_KEY, status.SerializeToString()),)


def to_detail(error: ArenError) -> error_pb2.ErrorDetail:
    """Return the detail of an error, cut to what a trailer can hold."""
    detail = error_pb2.ErrorDetail(
        reason=error.reason,
        field=error.field[:_MAX_VALUE_CHARS],
        fix=error.fix[:_MAX_VALUE_CHARS],
        outcome=_OUTCOMES.get(class_of(error), error_pb2.OUTCOME_REFUSED),
    )
    if error.retry_after_s is not None:
        detail.retry_after.CopyFrom(_duration(error.retry_after_s))
    for name, value in list(error.metadata.items())[:_MAX_METADATA]:
        detail.metadata[name] = value[:_MAX_VALUE_CHARS]
    return detail


def from_status(
    code: grpc.StatusCode, message: str, trailers: Iterable[tuple[str, str | bytes]] | None = None
) -> ArenError:
    """Return the error that a status stands for: the one that the server raised if it says so."""
    detail = _find_detail(trailers or ())
    if detail is None:
        return _from_code(code, message)
    kind = _CLASSES.get(code, Internal)
    return kind(
        message.removeprefix(f"{detail.field}: ") if detail.field else message,
        reason=detail.reason or None,
        field=detail.field,
        fix=detail.fix,
        retry_after_s=detail.retry_after.ToTimedelta().total_seconds() if detail.HasField("retry_after") else None,
        metadata=dict(detail.metadata),
    )


def from_rpc_error(error: grpc.RpcError) -> ArenError:
    """Return the error that a failed call stands for. The message names no address and no stack of the peer."""
    if isinstance(error, grpc.aio.AioRpcError):
        return from_status(error.code(), error.details() or "", _pairs(error.trailing_metadata()))
    if isinstance(error, grpc.Call):
        return from_status(error.code(), error.details() or "", _pairs(error.trailing_metadata()))
    return OutcomeUnknown(f"the call failed: {error}", reason="CONNECTION_LOST")


def _from_code(code: grpc.StatusCode, message: str) -> ArenError:
    kind = _CLASSES.get(code, OutcomeUnknown)
    if code is grpc.StatusCode.UNAVAILABLE:
        if any(words in message.lower() for words in _NEVER_SENT):
            return Unavailable("the service can't be reached", reason="NOT_SENT")
        return OutcomeUnknown("the connection broke during the call", reason="CONNECTION_LOST")
    if code is grpc.StatusCode.CANCELLED:
        return OutcomeUnknown("the call was cancelled by the other side", reason="CANCELLED")
    return kind(message or code.name.lower(), reason=code.name)


def _find_detail(trailers: Iterable[tuple[str, str | bytes]]) -> error_pb2.ErrorDetail | None:
    raw = next((value for key, value in trailers if key == DETAILS_KEY), None)
    if not isinstance(raw, bytes):
        return None
    detail = error_pb2.ErrorDetail()
    try:
        for packed in Status.FromString(raw).details:
            if packed.Unpack(detail):
                return detail
    except DecodeError:
        return None
    return None


def _pairs(metadata: object) -> Iterable[tuple[str, str | bytes]]:
    """Return metadata as pairs: grpc.aio and grpc give different kinds of sequence, or None."""
    return [(str(key), value) for key, value in metadata] if isinstance(metadata, Iterable) else []


def _packed(detail: error_pb2.ErrorDetail) -> AnyMessage:
    packed = AnyMessage()
    packed.Pack(detail)
    return packed


def _duration(seconds: float) -> Duration:
    duration = Duration()
    duration.FromNanoseconds(int(seconds * 1e9))
    return duration
