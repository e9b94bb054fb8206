"""All records in memory, built from the log: what reads and decisions that need many records go to.

An index holds the newest record that this process has seen of each sandbox. It is told of every record that this
process appends, right after the append, and of every entry that the log delivers; whichever comes later in the log
counts. So a process reads its own writes, and those of others a moment later. Nothing is decided on it alone: an append
is guarded by the revision it was decided on.

Records are kept sorted by the time of their creation, live and ended ones apart, so that a page of a long list costs
what is on it. Equal times are ordered by id, which makes the order total and a page token stable.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice
from typing import Final, NamedTuple

from arenero.lifecycle.keys import SandboxKey, key_of
from arenero.model.ids import SandboxId, TenantId
from arenero.model.record import SandboxRecord
from arenero.model.states import SandboxState
from arenero.model.time import to_unix_ns

LIVE_STATES: Final = frozenset(state for state in SandboxState if state.is_live)


class Position(NamedTuple):
    """Where a record is in the order of lists."""

    created_us: int
    id: SandboxId


@dataclass(frozen=True, slots=True)
class SandboxFilter:
    """Which records are meant; all that is set must match."""

    states: frozenset[SandboxState] = LIVE_STATES
    metadata: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    runtime: str = ""

    @property
    def is_by_state_only(self) -> bool:
        """Whether nothing but the state matters."""
        return not (self.metadata or self.name or self.runtime)

    def matches(self, record: SandboxRecord) -> bool:
        """Whether a record is meant."""
        spec = record.spec
        return (
            record.state in self.states
            and (not self.name or spec.name == self.name)
            and (not self.runtime or spec.runtime == self.runtime)
            and all(spec.metadata.get(key) == value for key, value in self.metadata.items())
        )


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list."""

    records: tuple[SandboxRecord, ...]
    following: Position | None
    """Last position on this page when there is a further one."""
    total: int
    """Records that match, on all pages."""


