"""`SandboxService` without a socket: what is read, refused and written."""

import math
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from arenero.api.common.v1 import page_pb2, policy_pb2
from arenero.api.lifecycle.v1 import sandbox_pb2
from arenero.api.lifecycle.v1 import sandbox_service_pb2 as pb
from arenero.errors import AlreadyExists, ArenError, FailedPrecondition, InvalidArgument, Unsupported
from arenero.lifecycle.servicer import SandboxServicer
from arenero.rpc.identity import set_caller
from tests.unit.lifecycle.kit import CALLER, World, make_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A lifecycle that runs."""
    world = make_world(tmp_path)
    async with world.run():
        yield world


@pytest.fixture
def servicer(world: World) -> SandboxServicer:
    """Its servicer."""
    return world.lifecycle.sandbox_servicer


async def create(servicer: SandboxServicer, **fields: Any) -> pb.CreateResponse:
    set_caller(CALLER)
    return await servicer.Create(pb.CreateRequest(**fields), None)


async def refused(servicer: SandboxServicer, **fields: Any) -> ArenError:
    with pytest.raises(ArenError) as refusal:
        await create(servicer, **fields)
    return refusal.value


def seconds(count: float) -> Duration:
    nanos, whole = math.modf(count)
    return Duration(seconds=int(whole), nanos=int(nanos * 1e9))


async def test_create_answers_record_and_endpoint(servicer: SandboxServicer) -> None:
    answer = await create(servicer, request_id="r1", spec=sandbox_pb2.SandboxSpec(name="web"))
    assert answer.sandbox.state == sandbox_pb2.SANDBOX_STATE_RUNNING
    assert answer.sandbox.spec.name == "web"
    assert answer.sandbox.spec.runtime == "fake"
    assert answer.sandbox.spec.resources.memory_bytes > 0
    assert answer.sandbox.revision > 0
    assert (answer.execd.address, answer.execd.generation) == ("unix:/nowhere", 1)
    assert answer.execd.token.count(".") == 1
    assert not answer.repeated_request


async def test_a_repeat_is_told_and_when_to_answer_is_no_part_of_it(servicer: SandboxServicer) -> None:
    first = await create(servicer, request_id="r1")
    again = await create(servicer, request_id="r1", wait=pb.CREATE_WAIT_ACCEPTED)
    assert again.repeated_request
    assert again.sandbox.id == first.sandbox.id


@pytest.mark.parametrize(
    "other",
    [
        {"spec": sandbox_pb2.SandboxSpec(name="x")},
        {"spec": sandbox_pb2.SandboxSpec(env={"A": "1"})},
        {"start_timeout": seconds(5)},
    ],
)
async def test_any_other_difference_is_another_request(servicer: SandboxServicer, other: dict[str, Any]) -> None:
    await create(servicer, request_id="r1")
    assert isinstance(await refused(servicer, request_id="r1", **other), AlreadyExists)


async def test_the_order_of_a_map_is_no_difference(servicer: SandboxServicer) -> None:
    labels = {f"k{n}": str(n) for n in range(20)}
    backwards = dict(reversed(labels.items()))
    await create(servicer, request_id="r1", spec=sandbox_pb2.SandboxSpec(metadata=labels))
    assert (await create(servicer, request_id="r1", spec=sandbox_pb2.SandboxSpec(metadata=backwards))).repeated_request


def spec(**fields: Any) -> dict[str, Any]:
    return {"spec": sandbox_pb2.SandboxSpec(**fields)}


def ttl(count: float) -> dict[str, Any]:
    return spec(lifetime=sandbox_pb2.Lifetime(ttl=seconds(count)))


def target(text: str) -> dict[str, Any]:
    rule = policy_pb2.NetworkRule(action=policy_pb2.NETWORK_ACTION_ALLOW, target=text)
    return spec(network=policy_pb2.NetworkPolicy(rules=[rule]))


BAD = [
    (ttl(0), "spec.lifetime.ttl"),
    (ttl(-1), "spec.lifetime.ttl"),
    (ttl(1e18), "spec.lifetime.ttl"),
    (ttl(366 * 86_400), "spec.lifetime.ttl"),
    (spec(name="x" * 64), "spec.name"),
    (spec(name="x" * 65), "spec.name"),
    (spec(name="x" * 128), "spec.name"),
    (spec(name="x" * 300), "spec.name"),
    (spec(name="Upper"), "spec.name"),
    (spec(name="-x"), "spec.name"),
    (spec(name="a\0b"), "spec.name"),
    (spec(metadata={"team": "red\nblue"}), "spec.metadata[team]"),
    (spec(metadata={"team\n": "red"}), "spec.metadata"),
    (spec(metadata={"": "red"}), "spec.metadata"),
    (spec(metadata={"k" * 64: "red"}), "spec.metadata"),
    (spec(metadata={"k": "v" * 257}), "spec.metadata[k]"),
    (spec(metadata={f"k{n}": "" for n in range(65)}), "spec.metadata"),
    (spec(ports=[0]), "spec.ports[0]"),
    (spec(ports=[65_536]), "spec.ports[0]"),
    (spec(ports=[80, 443, 80]), "spec.ports[2]"),
    (target("evil\0.example.org"), "spec.network.rules[0].target"),
    (target("a b"), "spec.network.rules[0].target"),
    (target(""), "spec.network.rules[0].target"),
    (target("*"), "spec.network.rules[0].target"),
    (spec(env={"A=B": "x"}), "spec.env"),
    (spec(env={"A": "x\0y"}), "spec.env[A]"),
    (spec(workdir="relative"), "spec.workdir"),
    (spec(workdir="/a/../../etc"), "spec.workdir"),
    (spec(user="root; rm"), "spec.user"),
    (spec(entrypoint=["", "x"]), "spec.entrypoint[0]"),
    (spec(resources=sandbox_pb2.Resources(cpus=float("nan"))), "spec.resources.cpus"),
    (spec(resources=sandbox_pb2.Resources(cpus=float("inf"))), "spec.resources.cpus"),
    (spec(resources=sandbox_pb2.Resources(cpus=-1)), "spec.resources.cpus"),
    (spec(resources=sandbox_pb2.Resources(memory_bytes=1)), "spec.resources.memory_bytes"),
    (spec(resources=sandbox_pb2.Resources(memory_bytes=2**64 - 1)), "spec.resources.memory_bytes"),
    (spec(resources=sandbox_pb2.Resources(pids=1)), "spec.resources.pids"),
    (spec(source=sandbox_pb2.Source(rootfs_directory="etc")), "spec.source.rootfs_directory"),
    (spec(source=sandbox_pb2.Source(rootfs_directory="/a/../..")), "spec.source.rootfs_directory"),
    (spec(runtime="no such"), "spec.runtime"),
    (spec(runtime="vmware"), "spec.runtime"),
    ({"request_id": "spaces are bad"}, "request_id"),
    ({"request_id": "x" * 129}, "request_id"),
    ({"start_timeout": seconds(0)}, "start_timeout"),
    ({"start_timeout": seconds(-5)}, "start_timeout"),
    ({"start_timeout": Duration(seconds=10**18)}, "start_timeout"),
    ({"wait": 9}, "wait"),
]


@pytest.mark.parametrize(("fields", "field"), BAD, ids=[f"{n}-{field}" for n, (_, field) in enumerate(BAD)])
async def test_bad_input_is_refused_by_field_before_anything_is_made(
    world: World, servicer: SandboxServicer, fields: dict[str, Any], field: str
) -> None:
    error = await refused(servicer, **fields)
    assert (type(error), error.field) == (InvalidArgument, field)
    assert await world.log.head() == 0
    assert not world.driver.calls


GOOD = [
    spec(),
    spec(name=""),
    spec(name="x"),
    spec(name="x" * 63),
    ttl(0.5),
    ttl(365 * 86_400),
    spec(metadata={"k" * 63: "v" * 256, "team/app.io": "", "é".encode().hex(): "é"}),
    spec(ports=[1, 65_535]),
    spec(env={"_A1": "", "EMPTY": "line\nbreak"}),
    spec(entrypoint=["sh", "-c", ""]),
    spec(user="1000:1000", workdir="/"),
    {"request_id": "A-z_0.9"},
    {"start_timeout": seconds(3600)},
]


@pytest.mark.parametrize("fields", GOOD, ids=range(len(GOOD)))
async def test_input_at_the_limits_runs(servicer: SandboxServicer, fields: dict[str, Any]) -> None:
    assert (await create(servicer, **fields)).sandbox.state == sandbox_pb2.SANDBOX_STATE_RUNNING


async def test_a_long_name_makes_a_host_name_that_fits(world: World, servicer: SandboxServicer) -> None:
    launches = []
    real = world.driver.create

    async def note(launch: Any) -> Any:
        launches.append(launch)
        return await real(launch)

    world.driver.create = note  # type: ignore[method-assign]
    for name in ("x" * 63, ""):
        await create(servicer, spec=sandbox_pb2.SandboxSpec(name=name))
    assert all(0 < len(launch.hostname) <= 63 and "_" not in launch.hostname for launch in launches)


async def test_list_pages_and_filters(servicer: SandboxServicer) -> None:
    ids = [(await create(servicer, **spec(metadata={"n": str(n % 2)}))).sandbox.id for n in range(5)]
    await servicer.Delete(pb.DeleteRequest(sandbox_id=ids[0]), None)
    found, token = [], ""
    for _ in range(3):
        page = page_pb2.PageRequest(page_size=2, page_token=token)
        answer = await servicer.List(pb.ListRequest(page=page), None)
        found += [s.id for s in answer.sandboxes]
        token = answer.page.next_page_token
        assert answer.page.total_size == 4
        if not token:
            break
    assert found == ids[:0:-1]
    only = pb.SandboxFilter(include_ended=True, metadata={"n": "0"})
    answer = await servicer.List(pb.ListRequest(filter=only), None)
    assert [s.id for s in answer.sandboxes] == [ids[4], ids[2], ids[0]]


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.ListRequest(page=page_pb2.PageRequest(page_size=1001)), "page.page_size"),
        (pb.ListRequest(page=page_pb2.PageRequest(page_token="nonsense")), "page.page_token"),
        (pb.ListRequest(filter=pb.SandboxFilter(states=[99])), "filter.states[0]"),  # type: ignore[list-item]
    ],
)
async def test_a_bad_list_is_refused(servicer: SandboxServicer, request_: pb.ListRequest, field: str) -> None:
    set_caller(CALLER)
    with pytest.raises(InvalidArgument) as refusal:
        await servicer.List(request_, None)
    assert refusal.value.field == field


async def test_a_sandbox_is_renewed_relabelled_paused_measured_and_deleted(servicer: SandboxServicer) -> None:
    sandbox_id = (await create(servicer)).sandbox.id
    renewed = await servicer.Renew(pb.RenewRequest(sandbox_id=sandbox_id, ttl=seconds(60)), None)
    assert renewed.sandbox.HasField("expires_at")
    labelled = await servicer.UpdateMetadata(pb.UpdateMetadataRequest(sandbox_id=sandbox_id, set={"a": "b"}), None)
    assert labelled.sandbox.spec.metadata == {"a": "b"}
    paused = await servicer.Pause(pb.PauseRequest(sandbox_id=sandbox_id), None)
    assert paused.sandbox.state == sandbox_pb2.SANDBOX_STATE_PAUSED
    resumed = await servicer.Resume(pb.ResumeRequest(sandbox_id=sandbox_id), None)
    assert resumed.execd.address == "unix:/nowhere"
    stats = await servicer.GetStats(pb.GetStatsRequest(sandbox_id=sandbox_id), None)
    assert stats.pids == 2
    endpoint = await servicer.GetEndpoint(pb.GetEndpointRequest(sandbox_id=sandbox_id, token_ttl=seconds(5)), None)
    assert endpoint.endpoint.address == "unix:/nowhere"
    deleted = await servicer.Delete(pb.DeleteRequest(sandbox_id=sandbox_id), None)
    assert deleted.sandbox.state == sandbox_pb2.SANDBOX_STATE_TERMINATED
    got = await servicer.Get(pb.GetRequest(sandbox_id=sandbox_id), None)
    assert got.sandbox == deleted.sandbox


@pytest.mark.parametrize(
    ("renewal", "field"),
    [
        ({}, "ttl"),
        ({"ttl": seconds(0)}, "ttl"),
        ({"ttl": seconds(-1)}, "ttl"),
        ({"ttl": Duration(seconds=10**18)}, "ttl"),
        ({"expires_at": Timestamp(seconds=1)}, "expires_at"),
        ({"expires_at": Timestamp(seconds=-1)}, "expires_at"),
        ({"expires_at": Timestamp(seconds=10**17)}, "expires_at"),
    ],
)
async def test_a_bad_renewal_is_refused(servicer: SandboxServicer, renewal: dict[str, Any], field: str) -> None:
    sandbox_id = (await create(servicer)).sandbox.id
    with pytest.raises(InvalidArgument) as refusal:
        await servicer.Renew(pb.RenewRequest(sandbox_id=sandbox_id, **renewal), None)
    assert refusal.value.field == field


@pytest.mark.parametrize(
    "sandbox_id", ["", "x", "sbx_", "sbx_" + "A" * 20, "snp_" + "a" * 20, "sbx_../etc", "sbx_a.*.>"]
)
@pytest.mark.parametrize(
    "method", ["Get", "Delete", "Renew", "UpdateMetadata", "GetEndpoint", "Pause", "Resume", "GetStats"]
)
async def test_a_malformed_id_is_refused_everywhere(servicer: SandboxServicer, method: str, sandbox_id: str) -> None:
    set_caller(CALLER)
    request = getattr(pb, f"{method}Request")(sandbox_id=sandbox_id)
    if method == "Renew":
        request.ttl.CopyFrom(seconds(60))
    with pytest.raises(InvalidArgument) as refusal:
        await getattr(servicer, method)(request, None)
    assert refusal.value.field == "sandbox_id"


async def test_what_is_not_there_yet_says_so(servicer: SandboxServicer) -> None:
    sandbox_id = (await create(servicer)).sandbox.id
    with pytest.raises(Unsupported) as refusal:
        await servicer.Fork(pb.ForkRequest(sandbox_id=sandbox_id, count=2), None)
    assert refusal.value.reason == "FORK_UNSUPPORTED"
    with pytest.raises(Unsupported) as refusal:
        await servicer.GetEndpoint(pb.GetEndpointRequest(sandbox_id=sandbox_id, port=80), None)
    assert refusal.value.reason == "PORT_ENDPOINTS_UNSUPPORTED"
    with pytest.raises(Unsupported) as refusal:
        await servicer.Pause(pb.PauseRequest(sandbox_id=sandbox_id, mode=sandbox_pb2.PAUSE_MODE_RELEASE), None)
    assert refusal.value.reason == "PAUSE_MODE_UNSUPPORTED"
    with pytest.raises(InvalidArgument):
        await servicer.Pause(pb.PauseRequest(sandbox_id=sandbox_id, mode=9), None)  # type: ignore[arg-type]


async def test_a_failed_creation_is_an_error_with_its_id(world: World, servicer: SandboxServicer) -> None:
    error = await refused(servicer, **spec(extensions={"fake.start.fail": "NO_LUCK"}))
    assert (type(error), error.reason) == (FailedPrecondition, "NO_LUCK")
    got = await servicer.Get(pb.GetRequest(sandbox_id=error.metadata["sandbox_id"]), None)
    assert (got.sandbox.state, got.sandbox.reason) == (sandbox_pb2.SANDBOX_STATE_FAILED, "NO_LUCK")


async def test_watch_streams_one_or_many(servicer: SandboxServicer) -> None:
    sandbox_id = (await create(servicer)).sandbox.id
    for request in (pb.WatchRequest(sandbox_id=sandbox_id), pb.WatchRequest()):
        stream = servicer.Watch(request, None)
        first = await anext(stream)
        assert (first.sandbox.id, first.fact) == (sandbox_id, "")
        await stream.aclose()  # type: ignore[attr-defined]
    with pytest.raises(InvalidArgument):
        await anext(servicer.Watch(pb.WatchRequest(sandbox_id="nonsense"), None))


async def test_runtimes_and_templates_are_told(servicer: SandboxServicer) -> None:
    [runtime] = (await servicer.ListRuntimes(pb.ListRuntimesRequest(), None)).runtimes
    assert (runtime.name, runtime.usable, runtime.is_default) == ("fake", True, True)
    assert "pause-freeze" in runtime.capabilities
    assert [(check.name, check.ok) for check in runtime.checks] == [("fake", True)]
    [template] = (await servicer.ListTemplates(pb.ListTemplatesRequest(), None)).templates
    assert (template.name, list(template.runtimes), bool(template.description)) == ("host", ["fake"], True)


def test_every_call_of_the_service_is_served() -> None:
    service = pb.DESCRIPTOR.services_by_name["SandboxService"]
    own = vars(SandboxServicer)
    assert all(method.name in own for method in service.methods)
