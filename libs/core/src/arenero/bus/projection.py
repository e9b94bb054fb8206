"""A projection: present state built from a log, and kept up to date.

It reads the last message of every subject once, as a stream (nothing is held but what `apply` keeps), then follows. A
restart builds it anew: there is nothing to save and nothing to migrate. `apply` sees the entries of one key in the
order of the log, but at the start not all of them, so an entry must be taken as the whole record, not as a difference.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
from collections.abc import Callable
from typing import Final

from arenero.bus.log import Entry, EventLog
from arenero.errors import Unavailable

_log = logging.getLogger(__name__)
_RETRY_S: Final = 0.5


class Projection:
    """Feeds `apply` with a log's entries; run it as a named task.

    Args:
        log: Where the entries come from.
        subject_filter: Which of them.
        apply: Takes one entry; must not block, and must not raise for content that it does not know.
    """

    def __init__(self, log: EventLog, subject_filter: str, apply: Callable[[Entry], None]) -> None:
        self._log = log
        self._subject_filter = subject_filter
        self._apply = apply
        self._revision_seen = 0
        self._ready = asyncio.Event()
        self._order = itertools.count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    @property
    def is_ready(self) -> bool:
        """Whether everything that was stored when it started has been applied."""
        return self._ready.is_set()

    @property
    def revision_seen(self) -> int:
        """Sequence up to which everything that matches has been applied."""
        return self._revision_seen

    async def run(self) -> None:
        """Load, then follow until cancelled. Waits for the log while it is away."""
        target = await self._load()
        async with await self._log.follow(self._subject_filter, from_sequence=self._revision_seen + 1) as entries:
            if self._revision_seen >= target:
                self._ready.set()
            async for entry in entries:
                self._apply(entry)
                self._advance(entry.sequence)
                if entry.sequence >= target:
                    self._ready.set()

    async def wait_ready(self) -> None:
        """Wait until `is_ready`."""
        await self._ready.wait()

    async def wait_for(self, sequence: int) -> None:
        """Wait until an entry that the caller has appended is applied: read your own writes.

        It must be an entry that matches the filter, else this waits for the next one that does.
        """
        if self._revision_seen >= sequence:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (sequence, next(self._order), future))
        await future

    async def _load(self) -> int:
        """Apply the last entry of every subject; return the sequence at which the projection counts as ready."""
        while True:
            try:
                return await self._load_once()
            except Unavailable as error:
                _log.warning("bus.projection.waiting", extra={"filter": self._subject_filter, "cause": str(error)})
                await asyncio.sleep(_RETRY_S)

    async def _load_once(self) -> int:
        # What is stored after this point is left to the follow, which has it in order: here a key's entries could be
        # seen with some of them missing, since a later one of the same subject hides the earlier.
        head = await self._log.head()
        async for entry in self._log.latest(self._subject_filter):
            if entry.sequence <= head:
                self._apply(entry)
        self._advance(head)
        last = await self._log.last(self._subject_filter)
        return last.sequence if last else 0

    def _advance(self, sequence: int) -> None:
        self._revision_seen = max(self._revision_seen, sequence)
        while self._waiting and self._waiting[0][0] <= self._revision_seen:
            future = heapq.heappop(self._waiting)[2]
            if not future.done():
                future.set_result(None)
