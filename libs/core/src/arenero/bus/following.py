"""Following a stream over JetStream: every matching message once, in order, whatever happens to the connection.

A *session* is an ephemeral pull consumer that starts at the sequence after the last one that was handed out. Anything
doubtful ends the session and opens the next one from that sequence: a broken connection, a restarted server, a missed
heartbeat, a gap in the consumer's own numbering. So there is one way to go on, and it is the same as the way to begin.

Pulling bounds the memory: at most `_BATCH` messages are under way, and no more are asked for until half are used.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import datetime
from types import TracebackType
from typing import Final, Self

from arenero.bus import jetstream
from arenero.bus.connection import BusConnection, Inbox
from arenero.bus.log import Entry
from arenero.bus.nats_py import Msg
from arenero.errors import ArenError, OutcomeUnknown, Unavailable
from arenero.model.time import to_rfc3339

_log = logging.getLogger(__name__)
_BATCH: Final = 256
_NS_PER_S: Final = 1_000_000_000
_HEARTBEAT_S: Final = 2.0
_SILENCE_S: Final = 2.5 * _HEARTBEAT_S
_PULL_EXPIRES_S: Final = 60.0
_INACTIVE_S: Final = 30.0
_MAX_BACKOFF_S: Final = 1.0


class SessionOver(Exception):
    """The session can't go on; a new one continues after the last entry."""


class _Session:
    """One ephemeral consumer and the messages that it has sent so far."""

    def __init__(self, connection: BusConnection, next_subject: str, inbox: Inbox, *, waits: bool) -> None:
        self._connection = connection
        self._next_subject = next_subject
        self._inbox = inbox
        self._waits = waits
        self._asked = 0
        self._number = 0

    async def next(self) -> Entry | None:
        """Wait for the next message. A session that does not wait returns None when there is nothing more.

        Raises:
            SessionOver: Open another session.
            ConnectionLost: The same.
        """
        while True:
            if self._asked <= (_BATCH // 2 if self._waits else 0):
                await self._pull()
            message = await self._inbox.next(_SILENCE_S)
            status = jetstream.status_of(message)
            if not status:
                return self._accept(message)
            if status == "404" and not self._waits:
                return None
            self._control(status, message)

    def wake(self) -> None:
        """Let a waiting `next` end with ConnectionLost."""
        self._inbox.cut()

    async def _pull(self) -> None:
        wanted = _BATCH - self._asked
        body = _waiting_pull(wanted) if self._waits else {"batch": wanted, "no_wait": True}
        await self._connection.publish(self._next_subject, json.dumps(body).encode(), reply=self._inbox.subject)
        self._asked += wanted

    def _accept(self, message: Msg) -> Entry:
        entry, number = jetstream.delivered_entry(message)
        if number != self._number + 1:
            raise SessionOver(f"message {self._number + 1} of the consumer is missing, got {number}")
        self._number = number
        self._asked = max(self._asked - 1, 0)
        return entry

    def _control(self, status: str, message: Msg) -> None:
        """Act on a status: 100 is a heartbeat, 404 and 408 end one pull, the rest (409, 503) ends the session."""
        headers = message.headers or {}
        if status == "100":
            return
        if status not in ("404", "408"):
            raise SessionOver(f"{status} {headers.get(jetstream.DESCRIPTION, '')}")
        unused = headers.get("Nats-Pending-Messages", "")
        self._asked = max(self._asked - int(unused), 0) if unused.isdigit() else 0


class NatsFollowing:
    """A `Following` over JetStream. Use it from one task at a time."""

    def __init__(
        self,
        connection: BusConnection,
        stream: str,
        subject_filter: str,
        *,
        from_sequence: int | None,
        from_time: datetime | None = None,
    ) -> None:
        self._connection = connection
        self._stream = stream
        self._subject_filter = subject_filter
        self._next = from_sequence
        self._from_time = from_time
        self._session: _Session | None = None
        self._resources = AsyncExitStack()
        self._closed = asyncio.Event()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Entry:
        backoff_s = 0.0
        while not self._closed.is_set():
            try:
                if self._session is None:
                    self._session = await self._open()
                entry = await self._session.next()
            except (SessionOver, OutcomeUnknown, Unavailable) as error:
                await self._end_session()
                if self._closed.is_set():
                    break
                _log.info("bus.follow.reopening", extra={"stream": self._stream, "cause": str(error)})
                backoff_s = await self._pause(backoff_s)
                continue
            if entry is None or (self._next is not None and entry.sequence < self._next):
                continue
            self._next = entry.sequence + 1
            return entry
        raise StopAsyncIteration

    async def open(self) -> None:
        """Open the first session, so that a follow that was granted is known to be possible."""
        self._session = await self._open()

    async def close(self) -> None:
        """Stop; safe to call twice."""
        self._closed.set()
        if self._session is not None:
            self._session.wake()
        await self._end_session()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _open(self) -> _Session:
        start = _start_policy(self._next, self._from_time)
        return await open_session(self._connection, self._stream, self._subject_filter, start, self._resources)

    async def _end_session(self) -> None:
        self._session = None
        await self._resources.aclose()

    async def _pause(self, backoff_s: float) -> float:
        """Wait before the next session, longer each time; return the wait after it. Ends early on `close`."""
        if backoff_s:
            try:
                async with asyncio.timeout(backoff_s):
                    await self._closed.wait()
            except TimeoutError:
                pass
        return min(max(backoff_s * 2, 0.05), _MAX_BACKOFF_S)


async def open_session(
    connection: BusConnection,
    stream: str,
    subject_filter: str,
    start: Mapping[str, object],
    resources: AsyncExitStack,
    *,
    waits: bool = True,
) -> _Session:
    """Create an ephemeral consumer; closing `resources` ends it. Without `waits` it ends at the end of the stream."""
    inbox = await resources.enter_async_context(connection.inbox())
    name = f"f{secrets.token_hex(8)}"
    config = {
        "name": name,
        "ack_policy": "none",
        "filter_subject": subject_filter,
        "inactive_threshold": int(_INACTIVE_S * _NS_PER_S),
        "mem_storage": True,
        "num_replicas": 1,
        **start,
    }
    operation = f"CONSUMER.CREATE.{stream}.{name}.{subject_filter}"
    await jetstream.read(connection, operation, {"stream_name": stream, "config": config, "action": "create"})
    resources.push_async_callback(_delete, connection, stream, name)
    next_subject = f"{jetstream.API}.CONSUMER.MSG.NEXT.{stream}.{name}"
    return _Session(connection, next_subject, inbox, waits=waits)


async def _delete(connection: BusConnection, stream: str, name: str) -> None:
    """Tell the server that a consumer is not needed; if that fails, its inactivity ends it."""
    try:
        await connection.publish(f"{jetstream.API}.CONSUMER.DELETE.{stream}.{name}")
    except ArenError as error:
        _log.debug("bus.follow.consumer_left", extra={"consumer": name, "cause": str(error)})


def _waiting_pull(wanted: int) -> dict[str, object]:
    return {
        "batch": wanted,
        "expires": int(_PULL_EXPIRES_S * _NS_PER_S),
        "idle_heartbeat": int(_HEARTBEAT_S * _NS_PER_S),
    }


def _start_policy(sequence: int | None, time: datetime | None) -> dict[str, object]:
    if sequence is not None:
        return {"deliver_policy": "by_start_sequence", "opt_start_seq": max(sequence, 1)}
    if time is not None:
        return {"deliver_policy": "by_start_time", "opt_start_time": to_rfc3339(time)}
    return {"deliver_policy": "all"}
