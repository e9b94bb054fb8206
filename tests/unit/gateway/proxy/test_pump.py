import asyncio
from typing import Any

import grpc
import pytest

from arenero.gateway.proxy.pump import EOF, pump, subtasks, was_cancelled


class Source:
    def __init__(self, *messages: Any) -> None:
        self._messages = list(messages)
        self.reads = 0

    async def read(self) -> Any:
        self.reads += 1
        await asyncio.sleep(0)
        message = self._messages.pop(0) if self._messages else EOF
        if isinstance(message, Exception):
            raise message
        return message


async def pumped(source: Source) -> tuple[list[bytes], int]:
    written: list[bytes] = []
    sizes: list[int] = []

    async def write(message: bytes) -> None:
        await asyncio.sleep(0)
        written.append(message)

    await pump(await source.read(), source.read, write, sizes.append)
    return written, sum(sizes)


async def test_every_message_is_written_once_in_order() -> None:
    messages = [b"%d" % number for number in range(100)]
    assert await pumped(Source(*messages)) == (messages, sum(map(len, messages)))


async def test_nothing_is_written_when_there_is_nothing() -> None:
    source = Source()
    assert await pumped(source) == ([], 0)
    assert source.reads == 1


async def test_nothing_is_read_after_the_end() -> None:
    source = Source(b"a", b"b")
    await pumped(source)
    assert source.reads == 3


async def test_no_more_than_one_message_is_read_ahead_of_a_writer_that_waits() -> None:
    source, stuck = Source(*[b"x"] * 100), asyncio.Event()

    async def write(message: bytes) -> None:
        await stuck.wait()

    async with asyncio.TaskGroup() as group:
        running = group.create_task(pump(b"first", source.read, write, lambda size: None))
        for _ in range(50):
            await asyncio.sleep(0)
        assert source.reads == 1
        running.cancel()


async def test_error_of_the_reader_comes_out_as_it_is() -> None:
    with pytest.raises(ConnectionError, match="gone"):
        await pumped(Source(b"a", ConnectionError("gone")))


async def test_error_of_the_writer_comes_out_as_it_is_and_stops_the_reader() -> None:
    async def write(message: bytes) -> None:
        raise BrokenPipeError("closed")

    source = Source(b"a", b"b", b"c")
    with pytest.raises(BrokenPipeError):
        await pump(b"first", source.read, write, lambda size: None)
    assert source.reads <= 1


async def test_cancelling_leaves_no_task_behind() -> None:
    async def never() -> Any:
        await asyncio.Event().wait()

    async def write(message: bytes) -> None:
        return None

    before = len(asyncio.all_tasks())
    async with asyncio.TaskGroup() as group:
        running = group.create_task(pump(b"x", never, write, lambda size: None))
        await asyncio.sleep(0.01)
        running.cancel()
    assert len(asyncio.all_tasks()) == before


async def test_own_cancellation_is_told_from_a_calls() -> None:
    found: list[bool] = []

    async def meets_a_cancelled_call() -> None:
        try:
            raise asyncio.CancelledError
        except asyncio.CancelledError:
            found.append(was_cancelled())

    async def is_cancelled() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            found.append(was_cancelled())
            raise

    async with asyncio.TaskGroup() as group:
        await group.create_task(meets_a_cancelled_call())
        running = group.create_task(is_cancelled())
        await asyncio.sleep(0)
        running.cancel()
    assert found == [False, True]


async def test_first_error_of_nested_groups_is_the_one_that_is_raised() -> None:
    with pytest.raises(ValueError, match="inner"):
        async with subtasks(), subtasks():
            raise ValueError("inner")


def test_end_is_grpcs() -> None:
    assert EOF is grpc.aio.EOF
