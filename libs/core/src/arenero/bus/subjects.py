"""Subjects: the names under which facts are stored. The only code that builds or takes apart a subject.

A subject is `<kind>.<tenant>.<id>.<fact>`. The *key* of a resource is `<kind>.<tenant>.<id>.>`: all its facts. The kind
also names the stream. Tokens are checked when a subject is built, so a tenant or an id that came from outside can never
widen a filter: no dot, no wildcard, no space gets through.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from arenero.model.ids import SandboxId, TenantId

ANY: Final = "*"
"""Stands for any one token where a filter is built."""
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")


class Kind(Enum):
    """The kinds of subject; the value is the first token."""

    SANDBOX = "sandbox"
    SNAPSHOT = "snapshot"
    POOL = "pool"
    VAULT = "vault"
    KEY = "key"
    ACTIVITY = "activity"
    """Facts about a sandbox that are not its state; the id is the sandbox, the fact is the kind of activity."""

    @property
    def stream(self) -> str:
        """Name of the stream that holds this kind."""
        return self.value.upper()


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject taken apart."""

    kind: Kind
    tenant: TenantId
    id: str
    fact: str

    def __str__(self) -> str:
        return ".".join((self.kind.value, _token(self.tenant), _token(self.id), _token(self.fact)))

    @property
    def key(self) -> str:
        """The filter of all facts of the same resource."""
        return key_of(self.kind, self.tenant, self.id)


def subject_of(kind: Kind, tenant: TenantId, resource_id: str, fact: str) -> str:
    """Return the subject of one fact about one resource.

    Raises:
        ValueError: A part is no token, such as one with a dot or a wildcard.
    """
    return str(Subject(kind, tenant, resource_id, fact))


def key_of(kind: Kind, tenant: TenantId, resource_id: str) -> str:
    """Return the filter of all facts about one resource: `sandbox.acme.sbx_….>`."""
    return f"{kind.value}.{_token(tenant)}.{_token(resource_id)}.>"


def sandbox_subject(tenant: TenantId, sandbox_id: SandboxId, fact: str) -> str:
    """Return `sandbox.<tenant>.<id>.<fact>`."""
    return subject_of(Kind.SANDBOX, tenant, sandbox_id, fact)


def sandbox_key(tenant: TenantId, sandbox_id: SandboxId) -> str:
    """Return `sandbox.<tenant>.<id>.>`."""
    return key_of(Kind.SANDBOX, tenant, sandbox_id)


def activity_subject(tenant: TenantId, sandbox_id: SandboxId, activity: str) -> str:
    """Return `activity.<tenant>.<sandbox>.<activity>`."""
    return subject_of(Kind.ACTIVITY, tenant, sandbox_id, activity)


def filter_of(kind: Kind, tenant: str = ANY, resource_id: str = ANY, fact: str = ANY) -> str:
    """Return a filter; what is left out matches anything.

    Raises:
        ValueError: A part is neither a token nor `ANY`.
    """
    parts = [part if part == ANY else _token(part) for part in (tenant, resource_id, fact)]
    return ".".join((kind.value, *parts))


def parse_subject(subject: str) -> Subject:
    """Take a stored subject apart.

    Raises:
        ValueError: It has not four tokens, or an unknown kind.
    """
    parts = subject.split(".")
    if len(parts) != 4:
        raise ValueError(f"{subject[:200]!r} is not a subject of the form kind.tenant.id.fact")
    kind, tenant, resource_id, fact = parts
    return Subject(Kind(kind), TenantId(_token(tenant)), _token(resource_id), _token(fact))


def tenant_filter(tenant: TenantId, pattern: str) -> str:
    """Put a tenant into a filter that a tenant wrote without it: `sandbox.*.paused` → `sandbox.acme.*.paused`.

    The result never reaches beyond the tenant, whatever the pattern is.

    Raises:
        ValueError: The first token is no kind, or another one is malformed.
    """
    head, _, rest = pattern.partition(".")
    if head not in _KINDS:
        raise ValueError(f"{pattern[:100]!r} must begin with one of {', '.join(sorted(_KINDS))}")
    tokens = rest.split(".") if rest else [">"]
    for position, token in enumerate(tokens):
        is_tail = token == ">" and position == len(tokens) - 1
        if not is_tail and token != ANY and _TOKEN.fullmatch(token) is None:
            raise ValueError(f"{pattern[:100]!r} is not a filter: {token[:64]!r} is no token")
    return ".".join((head, _token(tenant), *tokens))


def matches(subject_filter: str, subject: str) -> bool:
    """Whether a subject is matched by a filter, as NATS defines it."""
    wanted, found = subject_filter.split("."), subject.split(".")
    if wanted[-1] == ">":
        wanted = wanted[:-1]
        if len(found) <= len(wanted):
            return False
        found = found[: len(wanted)]
    return len(wanted) == len(found) and all(w in (ANY, f) for w, f in zip(wanted, found, strict=True))


def check_filter(subject_filter: str) -> None:
    """Check the form of any filter: tokens, `*`, and `>` only at the end; the first token must be a word.

    Raises:
        ValueError: It is malformed.
    """
    tokens = subject_filter.split(".")
    for position, token in enumerate(tokens):
        is_wildcard = position > 0 and (token == ANY or (token == ">" and position == len(tokens) - 1))
        if not is_wildcard and _TOKEN.fullmatch(token) is None:
            raise ValueError(f"{subject_filter[:200]!r} is not a filter")


def check_subject(subject: str) -> None:
    """Check the form of any subject to store under: tokens only, no wildcard.

    Raises:
        ValueError: It is malformed.
    """
    if not all(_TOKEN.fullmatch(token) for token in subject.split(".")):
        raise ValueError(f"{subject[:200]!r} is not a subject")


def _token(text: str) -> str:
    if _TOKEN.fullmatch(text) is None:
        raise ValueError(f"{text[:64]!r} is no subject token; use letters, digits, underscore and hyphen only")
    return text


_KINDS: Final = frozenset(kind.value for kind in Kind)
