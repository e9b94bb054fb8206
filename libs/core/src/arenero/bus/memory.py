"""The log in memory: a verified fake for tests and for tools that need no server.

It passes the same suite as the real one (`arenero.testing.bus_suite`): guards, duplicates within the window, wildcards,
times. It keeps nothing over a restart. `go_away` makes it unreachable, so that callers' failure paths can be tested.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from itertools import islice
from types import TracebackType
from typing import Self

from arenero.bus.log import (
    DUPLICATE_WINDOW_S,
    HEADER_MESSAGE_ID,
    Appended,
    Entry,
    check_key,
    check_message,
    check_reading,
    lost_race,
)
from arenero.bus.subjects import check_filter, matches
from arenero.errors import Unavailable
from arenero.model.time import Clock, SystemClock, require_utc


class MemoryEventLog:
    """An `EventLog` held in a list.

    Args:
        subject_filter: What the stream takes, such as `sandbox.>`.
        clock: Gives the entries' times and ages message ids.
    """

    def __init__(self, subject_filter: str = "sandbox.>", *, clock: Clock | None = None) -> None:
        check_filter(subject_filter)
        self._subject_filter = subject_filter
        self._clock = clock or SystemClock()
        self._entries: list[Entry] = []
        self._last_of_key: dict[str, Entry] = {}
        self._head = 0
        self._seen: dict[str, tuple[int, float]] = {}
        self._grown = asyncio.Condition()
        self._away = False

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
        check_message(self._subject_filter, subject, data)
        check_key(key_filter, subject)
        self._check_there()
        last = self._find_last(key_filter)
        revision = last.sequence if last else 0
        if revision == expected_revision:
            return self._known(message_id) or await self._store(subject, data, message_id, headers)
        for entry in await self.history(key_filter, from_sequence=expected_revision + 1, limit=len(self._entries)):
            if entry.message_id == message_id:
                return Appended(entry.sequence, duplicate=True)
        raise lost_race(key_filter, expected_revision, revision)

    async def publish(
        self, subject: str, data: bytes, *, message_id: str, headers: Mapping[str, str] | None = None
    ) -> Appended:
        """Store one message without a guard; see `EventLog.publish`."""
        check_message(self._subject_filter, subject, data)
        self._check_there()
        return self._known(message_id) or await self._store(subject, data, message_id, headers)

    async def last(self, key_filter: str) -> Entry | None:
        """Return the last message that matches; see `EventLog.last`."""
        check_reading(key_filter)
        self._check_there()
        return self._find_last(key_filter)

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
        self._check_there()
        start = bisect_left(self._entries, self._start(from_sequence, from_time, default=1), key=_sequence)
        found = (e for e in islice(self._entries, start, None) if matches(subject_filter, e.subject))
        return list(islice(found, limit))

    async def follow(
        self, subject_filter: str, *, from_sequence: int | None = None, from_time: datetime | None = None
    ) -> MemoryFollowing:
        """Begin to follow; see `EventLog.follow`."""
        check_reading(subject_filter)
        self._check_there()
        start = self._start(from_sequence, from_time, default=self._head + 1)
        return MemoryFollowing(self, self._grown, subject_filter, start)

    async def latest(self, subject_filter: str) -> AsyncIterator[Entry]:
        """Stream the last message of every subject that matches; see `EventLog.latest`."""
        check_reading(subject_filter)
        self._check_there()
        last_of = {e.subject: e for e in self._entries if matches(subject_filter, e.subject)}
        for entry in sorted(last_of.values(), key=lambda e: e.sequence):
            yield entry

    async def head(self) -> int:
        """Return the last sequence of the stream."""
        self._check_there()
        return self._head

    async def purge(self, key_filter: str) -> int:
        """Delete every message that matches; see `EventLog.purge`."""
        check_reading(key_filter)
        self._check_there()
        kept = [entry for entry in self._entries if not matches(key_filter, entry.subject)]
        deleted = len(self._entries) - len(kept)
        self._entries = kept
        self._last_of_key = {_key(entry.subject): entry for entry in kept}
        return deleted

    def go_away(self) -> None:
        """Be unreachable from now on: calls raise Unavailable, follows wait."""
        self._away = True

    async def come_back(self) -> None:
        """Be reachable again, with everything that was stored."""
        self._away = False
        async with self._grown:
            self._grown.notify_all()

    def next_after(self, sequence: int, subject_filter: str) -> Entry | None:
        """Return the first match at or after a sequence; None while unreachable, too. For `MemoryFollowing`."""
        if self._away:
            return None
        start = bisect_left(self._entries, sequence, key=_sequence)
        return next((e for e in islice(self._entries, start, None) if matches(subject_filter, e.subject)), None)

    def _start(self, from_sequence: int | None, from_time: datetime | None, *, default: int) -> int:
        if from_time is None:
            return default if from_sequence is None else max(from_sequence, 1)
        instant = require_utc(from_time)
        return next((e.sequence for e in self._entries if e.time >= instant), self._head + 1)

    def _check_there(self) -> None:
        if self._away:
            raise Unavailable("the log is away", reason="BUS_AWAY", retry_after_s=1.0)

    def _known(self, message_id: str) -> Appended | None:
        found = self._seen.get(message_id)
        if found is None or self._clock.monotonic_s() - found[1] > DUPLICATE_WINDOW_S:
            return None
        return Appended(found[0], duplicate=True)

    def _find_last(self, key_filter: str) -> Entry | None:
        if key_filter.count(".") == 3 and "*" not in key_filter and key_filter.endswith(".>"):
            return self._last_of_key.get(key_filter)
        return next((e for e in reversed(self._entries) if matches(key_filter, e.subject)), None)

    async def _store(self, subject: str, data: bytes, message_id: str, headers: Mapping[str, str] | None) -> Appended:
        self._head += 1
        all_headers = {**(headers or {}), HEADER_MESSAGE_ID: message_id}
        entry = Entry(subject, self._head, self._clock.now(), bytes(data), all_headers)
        self._entries.append(entry)
        self._last_of_key[_key(subject)] = entry
        self._remember(message_id)
        sequence = self._head
        async with self._grown:
            self._grown.notify_all()
        return Appended(sequence)

    def _remember(self, message_id: str) -> None:
        """Note a message id, and forget those whose window is over: dicts keep the order of insertion."""
        now_s = self._clock.monotonic_s()
        self._seen.pop(message_id, None)
        self._seen[message_id] = (self._head, now_s)
        while now_s - (oldest := next(iter(self._seen.items())))[1][1] > DUPLICATE_WINDOW_S:
            del self._seen[oldest[0]]


class MemoryFollowing:
    """A `Following` of a `MemoryEventLog`."""

    def __init__(self, log: MemoryEventLog, grown: asyncio.Condition, subject_filter: str, start: int) -> None:
        self._log = log
        self._grown = grown
        self._subject_filter = subject_filter
        self._next = start
        self._closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Entry:
        async with self._grown:
            while not self._closed:
                entry = self._log.next_after(self._next, self._subject_filter)
                if entry is not None:
                    self._next = entry.sequence + 1
                    return entry
                await self._grown.wait()
        raise StopAsyncIteration

    async def close(self) -> None:
        """Stop; a waiting `__anext__` ends."""
        self._closed = True
        async with self._grown:
            self._grown.notify_all()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _sequence(entry: Entry) -> int:
    return entry.sequence


def _key(subject: str) -> str:
    """Return the key of a subject of the usual form: all its tokens but the last, and `>`."""
    return subject.rpartition(".")[0] + ".>"
