"""What the gateway hears of sandboxes: enough to forget a way that may have changed.

Only subjects are looked at, never the messages.
"""

from __future__ import annotations

import logging
from typing import Final

from arenero.bus.log import EventLog
from arenero.bus.subjects import Kind, filter_of, parse_subject
from arenero.gateway.proxy.sandboxes import Sandboxes
from arenero.model.ids import SandboxId

_log = logging.getLogger(__name__)
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
        async with await self._log.follow(filter_of(Kind.SANDBOX)) as entries:
            async for entry in entries:
                self.take(entry.subject)

    def take(self, subject: str) -> None:
        """Act on one fact."""
        try:
            found = parse_subject(subject)
        except ValueError as error:
            _log.warning("feed.unreadable", extra={"error": str(error)})
            return
        if found.fact in MOVED:
            self._sandboxes.forget(found.tenant, SandboxId(found.id))
