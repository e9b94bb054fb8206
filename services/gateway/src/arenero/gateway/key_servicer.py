"""Keys over gRPC."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from arenero.api.common.v1.page_pb2 import PageResult
from arenero.api.gateway.v1 import key_service_pb2
from arenero.api.gateway.v1.key_service_pb2_grpc import KeyServiceServicer
from arenero.bus import accounts
from arenero.bus.accounts import API_PREFIX, SUBSCRIBED, SUBSCRIBER_INBOX, consumer_name, tenant_subjects
from arenero.errors import ArenError, Unauthenticated
from arenero.gateway import key_requests
from arenero.gateway.keys import codec
from arenero.gateway.keys.keyring import Keyring
from arenero.gateway.keys.ledger import Ledger
from arenero.gateway.keys.record import ACTOR_PREFIX, DEFAULT_SCOPES, KeyRecord, Kind
from arenero.gateway.keys.secrets import digest_of, hint_of, new_secret
from arenero.gateway.subscribers import Subscribers
from arenero.model.ids import KeyId, TenantId, new_key_id
from arenero.model.time import Clock
from arenero.rpc.identity import current_caller

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KeyTools:
    """What the servicer works with."""

    keyring: Keyring
    ledger: Ledger
    subscribers: Subscribers
    clock: Clock
    nats_url: str
    """Where subscribers connect."""


class KeyServicer(KeyServiceServicer):
    """Answers KeyService. Admission has checked the caller's scopes for the method; here, for whom and for what."""

    def __init__(self, tools: KeyTools) -> None:
        self._tools = tools

    async def Create(self, request: key_service_pb2.CreateRequest, context: Any) -> key_service_pb2.CreateResponse:  # noqa: N802
        """Make a key, and tell its secret this once."""
        caller = self._caller()
        key_requests.check_create(request)
        record = self._draft(request, caller)
        key_requests.check_may_manage(caller, record.tenant, record.kind)
        if record.kind is Kind.EVENTS:
            return await self._create_events_key(record, caller)
        secret = new_secret()
        record = replace(record, hint=hint_of(secret), secret_digest=digest_of(secret))
        created = await self._tools.ledger.create(record, actor=caller.actor)
        return key_service_pb2.CreateResponse(key=codec.to_message(created), secret=secret)

    async def List(self, request: key_service_pb2.ListRequest, context: Any) -> key_service_pb2.ListResponse:  # noqa: N802
        """Answer keys, newest first."""
        tenant = key_requests.listed_tenant(self._caller(), request.tenant)
        keys = self._tools.keyring.keys(tenant, include_ended=request.include_ended)
        page, token = key_requests.page_of(keys, request.page.page_size, request.page.page_token)
        result = PageResult(next_page_token=token, total_size=len(keys))
        return key_service_pb2.ListResponse(keys=[codec.to_message(record) for record in page], page=result)

    async def Revoke(self, request: key_service_pb2.RevokeRequest, context: Any) -> key_service_pb2.RevokeResponse:  # noqa: N802
        """End a key. When this answers, its calls have ended and its connections to NATS are closed."""
        caller, key_id = self._caller(), key_requests.parse_id(request.key_id)
        record = self._tools.keyring.find(key_id)
        # To somebody who may not manage it, a key that there is looks like one that there isn't.
        key_requests.check_may_manage(
            caller, record.tenant if record else TenantId(""), record.kind if record else Kind.API
        )
        revoked = await self._tools.ledger.revoke(key_id, actor=caller.actor)
        if revoked.kind is Kind.EVENTS:
            await self._tools.subscribers.settle()
        return key_service_pb2.RevokeResponse(key=codec.to_message(revoked))

    async def WhoAmI(self, request: key_service_pb2.WhoAmIRequest, context: Any) -> key_service_pb2.WhoAmIResponse:  # noqa: N802
        """Answer the caller's key."""
        return key_service_pb2.WhoAmIResponse(key=codec.to_message(self._caller()))

    async def _create_events_key(self, record: KeyRecord, caller: KeyRecord) -> key_service_pb2.CreateResponse:
        """Make an events key; when this returns it can connect. One that can't be put in force is not left behind."""
        self._tools.subscribers.check_possible()
        password = accounts.new_password()
        record = replace(record, hint=record.id, nats_password_hash=accounts.hash_password(password))
        created = await self._tools.ledger.create(record, actor=caller.actor)
        try:
            await self._tools.subscribers.settle()
        except (ArenError, OSError):
            _log.warning("keys.events_key_withdrawn", extra={"key_id": created.id})
            await self._tools.ledger.revoke(created.id, actor="system:gateway")
            raise
        access = self._nats_access(created, password)
        return key_service_pb2.CreateResponse(key=codec.to_message(created), nats=access)

    def _nats_access(self, record: KeyRecord, password: str) -> key_service_pb2.NatsAccess:
        subjects = {kind: tenant_subjects(kind, record.tenant) for kind in SUBSCRIBED}
        consumers = [
            key_service_pb2.NatsConsumer(stream=kind.stream, name=consumer_name(record.id, kind), filter=subjects[kind])
            for kind in SUBSCRIBED
        ]
        return key_service_pb2.NatsAccess(
            url=self._tools.nats_url,
            user=record.id,
            password=password,
            inbox_prefix=SUBSCRIBER_INBOX,
            subjects=list(subjects.values()),
            consumers=consumers,
            api_prefix=API_PREFIX,
        )

    def _draft(self, request: key_service_pb2.CreateRequest, caller: KeyRecord) -> KeyRecord:
        now, kind = self._tools.clock.now(), codec.kind_of(request.kind)
        scopes = frozenset(codec.scope_of(scope) for scope in request.scopes) or DEFAULT_SCOPES
        ttl = timedelta(seconds=request.ttl.seconds, microseconds=request.ttl.nanos // 1000)
        return KeyRecord(
            id=new_key_id(),
            tenant=TenantId(request.tenant or caller.tenant),
            name=request.name,
            kind=kind,
            scopes=frozenset() if kind is Kind.EVENTS else scopes,
            created_at=now,
            expires_at=now + ttl if request.HasField("ttl") else None,
        )

    def _caller(self) -> KeyRecord:
        """Return the key of the call that is being served."""
        key_id = KeyId(current_caller().actor.removeprefix(ACTOR_PREFIX))
        record = self._tools.keyring.find(key_id)
        if record is None:
            raise Unauthenticated("the caller has no key", reason="KEY_UNKNOWN")
        return record
