"""The span store: finds by trace and by sandbox, forgets the oldest, trusts nothing."""

from collections.abc import Mapping

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from arenero.telemetry.store import SpanStore


def attribute(key: str, value: str | int | bool | float) -> KeyValue:
    kinds = {str: "string_value", bool: "bool_value", int: "int_value", float: "double_value"}
    return KeyValue(key=key, value=AnyValue(**{kinds[type(value)]: value}))  # type: ignore[arg-type]


def span(
    trace: int, number: int, *, parent: int = 0, start_ns: int = 0, attributes: Mapping[str, str | int] | None = None
) -> Span:
    return Span(
        trace_id=trace.to_bytes(16, "big"),
        span_id=number.to_bytes(8, "big"),
        parent_span_id=parent.to_bytes(8, "big") if parent else b"",
        name=f"span-{number}",
        start_time_unix_nano=start_ns,
        end_time_unix_nano=start_ns + 1_000_000,
        attributes=[attribute(key, value) for key, value in (attributes or {}).items()],
    )


def batch(*spans: Span) -> list[ResourceSpans]:
    resource = Resource(attributes=[attribute("service.name", "arenero-lifecycle")])
    return [ResourceSpans(resource=resource, scope_spans=[ScopeSpans(spans=spans)])]


def trace_id(number: int) -> str:
    return f"{number:032x}"


def test_trace_is_found_in_order_of_start() -> None:
    store = SpanStore()
    store.add(batch(span(1, 2, parent=1, start_ns=20), span(1, 1, start_ns=10), span(2, 3)))
    found = store.trace(trace_id(1))
    assert [(s.name, s.parent_id) for s in found] == [("span-1", ""), ("span-2", f"{1:016x}")]
    assert found[0].service == "lifecycle"
    assert found[0].duration_s == 0.001
    assert store.trace(trace_id(9)) == []


def test_traces_of_a_sandbox_come_newest_first() -> None:
    store = SpanStore()
    for number in (1, 2, 3):
        store.add(batch(span(number, number, attributes={"arenero.sandbox_id": "sbx_a"})))
    store.add(batch(span(4, 4, attributes={"arenero.sandbox_id": "sbx_b"})))
    assert [spans[0].span_id[-1] for spans in store.traces_of("sbx_a", limit=2)] == ["3", "2"]
    assert store.traces_of("sbx_c") == []


def test_oldest_traces_make_room() -> None:
    store = SpanStore(max_spans=10)
    for number in range(1, 31):
        store.add(batch(span(number, number, attributes={"arenero.sandbox_id": f"sbx_{number}"})))
    assert len(store) == 10
    assert store.trace(trace_id(20)) == []
    assert store.traces_of("sbx_20") == []
    assert store.trace(trace_id(21)) != []
    assert store.traces_of("sbx_30") != []


def test_trace_that_is_still_growing_stays() -> None:
    store = SpanStore(max_spans=4)
    store.add(batch(span(1, 1)))
    for number in range(2, 7):
        store.add(batch(span(number, number * 10), span(1, number)))
    assert store.trace(trace_id(1)) != []


def test_endless_trace_is_cut() -> None:
    store = SpanStore(max_spans=1000, max_spans_per_trace=5)
    store.add(batch(*(span(1, number) for number in range(1, 101))))
    assert (len(store), store.dropped) == (5, 95)


def test_repeated_span_counts_once() -> None:
    store = SpanStore()
    store.add(batch(span(1, 1), span(1, 1)))
    store.add(batch(span(1, 1)))
    assert len(store) == 1


@pytest.mark.parametrize(("trace_bytes", "span_bytes"), [(b"", b"x" * 8), (b"x" * 16, b""), (b"x" * 17, b"x" * 8)])
def test_malformed_ids_are_dropped(trace_bytes: bytes, span_bytes: bytes) -> None:
    store = SpanStore()
    store.add(batch(Span(trace_id=trace_bytes, span_id=span_bytes)))
    assert (len(store), store.dropped) == (0, 1)


def test_size_of_a_span_is_bounded() -> None:
    huge = span(1, 1, attributes={f"k{number}": "v" * 100_000 for number in range(1000)})
    huge.name = "n" * 100_000
    huge.attributes.append(KeyValue(key="list", value=AnyValue(array_value=ArrayValue())))
    store = SpanStore()
    store.add(batch(huge))
    [kept] = store.trace(trace_id(1))
    assert len(kept.name) == 128
    assert len(kept.attributes) == 32
    assert max(len(str(value)) for value in kept.attributes.values()) == 512


def test_time_that_runs_backwards_is_no_negative_duration() -> None:
    odd = span(1, 1, start_ns=100)
    odd.end_time_unix_nano = 50
    store = SpanStore()
    store.add(batch(odd))
    assert store.trace(trace_id(1))[0].duration_s == 0


def test_guest_can_not_claim_another_tenant_or_sandbox() -> None:
    store = SpanStore()
    claim = {"arenero.tenant": "victim", "arenero.sandbox_id": "sbx_victim"}
    store.add(batch(span(1, 1, attributes=claim)), forced={"arenero.tenant": "acme", "arenero.sandbox_id": "sbx_own"})
    assert store.trace(trace_id(1), tenant="victim") == []
    assert store.traces_of("sbx_victim") == []
    assert len(store.trace(trace_id(1), tenant="acme")) == 1


def test_tenant_sees_own_traces_and_no_span_of_others() -> None:
    store = SpanStore()
    store.add(
        batch(
            span(1, 1, attributes={"arenero.tenant": "acme"}),
            span(1, 2, parent=1),
            span(1, 3, parent=1, attributes={"arenero.tenant": "other"}),
            span(2, 4),
        )
    )
    assert [s.name for s in store.trace(trace_id(1), tenant="acme")] == ["span-1", "span-2"]
    assert store.trace(trace_id(1), tenant="third") == []
    assert store.trace(trace_id(2), tenant="acme") == []


def test_error_and_values_are_kept() -> None:
    failed = span(1, 1, attributes={"count": 3})
    failed.status.code = Status.STATUS_CODE_ERROR
    failed.attributes.append(attribute("ok", True))
    failed.attributes.append(attribute("ratio", 0.5))
    store = SpanStore()
    store.add(batch(failed))
    [kept] = store.trace(trace_id(1))
    assert kept.is_error
    assert dict(kept.attributes) == {"count": 3, "ok": True, "ratio": 0.5}
