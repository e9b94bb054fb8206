import pytest

from arenero.errors import NotFound, Unsupported
from arenero.gateway.traces import Traces
from arenero.model.ids import TenantId
from arenero.telemetry.store import SpanStore
from tests.unit.gateway.spans import TRACE, exported

ACME, BETA = TenantId("acme"), TenantId("beta")
SANDBOX = "sbx_aaaaaaaaaaaaaaaaaaaa"


def kept(*spans, **more) -> Traces:
    store = SpanStore()
    store.add(exported(*spans, **more))
    return Traces(store)


def shape(traces: Traces, trace_id: str = TRACE) -> list[tuple[str, int]]:
    return [(placed.span.name, placed.depth) for placed in traces.trace(ACME, trace_id).spans]


def test_parents_come_before_their_children_and_children_by_start() -> None:
    traces = kept(("d", "b", "leaf", 30), ("c", "a", "second", 20), ("a", "", "root", 0), ("b", "a", "first", 10))
    assert shape(traces) == [("root", 0), ("first", 1), ("leaf", 2), ("second", 1)]


def test_span_whose_parent_is_elsewhere_is_at_the_top() -> None:
    assert shape(kept(("b", "z", "orphan", 5), ("a", "y", "root", 0))) == [("root", 0), ("orphan", 0)]


def test_spans_that_are_each_others_parents_are_shown_all_the_same() -> None:
    traces = kept(("a", "b", "egg", 0), ("b", "a", "hen", 1), ("c", "c", "self", 2))
    assert sorted(shape(traces)) == [("egg", 0), ("hen", 0), ("self", 0)]


def test_duration_is_from_the_first_start_to_the_last_end() -> None:
    view = kept(("a", "", "root", 100), ("b", "a", "late", 500)).trace(ACME, TRACE)
    assert view.duration_ns == 500 + 10 - 100


def test_other_tenants_trace_is_not_found() -> None:
    with pytest.raises(NotFound):
        kept(("a", "", "root", 0)).trace(BETA, TRACE)


def test_traces_of_a_sandbox_can_be_chosen_by_their_first_span() -> None:
    store = SpanStore()
    for number, name in enumerate(("gateway.sandbox.Create", "gateway.sandbox.Get", "gateway.sandbox.Get")):
        store.add(exported((f"{number}", "", name, number), trace_id=f"{number:032x}", sandbox=SANDBOX))
    traces = Traces(store)
    assert [view.root.name[-6:] for view in traces.of_sandbox(ACME, SANDBOX, limit=9)] == ["ox.Get", "ox.Get", "Create"]
    [created] = traces.of_sandbox(ACME, SANDBOX, root_name="gateway.sandbox.Create", limit=9)
    assert created.root.trace_id == f"{0:032x}"
    assert len(traces.of_sandbox(ACME, SANDBOX, limit=2)) == 2
    assert traces.of_sandbox(BETA, SANDBOX, limit=9) == []


def test_recent_traces_are_newest_first() -> None:
    store = SpanStore()
    for number in range(5):
        store.add(exported(("a", "", f"n{number}", number), trace_id=f"{number:032x}"))
    assert [view.root.name for view in Traces(store).recent(ACME, limit=3)] == ["n4", "n3", "n2"]


def test_nothing_is_kept_where_spans_go_elsewhere() -> None:
    with pytest.raises(Unsupported):
        Traces(None).recent(ACME, limit=1)
