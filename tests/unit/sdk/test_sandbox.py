"""Sandboxes: how they are asked for, found, changed and deleted."""

import asyncio
from typing import Any

import grpc
import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from arenero.api.lifecycle.v1 import sandbox_pb2, sandbox_service_pb2
from arenero.sdk import Client, Sandbox
from arenero.sdk.errors import (
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    OutcomeUnknown,
    ResourceExhausted,
    Unavailable,
)
from arenero.sdk.types import NetworkAction, NetworkPolicy, NetworkRule, SandboxState
from tests.unit.sdk.wire import BROKEN, SANDBOX_ID, Refused, WirePair, detail, record

CREATED = sandbox_service_pb2.CreateResponse(sandbox=record())


def asked(wires: WirePair) -> sandbox_service_pb2.CreateRequest:
    request: sandbox_service_pb2.CreateRequest = wires.gateway.called("Create")[0].request
    return request


NEVER_SENT = {
    "spec.resources.memory_bytes": {"memory_bytes": 2**63},
    "spec.resources.cpus": {"cpus": 0},
    "spec.lifetime.ttl": {"ttl_s": float("nan")},
    "start_timeout": {"start_timeout_s": float("inf")},
    "spec.source": {"template": "host", "rootfs_directory": "/x"},
    "spec.name": {"name": "a\udcff"},
    "spec.env": {"env": {"A": "\ud800"}},
    "spec.metadata": {"metadata": {"\udcff": "a"}},
    "spec.entrypoint": {"entrypoint": ["sh", "\udcff"]},
    "spec.source.template": {"template": "\udcff"},
    "request_id": {"request_id": "\udcff"},
}


@pytest.mark.parametrize(("field", "options"), NEVER_SENT.items(), ids=NEVER_SENT)
def test_what_can_not_be_sent_is_refused_with_its_field(field: str, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument) as refused:
        _ = Sandbox.create(**options)
    assert refused.value.field == field


async def test_changes_that_can_not_be_sent_are_refused_with_their_field(wires: WirePair) -> None:
    async with wires.sandbox() as sandbox:
        with pytest.raises(InvalidArgument) as refused:
            await sandbox.renew(float("inf"))
        assert refused.value.field == "ttl"
        with pytest.raises(InvalidArgument) as refused:
            await sandbox.update_metadata({"a": "\udcff"})
        assert refused.value.field == "set"
    assert not wires.gateway.called("Renew")


async def test_block_creates_and_deletes(wires: WirePair) -> None:
    wires.gateway.on("Create", CREATED)
    async with wires.client() as client:
        async with Sandbox.create(client=client) as sandbox:
            assert (sandbox.id, sandbox.state) == (SANDBOX_ID, SandboxState.RUNNING)
        assert sandbox.state is SandboxState.TERMINATED
    assert wires.gateway.called("Delete")[0].request.sandbox_id == SANDBOX_ID


async def test_block_deletes_when_its_body_fails(wires: WirePair) -> None:
    wires.gateway.on("Create", CREATED)
    async with wires.client() as client:
        with pytest.raises(ZeroDivisionError):
            async with Sandbox.create(client=client):
                raise ZeroDivisionError
    assert wires.gateway.called("Delete")


async def test_every_option_is_in_the_specification(wires: WirePair) -> None:
    wires.gateway.on("Create", CREATED)
    rule = NetworkRule(action=NetworkAction.ALLOW, target="example.org")
    async with wires.client() as client:
        sandbox = await Sandbox.create(
            template="host",
            runtime="local",
            name="n",
            ttl_s=90.5,
            on_timeout="pause",
            cpus=1.5,
            memory_bytes=1 << 29,
            pids=64,
            disk_bytes=1 << 30,
            open_files=128,
            env={"A": "ñ"},
            metadata={"team": "x"},
            network=NetworkPolicy(rules=[rule]),
            user="alice",
            workdir="/w",
            entrypoint=["sh", "-c", "x"],
            ports=[80],
            best_effort=True,
            extensions={"k": "v"},
            request_id="job-1",
            start_timeout_s=5,
            traceparent="00-1-2-01",
            client=client,
        )
        await sandbox.close()
    request = asked(wires)
    spec = request.spec
    assert (request.request_id, request.start_timeout.seconds) == ("job-1", 5)
    assert (spec.source.template, spec.runtime, spec.name, spec.user, spec.workdir) == (
        "host",
        "local",
        "n",
        "alice",
        "/w",
    )
    assert (spec.lifetime.ttl.seconds, spec.lifetime.ttl.nanos) == (90, 500_000_000)
    assert spec.lifetime.on_timeout == sandbox_pb2.TIMEOUT_ACTION_PAUSE
    limits = spec.resources
    assert (limits.cpus, limits.memory_bytes, limits.pids) == (1.5, 1 << 29, 64)
    assert (limits.disk_bytes, limits.open_files) == (1 << 30, 128)
    assert (dict(spec.env), dict(spec.metadata), dict(spec.extensions)) == ({"A": "ñ"}, {"team": "x"}, {"k": "v"})
    assert spec.network.rules[0].target == "example.org"
    assert ([*spec.entrypoint], [*spec.ports]) == (["sh", "-c", "x"], [80])
    assert spec.isolation_level == sandbox_pb2.ISOLATION_LEVEL_BEST_EFFORT
    assert wires.gateway.called("Create")[0].metadata["traceparent"] == "00-1-2-01"


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"image": "python:3.13"}, "image"),
        ({"rootfs_directory": "/r"}, "rootfs_directory"),
        ({"oci_layout": "/l"}, "oci_layout"),
        ({}, None),
    ],
    ids=["image", "directory", "layout", "default"],
)
async def test_source_is_what_was_named(wires: WirePair, options, kind: str | None) -> None:
    wires.gateway.on("Create", CREATED)
    async with wires.client() as client:
        await (await Sandbox.create(client=client, **options)).close()
    source = asked(wires).spec.source
    assert source.WhichOneof("kind") == kind


