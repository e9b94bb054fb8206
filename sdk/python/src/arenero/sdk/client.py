"""The connection to a platform: control calls as typed messages, events, and the keys.

Most programs need only `Sandbox`, which opens a client by itself. A `Client` of one's own is for several platforms, for
keys, and for listing and following what a whole tenant does.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import betterproto2
import grpc

from arenero.sdk import settings as _settings
from arenero.sdk._channels import Channels, Metadata, metadata, unary
from arenero.sdk._deadline import no_answer
from arenero.sdk._following import follow
from arenero.sdk._plane import DirectEndpoint, Patience, Plane, endpoint_of
from arenero.sdk._specification import check_texts, duration_of
from arenero.sdk._tracing import trace_metadata
from arenero.sdk._types.arenero.api.common.v1 import PageRequest
from arenero.sdk._types.arenero.api.lifecycle import v1 as lifecycle_v1
from arenero.sdk._types.arenero.api.lifecycle.v1 import Runtime, SandboxFilter, SandboxState, Template
from arenero.sdk._types.arenero.api.lifecycle.v1 import Sandbox as SandboxRecord
from arenero.sdk.errors import AreneroError, DeadlineExceeded, OutcomeUnknown, ResourceExhausted, Unavailable, typed
from arenero.sdk.settings import Settings

if TYPE_CHECKING:
    # Loaded where they are used: most programs follow no events and make no keys.
    from arenero.sdk._types.arenero.api.gateway import v1 as gateway_v1
    from arenero.sdk.traces import Trace
    from arenero.sdk.types import Event, EventFilter, Key, KeyKind, KeyScope

Answer = TypeVar("Answer", bound=betterproto2.Message)

SANDBOX_SERVICE: Final = "/arenero.api.lifecycle.v1.SandboxService/"
EVENT_SERVICE: Final = "/arenero.api.events.v1.EventService/"
TRACE_SERVICE: Final = "/arenero.api.gateway.v1.TraceService/"
KEY_SERVICE: Final = "/arenero.api.gateway.v1.KeyService/"
_PAGE_SIZE: Final = 100
"""Reading a record takes a fifth of a millisecond, in which nothing else happens on the event loop."""

_REMOVAL_S: Final = 60.0
"""Ending a sandbox may take so long: its processes get time to end by themselves."""
_FOLLOW_SILENCE_S: Final = 60.0
"""The platform sends a sign of life every 15 s."""


class Client:
    """One connection, for any number of sandboxes. Close it, or use it as `async with`."""

    def __init__(
        self, *, address: str | None = None, api_key: str | None = None, settings: Settings | None = None
    ) -> None:
        """Take the address and the key from the arguments, the environment, or the platform running here.

        Raises:
            Unavailable: No platform is known.
            Unauthenticated: No key is known.
        """
        self.settings = settings or _settings.load(address, api_key)
        self._gateway = Channels(self.settings.address)
        self._metadata: Metadata = metadata([("authorization", f"Bearer {self.settings.api_key}")])
        self._users = 0
        self._has_answered = False

    @classmethod
    def shared(cls) -> Client:
        """Return the client of this event loop that sandboxes share when they are given none."""
        loop = asyncio.get_running_loop()
        client = _shared.get(loop)
        if client is None:
            client = _shared[loop] = cls()
        client._users += 1
        return client

    async def release(self) -> None:
        """Give back what `shared` returned; the last one closes it."""
        self._users -= 1
        if self._users <= 0:
            loop = asyncio.get_running_loop()
            if _shared.get(loop) is self:
                del _shared[loop]
            await self.close()

    async def close(self) -> None:
        """Close the connection. Sandboxes run on."""
        await self._gateway.close()

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        await self.close()

    async def call(
        self,
        path: str,
        request: betterproto2.Message,
        answer: type[Answer],
        *,
        timeout_s: float | None = None,
        extra: Mapping[str, str] | None = None,
        repeatable: bool = False,
    ) -> Answer:
        """Make a unary call with typed messages.

        Args:
            path: `/package.Service/Method`.
            request: What is asked.
            answer: Class of the answer.
            timeout_s: Deadline in seconds; None: `Settings.answer_s`.
            extra: Further metadata, for example `traceparent`.
            repeatable: Asking twice does no more than asking once, so a connection that broke, or a gateway that is
                starting again, is no reason to give up.

        Raises:
            DeadlineExceeded: No answer came in time; reason NO_ANSWER.
            OutcomeUnknown: The connection broke, at the last try or at one before it.
        """
        channel = self._gateway.short()
        method = self._gateway.method(
            channel,
            path,
            lambda: channel.unary_unary(path, request_serializer=bytes, response_deserializer=answer.parse),
        )
        call_metadata = (*self._metadata, *dict([*trace_metadata(), *(extra or {}).items()]).items())
        patience = Patience(self.settings.reconnect_s)
        timeout_s = self.settings.answer_s if timeout_s is None else timeout_s
        may_be_done = False
        while True:
            try:
                result: Answer = await unary(method, request, metadata=call_metadata, timeout=timeout_s)
            except DeadlineExceeded as error:
                raise (no_answer(timeout_s) if error.reason == "DEADLINE_EXCEEDED" else error) from None
            except (Unavailable, OutcomeUnknown) as error:
                may_be_done = may_be_done or isinstance(error, OutcomeUnknown)
                is_known = self._has_answered or may_be_done
                if not repeatable or not await _is_worth_another(error, patience, is_known=is_known):
                    raise _in_sum(error, may_be_done=may_be_done) from None
            except AreneroError as error:
                self._has_answered = True
                raise _in_sum(error, may_be_done=may_be_done) from None
            else:
                self._has_answered = True
                return result

    async def _repeat(self, path: str, request: betterproto2.Message, answer: type[Answer]) -> Answer:
        return await self.call(path, request, answer, repeatable=True)

    async def stream(
        self, path: str, request: betterproto2.Message, answer: type[Answer], *, silence_s: float | None = None
    ) -> AsyncIterator[Answer]:
        """Make a server-streaming call with typed messages.

        Args:
            path: `/package.Service/Method`.
            request: What is asked.
            answer: Class of the messages.
            silence_s: How long to wait for each; None: as long as the connection holds.

        Raises:
            DeadlineExceeded: Nothing came for so long; reason NO_ANSWER.
        """
        channel = self._gateway.stream()
        method = self._gateway.method(
            channel,
            path,
            lambda: channel.unary_stream(path, request_serializer=bytes, response_deserializer=answer.parse),
        )
        call = method(request, metadata=(*self._metadata, *trace_metadata()))
        try:
            while (message := await _read(call, silence_s)) is not None:
                yield message
        finally:
            call.cancel()

    def plane(self, sandbox_id: str) -> Plane:
        """Return the way to a sandbox's execd."""

        async def find_endpoint() -> DirectEndpoint:
            answer = await self.call(
                SANDBOX_SERVICE + "GetEndpoint",
                lifecycle_v1.GetEndpointRequest(sandbox_id=sandbox_id),
                lifecycle_v1.GetEndpointResponse,
            )
            return endpoint_from(answer.endpoint)

        return Plane(sandbox_id, self._gateway, self._metadata, find_endpoint, self.settings)

    async def get(self, sandbox_id: str) -> SandboxRecord:
        """Return a sandbox's record."""
        request = lifecycle_v1.GetRequest(sandbox_id=sandbox_id)
        return _present((await self._repeat(SANDBOX_SERVICE + "Get", request, lifecycle_v1.GetResponse)).sandbox)

    async def sandboxes(
        self,
        *,
        states: tuple[SandboxState, ...] = (),
        metadata: Mapping[str, str] | None = None,
        name: str = "",
        include_ended: bool = False,
    ) -> AsyncIterator[SandboxRecord]:
        """Stream records, newest first; by default of those that have not ended."""
        wanted = SandboxFilter(states=[*states], metadata=dict(metadata or {}), name=name, include_ended=include_ended)
        token = ""
        while True:
            page = PageRequest(page_size=_PAGE_SIZE, page_token=token)
            request = lifecycle_v1.ListRequest(filter=wanted, page=page)
            answer = await self._repeat(SANDBOX_SERVICE + "List", request, lifecycle_v1.ListResponse)
            for record in answer.sandboxes:
                yield record
            token = answer.page.next_page_token if answer.page else ""
            if not token:
                return

    async def delete(self, sandbox_id: str, *, wait: bool = True) -> SandboxRecord:
        """Delete a sandbox; one that has ended is no error."""
        request = lifecycle_v1.DeleteRequest(sandbox_id=sandbox_id, no_wait=not wait)
        answer = await self.call(
            SANDBOX_SERVICE + "Delete",
            request,
            lifecycle_v1.DeleteResponse,
            timeout_s=_REMOVAL_S + self.settings.answer_s,
            repeatable=True,
        )
        return _present(answer.sandbox)

    async def runtimes(self) -> list[Runtime]:
        """Return the runtimes, with what was tried of each on the platform's host."""
        request = lifecycle_v1.ListRuntimesRequest()
        answer = await self.call(
            SANDBOX_SERVICE + "ListRuntimes", request, lifecycle_v1.ListRuntimesResponse, repeatable=True
        )
        return answer.runtimes

    async def templates(self) -> list[Template]:
        """Return the templates that sandboxes can be created from."""
        request = lifecycle_v1.ListTemplatesRequest()
        answer = await self.call(
            SANDBOX_SERVICE + "ListTemplates", request, lifecycle_v1.ListTemplatesResponse, repeatable=True
        )
        return answer.templates

    async def replay(
        self,
        wanted: EventFilter | None = None,
        *,
        from_time: datetime | None = None,
        from_sequence: int | None = None,
        limit: int = 0,
    ) -> AsyncIterator[Event]:
        """Stream past events, from the beginning unless told otherwise, and end with the newest."""
        from arenero.sdk._types.arenero.api.events import v1 as events_v1

        request = events_v1.ReplayRequest(filter=wanted, sequence=from_sequence, time=from_time, limit=limit)
        answers = self.stream(
            EVENT_SERVICE + "Replay", request, events_v1.ReplayResponse, silence_s=self.settings.answer_s
        )
        async for answer in answers:
            if answer.event is not None:
                yield answer.event

    def follow(
        self,
        wanted: EventFilter | None = None,
        *,
        from_beginning: bool = False,
        from_time: datetime | None = None,
        from_sequence: int | None = None,
    ) -> AsyncIterator[Event]:
        """Stream events as they happen, until the caller leaves.

        A broken connection is resumed after the last event seen, for as long as it takes. Activity, which may be
        coalesced anyway, can be missed while it is broken.

        Raises:
            Unavailable: The platform can't be reached to begin with.
        """
        from arenero.sdk._types.arenero.api.events import v1 as events_v1

        request = events_v1.FollowRequest(
            filter=wanted, sequence=from_sequence, time=from_time, from_beginning=True if from_beginning else None
        )

        def open_stream(asked: events_v1.FollowRequest) -> AsyncIterator[events_v1.FollowResponse]:
            return self.stream(EVENT_SERVICE + "Follow", asked, events_v1.FollowResponse, silence_s=_FOLLOW_SILENCE_S)

        return follow(open_stream, request)

    async def trace(self, trace_id: str = "", *, sandbox_id: str = "", root_name: str = "") -> Trace:
        """Return what one request caused in all services: by the trace's id, or the newest one about a sandbox.

        Args:
            trace_id: 32 hexadecimal digits.
            sandbox_id: Instead of it, the sandbox that the trace is about.
            root_name: With a sandbox: only traces that began with this span.

        Raises:
            NotFound: It isn't kept (any more).
            Unsupported: This platform sends its traces elsewhere.
        """
        from arenero.sdk._types.arenero.api.gateway import v1 as gateway_v1

        request = gateway_v1.GetTraceRequest(
            trace_id=trace_id or None, sandbox_id=None if trace_id else sandbox_id, root_name=root_name
        )
        answer = await self._repeat(TRACE_SERVICE + "GetTrace", request, gateway_v1.GetTraceResponse)
        return _present(answer.trace)

    async def who_am_i(self) -> Key:
        """Return the record of the key in use."""
        from arenero.sdk._types.arenero.api.gateway import v1 as gateway_v1

        answer = await self.call(
            KEY_SERVICE + "WhoAmI", gateway_v1.WhoAmIRequest(), gateway_v1.WhoAmIResponse, repeatable=True
        )
        return _present(answer.key)

    async def create_key(
        self,
        name: str = "",
        *,
        tenant: str = "",
        kind: KeyKind | None = None,
        scopes: tuple[KeyScope, ...] = (),
        ttl_s: float | None = None,
    ) -> gateway_v1.CreateResponse:
        """Make a key, for the API unless told otherwise. Its secret is in the answer and nowhere else."""
        from arenero.sdk._types.arenero.api.gateway import v1 as gateway_v1

        ttl = duration_of(ttl_s, "ttl") if ttl_s is not None else None
        request = gateway_v1.CreateRequest(
            tenant=tenant, name=name, kind=kind or gateway_v1.KeyKind.API, scopes=[*scopes], ttl=ttl
        )
        check_texts(request)
        return await self.call(KEY_SERVICE + "Create", request, gateway_v1.CreateResponse)

    async def list_keys(self, *, tenant: str = "", include_ended: bool = False) -> AsyncIterator[Key]:
        """Stream the keys, newest first, without their secrets."""
        from arenero.sdk._types.arenero.api.gateway import v1 as gateway_v1

        token = ""
        while True:
            page = PageRequest(page_size=_PAGE_SIZE, page_token=token)
            request = gateway_v1.ListRequest(tenant=tenant, include_ended=include_ended, page=page)
            answer = await self._repeat(KEY_SERVICE + "List", request, gateway_v1.ListResponse)
            for key in answer.keys:
                yield key
            token = answer.page.next_page_token if answer.page else ""
            if not token:
                return

    async def revoke_key(self, key_id: str) -> Key:
        """End a key at once."""
        from arenero.sdk._types.arenero.api.gateway import v1 as gateway_v1

        request = gateway_v1.RevokeRequest(key_id=key_id)
        return _present((await self._repeat(KEY_SERVICE + "Revoke", request, gateway_v1.RevokeResponse)).key)


