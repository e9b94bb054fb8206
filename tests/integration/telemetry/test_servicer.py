"""Spans go from a tracer over gRPC into the store, and an rpc's spans are one trace."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc
from opentelemetry.sdk.trace import TracerProvider

from arenero.api.gateway.v1 import key_service_pb2, key_service_pb2_grpc
from arenero.errors import NotFound, Unavailable
from arenero.model.ids import TenantId
from arenero.rpc import interceptors
from arenero.rpc.client import call, open_channel
from arenero.rpc.identity import Caller, trust_metadata
from arenero.rpc.otlp import OtlpSender
from arenero.rpc.server import RpcServer, RpcServerConfig
from arenero.telemetry.config import TelemetryConfig
from arenero.telemetry.servicer import TraceServicer
from arenero.telemetry.shipper import SpanShipper
from arenero.telemetry.store import SpanStore
from arenero.telemetry.tracing import make_provider

ACME = Caller(TenantId("acme"), "key:key_1")


async def anyone(method: str, metadata: Any) -> None:
    """Authenticate nobody: the receiver's socket is private."""


@pytest.fixture
async def store() -> SpanStore:
    return SpanStore()


@pytest.fixture
async def receiver(tmp_path: Path, store: SpanStore) -> AsyncIterator[str]:
    server = RpcServer(RpcServerConfig(f"unix:{tmp_path}/run/otlp.sock"), authenticate=anyone)
    server.add(trace_service_pb2_grpc.add_TraceServiceServicer_to_server, TraceServicer(store))
    await server.start()
    await server.health.set_serving(True)
    yield server.address
    await server.stop(0)


@pytest.fixture
async def provider(receiver: str) -> AsyncIterator[TracerProvider]:
    sender = OtlpSender(receiver)
    made = make_provider("test", TelemetryConfig())
    made.add_span_processor(SpanShipper(sender, queue_spans=1000))
    yield made
    await asyncio.to_thread(made.shutdown)
    sender.close()


class Keys(key_service_pb2_grpc.KeyServiceServicer):
    """Fails as the request says."""

    async def Create(self, request: Any, context: Any) -> key_service_pb2.CreateResponse:  # noqa: N802
        with trace.get_tracer("work").start_as_current_span("work"):
            if request.name == "missing":
                raise NotFound("no such thing", reason="KEY_NOT_FOUND")
            if request.name == "away":
                raise Unavailable("away", reason="AWAY")
        return key_service_pb2.CreateResponse()


@pytest.fixture
async def keys(tmp_path: Path, provider: TracerProvider, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    monkeypatch.setattr(interceptors, "_tracer", provider.get_tracer("rpc"))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    server = RpcServer(RpcServerConfig(f"unix:{tmp_path}/run/keys.sock"), authenticate=trust_metadata)
    servicer = Keys()  # type: ignore[abstract]  # the rest stays unimplemented
    server.add(key_service_pb2_grpc.add_KeyServiceServicer_to_server, servicer)
    await server.start()
    await server.health.set_serving(True)
    async with open_channel(server.address) as channel:
        yield key_service_pb2_grpc.KeyServiceStub(channel)
    await server.stop(0)


async def make_call(provider: TracerProvider, keys: Any, name: str) -> str:
    """Call inside a span and return the trace id, when all spans have arrived."""
    with provider.get_tracer("client").start_as_current_span("client") as span:
        try:
            await call(keys.Create, key_service_pb2.CreateRequest(name=name), timeout_s=0.05, caller=ACME)
        except (NotFound, Unavailable):
            pass
    assert await asyncio.to_thread(provider.force_flush)
    return f"{span.get_span_context().trace_id:032x}"


async def test_spans_of_a_call_are_one_trace(provider: TracerProvider, keys: Any, store: SpanStore) -> None:
    spans = store.trace(await make_call(provider, keys, ""), tenant="acme")
    assert [span.name for span in spans] == ["client", "gateway.key.Create", "work"]
    assert [span.parent_id for span in spans] == ["", spans[0].span_id, spans[1].span_id]
    assert spans[1].attributes["arenero.tenant"] == "acme"
    assert not spans[1].is_error


@pytest.mark.parametrize(("name", "is_error"), [("missing", False), ("away", True)])
async def test_only_our_own_faults_are_errors(
    provider: TracerProvider, keys: Any, store: SpanStore, name: str, is_error: bool
) -> None:
    spans = store.trace(await make_call(provider, keys, name))
    served = next(span for span in spans if span.name == "gateway.key.Create")
    assert served.is_error is is_error
    assert served.attributes["arenero.reason"] in ("KEY_NOT_FOUND", "AWAY")
