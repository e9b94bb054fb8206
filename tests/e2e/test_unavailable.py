"""What the API promises and this build does not have yet is refused at the gateway with a reason, not with silence."""

from collections.abc import Iterator

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from arenero.api.egress.v1 import egress_service_pb2
from arenero.api.execd.v1 import code_service_pb2, isolation_service_pb2
from arenero.api.snapshot.v1 import image_service_pb2, snapshot_service_pb2
from arenero.api.vault.v1 import attachment_service_pb2, vault_service_pb2
from arenero.api.warmpool.v1 import claim_service_pb2, pool_service_pb2
from arenero.errors import ArenError, Unsupported
from arenero.rpc.status import from_rpc_error
from arenero.sdk import Sandbox
from tests.e2e.kit import Instance

Metadata = list[tuple[str, str]]

CONTROL = [
    snapshot_service_pb2.DESCRIPTOR.services_by_name["SnapshotService"],
    image_service_pb2.DESCRIPTOR.services_by_name["ImageService"],
    pool_service_pb2.DESCRIPTOR.services_by_name["PoolService"],
    vault_service_pb2.DESCRIPTOR.services_by_name["VaultService"],
    egress_service_pb2.DESCRIPTOR.services_by_name["EgressService"],
]
IN_SANDBOX = [
    code_service_pb2.DESCRIPTOR.services_by_name["CodeService"],
    isolation_service_pb2.DESCRIPTOR.services_by_name["IsolationService"],
]
PRIVATE = [
    claim_service_pb2.DESCRIPTOR.services_by_name["ClaimService"],
    attachment_service_pb2.DESCRIPTOR.services_by_name["AttachmentService"],
]


@pytest.fixture
def channel(platform: Instance) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(platform.settings().address) as opened:
        yield opened


@pytest.fixture
def key(platform: Instance) -> Metadata:
    return [("authorization", f"Bearer {platform.settings().api_key}")]


@pytest.mark.parametrize("api", CONTROL, ids=lambda api: api.name)
def test_operations_of_the_platform_are_refused_with_a_reason(
    api: ServiceDescriptor, channel: grpc.Channel, key: Metadata
) -> None:
    for method in api.methods:
        error = refusal(channel, method, key)
        assert isinstance(error, Unsupported), method.full_name
        assert error.reason == "NOT_YET_AVAILABLE"
        assert f"{api.name}.{method.name}" in error.message


@pytest.mark.parametrize("api", IN_SANDBOX, ids=lambda api: api.name)
async def test_operations_in_a_sandbox_are_refused_with_a_reason(
    api: ServiceDescriptor, channel: grpc.Channel, key: Metadata, sandbox: Sandbox
) -> None:
    for method in api.methods:
        error = refusal(channel, method, [*key, ("arenero-sandbox-id", sandbox.id)])
        assert isinstance(error, Unsupported), method.full_name
        assert error.reason.endswith("_UNSUPPORTED")


@pytest.mark.parametrize("api", PRIVATE, ids=lambda api: api.name)
def test_private_services_do_not_exist_for_clients(
    api: ServiceDescriptor, channel: grpc.Channel, key: Metadata
) -> None:
    for method in api.methods:
        error = refusal(channel, method, key)
        assert isinstance(error, Unsupported), method.full_name
        assert error.reason != "NOT_YET_AVAILABLE", "the call reached the service"


def test_reflection_shows_what_is_promised_and_nothing_private(channel: grpc.Channel) -> None:
    shown = set(ProtoReflectionDescriptorDatabase(channel).get_services())
    assert {api.full_name for api in CONTROL + IN_SANDBOX} <= shown
    assert not {api.full_name for api in PRIVATE} & shown


def refusal(channel: grpc.Channel, method: MethodDescriptor, metadata: Metadata) -> ArenError:
    """Call a method with an empty request, whatever its kind, and return the error."""
    assert method.containing_service is not None
    path = f"/{method.containing_service.full_name}/{method.name}"
    kind = ("stream" if method.client_streaming else "unary", "stream" if method.server_streaming else "unary")
    request = iter([b""]) if method.client_streaming else b""
    try:
        answer = getattr(channel, "_".join(kind))(path)(request, metadata=metadata, timeout=20)
        if method.server_streaming:
            list(answer)
    except grpc.RpcError as error:
        return from_rpc_error(error)
    pytest.fail(f"{path} answered")
