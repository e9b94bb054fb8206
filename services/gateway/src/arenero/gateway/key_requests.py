"""What may be asked about keys, by whom: checks of requests, and pages of answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final

from arenero.api.gateway.v1 import key_service_pb2
from arenero.errors import InvalidArgument, PermissionDenied
from arenero.gateway.keys import codec
from arenero.gateway.keys.record import KeyRecord, Kind, Scope
from arenero.model.fields import FieldError, check_integer, check_span, check_text
from arenero.model.ids import KeyId, TenantId, parse_key_id, parse_tenant_id

_MAX_NAME_BYTES: Final = 63
_MAX_SCOPES: Final = 8
_MAX_TTL_S: Final = timedelta(days=3652).total_seconds()
_MIN_TTL_S: Final = 1.0
_DEFAULT_PAGE: Final = 100
_MAX_PAGE: Final = 1000


def check_create(request: key_service_pb2.CreateRequest) -> None:
    """Check the form of a request for a key.

    Raises:
        InvalidArgument: A field is wrong.
    """
    if errors := list(_create_errors(request)):
        raise InvalidArgument.from_fields(errors)


def check_may_manage(caller: KeyRecord, tenant: TenantId, kind: Kind) -> None:
    """Check that a caller may make or end such a key: an admin any, others events keys of their own tenant.

    Raises:
        PermissionDenied: It may not.
    """
    if Scope.ADMIN in caller.scopes or (tenant == caller.tenant and kind is Kind.EVENTS):
        return
    raise PermissionDenied(
        "without the admin scope a key can only manage events keys of its own tenant",
        reason="SCOPE_MISSING",
        fix="use a key with the admin scope",
    )


def listed_tenant(caller: KeyRecord, asked: str) -> TenantId | None:
    """Return whose keys a list shows, None for everybody's.

    Raises:
        InvalidArgument: What was asked for is no tenant.
        PermissionDenied: It is another tenant, and the caller is no admin.
    """
    tenant = _tenant(asked) if asked else None
    if Scope.ADMIN in caller.scopes:
        return tenant
    if tenant not in (None, caller.tenant):
        raise PermissionDenied("without the admin scope a key only sees its own tenant", reason="SCOPE_MISSING")
    return caller.tenant


def page_of(keys: Sequence[KeyRecord], size: int, token: str) -> tuple[Sequence[KeyRecord], str]:
    """Return a page of keys and the token of the next; a token is the id of the last key that was seen.

    Raises:
        InvalidArgument: The size is too large, or the token is none.
    """
    if errors := list(check_integer("page.page_size", size, low=0, high=_MAX_PAGE)):
        raise InvalidArgument.from_fields(errors)
    size = size or _DEFAULT_PAGE
    start = 0
    if token:
        start = next((index + 1 for index, key in enumerate(keys) if key.id == token), -1)
        if start < 0:
            raise InvalidArgument("is not a token of this list", reason="BAD_PAGE_TOKEN", field="page.page_token")
    page = keys[start : start + size]
    return page, page[-1].id if start + size < len(keys) else ""


def parse_id(text: str) -> KeyId:
    """Return the key id of a request.

    Raises:
        InvalidArgument: It is none.
    """
    try:
        return parse_key_id(text)
    except ValueError as error:
        raise InvalidArgument(str(error), field="key_id") from None


def _tenant(text: str) -> TenantId:
    try:
        return parse_tenant_id(text)
    except ValueError as error:
        raise InvalidArgument(str(error), field="tenant") from None


def _create_errors(request: key_service_pb2.CreateRequest) -> Iterable[FieldError]:
    if request.tenant:
        try:
            parse_tenant_id(request.tenant)
        except ValueError as error:
            yield FieldError("tenant", str(error))
    yield from check_text("name", request.name, min_bytes=0, max_bytes=_MAX_NAME_BYTES)
    yield from _choice_errors(request)
    if request.HasField("ttl"):
        ttl_s = request.ttl.seconds + request.ttl.nanos / 1e9
        yield from check_span("ttl", ttl_s, low_s=_MIN_TTL_S, high_s=_MAX_TTL_S)


def _choice_errors(request: key_service_pb2.CreateRequest) -> Iterable[FieldError]:
    """Check kind and scopes: a value that a later version knows must not silently mean something else here."""
    try:
        kind = codec.kind_of(request.kind)
    except KeyError:
        yield FieldError("kind", f"{request.kind} is not a kind that is known here")
        return
    if kind is Kind.EVENTS and request.scopes:
        yield FieldError("scopes", "an events key has none: it reads")
    if len(request.scopes) > _MAX_SCOPES:
        yield FieldError("scopes", f"has {len(request.scopes)} entries; at most {_MAX_SCOPES} are allowed")
    for index, value in enumerate(request.scopes):
        try:
            codec.scope_of(value)
        except KeyError:
            yield FieldError(f"scopes[{index}]", f"{value} is not a scope that is known here")
