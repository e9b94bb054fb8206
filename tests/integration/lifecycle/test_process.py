"""Lifecycle as a process: calls, restarts, deadlines, streams, stops."""

import asyncio
import os
import subprocess
import sys
import time
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from arenero.api.events.v1 import event_service_pb2 as events
from arenero.api.lifecycle.v1 import sandbox_pb2
from arenero.api.lifecycle.v1 import sandbox_service_pb2 as pb
from arenero.errors import ArenError, FailedPrecondition, InvalidArgument, NotFound, ResourceExhausted, Unauthenticated
from arenero.model.ids import TenantId
from arenero.rpc.client import call, stream
from arenero.rpc.identity import Caller
from tests.integration.lifecycle.conftest import ACME, Client, Process

RUNNING, TERMINATED = sandbox_pb2.SANDBOX_STATE_RUNNING, sandbox_pb2.SANDBOX_STATE_TERMINATED


def lifetime(seconds: float) -> sandbox_pb2.Lifetime:
    return sandbox_pb2.Lifetime(ttl=Duration(seconds=int(seconds), nanos=int(seconds % 1 * 1e9)))


async def test_a_sandbox_lives_over_a_kill_and_ends_when_asked(process: Process, client: Client) -> None:
    sandbox = await client.create("r1", name="web")
    assert sandbox.state == RUNNING
    await process.kill()
    assert len(process.host.ids()) == 1
    await process.start()
    found = await client.get(sandbox.id)
    assert (found.state, found.spec.name, found.generation) == (RUNNING, "web", 1)
    assert (await client.delete(sandbox.id)).state == TERMINATED
    assert not process.host.ids()


async def test_twenty_at_once_with_one_request_id_make_one_sandbox(process: Process, client: Client) -> None:
    made = await asyncio.gather(*(client.create("r1") for _ in range(20)))
    assert len({sandbox.id for sandbox in made}) == 1
    assert {sandbox.state for sandbox in made} == {RUNNING}
    assert len(process.host.ids()) == 1


async def test_errors_cross_the_wire_with_class_reason_and_field(client: Client) -> None:
    async def refusal(request: pb.CreateRequest) -> ArenError:
        with pytest.raises(ArenError) as raised:
            await client.call(client.sandboxes.Create, request)
        return raised.value

    bad = await refusal(pb.CreateRequest(spec=sandbox_pb2.SandboxSpec(ports=[80, 80])))
    assert (type(bad), bad.field) == (InvalidArgument, "spec.ports[1]")
    unlucky = sandbox_pb2.SandboxSpec(extensions={"fake.start.fail": "NO_LUCK"})
    failed = await refusal(pb.CreateRequest(spec=unlucky))
    assert (type(failed), failed.reason) == (FailedPrecondition, "NO_LUCK")
    assert failed.metadata["sandbox_id"].startswith("sbx_")


async def test_a_call_without_a_tenant_is_refused(client: Client) -> None:
    with pytest.raises(Unauthenticated):
        await call(client.sandboxes.List, pb.ListRequest(), timeout_s=5)


async def test_another_tenant_sees_and_changes_nothing(process: Process, client: Client) -> None:
    sandbox = await client.create()
    stranger = Client(process.address, Caller(TenantId("other"), "key:key_other"))
    assert await stranger.list_all() == []
    for method, request in (
        (stranger.sandboxes.Get, pb.GetRequest(sandbox_id=sandbox.id)),
        (stranger.sandboxes.Delete, pb.DeleteRequest(sandbox_id=sandbox.id)),
        (stranger.sandboxes.GetEndpoint, pb.GetEndpointRequest(sandbox_id=sandbox.id)),
    ):
        with pytest.raises(NotFound):
            await stranger.call(method, request)
    replay = stranger.events.Replay
    assert [e async for e in stream(replay, events.ReplayRequest(), caller=Caller(TenantId("other"), "x"))] == []
    await stranger.close()


async def test_an_out_of_memory_kill_is_told_in_record_and_event(client: Client) -> None:
    sandbox = await client.create(extensions={"fake.exit_after_s": "0.3", "fake.oom": "true"})
    assert sandbox.state == RUNNING
    failed = await client.until(sandbox.id, sandbox_pb2.SANDBOX_STATE_FAILED)
    assert failed.reason == "OUT_OF_MEMORY"
    found = [
        response.event.sandbox async for response in stream(client.events.Replay, events.ReplayRequest(), caller=ACME)
    ]
    assert "failed" in [event.WhichOneof("fact") for event in found]


async def test_an_out_of_memory_kill_during_a_restart_is_told_afterwards(process: Process, client: Client) -> None:
    sandbox = await client.create(extensions={"fake.exit_after_s": "0.3", "fake.oom": "true"})
    await process.kill()
    await asyncio.sleep(0.4)
    await process.start()
    assert (await client.until(sandbox.id, sandbox_pb2.SANDBOX_STATE_FAILED)).reason == "OUT_OF_MEMORY"


async def test_an_expiry_while_nobody_watched_happens_at_the_start(process: Process, client: Client) -> None:
    brief = await client.create(lifetime=lifetime(0.5))
    lasting = await client.create(lifetime=lifetime(3600))
    await process.kill()
    await asyncio.sleep(0.7)
    assert len(process.host.ids()) == 2
    await process.start()
    ended = await client.until(brief.id, TERMINATED)
    assert ended.reason == "EXPIRED"
    assert process.host.ids() == {lasting.id}


