"""Setting up tracing: nothing without a receiver, our resource and sampling with one."""

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from arenero.telemetry.config import TelemetryConfig
from arenero.telemetry.tracing import instance_name, make_provider, setup_tracing


def remote_parent(*, sampled: bool) -> Context:
    flags = TraceFlags(TraceFlags.SAMPLED if sampled else 0)
    return trace.set_span_in_context(NonRecordingSpan(SpanContext(7, 9, is_remote=True, trace_flags=flags)))


def test_without_a_receiver_nothing_is_recorded_and_the_context_goes_on() -> None:
    tracing = setup_tracing("test", TelemetryConfig(), None)
    span = trace.get_tracer("x").start_span("s", context=remote_parent(sampled=True))
    assert not span.is_recording()
    assert span.get_span_context().trace_id == 7
    assert tracing.dropped == 0
    tracing.shutdown()


def test_resource_names_service_and_instance() -> None:
    span = make_provider("lifecycle", TelemetryConfig()).get_tracer("x").start_span("s")
    assert isinstance(span, ReadableSpan)
    assert span.resource.attributes["service.name"] == "arenero-lifecycle"
    assert span.resource.attributes["service.instance.id"] == instance_name()


def test_callers_decision_holds_whatever_the_ratio_is() -> None:
    tracer = make_provider("x", TelemetryConfig(sample_ratio=0.0)).get_tracer("x")
    assert tracer.start_span("s", context=remote_parent(sampled=True)).is_recording()
    assert not tracer.start_span("s", context=remote_parent(sampled=False)).is_recording()
    assert not tracer.start_span("s").is_recording()


def test_attributes_are_bounded() -> None:
    span = make_provider("x", TelemetryConfig()).get_tracer("x").start_span("s")
    assert isinstance(span, ReadableSpan)
    for number in range(1000):
        span.set_attribute(f"k{number}", "v" * 10_000)
    assert span.attributes is not None
    assert len(span.attributes) == 64
    assert max(len(str(value)) for value in span.attributes.values()) == 1024
