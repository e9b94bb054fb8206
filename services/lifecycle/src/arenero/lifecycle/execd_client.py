"""Calls the execd of a sandbox over gRPC. One connection per call: they are rare, and idle ones would not be free."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import grpc

from arenero.api.execd.v1 import exec_service_pb2, lease_service_pb2
from arenero.api.execd.v1.exec_service_pb2_grpc import ExecServiceStub
from arenero.api.execd.v1.lease_service_pb2_grpc import LeaseServiceStub
from arenero.errors import FailedPrecondition
from arenero.lifecycle.codec.scalars import to_duration
from arenero.lifecycle.execd import Hello
from arenero.lifecycle.tokens import TokenSigner
from arenero.model.record import SandboxRecord
from arenero.rpc.client import call, open_channel
from arenero.rpc.identity import AUTHORIZATION_KEY
from arenero.runtime.driver import StepSpan

PROTOCOL_GENERATION: Final = 1
MAX_ANSWER_BYTES: Final = 256 * 1024
_TOKEN_TTL_S: Final = 120.0
_HELLO_PATIENCE_S: Final = 3600.0
"""The saga around it has the real deadline."""


class ExecdClient:
    """An `Execd` over gRPC.

    Args:
        signer: Signs the tokens that execd asks for.
        timeout_s: Patience for one call, but for the first.
    """

    def __init__(self, signer: TokenSigner, timeout_s: float) -> None:
        self._signer = signer
        self._timeout_s = timeout_s

    async def hello(self, record: SandboxRecord) -> Hello:
        """Wait until execd answers; see `Execd.hello`."""
        request = exec_service_pb2.HelloRequest(protocol_generation=PROTOCOL_GENERATION, client="arenero-lifecycle")
        async with self._channel(record) as (channel, metadata):
            answer: exec_service_pb2.HelloResponse = await call(
                ExecServiceStub(channel).Hello, request, timeout_s=_HELLO_PATIENCE_S, metadata=metadata
            )
        if (answer.sandbox_id, answer.generation) != (record.id, record.generation):
            raise FailedPrecondition(f"the execd at the address of {record.id} is another one", reason="WRONG_EXECD")
        spans = [StepSpan(s.name, s.start_unix_ns, s.end_unix_ns) for s in answer.boot_spans]
        return Hello(answer.version[:64], spans)

    async def set_lease(self, record: SandboxRecord, ttl_s: float | None) -> None:
        """Move execd's deadline; see `Execd.set_lease`."""
        request = lease_service_pb2.SetLeaseRequest(ttl=to_duration(ttl_s), revision=record.revision)
        async with self._channel(record) as (channel, metadata):
            await call(LeaseServiceStub(channel).SetLease, request, timeout_s=self._timeout_s, metadata=metadata)

    @asynccontextmanager
    async def _channel(self, record: SandboxRecord) -> AsyncIterator[tuple[grpc.aio.Channel, list[tuple[str, str]]]]:
        if record.endpoint is None:
            raise FailedPrecondition(f"{record.id} has no execd", reason="NO_EXECD")
        token = self._signer.sign(record, _TOKEN_TTL_S, control=True).text
        options = [("grpc.max_receive_message_length", MAX_ANSWER_BYTES)]
        async with open_channel(record.endpoint.address, options=options) as channel:
            yield channel, [(AUTHORIZATION_KEY, f"Bearer {token}")]
