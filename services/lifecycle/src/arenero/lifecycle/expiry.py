"""Wakes the reconciler when lifetimes end. It decides nothing: whether a sandbox has expired stands in its record."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from datetime import datetime
from typing import Final

from arenero.lifecycle.index import SandboxIndex
from arenero.lifecycle.keys import SandboxKey, key_of
from arenero.model.record import SandboxRecord
from arenero.model.time import Clock

MAX_NAP_S: Final = 5.0
"""Longest sleep: the wall clock may jump, and this is how late that is noticed."""
SLACK: Final = 1024
"""Entries of deadlines that were moved, which are kept before the heap is built anew."""


class ExpiryTimer:
    """A heap of deadlines. `run` is a task of the host.

    Args:
        index: Tells of every change, so of every deadline.
        clock: Says when it is time.
        wake: Has a sandbox looked at.
    """

    def __init__(self, index: SandboxIndex, clock: Clock, wake: Callable[[SandboxKey], None]) -> None:
        self._index = index
        self._clock = clock
        self._wake = wake
        self._heap: list[tuple[datetime, SandboxKey]] = []
        self._sooner = asyncio.Event()
        index.listen(self._hear)

    def __len__(self) -> int:
        return len(self._heap)

    async def run(self) -> None:
        """Wake at each deadline, until cancelled."""
        while True:
            self._sooner.clear()
            nap_s = self._wake_due()
            try:
                async with asyncio.timeout(nap_s):
                    await self._sooner.wait()
            except TimeoutError:
                pass  # slept until the next deadline, or long enough

    def _wake_due(self) -> float:
        """Wake what is due; return how long to sleep."""
        now = self._clock.now()
        while self._heap and self._heap[0][0] <= now:
            expires_at, key = heapq.heappop(self._heap)
            if self._is_current(expires_at, key):
                self._wake(key)
        if not self._heap:
            return MAX_NAP_S
        return min((self._heap[0][0] - now).total_seconds(), MAX_NAP_S)

    def _hear(self, record: SandboxRecord) -> None:
        if record.expires_at is None or not record.is_live:
            return
        key = key_of(record)
        is_sooner = not self._heap or record.expires_at < self._heap[0][0]
        heapq.heappush(self._heap, (record.expires_at, key))
        if is_sooner:
            self._sooner.set()
        if len(self._heap) > 2 * len(self._index) + SLACK:
            self._rebuild()

    def _rebuild(self) -> None:
        """Drop the entries of deadlines that no longer hold, and doubles."""
        self._heap = sorted({entry for entry in self._heap if self._is_current(*entry)})

    def _is_current(self, expires_at: datetime, key: SandboxKey) -> bool:
        record = self._index.find(key)
        return record is not None and record.is_live and record.expires_at == expires_at