async def test_renewals_at_the_moment_of_expiry_win_or_lose_as_a_whole(process: Process, client: Client) -> None:
    """Over a real log: each of 200 is renewed with the new deadline, or gone."""
    made = await asyncio.gather(*(client.create(lifetime=lifetime(1.5)) for _ in range(200)))

    async def renew(sandbox: sandbox_pb2.Sandbox, number: int) -> sandbox_pb2.Sandbox | None:
        deadline_s = sandbox.expires_at.ToNanoseconds() / 1e9
        await asyncio.sleep(max(deadline_s - time.time() + (number % 11 - 5) * 0.002, 0))
        request = pb.RenewRequest(sandbox_id=sandbox.id, ttl=Duration(seconds=600))
        try:
            renewed = (await client.call(client.sandboxes.Renew, request)).sandbox
        except FailedPrecondition:
            return None
        assert isinstance(renewed, sandbox_pb2.Sandbox)
        return renewed

    outcomes = await asyncio.gather(*(renew(s, n) for n, s in enumerate(made)))
    renewed = {s.id: s for s in outcomes if s}
    for sandbox in made:
        if sandbox.id in renewed:
            found = await client.get(sandbox.id)
            assert (found.state, found.expires_at) == (RUNNING, renewed[sandbox.id].expires_at)
        else:
            assert (await client.until(sandbox.id, TERMINATED)).reason == "EXPIRED"
    assert process.host.ids() == renewed.keys()


async def test_a_follower_hears_each_fact_soon_and_in_order(client: Client) -> None:
    heard: list[str] = []
    request = events.FollowRequest(filter=events.EventFilter(subjects=["sandbox.>"]), from_beginning=True)

    async def listen() -> None:
        async for response in stream(client.events.Follow, request, caller=ACME):
            if response.HasField("event"):
                heard.append(response.event.sandbox.WhichOneof("fact"))
                if heard[-1] == "terminated":
                    return

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        group.create_task(listen())
        sandbox = await client.create()
        await client.delete(sandbox.id)
    created = ["requested", "progressed", "progressed", "started"]
    assert heard == [*created, "stopping", "progressed", "terminated"]


async def test_a_stop_ends_streams_and_leaves_sandboxes(process: Process, client: Client) -> None:
    sandbox = await client.create()
    watching = client.sandboxes.Watch(pb.WatchRequest(sandbox_id=sandbox.id), metadata=ACME.to_metadata())
    following = client.events.Follow(events.FollowRequest(), metadata=ACME.to_metadata())
    await watching.read()
    began_s = time.monotonic()
    code = await process.stop()
    assert (code, time.monotonic() - began_s < 15) == (0, True)
    for open_stream in (watching, following):
        with pytest.raises(grpc.aio.AioRpcError) as broken:
            await read_to_the_end(open_stream)
        assert broken.value.code() is grpc.StatusCode.UNAVAILABLE
    assert len(process.host.ids()) == 1


async def read_to_the_end(open_stream: Any) -> None:
    while await open_stream.read() is not grpc.aio.EOF:
        pass


class TestQuota:
    @pytest.fixture
    def settings(self) -> dict[str, str]:
        return {"admission__sandboxes_per_tenant": "15", "runtime__fake__start_s": "0.01"}

    async def test_of_forty_at_once_fifteen_are_admitted(self, process: Process, client: Client) -> None:
        calls = (client.call(client.sandboxes.Create, pb.CreateRequest()) for _ in range(40))
        answers = await asyncio.gather(*calls, return_exceptions=True)
        refused = [a for a in answers if isinstance(a, ResourceExhausted)]
        assert (len(answers) - len(refused), len(refused)) == (15, 25)
        assert {(e.reason, e.retry_after_s) for e in refused} == {("SANDBOX_QUOTA", 1.0)}
        assert len(process.host.ids()) == 15

    async def test_forty_pairs_by_fifteen_workers_meet_no_quota(self, client: Client) -> None:
        jobs = iter(range(40))

        async def work() -> None:
            for _ in jobs:
                created = await client.call(client.sandboxes.Create, pb.CreateRequest())
                await client.call(client.sandboxes.Delete, pb.DeleteRequest(sandbox_id=created.sandbox.id))

        async with asyncio.TaskGroup() as group:
            for _ in range(15):
                group.create_task(work())


@pytest.mark.parametrize(
    ("environ", "word"),
    [
        ({"ARENERO_LIFECYCLE__RUNTIMES": ""}, "runtimes"),
        ({"ARENERO_LIFECYCLE__NONSENSE": "1"}, "NONSENSE"),
        ({"ARENERO_LIFECYCLE__WORK__SWEEP_S": "never"}, "SWEEP_S"),
    ],
)
def test_a_wrong_setting_stops_the_start_by_name(environ: dict[str, str], word: str) -> None:
    done = run(**environ)
    assert done.returncode == 1
    assert word in done.stderr


def test_the_settings_are_printed() -> None:
    done = run("--print-config")
    assert done.returncode == 0
    assert "[runtime.local]" in done.stdout


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "arenero.lifecycle", *arguments]
    everything = {**os.environ, **environ}
    return subprocess.run(command, env=everything, capture_output=True, text=True, timeout=30, check=False)
