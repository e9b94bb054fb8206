"""What can go wrong, as classes. The class says what the caller may do next; `reason` is the stable name for programs.

`Unavailable` and `ResourceExhausted` may be tried again after `retry_after_s`: nothing was done. `OutcomeUnknown` may
have been done: look before trying again. All others will fail the same way until the request or the sandbox changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import grpc
from google.protobuf.message import DecodeError
from google.rpc import status_pb2

from arenero.api.common.v1 import error_pb2

NO_ANSWER: Final = "NO_ANSWER"
"""The reason of a `DeadlineExceeded` that is the client's own: nothing was heard."""
_DETAILS_KEY: Final = "grpc-status-details-bin"


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


_BY_CODE: Final[Mapping[grpc.StatusCode, type[AreneroError]]] = {
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


_NEVER_SENT: Final = (
    "failed to connect to all addresses",
    "connections to all backends failing",
    "dns resolution failed",
    "name resolution failure",
    "channel is in state transient_failure",
)
"""How grpc words a failure of a call that never left this machine, in lower case."""


def from_rpc(error: grpc.aio.AioRpcError, *, sent: bool = True) -> AreneroError:
    """Turn a failed call into the class that the server raised.

    Args:
        error: What grpc raised.
        sent: The request may have reached the platform, so a broken connection means that the outcome is unknown.
    """
    message = error.details() or error.code().name
    detail = _detail_of(error)
    if detail is None:
        return _without_detail(error.code(), message, sent=sent)
    retry_after_s = detail.retry_after.ToTimedelta().total_seconds() if detail.HasField("retry_after") else None
    kind = _BY_CODE.get(error.code(), Internal)
    if kind is Unavailable and detail.outcome == error_pb2.OUTCOME_UNKNOWN:
        kind = OutcomeUnknown
    return kind(
        # The field is an attribute of its own here; in the status, which any client may show, the message names it.
        message.removeprefix(f"{detail.field}: ") if detail.field else message,
        reason=detail.reason,
        field=detail.field,
        fix=detail.fix,
        retry_after_s=retry_after_s,
        metadata=detail.metadata,
    )


@contextmanager
def typed(*, sent: bool = True) -> Iterator[None]:
    """Raise what grpc raises as the classes of this module.

    Args:
        sent: As in `from_rpc`.
    """
    try:
        yield
    except grpc.aio.AioRpcError as error:
        raise from_rpc(error, sent=sent) from None
    except asyncio.CancelledError:
        # grpc raises it too when somebody closes the channel under a call; only the caller's own may pass for one.
        if (task := asyncio.current_task()) is None or task.cancelling():
            raise
        raise OutcomeUnknown("the connection was closed during the call", reason="CLIENT_CLOSED") from None
    except grpc.aio.UsageError as error:
        raise FailedPrecondition(f"the client was closed: {error}", reason="CLIENT_CLOSED") from None
    except grpc.aio.BaseError as error:
        # What grpc raises of itself when the connection breaks between two steps of a call.
        raise OutcomeUnknown(f"the connection broke during the call: {error}", reason="CONNECTION_LOST") from None


def _without_detail(code: grpc.StatusCode, message: str, *, sent: bool) -> AreneroError:
    """Build the error of a status that grpc itself made, or a server that isn't ours."""
    kind = _BY_CODE.get(code, Internal)
    if kind is Unavailable and any(words in message.lower() for words in _NEVER_SENT):
        return Unavailable(message, reason="NOT_SENT")
    if kind is Unavailable and sent:
        return OutcomeUnknown(message, reason="CONNECTION_LOST")
    if kind is Cancelled:
        # Not by this side, which raises asyncio.CancelledError: a server that stops does so.
        return OutcomeUnknown("the other side cancelled the call", reason="CANCELLED")
    return kind(message, reason=code.name)


def _detail_of(error: grpc.aio.AioRpcError) -> error_pb2.ErrorDetail | None:
    detail = error_pb2.ErrorDetail()
    for key, value in error.trailing_metadata() or ():
        if key != _DETAILS_KEY or not isinstance(value, bytes):
            continue
        try:
            if any(packed.Unpack(detail) for packed in status_pb2.Status.FromString(value).details):
                return detail
        except DecodeError:
            return None
    return None
