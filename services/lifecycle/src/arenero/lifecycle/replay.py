"""Reading the logs for people and programs of one tenant: which subjects may be read, and from where on.

A tenant writes filters without its own name in them; it is put in here, so no filter can reach beyond the tenant. The
state log and the activity log are two streams, each with sequences of its own: a start given as a sequence means the
state log, and the activity log begins at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from arenero.bus.log import Entry, EventLog, Following
from arenero.bus.subjects import Kind, filter_of, matches, tenant_filter
from arenero.errors import InvalidArgument, PermissionDenied, Unavailable, Unsupported
from arenero.host.tasks import TaskScope
from arenero.lifecycle.watching import LOOK_ROUND_S
from arenero.model.ids import SandboxId, TenantId
from arenero.model.time import Clock

PAGE: Final = 500
"""Messages that are read at once."""
BUFFER: Final = 256
"""Messages that wait for a follower before the log is read on."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which messages of one log are meant."""

    kind: Kind
    subject_filter: str
    """What the log is asked for."""
    patterns: tuple[str, ...]
    """Of what it gives, what matches any of these."""

    def takes(self, entry: Entry) -> bool:
        """Whether a message is meant."""
        return any(matches(pattern, entry.subject) for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class Start:
    """Where to begin; nothing set: at the beginning."""

    sequence: int | None = None
    """Of the state log, inclusive."""
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Nothing new for a while."""

    sequence: int
    """The last one of the state log that was looked at."""


def select(
    tenant: TenantId, patterns: Sequence[str], sandbox_id: SandboxId | None, kinds: Sequence[Kind]
) -> list[Selection]:
    """Return what a tenant's filters mean, one selection per log, the state log first.

    Args:
        tenant: Whose messages.
        patterns: Its filters; none means everything.
        sandbox_id: Only of this sandbox.
        kinds: Of these logs only.

    Raises:
        InvalidArgument: A filter is malformed, or names a log that `kinds` excludes.
        PermissionDenied: It names a log that no tenant may read.
        Unsupported: It names a log that isn't there yet.
    """
    wanted = patterns or [f"{kind.value}.>" for kind in kinds]
    full = [(_kind_of(p, i, kinds), _confine(tenant, p, i)) for i, p in enumerate(wanted)]
    return [
        _selection(tenant, kind, tuple(pattern for k, pattern in full if k is kind), sandbox_id)
        for kind in kinds
        if any(k is kind for k, _ in full)
    ]


def _kind_of(pattern: str, index: int, kinds: Sequence[Kind]) -> Kind:
    head = pattern.partition(".")[0]
    field = f"filter.subjects[{index}]"
    try:
        kind = Kind(head)
    except ValueError:
        raise InvalidArgument(f"{pattern[:64]!r} must begin with sandbox or activity", field=field) from None
    if kind is Kind.KEY:
        raise PermissionDenied("no tenant may read the log of keys", field=field)
    if kind not in (Kind.SANDBOX, Kind.ACTIVITY):
        raise Unsupported(f"events of a {head} aren't there yet", reason="EVENT_KIND_UNSUPPORTED", field=field)
    if kind not in kinds:
        raise InvalidArgument(f"{pattern[:64]!r} is of another log than filter.log", field=field)
    return kind


def _confine(tenant: TenantId, pattern: str, index: int) -> str:
    try:
        return tenant_filter(tenant, pattern)
    except ValueError as error:
        raise InvalidArgument(str(error), field=f"filter.subjects[{index}]") from None


def _selection(tenant: TenantId, kind: Kind, patterns: tuple[str, ...], sandbox_id: SandboxId | None) -> Selection:
    """Ask the log for as little as one filter can say, and leave the rest to `takes`."""
    if sandbox_id is not None:
        own = filter_of(kind, tenant, sandbox_id)
        return Selection(kind, own, tuple(p for p in patterns if _can_match(p, own)))
    whole = filter_of(kind, tenant)
    return Selection(kind, patterns[0] if len(patterns) == 1 else whole, patterns)


def _can_match(pattern: str, own: str) -> bool:
    """Whether a pattern can match anything below another that fixes the third token."""
    token = [*pattern.split("."), "*"][2]
    return token in ("*", ">", own.split(".")[2])


class EventReader:
    """Reads the logs.

    Args:
        logs: By kind: the state log of sandboxes, and activity.
        clock: The time.
        heartbeat_s: Silence after which a follower gets a sign of life.
        is_serving: False once the service is stopping: follows end then.
    """

    def __init__(
        self,
        logs: Mapping[Kind, EventLog],
        clock: Clock,
        heartbeat_s: float,
        is_serving: Callable[[], bool] = lambda: True,
    ) -> None:
        self._logs = logs
        self._clock = clock
        self._heartbeat_s = heartbeat_s
        self._is_serving = is_serving

    async def replay(self, selections: Sequence[Selection], start: Start, limit: int) -> AsyncIterator[Entry]:
        """Yield what is stored now, oldest first; of messages with equal times those of the state log first.

        Args:
            selections: What, at most one per log.
            start: From where.
            limit: How many at most; 0: all.
        """
        starts = await self._starts(selections, start)
        async with AsyncExitStack() as stack:
            sources = [await stack.enter_async_context(aclosing(self._pages(s, starts[s.kind]))) for s in selections]
            heads = [await anext(source, None) for source in sources]
            sent = 0
            while (not limit or sent < limit) and (place := _nearest(heads)) is not None:
                entry = heads[place]
                assert entry is not None, "the nearest head is there"
                yield entry
                sent += 1
                heads[place] = await anext(sources[place], None)

    async def follow(self, selections: Sequence[Selection], start: Start | None) -> AsyncIterator[Entry | Heartbeat]:
        """Yield messages as they come, without end; in the order of each log.

        Args:
            selections: What, at most one per log.
            start: From where; None: with the next message.

        Raises:
            Unavailable: The service stops.
        """
        seen = await self._logs[Kind.SANDBOX].head() if start is None else 0
        queue: asyncio.Queue[Entry] = asyncio.Queue(BUFFER)
        failures: list[BaseException] = []
        async with AsyncExitStack() as stack:
            pumps = await stack.enter_async_context(
                TaskScope("events.follow", on_error=lambda _, error: failures.append(error))
            )
            for selection in selections:
                following = await stack.enter_async_context(await self._open(selection, start))
                pumps.spawn(selection.kind.value, _pump(selection, following, queue))
            async for item in self._drain(queue, failures, seen):
                yield item

    async def _drain(
        self, queue: asyncio.Queue[Entry], failures: Sequence[BaseException], seen: int
    ) -> AsyncIterator[Entry | Heartbeat]:
        loop = asyncio.get_running_loop()
        beat_at_s = loop.time() + self._heartbeat_s
        while self._is_serving():
            if failures:
                raise failures[0]
            try:
                async with asyncio.timeout(max(min(LOOK_ROUND_S, beat_at_s - loop.time()), 0.001)):
                    entry = await queue.get()
            except TimeoutError:
                if loop.time() >= beat_at_s:
                    yield Heartbeat(seen)
                    beat_at_s = loop.time() + self._heartbeat_s
                continue
            if entry.subject.startswith(f"{Kind.SANDBOX.value}."):
                seen = entry.sequence
            yield entry
            beat_at_s = loop.time() + self._heartbeat_s
        raise Unavailable("the service is stopping; begin anew", reason="STOPPING", retry_after_s=0.5)

    async def _open(self, selection: Selection, start: Start | None) -> Following:
        log = self._logs[selection.kind]
        if start is None:
            return await log.follow(selection.subject_filter)
        begin = (await self._starts([selection], start))[selection.kind]
        sequence = 1 if begin.sequence is None and begin.time is None else begin.sequence
        return await log.follow(selection.subject_filter, from_sequence=sequence, from_time=begin.time)

    async def _starts(self, selections: Sequence[Selection], start: Start) -> dict[Kind, Start]:
        """Return where each log begins: a sequence is one of the state log, for others it becomes its time."""
        if start.sequence is None or all(s.kind is Kind.SANDBOX for s in selections):
            return {s.kind: start for s in selections}
        at = await self._logs[Kind.SANDBOX].history(f"{Kind.SANDBOX.value}.>", from_sequence=start.sequence, limit=1)
        elsewhere = Start(time=at[0].time if at else self._clock.now())
        return {s.kind: start if s.kind is Kind.SANDBOX else elsewhere for s in selections}

    async def _pages(self, selection: Selection, start: Start) -> AsyncGenerator[Entry, None]:
        log, sequence, time = self._logs[selection.kind], start.sequence, start.time
        while True:
            page = await log.history(selection.subject_filter, from_sequence=sequence, from_time=time, limit=PAGE)
            for entry in page:
                if selection.takes(entry):
                    yield entry
            if len(page) < PAGE:
                return
            sequence, time = page[-1].sequence + 1, None


def _nearest(heads: Sequence[Entry | None]) -> int | None:
    """Return which of the entries comes first; of equals the first."""
    there = [(entry.time, place) for place, entry in enumerate(heads) if entry is not None]
    return min(there)[1] if there else None


async def _pump(selection: Selection, following: Following, queue: asyncio.Queue[Entry]) -> None:
    async for entry in following:
        if selection.takes(entry):
            await queue.put(entry)
