"""The life of sandboxes: made, found, changed, expired, deleted."""

import asyncio
import re
import time
from datetime import UTC, datetime, timedelta

import pytest

from arenero.sdk import Client, Sandbox
from arenero.sdk.errors import AlreadyExists, AreneroError, FailedPrecondition, InvalidArgument, NotFound, Unsupported
from arenero.sdk.types import SandboxState
from tests.e2e.kit import Instance


async def test_sandbox_runs_and_is_found_and_ends(client: Client) -> None:
    async with Sandbox.create(client=client, name="one", ttl_s=300) as sandbox:
        assert re.fullmatch(r"sbx_[a-z2-7]{20}", sandbox.id)
        assert sandbox.state is SandboxState.RUNNING
        assert (await sandbox.exec("echo hello", check=True)).stdout == b"hello\n"
        found = await Sandbox.connect(sandbox.id, client=client)
        assert found.record.spec is not None
        assert found.record.spec.name == "one"
        await found.close()
    assert (await client.get(sandbox.id)).state is SandboxState.TERMINATED
    with pytest.raises(AreneroError) as raised:
        await sandbox.exec("echo hello")
    assert isinstance(raised.value, NotFound | FailedPrecondition), raised.value


async def test_deleting_twice_is_no_error(client: Client) -> None:
    sandbox = await Sandbox.create(client=client)
    await sandbox.delete()
    await sandbox.delete()
    await sandbox.close()
    assert (await client.get(sandbox.id)).state is SandboxState.TERMINATED


async def test_unknown_sandbox_is_not_found(client: Client) -> None:
    with pytest.raises(NotFound) as raised:
        await client.get("sbx_" + "a" * 20)
    assert raised.value.reason


async def test_same_request_id_gives_the_same_sandbox(client: Client) -> None:
    request_id = f"job-{time.time_ns()}"
    made = await asyncio.gather(*(Sandbox.create(client=client, request_id=request_id).__aenter__() for _ in range(5)))
    try:
        assert len({sandbox.id for sandbox in made}) == 1
        with pytest.raises(AlreadyExists):
            await Sandbox.create(client=client, request_id=request_id, name="another")
    finally:
        await made[0].delete()
        for sandbox in made:
            await sandbox.close()


async def test_sandboxes_are_listed_by_label_name_and_state(client: Client) -> None:
    team = f"t{time.time_ns()}"
    async with (
        Sandbox.create(client=client, metadata={"team": team, "role": "a"}, name="first") as first,
        Sandbox.create(client=client, metadata={"team": team, "role": "b"}, name="second") as second,
    ):
        newest_first = [found.id async for found in client.sandboxes(metadata={"team": team})]
        assert newest_first == [second.id, first.id]
        by_both = [found.id async for found in client.sandboxes(metadata={"team": team, "role": "a"})]
        assert by_both == [first.id]
        by_name = [found.id async for found in client.sandboxes(metadata={"team": team}, name="second")]
        assert by_name == [second.id]
        await first.delete()
        living = [found.id async for found in client.sandboxes(metadata={"team": team})]
        assert living == [second.id]
        every = [found.id async for found in client.sandboxes(metadata={"team": team}, include_ended=True)]
        assert every == [second.id, first.id]
        ended = client.sandboxes(metadata={"team": team}, states=(SandboxState.TERMINATED,))
        assert [found.id async for found in ended] == [first.id]


async def test_labels_are_changed(client: Client, sandbox: Sandbox) -> None:
    label = f"l{time.time_ns()}"
    await sandbox.update_metadata({"keep": label, "drop": label})
    await sandbox.update_metadata({"new": label}, remove=["drop"])
    assert sandbox.record.spec is not None
    assert sandbox.record.spec.metadata == {"keep": label, "new": label}
    assert [found.id async for found in client.sandboxes(metadata={"new": label})] == [sandbox.id]
    assert not [found.id async for found in client.sandboxes(metadata={"drop": label})]


async def test_sandbox_expires_and_says_so(client: Client) -> None:
    sandbox = await Sandbox.create(client=client, ttl_s=1.5)
    began_s = time.monotonic()
    states = [found.state async for found in sandbox.watch()]
    assert states[-1] is SandboxState.TERMINATED
    assert 0.5 < time.monotonic() - began_s < 10
    assert "EXPIRED" in sandbox.record.reason.upper() or "TTL" in sandbox.record.reason.upper()
    await sandbox.close()


