import pytest
from google.protobuf import descriptor_pool

from arenero.gateway import catalog
from arenero.gateway.catalog import DESCRIBED, PRIVATE, PUBLIC, Backend, Service, find_method

EXEC = "/arenero.api.execd.v1.ExecService"
ALL = {service.full_name for module in DESCRIBED for service in module.DESCRIPTOR.services_by_name.values()}
CHANGING = (
    "Create", "Delete", "Set", "Update", "Patch", "Replace", "Run", "Start", "Kill", "Signal", "Upload", "Import",
)  # fmt: skip


def test_every_service_of_the_api_is_either_public_or_private() -> None:
    assert PUBLIC.keys() | PRIVATE == ALL
    assert not PUBLIC.keys() & PRIVATE


@pytest.mark.parametrize("service", PUBLIC.values(), ids=lambda service: service.name)
def test_what_is_said_of_methods_is_about_methods_that_there_are(service: Service) -> None:
    named = set(catalog.describe(service.name).methods_by_name)
    assert service.reads | service.idle | service.closed <= named
    assert not service.reads & service.closed


@pytest.mark.parametrize("service", PUBLIC.values(), ids=lambda service: service.name)
def test_reads_look_like_reads(service: Service) -> None:
    """A method is listed as a read by hand; its name must not say otherwise."""
    assert not [name for name in service.reads if name.startswith(CHANGING)]


@pytest.mark.parametrize("service", PUBLIC.values(), ids=lambda service: service.name)
def test_what_looks_like_a_read_is_one(service: Service) -> None:
    """Forgotten ones would be refused to a key with the read scope; `GetEndpoint` is left out on purpose."""
    named = catalog.describe(service.name).methods_by_name
    alike = {name for name in named if name.startswith(("Get", "List", "Watch", "Test", "Read", "Find", "Inspect"))}
    assert alike - {"GetEndpoint"} <= service.reads


@pytest.mark.parametrize("name", ["GetEndpoint", "Create", "Renew", "Pause"])
def test_read_scope_gives_no_way_into_a_sandbox(name: str) -> None:
    """GetEndpoint changes nothing, but its answer opens execd with all that execd can do."""
    assert not PUBLIC["arenero.api.lifecycle.v1.SandboxService"].is_read(name)


@pytest.mark.parametrize(
    ("name", "requests", "responses"),
    [("Start", False, False), ("Run", False, True), ("Interact", True, True), ("WriteStdin", True, True)],
)
def test_kind_of_a_method_is_the_descriptors(name: str, requests: bool, responses: bool) -> None:
    method = find_method(f"{EXEC}/{name}")
    assert method is not None
    assert (method.streams_requests, method.streams_responses) == (requests, responses)
    assert method.service.backend is Backend.EXECD


def test_method_of_a_later_version_is_of_the_most_general_kind() -> None:
    method = find_method(f"{EXEC}/Teleport")
    assert method is not None
    assert method.streams_requests
    assert method.streams_responses
    assert not method.service.is_read("Teleport")


@pytest.mark.parametrize(
    "path",
    ["", "/", "Run", f"{EXEC}/", f"{EXEC}/../Run", f"{EXEC}/Run/x", f"{EXEC}x/Run", "/grpc.health.v1.Health/Check"]
    + [f"/{name}/Claim" for name in sorted(PRIVATE)],
)
def test_nothing_else_is_a_public_method(path: str) -> None:
    assert find_method(path) is None


def test_looking_at_a_sandbox_is_no_use_of_it() -> None:
    service = PUBLIC["arenero.api.execd.v1.ExecService"]
    assert not service.is_use("Hello")
    assert service.is_use("Run")
    assert not PUBLIC["arenero.api.lifecycle.v1.SandboxService"].is_use("Create")


def test_reflection_has_the_descriptors_of_all_public_services() -> None:
    for name in PUBLIC:
        assert descriptor_pool.Default().FindServiceByName(name).full_name == name
