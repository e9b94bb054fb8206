"""Threads for blocking work that make do with those there are when no new one can be started.

A sandbox's processes count against one limit with execd's threads. When they have used it up, execd must go on serving:
how else would anybody see, and end, what used it up?
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor


class Threads(ThreadPoolExecutor):
    """A pool that has its first thread from the beginning, and gets more as long as the kernel gives them."""

    def __init__(self, most: int, name: str) -> None:
        super().__init__(most, thread_name_prefix=name)
        self.submit(_nothing)

    def _adjust_thread_count(self) -> None:
        # The work is in the queue when this is called, so whichever thread is free next will do it.
        try:
            super()._adjust_thread_count()
        except RuntimeError:
            if not self._threads:
                raise


def _nothing() -> None:
    pass
