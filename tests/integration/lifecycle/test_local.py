"""Lifecycle over the local runtime: what the fake can't show, since it takes a real execd in a real sandbox."""

import asyncio
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from google.protobuf.duration_pb2 import Duration

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from arenero.api.execd.v1.exec_service_pb2_grpc import ExecServiceStub
from arenero.api.lifecycle.v1 import sandbox_pb2
from arenero.api.lifecycle.v1 import sandbox_service_pb2 as pb
from arenero.rpc.client import call, open_channel
from tests.integration.lifecycle.conftest import Client, Process

pytestmark = pytest.mark.root

RUNNING, TERMINATED = sandbox_pb2.SANDBOX_STATE_RUNNING, sandbox_pb2.SANDBOX_STATE_TERMINATED


@pytest.fixture
def state_dir() -> Iterator[Path]:
    """Where the driver keeps its things; short, since there are sockets in it."""
    with tempfile.TemporaryDirectory(prefix="al-", dir="/tmp") as directory:
        yield Path(directory)


@pytest.fixture
def settings(state_dir: Path) -> dict[str, str]:
    return {
        "runtimes": "local",
        "runtime__local__state_dir": str(state_dir),
        "runtime__local__prepared": "0",
        "lifetime__lease_slack_s": "1",
    }


@pytest.fixture
async def client(process: Process, state_dir: Path) -> AsyncIterator[Client]:
    """A client, once lifecycle takes calls; in the end every sandbox is deleted."""
    client = Client(process.address)
    [runtime] = (await client.insist(client.sandboxes.ListRuntimes, pb.ListRuntimesRequest())).runtimes
    if not runtime.usable:
        pytest.skip(f"the local runtime can't be used here: {runtime.reason}")
    yield client
    await process.stop(signal.SIGKILL)
    await process.start()
    for sandbox in await client.list_all():
        await client.delete(sandbox.id)
    left = list((state_dir / "sandboxes").iterdir())
    await client.close()
    assert not left


def lifetime(seconds: float) -> sandbox_pb2.Lifetime:
    return sandbox_pb2.Lifetime(ttl=Duration(seconds=int(seconds)))


async def run(client: Client, sandbox_id: str, *command: str) -> exec_pb2.ExecEnded:
    """Run a command by the endpoint that lifecycle gives, and wait for its end."""
    answer = await client.call(client.sandboxes.GetEndpoint, pb.GetEndpointRequest(sandbox_id=sandbox_id))
    metadata = [("authorization", f"Bearer {answer.endpoint.token}")]
    async with open_channel(answer.endpoint.address) as channel:
        stub = ExecServiceStub(channel)
        spec = exec_pb2.ExecSpec(argv=exec_pb2.Argv(args=[word.encode() for word in command]))
        started = await call(stub.Start, exec_service_pb2.StartRequest(spec=spec), timeout_s=10, metadata=metadata)
        wait = exec_service_pb2.WaitRequest(exec_id=started.started.exec.exec_id)
        ended = (await call(stub.Wait, wait, timeout_s=10, metadata=metadata)).ended
        assert isinstance(ended, exec_pb2.ExecEnded)
        return ended


async def test_a_sandbox_answers_over_kills_of_lifecycle(process: Process, client: Client) -> None:
    sandbox = await client.create(name="box")
    assert sandbox.state == RUNNING
    assert sandbox.isolation.runtime == "local"
    assert (await run(client, sandbox.id, "true")).exit_code == 0
    await process.kill()
    await process.start()
    assert (await client.get(sandbox.id)).state == RUNNING
    assert (await run(client, sandbox.id, "false")).exit_code == 1
    assert (await client.delete(sandbox.id)).state == TERMINATED


async def test_a_deadline_is_kept_by_execd_alone_while_lifecycle_is_away(process: Process, client: Client) -> None:
    sandbox = await client.create(lifetime=lifetime(3))
    answer = await client.call(client.sandboxes.GetEndpoint, pb.GetEndpointRequest(sandbox_id=sandbox.id))
    address = answer.endpoint.address
    await process.kill()
    async with asyncio.timeout(15):
        while await answers(address):
            await asyncio.sleep(0.05)
    await process.start()
    assert (await client.until(sandbox.id, TERMINATED)).reason == "EXPIRED"


async def test_a_renewal_reaches_execd(process: Process, client: Client) -> None:
    sandbox = await client.create(lifetime=lifetime(3))
    await client.call(client.sandboxes.Renew, pb.RenewRequest(sandbox_id=sandbox.id, ttl=Duration(seconds=600)))
    await asyncio.sleep(0.3)
    await process.kill()
    await asyncio.sleep(5)
    await process.start()
    assert (await client.get(sandbox.id)).state == RUNNING
    assert (await run(client, sandbox.id, "true")).exit_code == 0


async def test_a_sandbox_stands_still_while_paused(client: Client) -> None:
    sandbox = await client.create()
    paused = await client.call(client.sandboxes.Pause, pb.PauseRequest(sandbox_id=sandbox.id))
    assert paused.sandbox.state == sandbox_pb2.SANDBOX_STATE_PAUSED
    resumed = await client.call(client.sandboxes.Resume, pb.ResumeRequest(sandbox_id=sandbox.id))
    assert resumed.sandbox.state == RUNNING
    assert (await run(client, sandbox.id, "true")).exit_code == 0


async def answers(address: str) -> bool:
    """Whether anything accepts connections at a Unix socket."""
    try:
        _, writer = await asyncio.open_unix_connection(address.removeprefix("unix:"))
    except OSError:
        return False
    writer.close()
    return True
