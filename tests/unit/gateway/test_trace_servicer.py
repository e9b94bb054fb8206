import pytest

from arenero.api.gateway.v1 import trace_service_pb2 as pb
from arenero.errors import InvalidArgument, NotFound
from arenero.gateway.trace_servicer import TraceServicer, parse_trace_id
from arenero.gateway.traces import Traces
from arenero.model.ids import TenantId
from arenero.rpc.identity import Caller, set_caller
from arenero.telemetry.store import SpanStore
from tests.unit.gateway.spans import TRACE, exported

SANDBOX = "sbx_aaaaaaaaaaaaaaaaaaaa"


@pytest.fixture
def servicer() -> TraceServicer:
    store = SpanStore()
    store.add(exported(("a", "", "root", 1_000), ("b", "a", "step", 2_000), sandbox=SANDBOX, failed=True))
    return TraceServicer(Traces(store))


@pytest.fixture(autouse=True)
def caller() -> None:
    set_caller(Caller(TenantId("acme"), "key:key_x"))


async def test_trace_is_answered_as_a_tree(servicer: TraceServicer) -> None:
    trace = (await servicer.GetTrace(pb.GetTraceRequest(trace_id=TRACE.upper()), None)).trace
    assert (trace.trace_id, trace.tenant, trace.root_name, trace.span_count) == (TRACE, "acme", "root", 2)
    assert [(span.name, span.depth) for span in trace.spans] == [("root", 0), ("step", 1)]
    assert {span.service for span in trace.spans} == {"lifecycle"}
    assert trace.spans[1].parent_span_id == trace.spans[0].span_id
    assert trace.spans[0].error == "failed"
    assert trace.started_at.ToNanoseconds() == 1_000


async def test_newest_trace_of_a_sandbox_is_answered(servicer: TraceServicer) -> None:
    answer = await servicer.GetTrace(pb.GetTraceRequest(sandbox_id=SANDBOX, root_name="root"), None)
    assert answer.trace.trace_id == TRACE
    with pytest.raises(NotFound):
        await servicer.GetTrace(pb.GetTraceRequest(sandbox_id=SANDBOX, root_name="other"), None)


async def test_list_leaves_the_spans_out(servicer: TraceServicer) -> None:
    for request in (pb.ListTracesRequest(), pb.ListTracesRequest(sandbox_id=SANDBOX)):
        [trace] = (await servicer.ListTraces(request, None)).traces
        assert trace.span_count == 2
        assert not trace.spans


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (pb.GetTraceRequest(), "selector"),
        (pb.GetTraceRequest(trace_id="x"), "trace_id"),
        (pb.GetTraceRequest(trace_id=TRACE + "0"), "trace_id"),
        (pb.GetTraceRequest(sandbox_id="sbx_1"), "sandbox_id"),
    ],
)
async def test_malformed_request_names_the_field(
    servicer: TraceServicer, asked: pb.GetTraceRequest, field: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        await servicer.GetTrace(asked, None)
    assert caught.value.field == field


async def test_limit_is_bounded(servicer: TraceServicer) -> None:
    with pytest.raises(InvalidArgument):
        await servicer.ListTraces(pb.ListTracesRequest(limit=1001), None)


def test_trace_id_is_taken_in_any_case() -> None:
    assert parse_trace_id(TRACE.upper()) == TRACE
