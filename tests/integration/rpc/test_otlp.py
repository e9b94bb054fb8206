"""Shipping spans to a receiver: delivered, or an error for the thread that ships."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

from arenero.rpc.otlp import OtlpSender
from arenero.rpc.server import RpcServer, RpcServerConfig

REQUEST = trace_service_pb2.ExportTraceServiceRequest(resource_spans=[ResourceSpans(schema_url="x")])


class Receiver(trace_service_pb2_grpc.TraceServiceServicer):
    """Remembers what it got."""

    def __init__(self) -> None:
        self.requests: list[Any] = []

    async def Export(self, request: Any, context: Any) -> trace_service_pb2.ExportTraceServiceResponse:  # noqa: N802
        self.requests.append(request)
        return trace_service_pb2.ExportTraceServiceResponse()


async def nobody(method: str, metadata: Any) -> None:
    """The receiver's socket is private."""


@pytest.mark.parametrize("kind", ["unix", "tcp"])
async def test_request_arrives_as_it_is(tmp_path: Path, kind: str) -> None:
    address = f"unix:{tmp_path}/run/otlp.sock" if kind == "unix" else "127.0.0.1:0"
    server = RpcServer(RpcServerConfig(address), authenticate=nobody)
    receiver = Receiver()
    server.add(trace_service_pb2_grpc.add_TraceServiceServicer_to_server, receiver)
    await server.start()
    await server.health.set_serving(True)
    sender = OtlpSender(server.address)
    for _ in range(2):
        await asyncio.to_thread(sender, REQUEST.SerializeToString())
    assert receiver.requests == [REQUEST, REQUEST]
    sender.close()
    await server.stop(0)


def test_receiver_that_is_away_is_an_error(tmp_path: Path) -> None:
    sender = OtlpSender(f"unix:{tmp_path}/nobody.sock")
    with pytest.raises(grpc.RpcError):
        sender(b"")
    sender.close()
    OtlpSender("unix:/nowhere").close()
