"""Who may do what on NATS: the one table of permissions, and the server configuration made from it.

Two kinds of user:

- A *service* lives in the account `PLATFORM`, which has JetStream. It may append to the subjects that it writes, use
  the streams that it reads, and hear nothing but its own inboxes.
- A *subscriber* is an events key of one tenant. It lives in an account of its own, which has no JetStream and imports,
  from `PLATFORM`, the tenant's subjects and four requests about consumers that were made for it (`provisioning`). In
  its account the requests begin with `API_PREFIX`, an option of every client: below the usual `$JS.API` the server
  answers requests for information itself, with the news that the account has no JetStream.

Why an account for each key, and not just permissions: a user who may ask JetStream for anything, if only for its own
next message, may name any subject for the answer to go to, and the server does not ask whether that user could publish
there. In one shared account, an answer sent to `sandbox.<tenant>.<id>.<fact>` is stored in the log like any other
message (tried with nats-server 2.15.1). In an account of its own, the worst a subscriber can do is to answer itself.

Passwords are kept as bcrypt hashes. They are random and long, so the lowest cost is enough, and a login stays cheap.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import bcrypt

from arenero.bus.connection import inbox_prefix
from arenero.bus.subjects import Kind, filter_of
from arenero.model.ids import KeyId, TenantId

PLATFORM: Final = "PLATFORM"
PROBE: Final = "probe"
"""A user who may do nothing: that its newest password is accepted proves that a configuration is in force."""
SUBSCRIBED: Final = (Kind.SANDBOX, Kind.ACTIVITY)
"""What a subscriber reads of its tenant."""
API_PREFIX: Final = "JS.arenero.API"
"""What a subscriber's requests to JetStream begin with."""
SUBSCRIBER_INBOX: Final = "_INBOX"
"""Prefix of a subscriber's inboxes: the clients' default, since nobody else is in its account."""
_API: Final = "$JS.API"
_ACK: Final = "$JS.ACK"
_BCRYPT_COST: Final = 4
_MAX_CONNECTIONS: Final = 16
_MAX_SUBSCRIPTIONS: Final = 256
_MAX_PAYLOAD_BYTES: Final = 4096
"""A subscriber sends pull requests and acknowledgements only."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What one service does with the log."""

    owns: tuple[Kind, ...] = ()
    """Streams that it creates, appends to, reads, and purges."""
    writes: tuple[Kind, ...] = ()
    """Streams of others that it appends to."""
    reads: tuple[Kind, ...] = ()
    """Streams of others that it reads and follows."""
    provisions: tuple[Kind, ...] = ()
    """Streams on which it keeps subscribers' consumers."""


GRANTS: Final[Mapping[str, Grant]] = {
    "lifecycle": Grant(owns=(Kind.SANDBOX, Kind.ACTIVITY), reads=(Kind.SNAPSHOT, Kind.POOL, Kind.VAULT)),
    "snapshot": Grant(owns=(Kind.SNAPSHOT,), writes=(Kind.ACTIVITY,), reads=(Kind.SANDBOX,)),
    "warmpool": Grant(owns=(Kind.POOL,), writes=(Kind.ACTIVITY,), reads=(Kind.SANDBOX, Kind.SNAPSHOT)),
    "vault": Grant(owns=(Kind.VAULT,), writes=(Kind.ACTIVITY,), reads=(Kind.SANDBOX,)),
    "gateway": Grant(
        owns=(Kind.KEY,), writes=(Kind.ACTIVITY,), reads=(Kind.SANDBOX, Kind.ACTIVITY), provisions=SUBSCRIBED
    ),
}
"""The services. Only the gateway can read the log of keys."""


@dataclass(frozen=True, slots=True)
class Subscriber:
    """One events key."""

    key_id: KeyId
    """Also its user name."""
    tenant: TenantId
    password_hash: str

    @property
    def account(self) -> str:
        """Name of its account."""
        return f"EVENTS_{self.key_id}"

    @property
    def subjects(self) -> list[str]:
        """What it may subscribe to, beside its inboxes."""
        return [tenant_subjects(kind, self.tenant) for kind in SUBSCRIBED]


def tenant_subjects(kind: Kind, tenant: TenantId) -> str:
    """Return the filter of all facts of one kind and tenant: `sandbox.acme.>`."""
    return filter_of(kind, tenant).removesuffix(".*.*") + ".>"


def consumer_name(key_id: KeyId, kind: Kind) -> str:
    """Return the name of the durable consumer that an events key has on a stream."""
    return f"ev_{key_id}_{kind.value}"


def new_password() -> str:
    """Return a random password of 256 bits."""
    return secrets.token_urlsafe(32)


