"""Following an exec: where a stream begins, its heartbeats, its end."""

from __future__ import annotations

import asyncio
import itertools

import grpc
import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from tests.contract.execd.kit import STDOUT, Client, Seen

BLOCK = exec_pb2.RETENTION_BLOCK


def place(stream: int, offset: int) -> exec_pb2.StreamOffset:
    return exec_pb2.StreamOffset(stream=stream, offset=offset)  # type: ignore[arg-type]


async def test_silent_exec_is_kept_alive_by_heartbeats(client: Client) -> None:
    """Case 21, shortened: heartbeats come through the silence, and then the output."""
    seen = await client.run("sleep 3; echo done", heartbeat_ms=200)
    assert 12 <= len(seen.beats) <= 16
    assert all(beat.running for beat in seen.beats)
    assert seen.out == b"done\n"


async def test_heartbeats_are_not_delayed_by_bulk_on_the_same_connection(client: Client) -> None:
    """Case 21: one stream floods, another one's heartbeats keep their time."""

    async def flood() -> int:
        count = 0
        async for frame in client.stream("head -c 400000000 /dev/zero", output=exec_pb2.OutputPolicy(retention=BLOCK)):
            count += len(frame.output.data)
        return count

    async with asyncio.TaskGroup() as group:
        flooding = group.create_task(flood())
        quiet = client.stream("sleep 2; echo done", heartbeat_ms=100)
        now = asyncio.get_running_loop().time
        times = [now() async for frame in quiet if frame.HasField("heartbeat")]
    assert len(times) >= 15
    assert max(after - before for before, after in itertools.pairwise(times)) < 0.5
    assert flooding.result() == 400_000_000


async def test_attach_begins_where_it_is_asked_to(client: Client) -> None:
    started = await client.start("printf 0123456789; printf abc >&2")
    await client.wait(started.exec_id)
    at = exec_service_pb2.Offsets(offsets=[place(STDOUT, 4)])
    assert (await client.attached(started.exec_id)).out == b"0123456789"
    from_offset = await client.attached(started.exec_id, offsets=at)
    assert (from_offset.out, from_offset.err) == (b"456789", b"abc")
    assert (await client.attached(started.exec_id, last_bytes=3)).out == b"789"
    assert (await client.attached(started.exec_id, now=True)).outputs == []
    only = await client.attached(started.exec_id, streams=[exec_pb2.OUTPUT_STREAM_STDERR])
    assert (only.out, only.err) == (b"", b"abc")


async def test_attach_past_the_end_is_refused(client: Client) -> None:
    started = await client.start("printf abc")
    await client.wait(started.exec_id)
    at = exec_service_pb2.Offsets(offsets=[place(STDOUT, 4)])
    with pytest.raises(grpc.aio.AioRpcError, match="only 3 bytes were written"):
        await client.attached(started.exec_id, offsets=at)


async def test_attach_without_following_ends_at_what_is_kept(client: Client) -> None:
    started = await client.start("echo so far; sleep 30")
    seen = Seen()
    while not seen.out:
        seen = await client.attached(started.exec_id, no_follow=True)
    assert seen.out == b"so far\n"
    assert seen.ended is None
    await client.call("Kill", exec_id=started.exec_id)
