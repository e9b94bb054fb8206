"""Shared work: a durable pull consumer whose messages are handled once by one of several replicas, or again.

The position is the server's, so work goes on where it stopped after any restart. A message is acknowledged when its
handler returns. Until then the server is told that it is being worked on; if that stops, because the process died,
another replica gets it. So a handler may see a message twice and must be idempotent: it takes it as a wake-up for one
key.

What an error of a handler means is in its class: `Unavailable`, `ResourceExhausted`, `Conflict`, `OutcomeUnknown` and
defects are tried again after a growing pause; anything else would fail in the same way for ever, so the message is
given up and logged.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from arenero.bus import jetstream
from arenero.bus.connection import BusConnection, ConnectionLost, Inbox
from arenero.bus.log import Entry
from arenero.bus.nats_py import Msg
from arenero.bus.streams import Stream
from arenero.errors import ArenError, Conflict, FailedPrecondition, OutcomeUnknown, ResourceExhausted, Unavailable

_log = logging.getLogger(__name__)
_NS_PER_S: Final = 1_000_000_000
_HEARTBEAT_S: Final = 2.0
_SILENCE_S: Final = 2.5 * _HEARTBEAT_S
_PULL_EXPIRES_S: Final = 60.0
_REOPEN_S: Final = 0.5
_FIRST_PAUSE_S: Final = 0.1
_ACK: Final = b"+ACK"
_WORKING: Final = b"+WPI"
_AGAIN: Final = (Unavailable, ResourceExhausted, Conflict, OutcomeUnknown)


@dataclass(frozen=True, slots=True)
class ConsumerConfig:
    """A share of a stream."""

    name: str
    """Durable name; replicas that share the work use the same."""
    filters: tuple[str, ...]
    """Which messages."""
    concurrency: int = 16
    """Handlers at once in this process."""
    ack_wait_s: float = 30.0
    """A worker that is silent for so long is taken for dead."""
    max_pause_s: float = 60.0
    """Longest pause before another try."""
    from_now: bool = False
    """Begin with the messages after its creation rather than with the first there is."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message to handle."""

    entry: Entry
    attempt: int
    """1 for the first; more after a failure or a crash."""


Handle = Callable[[Delivery], Awaitable[None]]


class WorkConsumer:
    """One replica's part of the work; run it as a named task."""

    def __init__(self, connection: BusConnection, stream: Stream, config: ConsumerConfig) -> None:
        self._connection = connection
        self._stream = stream
        self._config = config
        self._replies: set[str] = set()
        self._asked = 0
        self._slot_free = asyncio.Event()

    async def run(self, handle: Handle) -> None:
        """Handle messages until cancelled. What is under way then is cancelled too, and delivered again to somebody.

        Raises:
            FailedPrecondition: A consumer of that name exists with settings that can't be changed.
        """
        async with asyncio.TaskGroup() as group:
            group.create_task(self._tell_progress(), name="progress")
            while True:
                try:
                    await self._ensure()
                    async with self._connection.inbox() as inbox:
                        await self._receive(inbox, handle, group)
                except (Unavailable, OutcomeUnknown) as error:
                    _log.info("consumer.reopening", extra={"consumer": self._config.name, "cause": str(error)})
                await asyncio.sleep(_REOPEN_S)

    async def _receive(self, inbox: Inbox, handle: Handle, group: asyncio.TaskGroup) -> None:
        """Ask for as many messages as there are free slots, and start their handlers; ends with the connection."""
        self._asked = 0
        while True:
            await self._ask(inbox)
            message = await inbox.next(_SILENCE_S)
            status = jetstream.status_of(message)
            if not status:
                self._asked -= 1
                self._replies.add(message.reply)
                group.create_task(self._work(message, handle))
            elif status in ("404", "408"):
                self._asked = 0
            elif status != "100":
                raise ConnectionLost(f"{status} {(message.headers or {}).get(jetstream.DESCRIPTION, '')}")

    async def _ask(self, inbox: Inbox) -> None:
        limit = self._config.concurrency
        while self._asked == 0 and len(self._replies) >= limit:
            self._slot_free.clear()
            await self._slot_free.wait()
        free = limit - self._asked - len(self._replies)
        if free > 0 and (self._asked == 0 or free > limit // 2):
            body = {
                "batch": free,
                "expires": int(_PULL_EXPIRES_S * _NS_PER_S),
                "idle_heartbeat": int(_HEARTBEAT_S * _NS_PER_S),
            }
            subject = f"{jetstream.API}.CONSUMER.MSG.NEXT.{self._stream.name}.{self._config.name}"
            await self._connection.publish(subject, json.dumps(body).encode(), reply=inbox.subject)
            self._asked += free

    async def _work(self, message: Msg, handle: Handle) -> None:
        try:
            answer = await self._answer(message, handle)
        finally:
            self._replies.discard(message.reply)
            self._slot_free.set()
        try:
            await self._connection.publish(message.reply, answer)
        except ConnectionLost:
            _log.debug("consumer.ack_lost", extra={"consumer": self._config.name})

    async def _answer(self, message: Msg, handle: Handle) -> bytes:
        """Handle one message and return what to tell the server."""
        entry, _ = jetstream.delivered_entry(message)
        attempt = jetstream.attempt_of(message)
        facts = {"consumer": self._config.name, "subject": entry.subject, "sequence": entry.sequence}
        try:
            await handle(Delivery(entry, attempt))
        except _AGAIN as error:
            _log.info("consumer.again", extra={**facts, "attempt": attempt, "error": str(error)})
            return self._again(attempt, error.retry_after_s)
        except ArenError as error:
            _log.warning("consumer.given_up", extra={**facts, "error": str(error)})
            return f"+TERM {error.reason}".encode()
        except Exception:  # noqa: BLE001  # a defect met by one message must not stop the others
            _log.exception("consumer.defect", extra={**facts, "attempt": attempt})
            return self._again(attempt, None)
        return _ACK

    def _again(self, attempt: int, retry_after_s: float | None) -> bytes:
        growing_s = _FIRST_PAUSE_S * 2.0 ** min(attempt - 1, 30)
        pause_s = min(max(growing_s, retry_after_s or 0.0), self._config.max_pause_s)
        return b"-NAK " + json.dumps({"delay": int(pause_s * _NS_PER_S)}).encode()

    async def _tell_progress(self) -> None:
        while True:
            await asyncio.sleep(self._config.ack_wait_s / 3)
            for reply in list(self._replies):
                try:
                    await self._connection.publish(reply, _WORKING)
                except ConnectionLost:
                    break

    async def _ensure(self) -> None:
        config = self._config
        wanted: dict[str, Any] = {
            "durable_name": config.name,
            "name": config.name,
            "ack_policy": "explicit",
            "ack_wait": int(config.ack_wait_s * _NS_PER_S),
            "deliver_policy": "new" if config.from_now else "all",
            "max_deliver": -1,
            "max_ack_pending": 10_000,
            "filter_subjects": list(config.filters),
        }
        operation = f"CONSUMER.CREATE.{self._stream.name}.{config.name}"
        body = {"stream_name": self._stream.name, "config": wanted, "action": ""}
        try:
            await jetstream.read(self._connection, operation, body)
        except ArenError as error:
            if isinstance(error, Unavailable | OutcomeUnknown):
                raise
            raise FailedPrecondition(f"the consumer {config.name} can't be made: {error}") from error
