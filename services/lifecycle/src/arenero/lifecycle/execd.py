"""What lifecycle needs of the execd in a sandbox: does it answer, and a new deadline for its lease.

execd is inside the sandbox, so nothing that it says is trusted: answers are bounded in size and time, checked, and only
ever used to describe, never to decide about another sandbox.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from arenero.model.record import SandboxRecord
from arenero.runtime.driver import StepSpan

MAX_BOOT_SPANS: Final = 32
_SPAN_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True)
class Hello:
    """What execd said about itself."""

    version: str
    boot_spans: Sequence[StepSpan] = ()
    """What its start consisted of, by its own account."""


class Execd(Protocol):
    """Calls the execd of a sandbox whose record has an endpoint."""

    async def hello(self, record: SandboxRecord) -> Hello:
        """Wait until it answers, as long as the caller has patience, and return what it says.

        Raises:
            FailedPrecondition: Something else answers there.
        """
        ...

    async def set_lease(self, record: SandboxRecord, ttl_s: float | None) -> None:
        """Move the deadline at which it ends the sandbox by itself; None: no deadline.

        An older deadline that arrives late changes nothing: the record's revision goes with it.

        Raises:
            Unavailable: It can't be reached.
            DeadlineExceeded: It didn't answer in time.
        """
        ...


def clamp_spans(spans: Iterable[StepSpan], earliest_ns: int, latest_ns: int) -> list[StepSpan]:
    """Return those spans of a guest that can be true: well named, in order, cut to what was really waited for."""
    kept = []
    for span in list(spans)[:MAX_BOOT_SPANS]:
        start_ns = min(max(span.start_unix_ns, earliest_ns), latest_ns)
        end_ns = min(max(span.end_unix_ns, start_ns), latest_ns)
        overlaps = span.end_unix_ns >= earliest_ns and span.start_unix_ns <= latest_ns
        if _SPAN_NAME.fullmatch(span.name) and overlaps:
            kept.append(StepSpan(span.name, start_ns, end_ns))
    return kept
