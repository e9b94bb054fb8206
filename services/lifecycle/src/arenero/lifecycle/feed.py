"""What the log delivers: it goes into the index, and to whoever watches sandboxes.

The index already knows what this process appended itself; watchers are told from here alone, so they see every record
in the order of the log whoever appended it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from arenero.bus.log import Entry
from arenero.bus.subjects import parse_subject
from arenero.errors import Unavailable
from arenero.lifecycle.index import SandboxIndex
from arenero.lifecycle.keys import SandboxKey
from arenero.lifecycle.records import Records
from arenero.model.ids import SandboxId, TenantId
from arenero.model.record import SandboxRecord

_log = logging.getLogger(__name__)
MAX_BEHIND: Final = 4096
"""Records that a watcher may be behind before it is told to begin anew."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A record after a change."""

    record: SandboxRecord
    fact: str
    """Word of the fact that led to it."""


@dataclass
class Watch:
    """One watcher's queue."""

    tenant: TenantId
    sandbox_id: SandboxId | None
    """None: all of the tenant."""
    queue: asyncio.Queue[Sighting] = field(default_factory=lambda: asyncio.Queue(MAX_BEHIND))
    is_broken: bool = False
    """It was too slow, and something is missing from the queue."""

    async def next(self) -> Sighting:
        """Wait for the next sighting; cancelling the wait loses none.

        Raises:
            Unavailable: The watcher was too slow.
        """
        if self.is_broken and self.queue.empty():
            raise Unavailable("the watcher is too slow; begin anew", reason="WATCH_TOO_SLOW", retry_after_s=1.0)
        return await self.queue.get()

    def offer(self, sighting: Sighting) -> None:
        """Take a sighting in, unless the watcher is too far behind."""
        if self.is_broken:
            return
        try:
            self.queue.put_nowait(sighting)
        except asyncio.QueueFull:
            self.is_broken = True


class Feed:
    """Takes the entries of the SANDBOX log, first those of the past, then what comes.

    Args:
        records: Reads entries into the index.
        index: Knows which entries are news.
    """

    def __init__(self, records: Records, index: SandboxIndex) -> None:
        self._records = records
        self._index = index
        self._past: dict[SandboxKey, Entry] | None = {}
        self._watches: list[Watch] = []

    def take(self, entry: Entry) -> None:
        """Take one entry; for a `Projection`, so it never raises."""
        try:
            subject = parse_subject(entry.subject)
            key = SandboxKey(subject.tenant, SandboxId(subject.id))
            if self._past is not None:
                self._past[key] = entry
            else:
                self._take_news(key, entry, subject.fact)
        except ValueError as error:
            _log.error("lifecycle.entry.unreadable", extra={"subject": entry.subject, "cause": str(error)})

    def end_of_past(self) -> None:
        """Read what has been taken so far: of each sandbox only the newest entry, since it holds the whole record."""
        past, self._past = self._past or {}, None
        for entry in past.values():
            self.take(entry)

    @contextmanager
    def watch(self, tenant: TenantId, sandbox_id: SandboxId | None) -> Iterator[Watch]:
        """Collect what happens from now on to one sandbox of a tenant, or to all of them."""
        watch = Watch(tenant, sandbox_id)
        self._watches.append(watch)
        try:
            yield watch
        finally:
            self._watches.remove(watch)

    def _take_news(self, key: SandboxKey, entry: Entry, fact: str) -> None:
        watching = [w for w in self._watches if w.tenant == key.tenant and w.sandbox_id in (None, key.id)]
        known = self._index.find(key)
        if known is not None and known.revision >= entry.sequence and not watching:
            return
        occurrence = self._records.take(entry)
        for watch in watching:
            watch.offer(Sighting(occurrence.record, fact))
