"""What a sandbox was made with holds for all that runs in it: its user, its directory, its own command."""

import asyncio

import pytest

from arenero.sdk import Client, Sandbox
from arenero.sdk.errors import StartFailed


async def test_user_and_directory_are_those_it_was_made_with(client: Client) -> None:
    async with Sandbox.create(client=client, user="1234:5678", workdir="/tmp") as sandbox:
        assert (await sandbox.exec("id -u; id -g; pwd", check=True)).stdout == b"1234\n5678\n/tmp\n"
        assert (await sandbox.exec("id -u", user="sandbox", check=True)).stdout == b"1000\n"


async def test_user_and_directory_that_do_not_exist_are_told(client: Client) -> None:
    async with Sandbox.create(client=client, user="nobody-here") as sandbox:
        with pytest.raises(StartFailed) as raised:
            await sandbox.exec("id")
        assert raised.value.kind == "BAD_USER"
    async with Sandbox.create(client=client, workdir="/not-there") as sandbox:
        with pytest.raises(StartFailed) as raised:
            await sandbox.exec("id")
        assert raised.value.kind == "BAD_CWD"


async def test_its_own_command_runs_and_can_be_seen(client: Client) -> None:
    async with Sandbox.create(client=client, entrypoint=["sh", "-c", "echo up; sleep 60"]) as sandbox:
        [own] = [found for found in await sandbox.execs() if found.spec.labels.get("arenero.entrypoint") == "true"]
        assert own.running
        async with asyncio.timeout(10):
            async for text in sandbox.process(own.exec_id).text():
                assert text == "up\n"
                break


async def test_directories_made_for_a_file_belong_to_who_uses_them(client: Client) -> None:
    async with Sandbox.create(client=client) as sandbox:
        await sandbox.files.write("a/b/file", b"x")
        await sandbox.files.make_directory("c")
        owners = await sandbox.exec("stat -c '%U %a' a a/b a/b/file c; cat a/b/file", check=True)
        assert owners.stdout == b"sandbox 755\nsandbox 755\nsandbox 644\nsandbox 755\nx"