async def test_renewal_moves_the_end(client: Client) -> None:
    async with Sandbox.create(client=client, ttl_s=2) as sandbox:
        await sandbox.renew(600)
        assert sandbox.record.expires_at is not None
        left = sandbox.record.expires_at - datetime.now(UTC)
        assert timedelta(seconds=590) < left <= timedelta(seconds=600)
        await sandbox.renew(5, extend_only=True)
        assert sandbox.record.expires_at - datetime.now(UTC) > timedelta(seconds=500)
        await asyncio.sleep(2.5)
        assert (await sandbox.exec("echo alive", check=True)).stdout == b"alive\n"


async def test_watching_shows_every_state_to_the_end(client: Client) -> None:
    async with Sandbox.create(client=client) as sandbox:
        seen = []

        async def watch() -> None:
            seen.extend([found.state async for found in sandbox.watch()])

        async with asyncio.TaskGroup() as group:
            group.create_task(watch())
            await asyncio.sleep(0.2)
            await client.delete(sandbox.id)
    assert seen[0] is SandboxState.RUNNING
    assert seen[-1] is SandboxState.TERMINATED


BAD = {
    "ttl of nothing": {"ttl_s": 0},
    "ttl below zero": {"ttl_s": -1},
    "ttl of ten thousand years": {"ttl_s": 3e11},
    "name too long": {"name": "n" * 300},
    "label with a newline": {"metadata": {"a": "x\ny"}},
    "label's name with a newline": {"metadata": {"a\nb": "x"}},
    "port 0": {"ports": [0]},
    "port twice": {"ports": [80, 80]},
    "port too high": {"ports": [70_000]},
    "cores below zero": {"cpus": -1},
    "variable with an equals sign": {"env": {"A=B": "x"}},
    "variable with a NUL": {"env": {"A": "x\0y"}},
    "runtime that is none": {"runtime": "nope"},
    "template that is none": {"template": "nope"},
    "relative directory": {"rootfs_directory": "../x"},
    "request id with a space": {"request_id": "a b"},
}


@pytest.mark.parametrize("options", BAD.values(), ids=BAD)
async def test_bad_request_is_refused_before_anything_is_made(client: Client, options) -> None:
    """Case 75."""
    before = {found.id async for found in client.sandboxes(include_ended=True)}
    with pytest.raises(AreneroError) as raised:
        await Sandbox.create(client=client, **options)
    assert isinstance(raised.value, InvalidArgument | Unsupported), repr(raised.value)
    if isinstance(raised.value, InvalidArgument):
        assert raised.value.field or raised.value.reason not in ("", "INVALID_ARGUMENT"), raised.value
    assert {found.id async for found in client.sandboxes(include_ended=True)} == before


async def test_directory_of_the_host_that_is_not_allowed_is_no_source(client: Client) -> None:
    """Only the runtime knows its host's directories, so this one is refused on the way, and leaves a failed record."""
    with pytest.raises(InvalidArgument) as raised:
        await Sandbox.create(client=client, rootfs_directory="/etc")
    assert raised.value.reason == "SOURCE_NOT_ALLOWED"


async def test_names_up_to_the_limit_are_accepted_and_the_host_name_is_shortened(client: Client) -> None:
    """Case 75."""
    async with Sandbox.create(client=client, name="n" * 63) as sandbox:
        host_name = (await sandbox.exec("hostname", check=True)).stdout_text.strip()
        assert 0 < len(host_name) <= 63


async def test_twenty_at_once(platform: Instance) -> None:
    async with platform.client() as client:

        async def live(number: int) -> str:
            async with Sandbox.create(client=client) as sandbox:
                return (await sandbox.exec(["echo", str(number)], check=True)).stdout_text.strip()

        assert await asyncio.gather(*(live(number) for number in range(20))) == [str(number) for number in range(20)]


async def test_environment_user_and_directory_are_the_sandboxs(client: Client) -> None:
    async with Sandbox.create(client=client, env={"GREETING": "¡hola!"}, workdir="/tmp") as sandbox:
        result = await sandbox.exec('echo "$GREETING $(pwd) $(id -un)"', check=True)
        assert result.stdout_text == "¡hola! /tmp sandbox\n"


async def test_stats_are_measured_from_outside(sandbox: Sandbox) -> None:
    await sandbox.exec("for i in $(seq 200000); do :; done", check=True)
    stats = await sandbox.stats()
    assert stats.cpu_time is not None
    assert stats.memory_bytes is None or stats.memory_bytes > 0
    assert stats.pids is None or stats.pids >= 1


async def test_runtimes_and_templates_are_told(client: Client) -> None:
    [local] = [found for found in await client.runtimes() if found.name == "local"]
    assert local.usable, local.reason
    assert local.is_default
    assert all(check.ok or check.fix for check in local.checks)
    assert "host" in [template.name for template in await client.templates()]
