"""What a sandbox is kept from, as seen from inside, and what its record says of it."""

import asyncio
from contextlib import aclosing

import pytest

from arenero.sdk import Client, Output, Sandbox
from arenero.sdk.errors import StartFailed


async def output(sandbox: Sandbox, line: str, **options) -> str:
    return (await sandbox.exec(line, **options)).stdout_text.strip()


async def test_record_says_what_is_in_force(sandbox: Sandbox) -> None:
    isolation = sandbox.record.isolation
    assert isolation is not None
    assert isolation.runtime == "local"
    assert not isolation.missing
    wanted = {"pid-namespace", "network-namespace", "mount-namespace", "user-namespace", "seccomp", "no-new-privileges"}
    assert wanted <= set(isolation.features)


async def test_best_effort_on_a_host_that_gives_all_is_the_standard(client: Client) -> None:
    async with Sandbox.create(client=client, best_effort=True) as sandbox:
        assert sandbox.record.isolation is not None
        assert not sandbox.record.isolation.missing


async def test_network_is_denied(sandbox: Sandbox) -> None:
    probe = "import socket; s = socket.socket(); s.settimeout(3); s.connect(('192.0.2.1', 80))"
    result = await sandbox.exec(["python3", "-c", probe])
    assert not result.ok
    assert "unreachable" in result.stderr_text.lower()
    assert await output(sandbox, "cat /proc/net/dev | grep -c : ") == "1"


async def test_loopback_works(sandbox: Sandbox) -> None:
    probe = "import socket; a=socket.create_server(('127.0.0.1',8080)); b=socket.create_connection(('127.0.0.1',8080))"
    assert (await sandbox.exec(["python3", "-c", probe])).ok
    server = await sandbox.start(["python3", "-m", "http.server", "8099", "--bind", "127.0.0.1"])
    async with asyncio.timeout(20):
        while 8099 not in [found.port for found in await sandbox.ports()]:
            await asyncio.sleep(0.1)
    await server.kill()


async def test_host_can_not_be_seen(sandbox: Sandbox, platform) -> None:
    assert await output(sandbox, "cat /etc/shadow 2>&1 | head -1; ls /root 2>&1") != ""
    secret = (platform.home / "admin.key").read_text().strip()
    everything = await output(sandbox, "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; cat /proc/*/cmdline")
    assert secret not in everything
    assert str(platform.home) not in everything
    pids = [int(pid) for pid in (await output(sandbox, "ls /proc | grep -E '^[0-9]+$'")).split()]
    assert max(pids) < 1000
    assert not await output(sandbox, f"ls {platform.home} 2>/dev/null")


async def test_system_is_read_only_and_home_is_not(sandbox: Sandbox) -> None:
    assert not (await sandbox.exec("touch /usr/bin/x")).ok
    assert not (await sandbox.exec("touch /usr/bin/x", user=0)).ok
    assert (await sandbox.exec("touch ~/x /tmp/x", check=True)).ok


async def test_sandboxes_do_not_see_each_other(client: Client, sandbox: Sandbox) -> None:
    await sandbox.exec("echo mine > /tmp/shared; (exec -a neighbour sleep 300) >/dev/null 2>&1 &", on_exit="leave")
    async with Sandbox.create(client=client) as other:
        assert not (await other.exec("cat /tmp/shared")).ok
        assert "neighbour" not in await output(other, "cat /proc/*/cmdline | tr '\\0' ' '")


async def test_out_of_memory_is_reported_as_such(client: Client) -> None:
    """Case 70, for a command."""
    async with Sandbox.create(client=client, memory_bytes=128 << 20) as sandbox:
        eat = "b = []\nwhile True: b.append(bytearray(b'x' * (8 << 20)))"
        result = await sandbox.exec(["python3", "-c", eat])
        assert result.exit.cause == "OUT_OF_MEMORY", result
        assert result.exit.signal == 9
        assert (await sandbox.exec("echo alive", check=True)).stdout == b"alive\n"
        stats = await sandbox.stats()
        assert stats.oom_kills is None or stats.oom_kills >= 1


async def test_fork_bomb_ends_at_its_limit(client: Client) -> None:
    async with Sandbox.create(client=client, pids=64) as sandbox:
        bomb = "for i in $(seq 300); do sleep 2 & done 2>/dev/null; jobs | wc -l"
        result = await sandbox.exec(bomb, timeout_s=20)
        assert (await sandbox.exec("echo alive", check=True)).stdout == b"alive\n"
        counted = int(result.stdout_text.strip() or 0)
        assert counted < 64


BOMB = """
import os, time
while True:
    try:
        if os.fork() == 0:
            time.sleep(600)
    except OSError:
        print("full", flush=True)
        time.sleep(0.001)
"""


async def test_sandbox_full_of_processes_can_still_be_looked_at_and_put_right(client: Client) -> None:
    """execd's own threads count against the same limit: it needs none that it doesn't have yet."""
    async with Sandbox.create(client=client, pids=64) as sandbox:
        bomb = await sandbox.start(["python3", "-c", BOMB])
        async with aclosing(bomb.output()) as frames:  # type: ignore[type-var]
            async for frame in frames:
                if isinstance(frame, Output):
                    break
        assert len(await sandbox.processes()) > 64
        assert await sandbox.ports() == []
        await sandbox.files.write("x", b"content")
        assert await sandbox.files.read("x") == b"content"
        with pytest.raises(StartFailed) as refused:
            await sandbox.exec("true")
        assert refused.value.kind == "LIMIT"
        await bomb.kill()
        assert (await sandbox.exec("true")).ok


@pytest.mark.parametrize("user", ["sandbox", 0], ids=["user", "root"])
async def test_first_process_is_not_ended_from_inside(sandbox: Sandbox, user) -> None:
    """Right after a launch it still looks like the user, so that the signal may be sent; as process 1 it takes none."""
    await sandbox.exec("for i in 1 2 3 4 5 6 7 8 9; do kill -9 1; kill -15 1; done; true", user=user, timeout_s=10)
    assert (await sandbox.exec("true")).ok


@pytest.mark.parametrize(
    "attack",
    [
        "mount -t tmpfs none /mnt",
        "unshare -r true",
        "nsenter -t 1 -m true",
        "chroot / true",
        "mknod /tmp/sda b 8 0",
        "echo 1 > /proc/sys/kernel/panic",
        "echo b > /proc/sysrq-trigger",
        "dmesg",
        "date -s 2001-01-01",
        "hostname pwned",
    ],
)
@pytest.mark.parametrize("user", ["sandbox", 0], ids=["user", "root"])
async def test_privileged_acts_fail(sandbox: Sandbox, attack: str, user) -> None:
    assert not (await sandbox.exec(attack, user=user, timeout_s=10)).ok
    assert (await sandbox.exec("true")).ok
