"""Moves one call: from a client that was let in, to where it belongs, and back.

A relay exists per method and holds nothing of a call. Whatever ends the call on one side ends it on the other: a client
that cancels, or whose deadline passes, cancels the handler, and that cancels the call behind it; the end of the call
behind is the end for the client. A client that has half-closed is half-closed behind, too.

A call with a single request is begun once more when execd refused the gateway's token: then nothing was done, nothing
was answered, and the request is still here. Any other failure is for the client to judge.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import grpc

from arenero.gateway.catalog import Method
from arenero.gateway.proxy.destination import Destination, Leg, named_sandbox
from arenero.gateway.proxy.live import LiveCalls
from arenero.gateway.proxy.metadata import forwarded, returned
from arenero.gateway.proxy.meter import CallMetrics, Meter
from arenero.gateway.proxy.pump import EOF, Read, pump, subtasks, was_cancelled
from arenero.gateway.proxy.verdict import TokenRefused, Verdict, refuses_token, verdict_of
from arenero.gateway.usage import Usage, Used
from arenero.rpc.client import call_metadata
from arenero.rpc.identity import Caller, current_caller

Context = Any
"""A `grpc.aio.ServicerContext`."""
Metadata = Sequence[tuple[str, str | bytes]]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Books:
    """Where calls are written down."""

    metrics: CallMetrics
    live: LiveCalls
    usage: Usage


@dataclass(frozen=True, slots=True)
class _Incoming:
    """One call of a client."""

    context: Context
    caller: Caller
    metadata: Metadata
    meter: Meter


class Relay:
    """Passes on the calls of one method.

    Args:
        method: The method.
        destination: Where its calls go.
        books: Where they are written down.
    """

    def __init__(self, method: Method, destination: Destination, books: Books) -> None:
        self._method = method
        self._destination = destination
        self._books = books

    def handler(self) -> grpc.RpcMethodHandler[Any, Any]:
        """Return the handler for the method's kind. Client streams with one answer look like any other on the wire."""
        if self._method.streams_requests:
            return grpc.stream_stream_rpc_method_handler(self._both_stream)
        if self._method.streams_responses:
            return grpc.unary_stream_rpc_method_handler(self._answers_stream)
        return grpc.unary_unary_rpc_method_handler(self._unary)

    async def _unary(self, request: bytes, context: Context) -> bytes:
        with self._incoming(context) as call:
            call.meter.up(len(request))
            return await self._at_most_twice(lambda: self._pass_unary(call, request))

    async def _answers_stream(self, request: bytes, context: Context) -> None:
        with self._incoming(context) as call:
            call.meter.up(len(request))
            await self._at_most_twice(lambda: self._pass_answers(call, request))

    async def _both_stream(self, requests: object, context: Context) -> None:
        with self._incoming(context) as call:
            await self._pass_both(call)

    async def _pass_unary(self, incoming: _Incoming, request: bytes) -> bytes:
        leg = await self._destination.leg(incoming.caller, incoming.metadata)
        try:
            behind: Any = _untyped(leg.channel).unary_unary(self._method.path)(request, **_options(incoming, leg))
            answer = await _answer_of(behind)
            await _pass_initial_metadata(incoming.context, behind)
            await self._finish(incoming, leg, behind)
            incoming.meter.down(len(answer))
            return answer
        finally:
            leg.close()

    async def _pass_answers(self, incoming: _Incoming, request: bytes) -> None:
        leg = await self._destination.leg(incoming.caller, incoming.metadata)
        behind: Any = _untyped(leg.channel).unary_stream(self._method.path)(request, **_options(incoming, leg))
        try:
            await self._answer(incoming, behind)
            await self._finish(incoming, leg, behind)
        finally:
            behind.cancel()
            leg.close()

    async def _pass_both(self, incoming: _Incoming) -> None:
        leg = await self._destination.leg(incoming.caller, incoming.metadata)
        behind: Any = _untyped(leg.channel).stream_stream(self._method.path)(**_options(incoming, leg))
        try:
            async with subtasks() as group:
                asking = group.create_task(_ask(incoming, behind))
                await self._answer(incoming, behind)
                asking.cancel()
            await self._finish(incoming, leg, behind)
        finally:
            behind.cancel()
            leg.close()

    async def _answer(self, incoming: _Incoming, behind: Any) -> None:
        """Pass on what comes from behind until it ends; how it ended is not looked at here."""
        read = _reading(behind)
        message = await read()
        if message is not EOF:
            await _pass_initial_metadata(incoming.context, behind)
        await pump(message, read, incoming.context.write, incoming.meter.down)

    async def _finish(self, incoming: _Incoming, leg: Leg, behind: Any) -> None:
        """Tell the client how the call behind has ended: return if it succeeded, raise if not."""
        verdict = await verdict_of(behind)
        incoming.meter.code = verdict.code.name
        if verdict.is_ok:
            if verdict.trailers:
                incoming.context.set_trailing_metadata(verdict.trailers)
            return
        self._learn(incoming, leg, verdict)
        await incoming.context.abort(verdict.code, verdict.message, verdict.trailers)

    def _learn(self, incoming: _Incoming, leg: Leg, verdict: Verdict) -> None:
        if leg.way is None:
            return
        is_refused = refuses_token(verdict)
        if verdict.broke or is_refused:
            self._destination.distrust(incoming.caller, leg)
        if is_refused:
            raise TokenRefused("the sandbox was restarted meanwhile; nothing was done", retry_after_s=0.05)

    @contextmanager
    def _incoming(self, context: Context) -> Iterator[_Incoming]:
        """Write the block down as one call."""
        caller, metadata = current_caller(), forwarded(context.invocation_metadata())
        books = self._books
        with books.metrics.measured(self._method) as meter, books.live.holding(caller.actor):
            if not self._method.service.is_use(self._method.name):
                yield _Incoming(context, caller, metadata, meter)
                return
            used = Used(caller.tenant, named_sandbox(metadata))
            books.usage.begin(used)
            try:
                yield _Incoming(context, caller, metadata, meter)
            finally:
                books.usage.end(used)

    async def _at_most_twice(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        try:
            return await attempt()
        except TokenRefused:
            return await attempt()


def _untyped(channel: grpc.aio.Channel) -> Any:
    """Return the channel as what it is here: its stubs can't say 'bytes, unread'."""
    return channel


def _options(incoming: _Incoming, leg: Leg) -> dict[str, Any]:
    return {
        "timeout": incoming.context.time_remaining(),
        "metadata": (*leg.metadata, *call_metadata(), *incoming.metadata),
    }


async def _answer_of(behind: Any) -> bytes:
    """Return the answer of a unary call, nothing when it failed; cancelled with this task."""
    try:
        return await behind  # type: ignore[no-any-return]
    except grpc.aio.AioRpcError:
        return b""
    except asyncio.CancelledError:
        if was_cancelled():
            raise
        return b""


def _reading(behind: Any) -> Read:
    """Return a way to read that says `EOF` at whatever end: how the call ended is a question of its own."""

    async def read() -> Any:
        try:
            return await behind.read()
        except grpc.aio.AioRpcError:
            return EOF
        except asyncio.CancelledError:
            if was_cancelled():
                raise
            return EOF

    return read


async def _ask(incoming: _Incoming, behind: Any) -> None:
    """Pass on what the client sends, until it half-closes or the call behind is over."""
    read = incoming.context.read
    try:
        await pump(await read(), read, behind.write, incoming.meter.up)
        await behind.done_writing()
    except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
        return  # It ended without having read all; its status tells why.
    except asyncio.CancelledError:
        if was_cancelled():
            raise


async def _pass_initial_metadata(context: Context, behind: Any) -> None:
    metadata = returned(await behind.initial_metadata())
    if metadata:
        await context.send_initial_metadata(metadata)
