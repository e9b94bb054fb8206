"""Activity: what happens in and around sandboxes without a change of state.

Noting costs nothing but memory: it never waits, and what is frequent is counted instead of repeated. Every window the
notes become events and go to the ACTIVITY log. When the log is away they are kept, up to a limit, and sent later under
the same ids; what does not fit is dropped and counted. Activity is history, not state: nothing is decided from it.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from arenero.api.events.v1.activity_events_pb2 import ActivityEvent
from arenero.api.events.v1.event_pb2 import Event
from arenero.bus.envelope import new_event, pack
from arenero.bus.log import EventLog
from arenero.bus.subjects import Kind, Subject
from arenero.errors import ArenError, OutcomeUnknown, Unavailable
from arenero.model.ids import EventId, SandboxId, TenantId, new_event_id
from arenero.model.time import Clock

_log = logging.getLogger(__name__)
_IN_FLIGHT: Final = 64
_LAST_FLUSH_S: Final = 2.0


@dataclass(slots=True)
class _Note:
    id: EventId
    subject: Subject
    activity: ActivityEvent
    actor: str
    first_at: datetime
    last_at: datetime
    count: int = 1


class ActivityPublisher:
    """Collects notes and publishes them; run it as a named task.

    Args:
        log: The ACTIVITY log.
        source: Service and instance, such as `gateway/host-1`.
        clock: The time of notes.
        window_s: How long notes of one kind are counted together; also the longest that one waits.
        max_notes: Notes kept at most.
    """

    def __init__(
        self, log: EventLog, *, source: str, clock: Clock, window_s: float = 1.0, max_notes: int = 10_000
    ) -> None:
        self._log = log
        self._source = source
        self._clock = clock
        self._window_s = window_s
        self._max_notes = max_notes
        self._notes: dict[tuple[str, ...], _Note] = {}
        self._unsent: list[_Note] = []
        self.dropped = 0
        """Notes that did not fit, or that the log refused."""

    def note(
        self,
        tenant: TenantId,
        sandbox_id: SandboxId,
        activity: ActivityEvent,
        *,
        actor: str,
        same_as: str | None = None,
    ) -> None:
        """Note one activity; never waits.

        Args:
            tenant: Owner of the sandbox.
            sandbox_id: The sandbox.
            activity: What happened; its kind must be set. The first of those counted together is published.
            actor: Who did it.
            same_as: Notes of a sandbox, kind, actor and this text are counted together, such as host and port of a
                connection. None: never.
        """
        kind = activity.WhichOneof("kind")
        if kind is None:
            raise ValueError("an activity without a kind says nothing")
        now = self._clock.now()
        key = (tenant, sandbox_id, kind, actor, new_event_id() if same_as is None else f"={same_as}")
        known = self._notes.get(key)
        if known is not None:
            known.count += 1
            known.last_at = now
        elif len(self._notes) + len(self._unsent) >= self._max_notes:
            self.dropped += 1
        else:
            subject = Subject(Kind.ACTIVITY, tenant, sandbox_id, kind)
            self._notes[key] = _Note(new_event_id(), subject, activity, actor, now, now)

    async def run(self) -> None:
        """Publish once per window until cancelled; then once more, for a short time."""
        try:
            while True:
                await asyncio.sleep(self._window_s)
                await self.flush()
        finally:
            try:
                async with asyncio.timeout(_LAST_FLUSH_S):
                    await self.flush()
            except TimeoutError:
                self.dropped += len(self._unsent) + len(self._notes)

    async def flush(self) -> None:
        """Publish what has been noted so far; what the log can't take now is kept."""
        sending = [*self._unsent, *self._notes.values()]
        self._notes.clear()
        self._unsent = sending
        while sending:
            batch, sending = sending[:_IN_FLIGHT], sending[_IN_FLIGHT:]
            sent = await asyncio.gather(*(self._publish(note) for note in batch))
            kept = [note for note, done in zip(batch, sent, strict=True) if not done]
            self._unsent = kept + sending
            if kept:
                return

    async def _publish(self, note: _Note) -> bool:
        """Publish one note; return False when it is to be tried again."""
        data, headers = pack(self._event(note))
        try:
            await self._log.publish(str(note.subject), data, message_id=note.id, headers=headers)
        except (Unavailable, OutcomeUnknown):
            return False
        except ArenError as error:
            _log.warning("activity.refused", extra={"subject": str(note.subject), "error": str(error)})
            self.dropped += 1
        return True

    def _event(self, note: _Note) -> Event:
        event = new_event(note.id, note.subject, note.last_at, actor=note.actor, source=self._source)
        event.activity.CopyFrom(note.activity)
        event.activity.sandbox_id = note.subject.id
        event.activity.count = note.count
        if note.count > 1:
            event.activity.first_at.FromDatetime(note.first_at)
        return event