def position_of(record: SandboxRecord) -> Position:
    """Return where a record is in the order of lists."""
    return Position(to_unix_ns(record.created_at) // 1_000, record.id)


class _Shelf:
    """One tenant's records in order, oldest first."""

    def __init__(self) -> None:
        self.live: list[Position] = []
        self.ended: list[Position] = []

    def place(self, record: SandboxRecord) -> None:
        insort(self._list_for(record), position_of(record))

    def take_away(self, record: SandboxRecord) -> None:
        positions = self._list_for(record)
        del positions[bisect_left(positions, position_of(record))]

    def newest_first(self, states: frozenset[SandboxState], after: Position | None) -> Iterator[Position]:
        wanted = [self.live] if states & LIVE_STATES else []
        wanted += [self.ended] if states - LIVE_STATES else []
        return merge(*(_backwards(positions, after) for positions in wanted), reverse=True)

    def _list_for(self, record: SandboxRecord) -> list[Position]:
        return self.live if record.is_live else self.ended


class SandboxIndex:
    """The records that this process knows."""

    def __init__(self) -> None:
        self._records: dict[SandboxKey, SandboxRecord] = {}
        self._event_ids: dict[SandboxKey, str] = {}
        self._keys: dict[SandboxId, SandboxKey] = {}
        self._unfinished: set[SandboxKey] = set()
        self._shelves: defaultdict[TenantId, _Shelf] = defaultdict(_Shelf)
        self._listeners: list[Callable[[SandboxRecord], None]] = []
        self._waiting: defaultdict[SandboxKey, list[_Waiting]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self._records)

    def find(self, key: SandboxKey) -> SandboxRecord | None:
        """Return the newest record known of a sandbox."""
        return self._records.get(key)

    def find_by_id(self, sandbox_id: SandboxId) -> SandboxRecord | None:
        """Return the newest record known of a sandbox of any tenant."""
        key = self._keys.get(sandbox_id)
        return self._records.get(key) if key else None

    def event_id(self, key: SandboxKey) -> str:
        """Return the id of the event that led to the newest record known; empty when there is none."""
        return self._event_ids.get(key, "")

    def listen(self, listener: Callable[[SandboxRecord], None]) -> None:
        """Have a function called with every newer record, right when it becomes known. It must not block."""
        self._listeners.append(listener)

    def apply(self, record: SandboxRecord, event_id: str = "") -> bool:
        """Take note of a record; return whether it was newer than what was known. Twice is once."""
        key = key_of(record)
        known = self._records.get(key)
        if known is not None and known.revision >= record.revision:
            return False
        self._records[key] = record
        self._keys[key.id] = key
        if record.is_live or record.handle is not None:
            self._unfinished.add(key)
        else:
            self._unfinished.discard(key)
        self._event_ids[key] = event_id
        self._reshelve(known, record)
        for listener in self._listeners:
            listener(record)
        self._release(key, record)
        return True

    def remove(self, key: SandboxKey) -> None:
        """Forget a sandbox, since its facts have left the log."""
        record = self._records.pop(key, None)
        self._event_ids.pop(key, None)
        self._keys.pop(key.id, None)
        self._unfinished.discard(key)
        if record is not None:
            self._shelves[key.tenant].take_away(record)

    def live_count(self, tenant: TenantId) -> int:
        """Return how many live sandboxes a tenant has, pending and stopping ones included."""
        return len(self._shelves[tenant].live) if tenant in self._shelves else 0

    def all(self) -> tuple[SandboxRecord, ...]:
        """Return every record, in no order."""
        return tuple(self._records.values())

    def unfinished(self) -> tuple[SandboxRecord, ...]:
        """Return the records of all sandboxes of which a driver may hold something, in no order."""
        return tuple(self._records[key] for key in self._unfinished)

    def page(self, tenant: TenantId, wanted: SandboxFilter, *, after: Position | None, size: int) -> Page:
        """Return records that match, newest first, beginning behind a position."""
        if tenant not in self._shelves:
            return Page((), None, 0)
        matching = self._matching(tenant, wanted, after)
        records = tuple(islice(matching, size))
        more = next(matching, None) is not None
        return Page(records, position_of(records[-1]) if more else None, self._count(tenant, wanted))

    def matching(self, tenant: TenantId, wanted: SandboxFilter) -> tuple[SandboxRecord, ...]:
        """Return all records that match, newest first."""
        return tuple(self._matching(tenant, wanted, None)) if tenant in self._shelves else ()

    async def until(self, key: SandboxKey, condition: Callable[[SandboxRecord], bool]) -> SandboxRecord:
        """Wait until a sandbox's newest record meets a condition, and return that record."""
        record = self._records.get(key)
        if record is not None and condition(record):
            return record
        future: asyncio.Future[SandboxRecord] = asyncio.get_running_loop().create_future()
        self._waiting[key].append(_Waiting(condition, future))
        return await future

    def _matching(self, tenant: TenantId, wanted: SandboxFilter, after: Position | None) -> Iterator[SandboxRecord]:
        for position in self._shelves[tenant].newest_first(wanted.states, after):
            record = self._records[SandboxKey(tenant, position.id)]
            if wanted.matches(record):
                yield record

    def _count(self, tenant: TenantId, wanted: SandboxFilter) -> int:
        shelf = self._shelves[tenant]
        if wanted.is_by_state_only and wanted.states == LIVE_STATES:
            return len(shelf.live)
        if wanted.is_by_state_only and wanted.states == frozenset(SandboxState):
            return len(shelf.live) + len(shelf.ended)
        return sum(1 for _ in self._matching(tenant, wanted, None))

    def _reshelve(self, known: SandboxRecord | None, record: SandboxRecord) -> None:
        if known is not None and known.is_live == record.is_live:
            return
        shelf = self._shelves[record.tenant]
        if known is not None:
            shelf.take_away(known)
        shelf.place(record)

    def _release(self, key: SandboxKey, record: SandboxRecord) -> None:
        """Wake who waits for a record like this one, and forget who gave up."""
        if key not in self._waiting:
            return
        still = []
        for waiting in self._waiting.pop(key):
            if waiting.future.done():
                continue
            if waiting.condition(record):
                waiting.future.set_result(record)
            else:
                still.append(waiting)
        if still:
            self._waiting[key] = still


class _Waiting(NamedTuple):
    condition: Callable[[SandboxRecord], bool]
    future: asyncio.Future[SandboxRecord]


def _backwards(positions: list[Position], after: Position | None) -> Iterator[Position]:
    """Walk positions from the newest on, or from those older than a given one on."""
    end = len(positions) if after is None else bisect_left(positions, after)
    return (positions[index] for index in range(end - 1, -1, -1))
