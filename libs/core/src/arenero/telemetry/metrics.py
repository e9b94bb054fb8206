"""Counters, gauges and histograms of one process, in Prometheus' text format.

A registry is made in `wiring` and passed on; there is none at module level, so tests and several instances in one
process do not add up. Names are `arenero_<what>_<unit>`; labels have few values by construction: never an id.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
SECONDS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Bucket bounds for durations, from a local call to an image pull."""


class Metrics:
    """The metrics of one process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()

    def counter(self, name: str, what: str, labels: Sequence[str] = ()) -> Counter:
        """Make a counter; its name is exposed with `_total` at the end."""
        return Counter(f"arenero_{name}", what, labels, registry=self._registry)

    def gauge(self, name: str, what: str, labels: Sequence[str] = ()) -> Gauge:
        """Make a value that goes up and down."""
        return Gauge(f"arenero_{name}", what, labels, registry=self._registry)

    def histogram(
        self, name: str, what: str, labels: Sequence[str] = (), *, buckets: Sequence[float] = SECONDS
    ) -> Histogram:
        """Make a distribution; name it with its unit, such as `create_seconds`."""
        return Histogram(f"arenero_{name}", what, labels, buckets=buckets, registry=self._registry)

    def render(self) -> bytes:
        """Return everything as Prometheus reads it; the media type is `CONTENT_TYPE`."""
        return generate_latest(self._registry)


@contextmanager
def timed(histogram: Histogram, *labels: str) -> Iterator[None]:
    """Put the time that the block takes into a histogram, also when it fails."""
    started_s = time.perf_counter()
    try:
        yield
    finally:
        (histogram.labels(*labels) if labels else histogram).observe(time.perf_counter() - started_s)
