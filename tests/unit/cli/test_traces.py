"""`arenero trace`."""

import json

import grpc

from arenero.api.gateway.v1 import trace_service_pb2
from tests.unit.sdk.wire import SANDBOX_ID, Refused, WirePair, detail

TRACE = trace_service_pb2.Trace(
    trace_id="ab" * 16,
    duration_ns=30_000_000,
    span_count=2,
    spans=[
        trace_service_pb2.Span(name="gateway.sandbox.Create", end_unix_ns=30_000_000),
        trace_service_pb2.Span(
            name="lifecycle.sandbox.Create", depth=1, start_unix_ns=1_000_000, end_unix_ns=2_000_000
        ),
    ],
)


def test_trace_of_a_creation_is_a_tree(wires: WirePair, arenero) -> None:
    wires.gateway.on("GetTrace", trace_service_pb2.GetTraceResponse(trace=TRACE))
    head, first, second = arenero("trace", SANDBOX_ID).stdout.splitlines()
    assert head == f"trace {'ab' * 16}, 30.0 ms, 2 spans"
    assert first.endswith("  gateway.sandbox.Create")
    assert second.endswith("    lifecycle.sandbox.Create")
    request = wires.gateway.called("GetTrace")[0].request
    assert (request.sandbox_id, request.root_name) == (SANDBOX_ID, "gateway.sandbox.Create")


def test_trace_is_found_by_its_id(wires: WirePair, arenero) -> None:
    wires.gateway.on("GetTrace", trace_service_pb2.GetTraceResponse(trace=TRACE))
    shown = json.loads(arenero("trace", "ab" * 16, "-o", "json").stdout)
    assert len(shown["spans"]) == 2
    assert wires.gateway.called("GetTrace")[0].request.trace_id == "ab" * 16


def test_trace_that_is_not_kept_has_its_exit_code(wires: WirePair, arenero) -> None:
    wires.gateway.on("GetTrace", Refused(grpc.StatusCode.NOT_FOUND, "not kept", detail("TRACE_NOT_FOUND")))
    assert arenero("trace", SANDBOX_ID).exit_code == 3
