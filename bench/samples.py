"""Samples: taking them and summing them up."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence


def quantile(samples: Sequence[float], share: float) -> float:
    """Return the smallest sample that is not below `share` of them."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def timed_ms(action: Callable[[], Awaitable[object]]) -> float:
    """Return how long one run of it takes."""
    began_ns = time.perf_counter_ns()
    await action()
    return (time.perf_counter_ns() - began_ns) / 1e6


async def repeat_ms(action: Callable[[], Awaitable[object]], count: int, *, warm_up: int = 3) -> list[float]:
    """Return how long each of `count` runs takes, one after the other, after some that don't count."""
    for _ in range(warm_up):
        await action()
    return [await timed_ms(action) for _ in range(count)]
