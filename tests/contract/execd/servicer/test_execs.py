"""ExecService: lists, look-ups, and requests that are wrong."""

from __future__ import annotations

import uuid

import grpc
import pytest

from arenero.api.execd.v1 import exec_pb2
from tests.contract.execd import kit
from tests.contract.execd.kit import Client, Execd

CANCELLED = exec_pb2.END_CAUSE_CANCELLED


async def test_list_get_and_forget_know_execs_by_label(client: Client) -> None:
    label = str(uuid.uuid4())
    first = await client.start("sleep 20", labels={"job": label})
    second = await client.start("true", labels={"job": label, "n": "2"})
    await client.wait(second.exec_id)
    listed = (await client.call("List", labels={"job": label})).execs
    assert [exec_.exec_id for exec_ in listed] == [second.exec_id, first.exec_id]
    assert listed[1].spec.shell == "sleep 20"
    running = (await client.call("List", labels={"job": label}, running_only=True)).execs
    assert [exec_.exec_id for exec_ in running] == [first.exec_id]
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await client.call("Forget", exec_id=first.exec_id)
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    await client.call("Forget", exec_id=second.exec_id)
    assert len((await client.call("List", labels={"job": label})).execs) == 1
    await client.call("Kill", exec_id=first.exec_id)


async def test_signal_of_no_known_name_is_refused(client: Client) -> None:
    started = await client.start("sleep 5")
    with pytest.raises(grpc.aio.AioRpcError, match="name: is 'NOPE', which is no signal"):
        await client.call("Signal", exec_id=started.exec_id, name="NOPE")
    assert (await client.call("Signal", exec_id=started.exec_id, number=9)).delivered == 1
    ended = await client.wait(started.exec_id)
    assert (ended.signal, ended.cause) == (9, CANCELLED)


async def test_processes_are_listed_with_their_exec(client: Client) -> None:
    started = await client.start("setsid sleep 3331 & sleep 3332")
    await kit.until(lambda: count_sleeps(client), 2)
    processes = [each for each in (await client.call("ListProcesses")).processes if each.name == "sleep"]
    assert {each.args[1] for each in processes} == {b"3331", b"3332"}
    assert all(each.exec_id == started.exec_id and each.rss_bytes > 0 for each in processes)
    names = {each.name for each in (await client.call("ListProcesses")).processes}
    assert not [name for name in names if name.startswith("arenero")]
    await client.call("Kill", exec_id=started.exec_id)


async def count_sleeps(client: Client) -> int:
    return len([each for each in (await client.call("ListProcesses")).processes if each.name == "sleep"])


async def test_ports_are_listed(client: Client) -> None:
    listen = "import socket; s = socket.create_server(('', 0)); print(s.getsockname()[1], flush=True); s.accept()"
    stream = client.stream(argv=["python3", "-c", listen])
    frames = aiter(stream)
    assert (await anext(frames)).HasField("started")
    port = int((await anext(frames)).output.data)
    ports = (await client.call("ListPorts")).ports
    assert [(each.protocol, each.address) for each in ports if each.port == port] == [("tcp", "0.0.0.0")]
    stream.cancel()


@pytest.mark.parametrize("method", ["Get", "Attach", "Wait", "Kill", "Forget", "CloseStdin", "Resize", "Signal"])
async def test_exec_that_is_not_there_is_not_found(client: Client, method: str) -> None:
    more = {"name": "TERM"} if method == "Signal" else {}

    async def call(exec_id: str) -> None:
        await (client.attached(exec_id) if method == "Attach" else client.call(method, exec_id=exec_id, **more))

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call(str(uuid.uuid4()))
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call("x")
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_start_that_would_kill_on_disconnect_has_no_connection_to_watch(client: Client) -> None:
    with pytest.raises(grpc.aio.AioRpcError, match=r"spec\.on_disconnect"):
        await client.start("true", on_disconnect=exec_pb2.ON_DISCONNECT_KILL)


async def test_resize_needs_a_terminal(client: Client) -> None:
    started = await client.start("sleep 1")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await client.call("Resize", exec_id=started.exec_id, size=exec_pb2.Pty(rows=1))
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION


async def test_reflection_and_health_need_no_token(guest: Execd) -> None:
    async with kit.connected(guest, "") as stranger:
        services = await kit.reflected_services(stranger)
        assert await kit.health(stranger) == "SERVING"
    assert {
        f"arenero.api.execd.v1.{name}Service" for name in ("Exec", "File", "Lease", "Code", "Isolation")
    } <= services
