"""What is measured of the calls that are passed on: how many, how long, how much. Per message, it is one addition."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import trace

from arenero.errors import ArenError
from arenero.gateway.catalog import Method
from arenero.rpc.status import code_of
from arenero.telemetry.metrics import Metrics

_CANCELLED = "CANCELLED"


class Meter:
    """Sums of one call."""

    __slots__ = ("code", "down_bytes", "up_bytes")

    def __init__(self) -> None:
        self.up_bytes = 0
        """From the client."""
        self.down_bytes = 0
        """To the client."""
        self.code = _CANCELLED
        """Name of the status; that of a call that ended before it had one is the initial value."""

    def up(self, size_bytes: int) -> None:
        """Count a message of the client."""
        self.up_bytes += size_bytes

    def down(self, size_bytes: int) -> None:
        """Count a message to the client."""
        self.down_bytes += size_bytes


class CallMetrics:
    """Makes meters and adds them up."""

    def __init__(self, metrics: Metrics) -> None:
        self._calls = metrics.counter("gateway_calls", "Calls passed on", ("method", "code"))
        self._seconds = metrics.histogram("gateway_call_seconds", "How long calls took", ("method",))
        self._bytes = metrics.counter("gateway_bytes", "Bytes of messages passed on", ("method", "direction"))
        self._open = metrics.gauge("gateway_open_calls", "Calls under way", ("method",))

    @contextmanager
    def measured(self, method: Method) -> Iterator[Meter]:
        """Measure the block as one call."""
        meter, label = Meter(), f"{method.service.name.rpartition('.')[2]}/{method.name}"
        opened = self._open.labels(label)
        opened.inc()
        started_s = time.perf_counter()
        try:
            yield meter
        except ArenError as error:
            meter.code = code_of(error).name
            raise
        finally:
            opened.dec()
            self._seconds.labels(label).observe(time.perf_counter() - started_s)
            self._calls.labels(label, meter.code).inc()
            self._bytes.labels(label, "up").inc(meter.up_bytes)
            self._bytes.labels(label, "down").inc(meter.down_bytes)
            _note(meter)


def _note(meter: Meter) -> None:
    span = trace.get_current_span()
    if span.is_recording():
        span.set_attribute("arenero.bytes_up", meter.up_bytes)
        span.set_attribute("arenero.bytes_down", meter.down_bytes)
        span.set_attribute("arenero.status", meter.code)
