"""Spans leave in batches, work never waits, and what is lost is counted."""

import threading
from collections.abc import Iterator

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from arenero.telemetry.config import TelemetryConfig
from arenero.telemetry.shipper import SpanShipper
from arenero.telemetry.tracing import make_provider


class Receiver:
    """Takes batches, refuses them, or makes their sender wait."""

    def __init__(self) -> None:
        self.spans: list[str] = []
        self.batches = 0
        self.fails = False
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, request: bytes) -> None:
        self.gate.wait(10)
        if self.fails:
            raise ConnectionError("away")
        self.batches += 1
        message = ExportTraceServiceRequest.FromString(request)
        self.spans += [s.name for r in message.resource_spans for scope in r.scope_spans for s in scope.spans]


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def shipper(receiver: Receiver) -> Iterator[SpanShipper]:
    shipper = SpanShipper(receiver, queue_spans=1000)
    yield shipper
    receiver.gate.set()
    shipper.shutdown()


def provider(shipper: SpanShipper) -> TracerProvider:
    made = make_provider("test", TelemetryConfig())
    made.add_span_processor(shipper)
    return made


def end_spans(made: TracerProvider, count: int) -> None:
    tracer = made.get_tracer("t")
    for number in range(count):
        tracer.start_span(f"s{number}").end()


def test_spans_arrive_in_batches(receiver: Receiver, shipper: SpanShipper) -> None:
    end_spans(provider(shipper), 900)
    assert shipper.force_flush()
    assert receiver.spans == [f"s{number}" for number in range(900)]
    assert receiver.batches < 10
    assert shipper.dropped == 0


def test_full_queue_drops_and_counts(receiver: Receiver, shipper: SpanShipper) -> None:
    receiver.gate.clear()
    end_spans(provider(shipper), 3000)
    assert shipper.dropped >= 1000
    receiver.gate.set()
    assert shipper.force_flush()
    assert len(receiver.spans) + shipper.dropped == 3000


def test_receiver_that_is_away_costs_spans_and_nothing_else(receiver: Receiver, shipper: SpanShipper) -> None:
    receiver.fails = True
    end_spans(provider(shipper), 10)
    shipper.force_flush()
    assert shipper.dropped == 10
    receiver.fails = False
    end_spans(provider(shipper), 5)
    shipper.shutdown()
    assert len(receiver.spans) == 5


def test_shutdown_sends_the_rest(receiver: Receiver, shipper: SpanShipper) -> None:
    end_spans(provider(shipper), 3)
    shipper.shutdown()
    assert len(receiver.spans) == 3
    end_spans(provider(shipper), 1)
    assert shipper.dropped == 1


def test_unsampled_spans_stay_here(receiver: Receiver, shipper: SpanShipper) -> None:
    made = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    made.add_span_processor(shipper)
    end_spans(made, 5)
    assert shipper.force_flush()
    assert (receiver.spans, shipper.dropped) == ([], 0)


def test_no_thread_before_the_first_span(receiver: Receiver) -> None:
    before = threading.active_count()
    idle = SpanShipper(receiver, queue_spans=10)
    assert threading.active_count() == before
    assert idle.force_flush()
    idle.shutdown()