def hash_password(password: str) -> str:
    """Return the bcrypt hash in the form that nats-server knows."""
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(_BCRYPT_COST, prefix=b"2a")).decode()


def service_permissions(service: str) -> dict[str, list[str]]:
    """Return the subjects that a service may publish and subscribe to."""
    grant = GRANTS[service]
    publish = [f"{kind.value}.>" for kind in (*grant.owns, *grant.writes)]
    for kind in (*grant.owns, *grant.reads):
        publish += _reading(kind.stream)
    for kind in grant.owns:
        publish += [f"{_API}.STREAM.{verb}.{kind.stream}" for verb in ("CREATE", "UPDATE", "PURGE")]
    publish += [f"{_API}.CONSUMER.NAMES.{kind.stream}" for kind in grant.provisions]
    return {"publish": publish, "subscribe": [f"{inbox_prefix(service)}.>"]}


def render(
    services: Mapping[str, str], subscribers: Iterable[Subscriber] = (), *, probe_hash: str = ""
) -> dict[str, object]:
    """Return the accounts as nats-server's configuration has them.

    Args:
        services: Password hash of each service that is to have a user.
        subscribers: All events keys in force.
        probe_hash: Password hash of the user `PROBE`; empty: there is none.
    """
    users = [_user(name, services[name], service_permissions(name)) for name in sorted(services)]
    platform: dict[str, object] = {"jetstream": "enabled", "users": users}
    accounts: dict[str, object] = {PLATFORM: platform}
    exports: list[dict[str, object]] = []
    for subscriber in subscribers:
        exports += _exports(subscriber)
        accounts[subscriber.account] = _subscriber_account(subscriber)
    platform["exports"] = exports
    if probe_hash:
        nothing: dict[str, object] = {"publish": {"deny": ">"}, "subscribe": {"deny": ">"}}
        accounts["PROBE"] = {"users": [_user(PROBE, probe_hash, nothing)]}
    return {"accounts": accounts}


def _reading(stream: str) -> list[str]:
    verbs = ("CREATE", "MSG.NEXT", "INFO", "DELETE")
    return [
        f"{_API}.STREAM.INFO.{stream}",
        f"{_API}.DIRECT.GET.{stream}",
        *(f"{_API}.CONSUMER.{verb}.{stream}.>" for verb in verbs),
        f"{_ACK}.{stream}.>",
    ]


@dataclass(frozen=True, slots=True)
class _Request:
    """One request that a subscriber may make."""

    subject: str
    """As the account with JetStream knows it."""
    own_subject: str
    """As the subscriber's account does."""
    answers: str = "singleton"


def _requests(subscriber: Subscriber) -> list[_Request]:
    found = []
    for kind in SUBSCRIBED:
        consumer = f"{kind.stream}.{consumer_name(subscriber.key_id, kind)}"
        for verb, answers in (("MSG.NEXT", "stream"), ("INFO", "singleton"), ("RESET", "singleton")):
            operation = f"CONSUMER.{verb}.{consumer}"
            found.append(_Request(f"{_API}.{operation}", f"{API_PREFIX}.{operation}", answers))
        found.append(_Request(f"{_ACK}.{consumer}.>", f"{_ACK}.{consumer}.>"))
    return found


def _exports(subscriber: Subscriber) -> list[dict[str, object]]:
    only = {"accounts": [subscriber.account]}
    streams: list[dict[str, object]] = [{"stream": subject, **only} for subject in subscriber.subjects]
    return streams + [
        {"service": request.subject, "response_type": request.answers, **only} for request in _requests(subscriber)
    ]


def _imports(subscriber: Subscriber) -> list[dict[str, object]]:
    streams: list[dict[str, object]] = [{"stream": _from_platform(subject)} for subject in subscriber.subjects]
    return streams + [
        {"service": _from_platform(request.subject), "to": request.own_subject} for request in _requests(subscriber)
    ]


def _from_platform(subject: str) -> dict[str, str]:
    return {"account": PLATFORM, "subject": subject}


def _subscriber_account(subscriber: Subscriber) -> dict[str, object]:
    permissions = {
        "publish": [request.own_subject for request in _requests(subscriber)],
        "subscribe": [*subscriber.subjects, f"{SUBSCRIBER_INBOX}.>"],
    }
    limits = {
        "max_connections": _MAX_CONNECTIONS,
        "max_subscriptions": _MAX_SUBSCRIPTIONS,
        "max_payload": _MAX_PAYLOAD_BYTES,
    }
    return {
        "users": [_user(subscriber.key_id, subscriber.password_hash, permissions)],
        "imports": _imports(subscriber),
        "limits": limits,
    }


def _user(name: str, password_hash: str, permissions: Mapping[str, object]) -> dict[str, object]:
    return {"user": name, "password": password_hash, "permissions": dict(permissions)}
