"""Services whose work is yet to come are real processes: they serve, tell what they are, refuse with a reason, stop."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from arenero.api.snapshot.v1 import image_service_pb2, snapshot_service_pb2
from arenero.api.vault.v1 import attachment_service_pb2, vault_service_pb2
from arenero.api.warmpool.v1 import claim_service_pb2, pool_service_pb2
from arenero.errors import Unsupported
from arenero.host.service import ExitCode, Service, run_service
from arenero.rpc.server import RpcServerConfig
from arenero.rpc.status import from_rpc_error
from arenero.snapshot import wiring as snapshot_wiring
from arenero.snapshot.config import SnapshotConfig
from arenero.vault import wiring as vault_wiring
from arenero.vault.config import VaultConfig
from arenero.warmpool import wiring as warmpool_wiring
from arenero.warmpool.config import WarmpoolConfig

METADATA = (("arenero-tenant", "acme"), ("arenero-actor", "key:key_test"))
# All services and nats-server may use 400 MB together when idle; these have nothing to remember.
MAX_PSS_KIB = 45 * 1024


@dataclass(frozen=True)
class Subject:
    """One of these services."""

    name: str
    config: Callable[[RpcServerConfig], Any]
    build: Callable[[Any], Any]
    apis: tuple[ServiceDescriptor, ...]


SUBJECTS = [
    Subject(
        "snapshot",
        SnapshotConfig,
        snapshot_wiring.build,
        (
            snapshot_service_pb2.DESCRIPTOR.services_by_name["SnapshotService"],
            image_service_pb2.DESCRIPTOR.services_by_name["ImageService"],
        ),
    ),
    Subject(
        "warmpool",
        WarmpoolConfig,
        warmpool_wiring.build,
        (
            pool_service_pb2.DESCRIPTOR.services_by_name["PoolService"],
            claim_service_pb2.DESCRIPTOR.services_by_name["ClaimService"],
        ),
    ),
    Subject(
        "vault",
        VaultConfig,
        vault_wiring.build,
        (
            vault_service_pb2.DESCRIPTOR.services_by_name["VaultService"],
            attachment_service_pb2.DESCRIPTOR.services_by_name["AttachmentService"],
        ),
    ),
]


@pytest.fixture(params=SUBJECTS, ids=lambda subject: subject.name)
def subject(request: pytest.FixtureRequest) -> Subject:
    found: Subject = request.param
    return found


@pytest.fixture
async def channel(subject: Subject, tmp_path: Path) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to the service as `wiring` builds it, in this process."""
    address = f"unix:{tmp_path}/{subject.name}.sock"
    async with subject.build(subject.config(RpcServerConfig(address))) as service:
        assert isinstance(service, Service)
        [server] = service.servers
        await server.start()
        await server.health.set_serving(True)
        try:
            async with grpc.aio.insecure_channel(address) as opened:
                yield opened
        finally:
            await server.stop(0)


@pytest.fixture
def process(subject: Subject, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The service as a process of its own; killed when the test leaves it running."""
    started = subprocess.Popen(
        [sys.executable, "-P", "-m", f"arenero.{subject.name}"],
        env={**os.environ, f"ARENERO_{subject.name.upper()}__SERVER__ADDRESS": f"unix:{tmp_path}/{subject.name}.sock"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


async def test_every_operation_is_refused_with_its_name_and_a_reason(
    subject: Subject, channel: grpc.aio.Channel
) -> None:
    for api in subject.apis:
        for method in api.methods:
            error = await refusal(channel, method)
            assert isinstance(error, Unsupported), method.full_name
            assert error.reason == "NOT_YET_AVAILABLE"
            assert f"{api.name}.{method.name}" in error.message


def test_process_serves_says_what_it_is_and_stops_when_told(
    subject: Subject, tmp_path: Path, process: subprocess.Popen[str]
) -> None:
    with grpc.insecure_channel(f"unix:{tmp_path}/{subject.name}.sock") as to_process:
        wait_until_serving(to_process)
        reflected = set(ProtoReflectionDescriptorDatabase(to_process).get_services())
        assert {api.full_name for api in subject.apis} <= reflected
    assert pss_kib(process.pid) <= MAX_PSS_KIB
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == ExitCode.CLEAN, output


def test_settings_are_printed_and_an_unknown_one_stops_the_start(
    subject: Subject, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix = f"ARENERO_{subject.name.upper()}__"
    kind: Any = subject.config
    given = {f"{prefix}SERVER__ADDRESS": "unix:/nowhere.sock"}
    assert run_service(subject.name, kind, subject.build, argv=["--print-config"], environ=given) == ExitCode.CLEAN
    assert 'address = "unix:/nowhere.sock"' in capsys.readouterr().out
    wrong = {f"{prefix}SERVER__ADRESS": "unix:/nowhere.sock"}
    assert run_service(subject.name, kind, subject.build, argv=[], environ=wrong) == ExitCode.CONFIG
    assert f"{prefix}SERVER__ADDRESS" in capsys.readouterr().err


async def refusal(channel: grpc.aio.Channel, method: MethodDescriptor) -> Exception:
    """Call a method with an empty request, whatever its kind, and return the error."""
    assert method.containing_service is not None
    path = f"/{method.containing_service.full_name}/{method.name}"
    kind = ("stream" if method.client_streaming else "unary", "stream" if method.server_streaming else "unary")
    request = iter([b""]) if method.client_streaming else b""
    call = getattr(channel, "_".join(kind))(path)(request, metadata=METADATA, timeout=10)
    try:
        if method.server_streaming:
            [answer async for answer in call]
        else:
            await call
    except grpc.aio.AioRpcError as error:
        return from_rpc_error(error)
    pytest.fail(f"{path} answered")


def wait_until_serving(channel: grpc.Channel) -> None:
    """Follow the server's health until it takes calls."""
    watch = channel.unary_stream(
        "/grpc.health.v1.Health/Watch",
        request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
        response_deserializer=health_pb2.HealthCheckResponse.FromString,
    )
    answers = watch(health_pb2.HealthCheckRequest(), wait_for_ready=True, timeout=30)
    assert any(answer.status == health_pb2.HealthCheckResponse.SERVING for answer in answers)
    answers.cancel()


def pss_kib(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    [value] = [int(line.split()[1]) for line in lines if line.startswith("Pss:")]
    return value
