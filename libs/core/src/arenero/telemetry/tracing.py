"""Tracing of one process: the OpenTelemetry SDK, set up once.

Without a receiver no SDK is set up at all: the API's no-op tracer costs a microsecond and still passes a caller's trace
context on, so a trace does not break at a process that keeps nothing.
"""

from __future__ import annotations

import os
import socket
from typing import Final

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

from arenero.telemetry.config import TelemetryConfig
from arenero.telemetry.shipper import Send, SpanShipper

_LIMITS: Final = SpanLimits(max_span_attributes=64, max_events=64, max_links=32, max_span_attribute_length=1024)


class Tracing:
    """What was set up; `shutdown` sends the rest."""

    def __init__(self, provider: TracerProvider | None, shipper: SpanShipper | None) -> None:
        self._provider = provider
        self._shipper = shipper

    @property
    def dropped(self) -> int:
        """Spans that were not delivered so far."""
        return self._shipper.dropped if self._shipper else 0

    def shutdown(self) -> None:
        """Send what is queued, for a few seconds at most, and stop."""
        if self._provider is not None:
            self._provider.shutdown()


def setup_tracing(service: str, config: TelemetryConfig, send: Send | None) -> Tracing:
    """Record spans of this process and give them to `send`; without it, record none. Once per process.

    Args:
        service: Name of the service, such as `lifecycle`.
        config: Sampling and queue.
        send: Delivers batches; called in a thread.
    """
    if send is None:
        return Tracing(None, None)
    shipper = SpanShipper(send, queue_spans=config.queue_spans)
    provider = make_provider(service, config)
    provider.add_span_processor(shipper)
    trace.set_tracer_provider(provider)
    return Tracing(provider, shipper)


def make_provider(service: str, config: TelemetryConfig) -> TracerProvider:
    """Return a provider with our limits, sampling and resource; processors are the caller's to add."""
    return TracerProvider(
        resource=Resource({"service.name": f"arenero-{service}", "service.instance.id": instance_name()}),
        sampler=ParentBased(TraceIdRatioBased(config.sample_ratio)),
        span_limits=_LIMITS,
        shutdown_on_exit=False,
    )


def instance_name() -> str:
    """Return a name for this process among all of its kind: host and pid."""
    return f"{socket.gethostname()}/{os.getpid()}"
