"""The log over NATS JetStream: one stream, many writers.

The guard is the server's: `Nats-Expected-Last-Subject-Sequence` with the key as its `-Subject`. An append whose
acknowledgement was lost is sent again with the same `Nats-Msg-Id` until the log's patience is over. If the first one
was stored, the repeat finds it, by the id, so one append is one message.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Final

from arenero.bus import jetstream
from arenero.bus.connection import BusConnection, ConnectionLost
from arenero.bus.following import NatsFollowing, SessionOver, open_session
from arenero.bus.log import (
    HEADER_MESSAGE_ID,
    Appended,
    Entry,
    check_key,
    check_message,
    check_reading,
    lost_race,
)
from arenero.bus.nats_py import Msg
from arenero.bus.streams import Stream
from arenero.errors import Conflict, FailedPrecondition, NotFound, OutcomeUnknown, Unavailable
from arenero.model.time import to_rfc3339

_EXPECTED: Final = "Nats-Expected-Last-Subject-Sequence"
_EXPECTED_KEY: Final = "Nats-Expected-Last-Subject-Sequence-Subject"
_ACK_TIMEOUT_S: Final = 1.0
"""Patience for one acknowledgement: ten times the slowest measured, so a lost one costs little."""
_MIN_BACKOFF_S: Final = 0.01
_MAX_BACKOFF_S: Final = 0.5
_TRANSIENT: Final = frozenset({"BUS_AWAY", "BUS_NO_RESPONDERS", "BUS_NO_JETSTREAM"})
"""Reasons that go away by themselves; a full disk does not, so it is reported at once."""
_HISTORY_BATCH: Final = 500


class NatsEventLog:
    """An `EventLog` on one JetStream stream."""

    def __init__(self, connection: BusConnection, stream: Stream) -> None:
        self._connection = connection
        self._stream = stream

    async def append(
        self,
        subject: str,
        data: bytes,
        *,
        key_filter: str,
        expected_revision: int,
        message_id: str,
        headers: Mapping[str, str] | None = None,
    ) -> Appended:
        """Store one message if the key's last sequence is the expected one; see `EventLog.append`."""
        check_key(key_filter, subject)
        guarded = {
            **(headers or {}),
            HEADER_MESSAGE_ID: message_id,
            _EXPECTED: str(expected_revision),
            _EXPECTED_KEY: key_filter,
        }
        try:
            return await self._store(subject, data, guarded)
        except (Conflict, OutcomeUnknown) as error:
            return await self._settle(key_filter, expected_revision, message_id, error)

    async def publish(
        self, subject: str, data: bytes, *, message_id: str, headers: Mapping[str, str] | None = None
    ) -> Appended:
        """Store one message without a guard; see `EventLog.publish`."""
        return await self._store(subject, data, {**(headers or {}), HEADER_MESSAGE_ID: message_id})

    async def last(self, key_filter: str) -> Entry | None:
        """Return the last message that matches; see `EventLog.last`."""
        check_reading(key_filter)
        message = await self._direct({"last_by_subj": key_filter})
        return None if jetstream.status_of(message) == "404" else jetstream.direct_entry(message)

    async def history(
        self,
        subject_filter: str,
        *,
        from_sequence: int | None = None,
        from_time: datetime | None = None,
        limit: int = 1000,
    ) -> list[Entry]:
        """Return what is stored now, oldest first; see `EventLog.history`."""
        check_reading(subject_filter)
        found: list[Entry] = []
        start = _direct_start(from_sequence, from_time)
        while len(found) < limit:
            wanted = min(limit - len(found), _HISTORY_BATCH)
            batch, pending = await self._batch({**start, "next_by_subj": subject_filter, "batch": wanted})
            found += batch
            if not batch or not pending:
                break
            start = {"seq": batch[-1].sequence + 1}
        return found

    async def follow(
        self, subject_filter: str, *, from_sequence: int | None = None, from_time: datetime | None = None
    ) -> NatsFollowing:
        """Begin to follow; see `EventLog.follow`."""
        check_reading(subject_filter)
        if from_sequence is None and from_time is None:
            from_sequence = await self.head() + 1
        following = NatsFollowing(
            self._connection, self._stream.name, subject_filter, from_sequence=from_sequence, from_time=from_time
        )
        try:
            await following.open()
        except BaseException:
            await following.close()
            raise
        return following

    async def latest(self, subject_filter: str) -> AsyncIterator[Entry]:
        """Stream the last message of every subject that matches; see `EventLog.latest`."""
        check_reading(subject_filter)
        policy = {"deliver_policy": "last_per_subject"}
        async with AsyncExitStack() as resources:
            session = await open_session(
                self._connection, self._stream.name, subject_filter, policy, resources, waits=False
            )
            try:
                while (entry := await session.next()) is not None:
                    yield entry
            except (SessionOver, OutcomeUnknown) as error:
                raise Unavailable(f"reading {subject_filter} broke off: {error}", retry_after_s=1.0) from error

    async def head(self) -> int:
        """Return the last sequence of the stream."""
        state = (await jetstream.read(self._connection, f"STREAM.INFO.{self._stream.name}"))["state"]
        return int(state["last_seq"])

    async def purge(self, key_filter: str) -> int:
        """Delete every message that matches; see `EventLog.purge`."""
        check_reading(key_filter)
        answer = await jetstream.read(self._connection, f"STREAM.PURGE.{self._stream.name}", {"filter": key_filter})
        return int(answer["purged"])

    async def _store(self, subject: str, data: bytes, headers: Mapping[str, str]) -> Appended:
        """Send until there is an answer or the patience is over; raise what the last try means for the whole."""
        check_message(self._stream.subject_filter, subject, data)
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + self._connection.patience_s
        unknown: OutcomeUnknown | None = None
        failure: OutcomeUnknown | Unavailable
        backoff_s = _MIN_BACKOFF_S
        while True:
            try:
                return await self._send(subject, data, headers, connect_s=deadline_s - loop.time())
            except OutcomeUnknown as error:
                unknown, failure = error, error
            except Unavailable as error:
                if error.reason not in _TRANSIENT:
                    raise
                failure = unknown or error
            if loop.time() + backoff_s >= deadline_s:
                raise failure
            await asyncio.sleep(backoff_s)
            backoff_s = min(backoff_s * 2, _MAX_BACKOFF_S)

    async def _send(self, subject: str, data: bytes, headers: Mapping[str, str], *, connect_s: float) -> Appended:
        message = await self._connection.request(
            subject, data, headers=headers, timeout_s=_ACK_TIMEOUT_S, connect_s=max(connect_s, 0.001)
        )
        receipt = jetstream.parse_answer(message)
        return Appended(int(receipt["seq"]), bool(receipt.get("duplicate", False)))

    async def _settle(
        self, key_filter: str, expected: int, message_id: str, error: Conflict | OutcomeUnknown
    ) -> Appended:
        """Find out whether our message is stored after all, by looking through the key since the expected revision.

        The server compares revisions before it looks at message ids, so a repeat of what was stored meets its own
        message as the newer revision. And a server whose disk is full answers reads, but no append.
        """
        found, revision = expected, 0
        try:
            while batch := await self.history(key_filter, from_sequence=found + 1, limit=_HISTORY_BATCH):
                for entry in batch:
                    if entry.message_id == message_id:
                        return Appended(entry.sequence, duplicate=True)
                found = revision = batch[-1].sequence
            if not revision and (last := await self.last(key_filter)):
                revision = last.sequence
        except Unavailable:
            text = "the log does not answer; an earlier try may have been stored"
            raise OutcomeUnknown(text, reason="BUS_NO_ANSWER") from error
        if isinstance(error, Conflict) or revision != expected:
            raise lost_race(key_filter, expected, revision) from error
        raise Unavailable(
            "the log can be read and does not store; its disk may be full", reason="BUS_STORE", retry_after_s=1.0
        ) from error

    async def _direct(self, body: Mapping[str, object]) -> Msg:
        """Ask for one message by direct get, once more if the first answer was lost."""
        subject, payload = f"{jetstream.API}.DIRECT.GET.{self._stream.name}", json.dumps(body).encode()
        patience_s = self._connection.patience_s / 2
        try:
            message = await self._connection.request(subject, payload, timeout_s=patience_s)
        except OutcomeUnknown:
            try:
                message = await self._connection.request(subject, payload, timeout_s=patience_s)
            except OutcomeUnknown as error:
                raise Unavailable(error.message, reason=error.reason, retry_after_s=1.0) from error
        _check_direct(message)
        return message

    async def _batch(self, body: Mapping[str, object]) -> tuple[list[Entry], bool]:
        """Read one batch by direct get; also return whether more is stored."""
        found: list[Entry] = []
        subject = f"{jetstream.API}.DIRECT.GET.{self._stream.name}"
        async with self._connection.inbox() as inbox:
            await self._connection.publish(subject, json.dumps(body).encode(), reply=inbox.subject)
            try:
                while not jetstream.status_of(message := await inbox.next(self._connection.patience_s)):
                    found.append(jetstream.direct_entry(message))
            except ConnectionLost as error:
                raise Unavailable(f"reading broke off: {error}", reason=error.reason, retry_after_s=1.0) from error
        _check_direct(message)
        pending = (message.headers or {}).get("Nats-Num-Pending", "0")
        return found, int(pending) > 0


