"""What can go wrong, as classes. The class says what the caller may do next; `reason` is the stable name for programs.

`Unavailable` and `ResourceExhausted` may be tried again after `retry_after_s`: nothing was done. `OutcomeUnknown` may
have been done: look before trying again. All others will fail the same way until the request or the sandbox changes.
"""

from __future__ import annotations

from collections.abc import Mapping

import grpc
from google.rpc import status_pb2

from arenero.api.common.v1 import error_pb2

_DETAILS_KEY = "grpc-status-details-bin"


class AreneroError(Exception):
    """Base of all errors that the platform answers.

    Attributes:
        message: One sentence.
        reason: UPPER_SNAKE name, stable over releases.
        field: Path of the request field at fault; empty when none is.
        fix: What to do about it; may be empty.
        retry_after_s: Seconds to wait before a retry may succeed; None: waiting doesn't help.
        metadata: Further facts.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: str = "",
        field: str = "",
        fix: str = "",
        retry_after_s: float | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.field = field
        self.fix = fix
        self.retry_after_s = retry_after_s
        self.metadata = dict(metadata or {})

    def __str__(self) -> str:
        parts = [f"{self.field}: {self.message}" if self.field else self.message]
        if self.fix:
            parts.append(self.fix)
        return " — ".join(parts)


class InvalidArgument(AreneroError):
    """The request is wrong; `field` says where."""


class NotFound(AreneroError):
    """There is no such thing in this tenant."""


class AlreadyExists(AreneroError):
    """It is there already and differs from what was asked."""


class Conflict(AreneroError):
    """Somebody else changed it in between: read it again and decide again."""


class FailedPrecondition(AreneroError):
    """The state it is in doesn't allow this."""


class PermissionDenied(AreneroError):
    """The key may not do this."""


class Unauthenticated(AreneroError):
    """No key, or one that isn't good (any more)."""


class ResourceExhausted(AreneroError):
    """A limit was reached."""


class Unavailable(AreneroError):
    """Nothing was done; it may work later."""


class Unsupported(AreneroError):
    """This runtime, host or version can't do it."""


class DeadlineExceeded(AreneroError):
    """The call's own deadline passed. What it started may go on."""


class OutcomeUnknown(AreneroError):
    """The connection broke before the outcome was known. It may have been done."""


class Internal(AreneroError):
    """A defect of the platform; its log has the rest."""


class Cancelled(AreneroError):
    """The call was cancelled."""


class StartFailed(AreneroError):
    """A process never ran.

    Attributes:
        kind: For example `NOT_FOUND`, `NOT_EXECUTABLE`, `BAD_CWD`, `PERMISSION`.
        errno_name: For example `ENOENT`; may be empty.
        stage: The step that failed, for example `execve`.
    """

    def __init__(self, message: str, *, kind: str, errno_name: str, stage: str) -> None:
        super().__init__(message, reason=kind)
        self.kind = kind
        self.errno_name = errno_name
        self.stage = stage


class CommandFailed(AreneroError):
    """A command ended otherwise than with exit code 0, and `check=True` was asked for. `result` has all of it."""

    def __init__(self, message: str, result: object) -> None:
        super().__init__(message, reason="COMMAND_FAILED")
        self.result = result


class TakenOver(AreneroError):
    """Another client took the terminal's writing end."""


_BY_CODE: Mapping[grpc.StatusCode, type[AreneroError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidArgument,
    grpc.StatusCode.OUT_OF_RANGE: InvalidArgument,
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.ALREADY_EXISTS: AlreadyExists,
    grpc.StatusCode.ABORTED: Conflict,
    grpc.StatusCode.FAILED_PRECONDITION: FailedPrecondition,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDenied,
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ResourceExhausted,
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.UNIMPLEMENTED: Unsupported,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceeded,
    grpc.StatusCode.CANCELLED: Cancelled,
    grpc.StatusCode.UNKNOWN: OutcomeUnknown,
    grpc.StatusCode.INTERNAL: Internal,
    grpc.StatusCode.DATA_LOSS: Internal,
}


def from_rpc(error: grpc.aio.AioRpcError, *, sent: bool = False) -> AreneroError:
    """Turn a failed call into the class that the server raised.

    Args:
        error: What grpc raised.
        sent: The request may have reached the platform, so a broken connection means that the outcome is unknown.
    """
    detail = _detail_of(error)
    kind = _BY_CODE.get(error.code(), Internal)
    if detail is None:
        if kind is Unavailable and sent:
            kind = OutcomeUnknown
        return kind(error.details() or error.code().name, reason=error.code().name)
    if detail.outcome == error_pb2.OUTCOME_UNKNOWN:
        kind = OutcomeUnknown
    retry_after_s = detail.retry_after.ToTimedelta().total_seconds() if detail.HasField("retry_after") else None
    return kind(
        error.details() or detail.reason,
        reason=detail.reason,
        field=detail.field,
        fix=detail.fix,
        retry_after_s=retry_after_s,
        metadata=detail.metadata,
    )


def _detail_of(error: grpc.aio.AioRpcError) -> error_pb2.ErrorDetail | None:
    for key, value in error.trailing_metadata() or ():
        if key != _DETAILS_KEY:
            continue
        status = status_pb2.Status.FromString(value if isinstance(value, bytes) else value.encode())
        for packed in status.details:
            detail = error_pb2.ErrorDetail()
            if packed.Unpack(detail):
                return detail
    return None
