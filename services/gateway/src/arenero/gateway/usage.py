"""Who uses which sandbox: a fact for the activity log, so that a sandbox in use is not taken for idle.

A call counts when it begins; a call that stays open counts as long as it does, also when nothing is said on it.
Looking whether a sandbox is there does not count (`Service.idle`). Counting is adding to a number; what is published is
one event per sandbox and window, whatever happened in between.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Final, NamedTuple

from arenero.api.events.v1.activity_events_pb2 import ActivityEvent, EndpointAccessed, StreamsOpen
from arenero.bus.publisher import ActivityPublisher
from arenero.model.ids import SandboxId, TenantId

_ACTOR: Final = "system:gateway"
_ACCESSED: Final = ActivityEvent(endpoint_accessed=EndpointAccessed(port=0))


class Used(NamedTuple):
    """A sandbox in use."""

    tenant: TenantId
    id: SandboxId


class Usage:
    """Counts calls into sandboxes; run it as a named task.

    Args:
        publisher: Takes the facts.
        interval_s: How often a sandbox with open calls is reported.
    """

    def __init__(self, publisher: ActivityPublisher, *, interval_s: float) -> None:
        self._publisher = publisher
        self._interval_s = interval_s
        self._open: Counter[Used] = Counter()

    def begin(self, used: Used) -> None:
        """Note that a call began."""
        self._open[used] += 1
        self._publisher.note(*used, _ACCESSED, actor=_ACTOR, same_as="execd")

    def end(self, used: Used) -> None:
        """Note that a call is over."""
        self._open[used] -= 1
        if self._open[used] <= 0:
            del self._open[used]

    def open_calls(self, used: Used) -> int:
        """Return how many calls into a sandbox are open."""
        return self._open[used]

    def report(self) -> None:
        """Note how many calls are open, for each sandbox that has any."""
        for used, count in self._open.items():
            self._publisher.note(*used, ActivityEvent(streams_open=StreamsOpen(open=count)), actor=_ACTOR, same_as="")

    async def run(self) -> None:
        """Report at the interval until cancelled."""
        while True:
            await asyncio.sleep(self._interval_s)
            self.report()
