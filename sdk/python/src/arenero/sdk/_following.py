"""Following the event log over as many connections as it takes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Final

from arenero.sdk.errors import DeadlineExceeded, OutcomeUnknown, Unavailable

if TYPE_CHECKING:
    from arenero.sdk._types.arenero.api.events.v1 import Event, FollowRequest, FollowResponse

_WAIT_S: Final = 0.5
_REMEMBERED: Final = 4096


async def follow(
    open_stream: Callable[[FollowRequest], AsyncIterator[FollowResponse]], request: FollowRequest
) -> AsyncIterator[Event]:
    """Stream events; none of the state log is lost or given twice when the connection breaks.

    Args:
        open_stream: Makes the call.
        request: Where to begin.

    Raises:
        Unavailable: The very first connection could not be made.
        DeadlineExceeded: Nobody has ever answered.
    """
    seen: deque[str] = deque(maxlen=_REMEMBERED)
    is_resumed = has_heard = False
    while True:
        try:
            async for answer in open_stream(request):
                has_heard = True
                if (event := answer.event) is None:
                    request = _after(request, answer.heartbeat_sequence)
                    continue
                if not event.subject.startswith("activity."):
                    request = _after(request, event.sequence)
                # Both logs begin again at one place of the state log, so what is near it may come again.
                if not (is_resumed and event.id in seen):
                    seen.append(event.id)
                    yield event
        except Unavailable:
            if not is_resumed:
                raise
        except DeadlineExceeded:
            if not has_heard:
                raise
        except OutcomeUnknown:
            pass
        is_resumed = True
        await asyncio.sleep(_WAIT_S)


def _after(request: FollowRequest, sequence: int | None) -> FollowRequest:
    """Ask for what comes after a place in the state log."""
    return type(request)(filter=request.filter, sequence=sequence + 1) if sequence else request