async def ensure_stream(connection: BusConnection, stream: Stream) -> None:
    """Create the stream, or bring its configuration up to date. Safe to repeat and to run from several replicas.

    Raises:
        FailedPrecondition: It exists with settings that can't be changed, such as another storage.
    """
    config = stream.to_config()
    try:
        await jetstream.read(connection, f"STREAM.INFO.{stream.name}")
    except NotFound:
        try:
            await jetstream.read(connection, f"STREAM.CREATE.{stream.name}", config)
        except FailedPrecondition:
            pass  # Another replica was quicker.
        else:
            return
    await jetstream.read(connection, f"STREAM.UPDATE.{stream.name}", config)


def _check_direct(message: Msg) -> None:
    """Pass content, the end of a batch and 'nothing found'; the rest means that the server can't answer."""
    status = jetstream.status_of(message)
    if status not in ("", "204", "404"):
        text = f"{status} {(message.headers or {}).get(jetstream.DESCRIPTION, '')}"
        raise Unavailable(f"the log can't be read: {text}", reason="BUS_READ", retry_after_s=1.0)


def _direct_start(from_sequence: int | None, from_time: datetime | None) -> dict[str, object]:
    if from_time is not None and from_sequence is None:
        return {"start_time": to_rfc3339(from_time)}
    return {"seq": max(from_sequence or 1, 1)}
