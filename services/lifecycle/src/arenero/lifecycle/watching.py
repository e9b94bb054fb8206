"""Watching records: what is there now, then every change, in the order of the log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Final

from arenero.errors import Unavailable
from arenero.lifecycle.feed import Feed, Sighting, Watch
from arenero.lifecycle.index import SandboxFilter, SandboxIndex
from arenero.lifecycle.keys import SandboxKey
from arenero.lifecycle.records import Records
from arenero.model.ids import SandboxId, TenantId
from arenero.model.states import SandboxState

LOOK_ROUND_S: Final = 0.5
"""How often a stream without news looks whether the service is stopping."""


class Watching:
    """Streams of records.

    Args:
        records: Finds a record.
        index: Finds many.
        feed: Tells of changes.
        is_serving: False once the service is stopping: streams end then, and their callers come back elsewhere.
    """

    def __init__(
        self, records: Records, index: SandboxIndex, feed: Feed, is_serving: Callable[[], bool] = lambda: True
    ) -> None:
        self._records = records
        self._index = index
        self._feed = feed
        self._is_serving = is_serving

    async def watch_one(self, tenant: TenantId, sandbox_id: SandboxId) -> AsyncIterator[Sighting]:
        """Yield a sandbox's record, then each later one, until it has ended.

        Raises:
            NotFound: There is no such sandbox.
            Unavailable: The caller is too slow, or the service stops.
        """
        with self._feed.watch(tenant, sandbox_id) as watch:
            record = await self._records.get(SandboxKey(tenant, sandbox_id))
            yield Sighting(record, "")
            if record.state.is_final:
                return
            async for sighting in self._news(watch):
                if sighting.record.revision > record.revision:
                    yield sighting
                    if sighting.record.state.is_final:
                        return

    async def watch_many(self, tenant: TenantId, wanted: SandboxFilter, *, by_state: bool) -> AsyncIterator[Sighting]:
        """Yield the records that match, then each change of one that does, without end.

        Args:
            tenant: Whose sandboxes.
            wanted: Which of them.
            by_state: Changes into states that the filter lacks are left out. Otherwise they are told, so that a watcher
                of what lives hears of its end.

        Raises:
            Unavailable: The caller is too slow, or the service stops.
        """
        later = wanted if by_state else replace(wanted, states=frozenset(SandboxState))
        with self._feed.watch(tenant, None) as watch:
            present = self._index.matching(tenant, wanted)
            seen = {record.id: record.revision for record in present}
            for record in present:
                yield Sighting(record, "")
            async for sighting in self._news(watch):
                record = sighting.record
                if record.revision > seen.get(record.id, 0) and later.matches(record):
                    yield sighting

    async def _news(self, watch: Watch) -> AsyncIterator[Sighting]:
        while self._is_serving():
            try:
                async with asyncio.timeout(LOOK_ROUND_S):
                    sighting = await watch.next()
            except TimeoutError:
                continue
            yield sighting
        raise Unavailable("the service is stopping; begin anew", reason="STOPPING", retry_after_s=0.5)
