"""Calls to execd, over a socket to a server that checks tokens as execd does."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from nacl.signing import SigningKey

from arenero.api.execd.v1 import exec_service_pb2, lease_service_pb2
from arenero.api.execd.v1.exec_service_pb2_grpc import ExecServiceServicer, add_ExecServiceServicer_to_server
from arenero.api.execd.v1.lease_service_pb2_grpc import LeaseServiceServicer, add_LeaseServiceServicer_to_server
from arenero.errors import (
    ArenError,
    DeadlineExceeded,
    FailedPrecondition,
    PermissionDenied,
    Unauthenticated,
    Unavailable,
)
from arenero.execd.tokens import TokenCheck
from arenero.lifecycle.execd_client import ExecdClient
from arenero.lifecycle.tokens import TokenSigner
from arenero.model.ids import TenantId
from arenero.model.record import Endpoint, SandboxRecord
from arenero.model.time import SystemClock
from arenero.rpc.identity import Caller, bearer_token
from arenero.rpc.server import RpcServer, RpcServerConfig
from arenero.runtime.driver import StepSpan
from tests.unit.lifecycle.samples import a_record

SIGNER = TokenSigner(SigningKey(b"s" * 32), SystemClock())


class Guest(ExecServiceServicer, LeaseServiceServicer):
    """The two calls that lifecycle makes."""

    def __init__(self) -> None:
        self.leases: list[tuple[float | None, int]] = []
        self.sandbox_id = a_record().id
        self.hangs = False

    async def Hello(self, request: Any, context: Any) -> Any:  # noqa: N802
        return exec_service_pb2.HelloResponse(
            protocol_generation=1,
            version="v" * 1000,
            sandbox_id=self.sandbox_id,
            generation=1,
            boot_spans=[exec_service_pb2.BootSpan(name="execd.start", start_unix_ns=5, end_unix_ns=9)],
        )

    async def SetLease(self, request: Any, context: Any) -> Any:  # noqa: N802
        if self.hangs:
            await asyncio.Event().wait()
        ttl_s = request.ttl.ToNanoseconds() / 1e9 if request.HasField("ttl") else None
        self.leases.append((ttl_s, request.revision))
        return lease_service_pb2.SetLeaseResponse(revision=request.revision)


@pytest.fixture
def guest() -> Guest:
    return Guest()  # type: ignore[abstract]  # the rest stays unimplemented


@pytest.fixture
async def record(tmp_path: Path, guest: Guest) -> AsyncIterator[SandboxRecord]:
    """A sandbox at whose address the guest answers."""
    checks = TokenCheck(SIGNER.public_key, a_record().id, 1)

    async def authenticate(method: str, metadata: Mapping[str, str]) -> Caller | None:
        checks.check(bearer_token(metadata))
        return Caller(TenantId("acme"), "token")

    server = RpcServer(RpcServerConfig(f"unix:{tmp_path}/e.sock"), authenticate=authenticate)
    server.add(add_ExecServiceServicer_to_server, guest)
    server.add(add_LeaseServiceServicer_to_server, guest)
    await server.start()
    await server.health.set_serving(True)
    yield a_record(endpoint=Endpoint(server.address))
    await server.stop(0)


@pytest.fixture
def execd() -> ExecdClient:
    return ExecdClient(SIGNER, timeout_s=0.5)


async def test_hello_waits_for_execd_and_tells_what_it_says(record: SandboxRecord, execd: ExecdClient) -> None:
    hello = await execd.hello(record)
    assert hello.boot_spans == [StepSpan("execd.start", 5, 9)]
    assert len(hello.version) == 64


async def test_hello_waits_for_a_socket_that_comes_later(tmp_path: Path, execd: ExecdClient) -> None:
    late = a_record(endpoint=Endpoint(f"unix:{tmp_path}/late.sock"))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(execd.hello(late), 0.3)


async def test_another_execd_at_the_address_is_noticed(record: SandboxRecord, guest: Guest, execd: ExecdClient) -> None:
    guest.sandbox_id = "sbx_" + "b" * 20  # type: ignore[assignment]
    with pytest.raises(FailedPrecondition) as refusal:
        await execd.hello(record)
    assert refusal.value.reason == "WRONG_EXECD"


async def test_a_deadline_goes_with_the_records_revision(
    record: SandboxRecord, guest: Guest, execd: ExecdClient
) -> None:
    await execd.set_lease(record, 12.5)
    await execd.set_lease(record, None)
    assert guest.leases == [(12.5, record.revision), (None, record.revision)]


@pytest.mark.parametrize(
    ("changes", "kind"),
    [({"generation": 2}, PermissionDenied), ({"id": "sbx_" + "c" * 20}, PermissionDenied)],
)
async def test_a_token_opens_one_boot_of_one_sandbox(
    record: SandboxRecord, execd: ExecdClient, changes: dict[str, Any], kind: type[ArenError]
) -> None:
    other = a_record(endpoint=record.endpoint, **changes)
    with pytest.raises(kind):
        await execd.set_lease(other, 1.0)


async def test_a_token_of_another_key_opens_nothing(record: SandboxRecord) -> None:
    forger = ExecdClient(TokenSigner(SigningKey(b"f" * 32), SystemClock()), timeout_s=0.5)
    with pytest.raises(Unauthenticated):
        await forger.set_lease(record, 1.0)


async def test_an_execd_that_hangs_or_is_gone_does_not_hold_lifecycle_up(
    tmp_path: Path, record: SandboxRecord, guest: Guest, execd: ExecdClient
) -> None:
    guest.hangs = True
    with pytest.raises(DeadlineExceeded):
        await execd.set_lease(record, 1.0)
    with pytest.raises(Unavailable):
        await execd.set_lease(a_record(endpoint=Endpoint(f"unix:{tmp_path}/nobody.sock")), 1.0)
    with pytest.raises(FailedPrecondition):
        await execd.set_lease(a_record(), 1.0)