async def test_sandbox_without_an_end_has_no_lifetime_set(wires: WirePair) -> None:
    wires.gateway.on("Create", CREATED)
    async with wires.client() as client:
        await (await Sandbox.create(client=client)).close()
    assert not asked(wires).spec.lifetime.HasField("ttl")
    assert not asked(wires).HasField("start_timeout")


@pytest.mark.parametrize(
    "failure",
    [BROKEN, Refused(grpc.StatusCode.UNAVAILABLE, "starting", detail("STARTING", retry_after_s=0.01))],
    ids=["broken", "unavailable"],
)
async def test_creation_is_repeated_under_the_same_request_id(wires: WirePair, failure: Refused) -> None:
    wires.gateway.on("Create", failure, failure, CREATED)
    async with wires.client() as client, Sandbox.create(client=client):
        pass
    ids = {call.request.request_id for call in wires.gateway.called("Create")}
    assert len(wires.gateway.called("Create")) == 3
    assert len(ids) == 1
    assert ids != {""}


async def test_every_creation_has_an_id_of_its_own(wires: WirePair) -> None:
    wires.gateway.on("Create", CREATED)
    async with wires.client() as client:
        for _ in range(2):
            await (await Sandbox.create(client=client)).close()
    assert len({call.request.request_id for call in wires.gateway.called("Create")}) == 2


async def test_creation_gives_up_in_time(wires: WirePair) -> None:
    wires.gateway.on("Create", BROKEN)
    async with wires.client(reconnect_s=0.3) as client:
        with pytest.raises(OutcomeUnknown):
            await Sandbox.create(client=client)


async def test_creation_fails_soon_when_nobody_is_there(wires: WirePair) -> None:
    await wires.gateway.stop()
    async with wires.client(reconnect_s=0.3) as client, asyncio.timeout(5):
        with pytest.raises(Unavailable):
            await Sandbox.create(client=client)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (grpc.StatusCode.INVALID_ARGUMENT, InvalidArgument),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, ResourceExhausted),
    ],
    ids=["invalid", "exhausted"],
)
async def test_refused_creation_is_not_repeated(wires: WirePair, code: grpc.StatusCode, kind: type) -> None:
    wires.gateway.on("Create", Refused(code, "no", detail("NO")))
    async with wires.client() as client:
        with pytest.raises(kind):
            await Sandbox.create(client=client)
    assert len(wires.gateway.called("Create")) == 1


async def cancelled_creation(wires: WirePair, **options) -> None:
    """Cancel a creation when its request has arrived."""
    arrived = asyncio.Event()

    async def slow(request):
        arrived.set()
        await asyncio.Event().wait()
        return CREATED

    wires.gateway.on("Create", slow, CREATED)
    async with wires.client() as client, asyncio.TaskGroup() as group:
        creating = group.create_task(_create(client, options))
        await arrived.wait()
        creating.cancel()


async def _create(client: Client, options) -> None:
    await Sandbox.create(client=client, **options)


async def test_cancelled_creation_leaves_no_sandbox(wires: WirePair) -> None:
    await cancelled_creation(wires)
    first, second = wires.gateway.called("Create")
    assert first.request.request_id == second.request.request_id
    assert second.request.wait == sandbox_service_pb2.CREATE_WAIT_ACCEPTED
    assert wires.gateway.called("Delete")[0].request.sandbox_id == SANDBOX_ID


async def test_cancelled_creation_leaves_what_the_caller_can_find_by_its_own_id(wires: WirePair) -> None:
    await cancelled_creation(wires, request_id="mine")
    assert len(wires.gateway.called("Create")) == 1
    assert not wires.gateway.called("Delete")


