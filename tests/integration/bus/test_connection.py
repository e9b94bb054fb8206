"""The connection: it outlives the server, and tells what became of a request."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from arenero.bus.connection import BusConfig, BusConnection, ConnectionLost, connect, inbox_prefix
from arenero.bus.server import NatsServer, NatsServerConfig
from arenero.errors import InvalidArgument, OutcomeUnknown, PermissionDenied, Unauthenticated, Unavailable

ACCESS = """
authorization { users: [
  {user: "writer", password: "right", permissions: {publish: ["ok.>", "$JS.API.INFO"], subscribe: ["_INBOX_writer.>"]}}
] }
"""


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[NatsServer]:
    access = tmp_path / "access.conf"
    access.write_text(ACCESS)
    server = NatsServer(NatsServerConfig(tmp_path / "guarded", access_file=access))
    await server.start()
    yield server
    await server.stop()


def as_writer(server: NatsServer, folder: Path, password: str = "right") -> BusConfig:
    secret = folder / "password"
    secret.write_text(f"{password}\n")
    return BusConfig(server.url, user="writer", password_file=secret, connect_timeout_s=1.0)


async def echo(connection: BusConnection, subject: str, delay_s: float = 0.0) -> None:
    """Answer requests on a subject, with their own content."""
    client = await connection.ready(5)

    async def answer(message: object) -> None:
        await asyncio.sleep(delay_s)
        await message.respond(message.data)  # type: ignore[attr-defined]

    await client.subscribe(subject, cb=answer)
    await client.flush()


async def test_answers_find_their_requests(connection: BusConnection) -> None:
    await echo(connection, "echo")
    answers = await asyncio.gather(*(connection.request("echo", b"%d" % n, timeout_s=5) for n in range(200)))
    assert [answer.data for answer in answers] == [b"%d" % n for n in range(200)]


async def test_silence_is_an_unknown_outcome(connection: BusConnection) -> None:
    await echo(connection, "slow", delay_s=1)
    with pytest.raises(OutcomeUnknown):
        await connection.request("slow", b"", timeout_s=0.05)


async def test_request_on_its_way_fails_at_once_when_the_server_dies(
    server: NatsServer, connection: BusConnection
) -> None:
    await echo(connection, "slow", delay_s=30)
    async with asyncio.TaskGroup() as group:
        request = group.create_task(_failure(connection.request("slow", b"", timeout_s=30)))
        await asyncio.sleep(0.05)
        await server.kill()
    assert isinstance(request.result(), ConnectionLost)


async def _failure(request: object) -> Exception:
    try:
        await request  # type: ignore[misc]
    except (OutcomeUnknown, Unavailable) as error:
        return error
    raise AssertionError("it did not fail")


async def test_nothing_is_sent_while_the_server_is_away(server: NatsServer, connection: BusConnection) -> None:
    await server.kill()
    while connection.is_connected:
        await asyncio.sleep(0.005)
    with pytest.raises(Unavailable) as caught:
        await connection.request("anything", b"late", timeout_s=0.2)
    assert caught.value.reason == "BUS_AWAY"
    heard: list[bytes] = []
    await server.start()
    client = await connection.ready(5)

    async def hear(message: object) -> None:
        heard.append(message.data)  # type: ignore[attr-defined]

    await client.subscribe("anything", cb=hear)
    await client.publish("anything", b"now")
    await client.flush()
    await asyncio.sleep(0.05)
    assert heard == [b"now"]


async def test_request_waits_for_a_server_that_comes_back(server: NatsServer, connection: BusConnection) -> None:
    await server.kill()
    while connection.is_connected:
        await asyncio.sleep(0.005)
    async with asyncio.TaskGroup() as group:
        request = group.create_task(connection.request("$JS.API.INFO", timeout_s=10))
        await asyncio.sleep(0.1)
        await server.start()
    assert b"streams" in request.result().data


async def test_inbox_ends_with_the_connection(server: NatsServer, connection: BusConnection) -> None:
    async with connection.inbox() as inbox:
        client = await connection.ready(5)
        await client.publish(inbox.subject, b"1")
        assert (await inbox.next(5)).data == b"1"
        with pytest.raises(ConnectionLost):
            await inbox.next(0.01)
        await server.kill()
        with pytest.raises(ConnectionLost):
            await inbox.next(30)


async def test_nobody_there_at_the_start_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        async with connect(BusConfig("nats://127.0.0.1:1", connect_timeout_s=0.3), name="test"):
            pass


async def test_wrong_password_is_told(guarded: NatsServer, tmp_path: Path) -> None:
    with pytest.raises(Unauthenticated):
        async with connect(as_writer(guarded, tmp_path, "wrong"), name="test"):
            pass


async def test_denied_publish_fails_the_request_that_caused_it(guarded: NatsServer, tmp_path: Path) -> None:
    async with connect(as_writer(guarded, tmp_path), name="test") as connection:
        assert b"streams" in (await connection.request("$JS.API.INFO", timeout_s=5)).data
        with pytest.raises(PermissionDenied):
            await connection.request("forbidden", b"", timeout_s=5)
        assert b"streams" in (await connection.request("$JS.API.INFO", timeout_s=5)).data


async def test_user_that_was_away_for_a_while_gets_back_in(guarded: NatsServer, tmp_path: Path) -> None:
    """The client library closes for good when it is refused; the connection is to outlive that."""
    access = tmp_path / "access.conf"
    async with connect(as_writer(guarded, tmp_path), name="test") as connection:
        access.write_text(ACCESS.replace("writer", "other"))
        guarded.reload()
        while connection.is_connected:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        access.write_text(ACCESS)
        guarded.reload()
        assert b"streams" in (await connection.request("$JS.API.INFO", timeout_s=10)).data


async def test_message_beyond_the_servers_limit_is_refused(connection: BusConnection) -> None:
    with pytest.raises(InvalidArgument):
        await connection.request("x", bytes(1024 * 1024 + 1), timeout_s=5)


async def test_closed_connection_says_so(server: NatsServer) -> None:
    async with connect(BusConfig(server.url), name="test") as connection:
        pass
    with pytest.raises(Unavailable):
        await connection.request("x", timeout_s=0.1)


def test_inboxes_of_users_are_apart() -> None:
    assert inbox_prefix("gateway") != inbox_prefix("lifecycle")
    assert inbox_prefix("") == "_INBOX"


async def test_connection_that_breaks_with_much_unsent_is_noticed(
    server: NatsServer, connection: BusConnection
) -> None:
    """What the client still had to send must not keep it from telling that it is closed."""
    assert server.pid is not None
    client = await connection.ready(5)
    os.kill(server.pid, signal.SIGSTOP)
    while client.pending_data_size == 0:  # Until the kernel takes no more.
        await client.publish("anything", bytes(512 * 1024))
        await asyncio.sleep(0.01)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        request = group.create_task(_failure(connection.request("anything", timeout_s=30)))
        await asyncio.sleep(0.05)
        await server.kill()
    assert isinstance(request.result(), ConnectionLost)
    await server.start()
    assert b"streams" in (await connection.request("$JS.API.INFO", timeout_s=10)).data
