"""The errors that cross a boundary of Arenero: a dozen classes, each with one meaning for the caller.

Domain code raises these and never a transport error; `arenero.rpc.status` maps them to gRPC and back, so a client
raises the class that the server raised. What a caller may do next is a property of the class:

- `Unavailable` and `ResourceExhausted` may be tried again after `retry_after_s`; nothing was done.
- `OutcomeUnknown` may have been done: read before trying again.
- everything else will fail again in the same way until the request or the state changes.

`reason` is the machine-readable name (UPPER_SNAKE) that clients may switch on; `message` is for people; `fix` says what
a person can do about it. Nothing secret belongs in any of them: they end in logs, events and answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from arenero.model.fields import FieldError


class ArenError(Exception):
    """An expected failure with a meaning that the caller can act on.

    Args:
        message: One sentence for a person; no secret, no inner error text that a stranger must not see.
        reason: UPPER_SNAKE name for programs; the class's own default when omitted.
        field: Path of the request field at fault, such as `spec.lifetime.ttl_s`; empty when no field is.
        fix: What a person can do about it; may be empty.
        retry_after_s: Seconds to wait before trying again; None when waiting alone does not help.
        metadata: Further facts for programs, such as ids and limits.
    """

    default_reason: ClassVar[str] = "INTERNAL"
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        field: str = "",
        fix: str = "",
        retry_after_s: float | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or self.default_reason
        self.field = field
        self.fix = fix
        self.retry_after_s = retry_after_s
        self.metadata: Mapping[str, str] = MappingProxyType(dict(metadata or {}))

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r}, reason={self.reason!r}, field={self.field!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (
            type(self),
            self.message,
            self.reason,
            self.field,
            self.fix,
            self.retry_after_s,
            dict(self.metadata),
        )


def _rebuild(
    kind: type[ArenError],
    message: str,
    reason: str,
    field: str,
    fix: str,
    retry_after_s: float | None,
    metadata: dict[str, str],
) -> ArenError:
    """Undo `ArenError.__reduce__`: the default protocol would drop the keyword arguments."""
    return kind(message, reason=reason, field=field, fix=fix, retry_after_s=retry_after_s, metadata=metadata)


class InvalidArgument(ArenError):
    """The request is wrong whatever the state is; `field` names the first field at fault."""

    default_reason = "INVALID_ARGUMENT"

    @classmethod
    def from_fields(cls, errors: Sequence[FieldError]) -> InvalidArgument:
        """Build one error out of all the field errors of a request; the first one leads, `metadata` lists the rest."""
        if not errors:
            raise ValueError("no field errors to report")
        first = errors[0]
        return cls(first.message, field=first.field, metadata={e.field: e.message for e in errors[1:]})


class NotFound(ArenError):
    """The resource does not exist, or the caller may not know that it does."""

    default_reason = "NOT_FOUND"


class AlreadyExists(ArenError):
    """A resource of that identity exists and differs from what was asked for."""

    default_reason = "ALREADY_EXISTS"


class Conflict(ArenError):
    """A lost race: the record changed since it was read. Re-read it and decide again."""

    default_reason = "CONFLICT"


class FailedPrecondition(ArenError):
    """The request is fine but not in the resource's present state."""

    default_reason = "FAILED_PRECONDITION"


class PermissionDenied(ArenError):
    """The caller is known and may not do this."""

    default_reason = "PERMISSION_DENIED"


class Unauthenticated(ArenError):
    """The caller is not known: no credential, or a wrong or expired one."""

    default_reason = "UNAUTHENTICATED"


class ResourceExhausted(ArenError):
    """A quota, limit or capacity is used up; nothing was done."""

    default_reason = "RESOURCE_EXHAUSTED"
    retryable = True


class Unavailable(ArenError):
    """The service or something it needs can't be reached now; nothing was done, so trying again is safe."""

    default_reason = "UNAVAILABLE"
    retryable = True


class Unsupported(ArenError):
    """This installation, driver or version can't do it; `reason` says which part is missing."""

    default_reason = "UNSUPPORTED"


class DeadlineExceeded(ArenError):
    """The caller's time ran out before an answer; the work may go on."""

    default_reason = "DEADLINE_EXCEEDED"


class OutcomeUnknown(ArenError):
    """The connection broke after the request was sent: it may have been done or not."""

    default_reason = "OUTCOME_UNKNOWN"


class Internal(ArenError):
    """A defect of ours. The message is generic; the log has the chain."""

    default_reason = "INTERNAL"
