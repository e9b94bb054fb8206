"""How execs end: causes, signals, kills, disconnects."""

from __future__ import annotations

import asyncio
import time
import uuid

import grpc
import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from tests.contract.execd import kit
from tests.contract.execd.kit import Client, Execd

CANCELLED = exec_pb2.END_CAUSE_CANCELLED
OWN_EXIT = exec_pb2.END_CAUSE_OWN_EXIT
ESCAPE = "setsid sh -c 'sleep 4711 & exec sleep 4712' & sleep 0.2; sleep 4713"


async def test_exit_code_and_usage_are_told(client: Client) -> None:
    seen = await client.run("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 42")
    assert (seen.end.exit_code, seen.end.cause) == (42, OWN_EXIT)
    assert seen.end.usage.user_time.ToNanoseconds() > 1_000_000
    assert seen.end.ended_at.ToNanoseconds() > seen.end.started_at.ToNanoseconds()


async def test_signal_from_within_is_told_apart_from_an_exit_code(client: Client) -> None:
    seen = await client.run("kill -TERM $$")
    assert seen.end.WhichOneof("result") == "signal"
    assert (seen.end.signal, seen.end.cause) == (15, OWN_EXIT)


async def test_core_dump_is_told(client: Client) -> None:
    core = exec_pb2.Rlimit(name="CORE", value=1 << 20)
    seen = await client.run(argv=["sh", "-c", "kill -QUIT $$"], rlimits=[core])
    assert seen.end.signal == 3
    assert isinstance(seen.end.core_dumped, bool)


async def test_silence_ends_an_exec_that_asked_for_it(client: Client) -> None:
    began = time.monotonic()
    seen = await client.run("for i in 1 2 3; do echo $i; sleep 0.3; done; sleep 30", idle_output_timeout=0.6)
    assert seen.end.cause == exec_pb2.END_CAUSE_IDLE_OUTPUT_DEADLINE
    assert seen.out == b"1\n2\n3\n"
    assert 1.2 <= time.monotonic() - began < 2.2


async def test_process_that_ignores_term_is_killed_after_the_grace(client: Client) -> None:
    began = time.monotonic()
    seen = await client.run("trap '' TERM; sleep 30 & wait; sleep 30", timeout=0.3, kill_grace=0.5)
    assert 0.8 <= time.monotonic() - began < 1.4
    assert (seen.end.signal, seen.end.cause) == (9, exec_pb2.END_CAUSE_DEADLINE)


async def test_kill_reaches_what_left_the_group_and_the_session(guest: Execd, client: Client) -> None:
    """Point 8: killing is complete."""
    started = await client.start(ESCAPE)
    await asyncio.sleep(0.5)
    assert len([line for line in kit.commands(guest) if "sleep 471" in line]) >= 3
    ended = (await client.call("Kill", exec_id=started.exec_id)).ended
    assert (ended.signal, ended.cause) == (9, CANCELLED)
    assert not [line for line in kit.commands(guest) if "sleep 471" in line]
    assert ended.escapees_possible is (guest.cgroup is None)


async def test_kill_without_cgroups_says_that_something_may_have_escaped() -> None:
    with kit.execd(cgroup_fd=-1) as guest:
        async with kit.connected(guest) as client:
            started = await client.start("sleep 4721 & sleep 4722")
            await asyncio.sleep(0.2)
            ended = (await client.call("Kill", exec_id=started.exec_id)).ended
        assert ended.escapees_possible
        assert not [line for line in kit.commands(guest) if "sleep 472" in line]


async def test_kill_with_grace_lets_the_process_say_goodbye(client: Client) -> None:
    exec_id = str(uuid.uuid4())
    running = client.stream("trap 'echo bye; exit 5' TERM; echo up; sleep 30 & wait", exec_id=exec_id)
    await until_output(client, exec_id)
    request = exec_service_pb2.KillRequest(exec_id=exec_id)
    request.grace.FromSeconds(5)
    ended = (await client.execs.Kill(request, metadata=client.metadata)).ended
    assert (ended.exit_code, ended.cause) == (5, CANCELLED)
    assert (await kit.collect(running)).out == b"up\nbye\n"


async def until_output(client: Client, exec_id: str, count: int = 1) -> None:
    for _ in range(200):
        try:
            exec_ = (await client.call("Get", exec_id=exec_id)).exec
            if sum(place.offset for place in exec_.offsets) >= count:
                return
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.NOT_FOUND:
                raise
        await asyncio.sleep(0.02)
    raise AssertionError("no output came")


@pytest.mark.parametrize(
    ("target", "heard"),
    [
        (exec_service_pb2.SIGNAL_TARGET_LEADER, b"leader\n"),
        (exec_service_pb2.SIGNAL_TARGET_GROUP, b"child\nleader\n"),
        (exec_service_pb2.SIGNAL_TARGET_ALL, b"child\nescaped\nleader\n"),
    ],
)
async def test_signal_reaches_whom_it_names(client: Client, target: int, heard: bytes) -> None:
    trap = "trap 'echo {}; exit' USR1; echo up; while :; do sleep 0.05; done"
    child, escaped = (f'bash -c "{trap.format(name)}"' for name in ("child", "escaped"))
    exec_id = str(uuid.uuid4())
    line = f"{child} & setsid {escaped} & {trap.format('leader')}"
    running = client.stream(line, exec_id=exec_id, drain_timeout=1)
    await until_output(client, exec_id, 9)
    answer = await client.call("Signal", exec_id=exec_id, name="USR1", target=target)
    assert answer.delivered >= 1
    seen = await kit.collect(running)
    assert b"".join(sorted(seen.out.replace(b"up\n", b"").splitlines(keepends=True))) == heard


async def test_signal_of_no_known_name_is_refused(client: Client) -> None:
    started = await client.start("sleep 5")
    with pytest.raises(grpc.aio.AioRpcError, match="name: is 'NOPE', which is no signal"):
        await client.call("Signal", exec_id=started.exec_id, name="NOPE")
    assert (await client.call("Signal", exec_id=started.exec_id, number=9)).delivered == 1
    ended = await client.wait(started.exec_id)
    assert (ended.signal, ended.cause) == (9, CANCELLED)


@pytest.mark.parametrize("kills", [True, False])
async def test_client_that_goes_away_ends_its_exec_only_if_asked(guest: Execd, client: Client, kills: bool) -> None:
    exec_id = str(uuid.uuid4())
    policy = exec_pb2.ON_DISCONNECT_KILL if kills else exec_pb2.ON_DISCONNECT_DETACH
    async with kit.connected(guest) as leaving:
        async for frame in leaving.stream("echo up; sleep 5", exec_id=exec_id, on_disconnect=policy):
            if frame.HasField("output"):
                break
    if kills:
        assert (await client.wait(exec_id)).cause == CANCELLED
    else:
        await asyncio.sleep(0.5)
        assert (await client.call("Get", exec_id=exec_id)).exec.running
        await client.call("Kill", exec_id=exec_id)


async def test_150_streams_of_one_client_start_within_a_second(client: Client) -> None:
    """Point 11, and case 77 without the gateway."""
    streams = [client.stream("sleep 3") for _ in range(150)]
    began = time.monotonic()
    firsts = await asyncio.gather(*(anext(aiter(stream)) for stream in streams))
    took_s = time.monotonic() - began
    assert all(frame.HasField("started") for frame in firsts)
    assert took_s < 2.0, "a second on a quiet machine"
    for stream in streams:
        stream.cancel()


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
