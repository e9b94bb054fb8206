"""Not waiting forever: the client's own watch over a command's time limit, and what is said of a silent platform.

execd ends a command at its limit. The client's watch is for when that is not heard of, because execd or what is between
stands still; a client that reads slowly is no such case, so only silence after the limit counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Final, TypeVar

from arenero.sdk.errors import NO_ANSWER, DeadlineExceeded

T = TypeVar("T")

_KILL_GRACE_S: Final = 2.0
_DRAIN_S: Final = 0.5
"""What execd takes for both when it is told nothing."""
_SILENCE_S: Final = 10.0
"""More than any answer takes to come, also from a machine that is busy."""


class Deadline:
    """When a command has ended for sure, if all is well."""

    def __init__(
        self, timeout_s: float | None = None, *, kill_grace_s: float | None = None, drain_timeout_s: float | None = None
    ) -> None:
        """Take the limit; the first wait begins to count.

        Args:
            timeout_s: The command's time limit; None: it has none, and is waited for without end.
            kill_grace_s: What it is left after that.
            drain_timeout_s: What its output is waited for after its end.
        """
        self._timeout_s = timeout_s
        grace_s = _KILL_GRACE_S if kill_grace_s is None else kill_grace_s
        drain_s = _DRAIN_S if drain_timeout_s is None else drain_timeout_s
        self._length_s = None if timeout_s is None else timeout_s + grace_s + drain_s
        self._at_s: float | None = None

    async def wait(self, answer: Awaitable[T]) -> T:
        """Await what comes next.

        Raises:
            DeadlineExceeded: Nothing came for ten seconds after the end should have come; reason NO_ANSWER.
        """
        if self._length_s is None:
            return await answer
        now_s = asyncio.get_running_loop().time()
        if self._at_s is None:
            self._at_s = now_s + self._length_s
        try:
            async with asyncio.timeout_at(max(self._at_s, now_s) + _SILENCE_S):
                return await answer
        except TimeoutError:
            raise DeadlineExceeded(
                f"the time limit of {self._timeout_s:g} s has passed, and the sandbox has not answered for "
                f"{_SILENCE_S:g} s",
                reason=NO_ANSWER,
            ) from None


def no_answer(timeout_s: float) -> DeadlineExceeded:
    """Return the error of a platform that took a call and says nothing."""
    return DeadlineExceeded(
        f"the platform has not answered within {timeout_s:g} s",
        reason=NO_ANSWER,
        fix="look with `arenero status` whether it is up, and at the logs in its state directory",
    )