async def failed_creation(wires: WirePair, **options) -> None:
    """Let the platform go away under a creation; when it is asked once more, it is back."""
    not_sent = Refused(grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses")
    wires.gateway.on("Create", BROKEN, not_sent, CREATED)
    async with wires.client(reconnect_s=0.15) as client:
        with pytest.raises(OutcomeUnknown):
            await _create(client, options)


async def test_creation_of_unknown_outcome_leaves_no_sandbox(wires: WirePair) -> None:
    await failed_creation(wires)
    calls = wires.gateway.called("Create")
    assert len({call.request.request_id for call in calls}) == 1
    assert calls[-1].request.wait == sandbox_service_pb2.CREATE_WAIT_ACCEPTED
    assert wires.gateway.called("Delete")[0].request.sandbox_id == SANDBOX_ID


async def test_creation_of_unknown_outcome_leaves_what_the_caller_can_find(wires: WirePair) -> None:
    await failed_creation(wires, request_id="mine")
    assert not wires.gateway.called("Delete")


@pytest.mark.parametrize("state", ["STOPPING", "TERMINATED", "FAILED"])
async def test_sandbox_that_was_deleted_meanwhile_is_none(wires: WirePair, state: str) -> None:
    wires.gateway.on("Create", sandbox_service_pb2.CreateResponse(sandbox=record(f"SANDBOX_STATE_{state}")))
    async with wires.client() as client:
        with pytest.raises(FailedPrecondition, match=f"{SANDBOX_ID} is {state.lower()}") as raised:
            await Sandbox.create(client=client)
    assert raised.value.metadata == {"sandbox_id": SANDBOX_ID, "state": state}
    assert not wires.gateway.called("Delete")


async def test_connecting_finds_a_sandbox_or_says_that_there_is_none(wires: WirePair) -> None:
    wires.gateway.on(
        "Get",
        sandbox_service_pb2.GetResponse(sandbox=record()),
        Refused(grpc.StatusCode.NOT_FOUND, "there is none", detail("SANDBOX_NOT_FOUND")),
    )
    async with wires.client() as client:
        sandbox = await Sandbox.connect(SANDBOX_ID, client=client)
        assert sandbox.record.revision == 7
        with pytest.raises(NotFound, match="there is none"):
            await Sandbox.connect("sbx_b", client=client)
        await sandbox.close()
    assert not wires.gateway.called("Delete")


async def test_answer_without_a_record_is_no_sandbox(wires: WirePair) -> None:
    wires.gateway.on("Create", sandbox_service_pb2.CreateResponse())
    async with wires.client() as client:
        with pytest.raises(OutcomeUnknown, match="lacks its record"):
            await Sandbox.create(client=client)


async def test_changes_are_kept_in_the_record(wires: WirePair) -> None:
    changed = record()
    changed.revision = 9
    wires.gateway.on("Renew", sandbox_service_pb2.RenewResponse(sandbox=changed))
    wires.gateway.on("UpdateMetadata", sandbox_service_pb2.UpdateMetadataResponse(sandbox=changed))
    async with wires.sandbox() as sandbox:
        await sandbox.renew(1.5, extend_only=True)
        assert sandbox.record.revision == 9
        await sandbox.update_metadata({"a": "b"}, ["c"])
        assert (await sandbox.refresh()).revision == 7
    renewal = wires.gateway.called("Renew")[0].request
    assert (renewal.ttl.seconds, renewal.ttl.nanos, renewal.extend_only) == (1, 500_000_000, True)
    change = wires.gateway.called("UpdateMetadata")[0].request
    assert (dict(change.set), [*change.remove]) == ({"a": "b"}, ["c"])


async def test_watching_ends_with_the_sandbox(wires: WirePair) -> None:
    states = ["SANDBOX_STATE_RUNNING", "SANDBOX_STATE_STOPPING", "SANDBOX_STATE_TERMINATED"]
    wires.gateway.on("Watch", [sandbox_service_pb2.WatchResponse(sandbox=record(state)) for state in states])
    async with wires.sandbox() as sandbox:
        seen = [found.state async for found in sandbox.watch()]
    assert seen == [SandboxState.RUNNING, SandboxState.STOPPING, SandboxState.TERMINATED]
    assert sandbox.state is SandboxState.TERMINATED


async def test_what_runs_and_listens_in_it(wires: WirePair) -> None:
    wires.execd.on("List", exec_service_pb2.ListResponse(execs=[exec_pb2.Exec(exec_id="x")]))
    process = exec_service_pb2.Process(pid=1)
    wires.execd.on("ListProcesses", exec_service_pb2.ListProcessesResponse(processes=[process]))
    wires.execd.on("ListPorts", exec_service_pb2.ListPortsResponse(ports=[exec_service_pb2.ListeningPort(port=80)]))
    async with wires.sandbox() as sandbox:
        assert [found.exec_id for found in await sandbox.execs(running_only=True)] == ["x"]
        assert [found.pid for found in await sandbox.processes()] == [1]
        assert [found.port for found in await sandbox.ports()] == [80]
    assert wires.execd.called("List")[0].request.running_only


async def test_stats_tell_only_what_was_measured(wires: WirePair) -> None:
    wires.gateway.on("GetStats", sandbox_service_pb2.GetStatsResponse(memory_bytes=5))
    async with wires.sandbox() as sandbox:
        stats = await sandbox.stats()
    assert (stats.memory_bytes, stats.pids) == (5, None)
