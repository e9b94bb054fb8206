"""What the gateway hears of sandboxes: enough to forget a way that may have changed.

Only subjects are looked at, never the messages.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from arenero.bus.log import EventLog, Following
from arenero.bus.subjects import Kind, filter_of, parse_subject
from arenero.errors import NotFound, Unavailable
from arenero.gateway.proxy.sandboxes import Sandboxes
from arenero.model.ids import SandboxId

_log = logging.getLogger(__name__)
_RETRY_S: Final = 0.5
MOVED: Final = frozenset(
    {"started", "recovered", "failed", "pausing", "paused", "resuming", "resumed", "stopping", "terminated", "claimed"}
)
"""Facts after which a sandbox may be somewhere else, be another boot, or not be at all."""


class SandboxFeed:
    """Follows sandboxes' facts; run it as a named task."""

    def __init__(self, log: EventLog, sandboxes: Sandboxes) -> None:
        self._log = log
        self._sandboxes = sandboxes

    async def run(self) -> None:
        """Follow until cancelled; over interruptions, too, and then nothing is left out."""
        async with await self._follow() as entries:
            # What was learnt before may have changed before this could hear of it.
            self._sandboxes.forget_all()
            async for entry in entries:
                self.take(entry.subject)

    async def _follow(self) -> Following:
        """Begin to follow, once there is something to follow: lifecycle makes the log, and may start later."""
        while True:
            try:
                return await self._log.follow(filter_of(Kind.SANDBOX))
            except (NotFound, Unavailable) as error:
                _log.info("feed.waiting", extra={"cause": str(error)})
                await asyncio.sleep(_RETRY_S)

    def take(self, subject: str) -> None:
        """Act on one fact."""
        try:
            found = parse_subject(subject)
        except ValueError as error:
            _log.warning("feed.unreadable", extra={"error": str(error)})
            return
        if found.fact in MOVED:
            self._sandboxes.forget(found.tenant, SandboxId(found.id))
