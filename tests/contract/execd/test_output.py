"""Output: every byte once, in order, kept as asked, and never held up by who doesn't read."""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path

import grpc
import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from tests.contract.execd import kit
from tests.contract.execd.kit import STDERR, STDOUT, Client, Execd, Seen

KEEP, RING, DISCARD, BLOCK = (
    exec_pb2.RETENTION_KEEP,
    exec_pb2.RETENTION_RING,
    exec_pb2.RETENTION_DISCARD,
    exec_pb2.RETENTION_BLOCK,
)
MIB = 1 << 20


def offsets_of(ended: exec_pb2.ExecEnded) -> dict[int, int]:
    return {place.stream: place.offset for place in ended.final_offsets}


def place(stream: int, offset: int) -> exec_pb2.StreamOffset:
    return exec_pb2.StreamOffset(stream=stream, offset=offset)  # type: ignore[arg-type]


async def test_counts_are_exact_over_many_short_runs(client: Client) -> None:
    """Case 11, a hundred times; the thousand is in the slow twin."""
    await count_bytes(client, 100)


@pytest.mark.slow
async def test_counts_are_exact_over_a_thousand_short_runs(client: Client) -> None:
    """Case 11."""
    await count_bytes(client, 1000)


async def count_bytes(client: Client, times: int) -> None:
    for _ in range(times // 20):
        done = await asyncio.gather(*(client.run(argv=["printf", "x"]) for _ in range(20)))
        assert [seen.out for seen in done] == [b"x"] * 20
        assert all(offsets_of(seen.end) == {STDOUT: 1, STDERR: 0} for seen in done)


async def test_byte_after_a_full_pipe_is_not_lost(client: Client) -> None:
    """Case 11: 65,537 bytes; the end comes after the last of them."""
    seen = await client.run("head -c 65537 /dev/zero | tr '\\0' a")
    assert seen.out == b"a" * 65_537
    assert offsets_of(seen.end)[STDOUT] == 65_537
    seen.check()


async def test_flood_into_a_ring_goes_on_when_the_client_drops(guest: Execd, client: Client) -> None:
    """Case 13: memory stays bounded, the process runs, and a gap names what was evicted."""
    exec_id = str(uuid.uuid4())
    ring = exec_pb2.OutputPolicy(retention=RING, limit_bytes=MIB)
    async with kit.connected(guest) as dropped:
        async for frame in dropped.stream("yes", exec_id=exec_id, output=ring):
            if frame.HasField("output") and frame.output.offset > MIB:
                break
    before = rss_mib(guest)
    offset_before = (await client.call("Get", exec_id=exec_id)).exec.offsets[0].offset
    await asyncio.sleep(2)
    exec_ = (await client.call("Get", exec_id=exec_id)).exec
    assert exec_.running
    assert exec_.offsets[0].offset > offset_before + MIB
    assert rss_mib(guest) - before < 16
    seen = Seen()
    stream = client.attach(exec_id, offsets=exec_service_pb2.Offsets(offsets=[place(STDOUT, 0)]))
    async for frame in stream:
        seen.add(frame)
        if len(seen.out) > MIB:
            break
    stream.cancel()
    await client.call("Kill", exec_id=exec_id)
    seen.check()
    assert seen.gaps[0].from_offset == 0
    assert seen.gaps[0].to_offset >= offset_before - MIB
    assert set(seen.out) == set(b"y\n")


def rss_mib(guest: Execd) -> float:
    status = Path(f"/proc/{guest.server_pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) / 1024


@pytest.mark.parametrize("retention", [KEEP, RING, DISCARD])
async def test_writer_without_reader_is_not_blocked(guest: Execd, client: Client, retention: int) -> None:
    """Case 14: the marker after 10 MB appears."""
    marker = Path(guest.plan.login.home, f"marker-{retention}")
    line = f"head -c 10000000 /dev/zero; touch {marker}"
    started = await client.start(line, output=exec_pb2.OutputPolicy(retention=retention))  # type: ignore[arg-type]
    await client.wait(started.exec_id)
    assert marker.exists()


async def test_writer_without_reader_is_blocked_when_asked(guest: Execd, client: Client) -> None:
    """Case 14, block: the marker appears only once someone reads, and nothing is lost."""
    marker = Path(guest.plan.login.home, "marker-block")
    line = f"head -c 10000000 /dev/zero; touch {marker}"
    started = await client.start(line, output=exec_pb2.OutputPolicy(retention=BLOCK))
    await asyncio.sleep(1)
    assert not marker.exists()
    seen = await client.attached(started.exec_id)
    assert len(seen.out) == 10_000_000
    assert not seen.gaps
    assert marker.exists()


async def test_character_in_three_writes_arrives_as_its_three_bytes(client: Client) -> None:
    """Case 16: bytes are never decoded on the way."""
    line = r"for b in '\xe2' '\x82' '\xac'; do printf $b; printf $b >&2; sleep 0.05; done"
    seen = await client.run(argv=["bash", "-c", line])
    assert (seen.out, seen.err) == ("€".encode(), "€".encode())
    assert len(seen.outputs) >= 4


async def test_half_a_character_arrives_when_its_writer_is_killed(client: Client) -> None:
    """Case 16: killed after the second byte."""
    seen = await client.run(argv=["bash", "-c", r"printf '\xe2'; printf '\x82'; kill -9 $$"])
    assert seen.out == b"\xe2\x82"
    assert seen.end.signal == 9


async def test_bytes_that_are_no_text_stay_as_they_are(client: Client) -> None:
    """Case 17."""
    assert (await client.run(argv=["printf", r"\xff\xfe\x00A"])).out == b"\xff\xfe\x00A"


async def test_line_ends_and_the_last_partial_line_stay_as_they_are(client: Client) -> None:
    """Case 19."""
    assert (await client.run(argv=["printf", r"a\n\n\r\nb"])).out == b"a\n\n\r\nb"


async def test_line_of_five_megabytes_is_delivered(client: Client) -> None:
    """Case 19."""
    seen = await client.run("head -c 5000000 /dev/zero | tr '\\0' a")
    assert seen.out == b"a" * 5_000_000
    seen.check()


async def test_flood_on_stdout_leaves_stderr_intact(client: Client) -> None:
    """Case 20: limits are per stream, and the loss is told."""
    policy = exec_pb2.OutputPolicy(limit_bytes=MIB)
    started = await client.start("head -c 2097152 /dev/zero; echo boom >&2; exit 1", output=policy)
    ended = await client.wait(started.exec_id)
    seen = await client.attached(started.exec_id)
    assert (ended.exit_code, seen.err) == (1, b"boom\n")
    assert {lost.stream: lost.offset for lost in ended.dropped} == {STDOUT: MIB}
    assert [(gap.stream, gap.from_offset, gap.to_offset) for gap in seen.gaps] == [(STDOUT, 0, MIB)]
    assert len(seen.out) == MIB


async def test_timeout_keeps_what_was_captured(client: Client) -> None:
    """Case 20, with a timeout."""
    policy = exec_pb2.OutputPolicy(limit_bytes=MIB)
    line = "head -c 2097152 /dev/zero; echo boom >&2; sleep 30"
    started = await client.start(line, output=policy, timeout=1)
    ended = await client.wait(started.exec_id)
    assert ended.cause == exec_pb2.END_CAUSE_DEADLINE
    seen = await client.attached(started.exec_id)
    assert (len(seen.out), seen.err) == (MIB, b"boom\n")


async def test_slow_reader_holds_up_nobody(guest: Execd, client: Client) -> None:
    """One client stops reading; the exec and another client go on, and the slow one learns what it missed."""
    exec_id = str(uuid.uuid4())
    policy = exec_pb2.OutputPolicy(retention=KEEP, limit_bytes=8 * MIB)
    async with kit.connected(guest) as slow:
        stalled = slow.stream("head -c 100000000 /dev/zero", exec_id=exec_id, output=policy)
        frames = aiter(stalled)
        await anext(frames)
        ended = await asyncio.wait_for(client.wait(exec_id), 10)
        assert offsets_of(ended)[STDOUT] == 100_000_000
        seen = Seen()
        async for frame in frames:
            seen.add(frame)
    seen.check()
    missed = sum(gap.to_offset - gap.from_offset for gap in seen.gaps)
    assert missed > 0
    assert missed + len(seen.out) == 100_000_000


async def test_output_larger_than_what_is_kept_reaches_a_reader_that_keeps_pace(client: Client) -> None:
    """Default retention, four times its limit: a reader that keeps up gets all of it."""
    count = 0
    async for frame in client.stream("head -c 268435456 /dev/zero"):
        assert not frame.HasField("gap")
        if frame.HasField("output"):
            assert frame.output.offset == count
            count += len(frame.output.data)
    assert count == 268_435_456


async def test_order_between_streams_survives_a_later_attach(client: Client) -> None:
    line = "for i in 1 2 3 4 5; do echo o$i; sleep 0.02; echo e$i >&2; sleep 0.02; done"
    live = await client.run(line)
    assert live.started is not None
    later = await client.attached(live.started.exec.exec_id)
    later.check()
    order = [(chunk.stream, chunk.data) for chunk in later.outputs]
    assert order == [pair for i in range(1, 6) for pair in ((STDOUT, b"o%d\n" % i), (STDERR, b"e%d\n" % i))]


async def test_discarded_output_is_not_there_afterwards(client: Client) -> None:
    live = await client.run("echo gone", output=exec_pb2.OutputPolicy(retention=DISCARD))
    assert live.out == b"gone\n"
    assert live.started is not None
    assert (await client.attached(live.started.exec.exec_id)).outputs == []


async def test_output_is_forgotten_after_its_retention_time(client: Client) -> None:
    policy = exec_pb2.OutputPolicy()
    policy.retain_for.FromMilliseconds(300)
    started = await client.start("echo short", output=policy)
    await client.wait(started.exec_id)
    assert (await client.attached(started.exec_id)).out == b"short\n"
    await asyncio.sleep(0.6)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await client.call("Get", exec_id=started.exec_id)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
