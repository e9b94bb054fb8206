"""Identifiers: one NewType per kind, with a prefix that says the kind, parsed at the edge.

An id is `<prefix>_` and 20 characters of lower-case base32 (100 bits). It is safe as a NATS subject token, a file name
and a path segment. Ids are never reused. Exec ids are UUIDs because the client chooses them. A tenant is named by
people, so it is a DNS label, short enough that names made from it stay within one.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import uuid
from collections.abc import Iterable
from typing import Final, NewType

from arenero.model.fields import FieldError

SandboxId = NewType("SandboxId", str)
SnapshotId = NewType("SnapshotId", str)
PoolId = NewType("PoolId", str)
VaultId = NewType("VaultId", str)
KeyId = NewType("KeyId", str)
LeaseId = NewType("LeaseId", str)
ClaimId = NewType("ClaimId", str)
EventId = NewType("EventId", str)
ExecId = NewType("ExecId", str)
TenantId = NewType("TenantId", str)

MAX_REQUEST_ID_BYTES: Final = 128
MAX_TENANT_BYTES: Final = 32
_BODY_CHARS: Final = 20
_BODY: Final = re.compile(r"[a-z2-7]{20}")
_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]+")


def _body(raw: bytes) -> str:
    return base64.b32encode(raw).decode("ascii").lower()[:_BODY_CHARS]


def _new(prefix: str) -> str:
    return f"{prefix}_{_body(secrets.token_bytes(13))}"


def _derive(prefix: str, *parts: str) -> str:
    """Return the same id for the same parts. NUL separates them, so no two lists of parts can look alike."""
    if any("\0" in part for part in parts):
        raise ValueError("a part of a derived id must not hold NUL")
    return f"{prefix}_{_body(hashlib.sha256(chr(0).join(parts).encode()).digest())}"


def _parse(prefix: str, kind: str, text: str) -> str:
    head, _, body = text.partition("_")
    if head != prefix or _BODY.fullmatch(body) is None:
        raise ValueError(f"{_shown(text)} is not a {kind} id; those are {prefix}_ and 20 of the characters a-z and 2-7")
    return text


def _shown(text: str) -> str:
    """Quote untrusted text for a message: escaped, and cut so that a huge value does not fill the log."""
    return repr(text if len(text) <= 64 else text[:64] + "…")


def new_sandbox_id() -> SandboxId:
    """Return a random sandbox id."""
    return SandboxId(_new("sbx"))


def sandbox_id_for_request(tenant: TenantId, request_id: str) -> SandboxId:
    """Return the id that a tenant's `request_id` always gives, which is what makes Create idempotent."""
    return SandboxId(_derive("sbx", tenant, request_id))


def new_snapshot_id() -> SnapshotId:
    """Return a random snapshot id."""
    return SnapshotId(_new("snp"))


def new_pool_id() -> PoolId:
    """Return a random pool id."""
    return PoolId(_new("pool"))


def new_vault_id() -> VaultId:
    """Return a random vault id."""
    return VaultId(_new("vlt"))


def new_key_id() -> KeyId:
    """Return a random key id."""
    return KeyId(_new("key"))


def new_lease_id() -> LeaseId:
    """Return a random lease id."""
    return LeaseId(_new("lse"))


def new_claim_id() -> ClaimId:
    """Return a random claim id."""
    return ClaimId(_new("clm"))


def new_event_id() -> EventId:
    """Return a random event id; it is the message id by which the log knows a repeated append."""
    return EventId(_new("evt"))


def event_id_for(*parts: str) -> EventId:
    """Return the id of an event that must be appended once however often its step is repeated."""
    return EventId(_derive("evt", *parts))


def new_exec_id() -> ExecId:
    """Return a random exec id (a UUID)."""
    return ExecId(str(uuid.uuid4()))


def parse_sandbox_id(text: str) -> SandboxId:
    """Check a sandbox id; raises ValueError with a message for the caller."""
    return SandboxId(_parse("sbx", "sandbox", text))


def parse_snapshot_id(text: str) -> SnapshotId:
    """Check a snapshot id; raises ValueError with a message for the caller."""
    return SnapshotId(_parse("snp", "snapshot", text))


def parse_pool_id(text: str) -> PoolId:
    """Check a pool id; raises ValueError with a message for the caller."""
    return PoolId(_parse("pool", "pool", text))


def parse_vault_id(text: str) -> VaultId:
    """Check a vault id; raises ValueError with a message for the caller."""
    return VaultId(_parse("vlt", "vault", text))


def parse_key_id(text: str) -> KeyId:
    """Check a key id; raises ValueError with a message for the caller."""
    return KeyId(_parse("key", "key", text))


def parse_lease_id(text: str) -> LeaseId:
    """Check a lease id; raises ValueError with a message for the caller."""
    return LeaseId(_parse("lse", "lease", text))


def parse_claim_id(text: str) -> ClaimId:
    """Check a claim id; raises ValueError with a message for the caller."""
    return ClaimId(_parse("clm", "claim", text))


def parse_event_id(text: str) -> EventId:
    """Check an event id; raises ValueError with a message for the caller."""
    return EventId(_parse("evt", "event", text))


def parse_exec_id(text: str) -> ExecId:
    """Check an exec id: a UUID in the usual form with hyphens; returned in lower case."""
    lowered = text.lower()
    try:
        if str(uuid.UUID(lowered)) != lowered:
            raise ValueError
    except ValueError:
        raise ValueError(f"{_shown(text)} is not an exec id; it must be a UUID such as {uuid.UUID(int=0)}") from None
    return ExecId(lowered)


def parse_tenant_id(text: str) -> TenantId:
    """Check a tenant: 1 to 32 of a-z, 0-9 and hyphen, with no hyphen at either end."""
    if len(text) > MAX_TENANT_BYTES or not is_label(text):
        raise ValueError(f"{_shown(text)} is not a tenant; use 1 to 32 of a-z, 0-9 and hyphen, no hyphen at the ends")
    return TenantId(text)


def is_label(text: str) -> bool:
    """Whether the text is a lower-case DNS label of 1 to 63 bytes: the rule for names of sandboxes and templates."""
    return _LABEL.fullmatch(text) is not None


def check_name(field: str, value: str) -> Iterable[FieldError]:
    """Check a name given by people: a DNS label, so that it can be a host name and part of a URL."""
    if not value:
        yield FieldError(field, "is empty")
    elif not is_label(value):
        yield FieldError(field, f"is {_shown(value)}; use 1 to 63 of a-z, 0-9 and hyphen, no hyphen at the ends")


def check_request_id(field: str, value: str) -> Iterable[FieldError]:
    """Check a client's idempotency key: 1 to 128 bytes of [A-Za-z0-9._-]. Empty means none, so don't pass that."""
    if len(value) > MAX_REQUEST_ID_BYTES:
        yield FieldError(field, f"has {len(value)} characters; at most {MAX_REQUEST_ID_BYTES} are allowed")
    elif _REQUEST_ID.fullmatch(value) is None:
        yield FieldError(field, f"is {_shown(value)}; use letters, digits, dot, underscore and hyphen only")
