"""The caller's trace in calls."""

import subprocess
import sys

import pytest
from opentelemetry.sdk.trace import TracerProvider

from arenero.api.execd.v1 import exec_service_pb2
from arenero.api.lifecycle.v1 import sandbox_service_pb2
from arenero.sdk import Sandbox
from arenero.sdk._tracing import trace_metadata
from tests.unit.sdk.wire import WirePair, record

INHERITED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture(autouse=True)
def _no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRACEPARENT", raising=False)


async def test_open_span_is_continued_by_both_ways(wires: WirePair) -> None:
    wires.execd.on("ListPorts", exec_service_pb2.ListPortsResponse())
    tracer = TracerProvider().get_tracer("test")
    with tracer.start_as_current_span("mine") as span:
        async with wires.sandbox() as sandbox:
            await sandbox.ports()
    expected = f"{span.get_span_context().trace_id:032x}-{span.get_span_context().span_id:016x}"
    for call in (*wires.gateway.called("Get"), *wires.execd.called("ListPorts")):
        assert call.metadata["traceparent"].startswith(f"00-{expected}-0")


async def test_given_trace_goes_before_the_callers_own(wires: WirePair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACEPARENT", INHERITED)
    wires.gateway.on("Create", sandbox_service_pb2.CreateResponse(sandbox=record()))
    async with wires.client() as client:
        await (await Sandbox.create(client=client)).close()
        await (await Sandbox.create(client=client, traceparent="00-a-b-01")).close()
    first, second = wires.gateway.called("Create")
    assert (first.metadata["traceparent"], second.metadata["traceparent"]) == (INHERITED, "00-a-b-01")


@pytest.mark.parametrize("value", ["", "x", INHERITED + "-extra", "00-" + "0" * 32 + "-b7ad6b7169203331-01"])
def test_what_is_no_trace_is_not_sent(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACEPARENT", value)
    assert trace_metadata() == ()


def test_opentelemetry_is_not_loaded_for_it() -> None:
    code = "import arenero.sdk._tracing as t, sys; t.trace_metadata(); print('opentelemetry' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"False\n"