def endpoint_from(endpoint: lifecycle_v1.Endpoint | None) -> DirectEndpoint:
    """Turn an answer's endpoint into what a plane needs."""
    found = _present(endpoint)
    return endpoint_of(
        found.address, found.token, found.token_expires_at.timestamp() if found.token_expires_at else None
    )


async def _is_worth_another(error: AreneroError, patience: Patience, *, is_known: bool) -> bool:
    """Whether to ask again, after a wait. Where nobody is known to have ever been there, nobody is waited for."""
    is_over = error.reason == "CLIENT_CLOSED" or (error.reason == "NOT_SENT" and not is_known)
    return not is_over and await patience.is_left(error.retry_after_s or 0)


def _in_sum(error: AreneroError, *, may_be_done: bool) -> AreneroError:
    """Return what the last try's error says of all of them: that nothing was done is no longer known."""
    if not may_be_done or not isinstance(error, Unavailable | ResourceExhausted):
        return error
    return OutcomeUnknown(
        f"an earlier try broke off and may have been done; the last one failed: {error.message}",
        reason="CONNECTION_LOST",
        fix=error.fix,
        metadata=error.metadata,
    )


async def _read(call: Any, silence_s: float | None) -> Any:
    """Return the next message; None at the end of the stream."""
    try:
        with typed():
            async with asyncio.timeout(silence_s):
                message = await call.read()
                return None if message is grpc.aio.EOF else message
    except TimeoutError:
        assert silence_s is not None
        raise no_answer(silence_s) from None


Present = TypeVar("Present")


def _present(value: Present | None) -> Present:
    if value is None:
        raise OutcomeUnknown("the answer lacks its record", reason="MALFORMED_ANSWER")
    return value


_shared: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Client] = weakref.WeakKeyDictionary()
