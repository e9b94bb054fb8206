"""Input at offsets, over real pipes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

import pytest

from arenero.errors import InvalidArgument
from arenero.execd.stdin import Input


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    yield reader, writer
    os.close(reader)


async def test_bytes_are_taken_once_however_often_they_are_sent(pipe: tuple[int, int]) -> None:
    target = Input(pipe[1])
    await target.write(0, b"0123")
    await target.write(2, b"2345")
    await target.write(0, b"01")
    assert target.acknowledged == 6
    assert os.read(pipe[0], 100) == b"012345"
    target.close()


async def test_hole_is_refused(pipe: tuple[int, int]) -> None:
    target = Input(pipe[1])
    with pytest.raises(InvalidArgument, match="missing from 0 on"):
        await target.write(1, b"x")
    target.close()


async def test_full_pipe_waits_and_acknowledges_what_was_taken(pipe: tuple[int, int]) -> None:
    target = Input(pipe[1])
    content = os.urandom(500_000)
    async with asyncio.TaskGroup() as group:
        group.create_task(target.write(0, content))
        await asyncio.sleep(0)
        assert 0 < target.acknowledged < len(content)
        taken = b""
        while len(taken) < len(content):
            await asyncio.sleep(0)
            try:
                taken += os.read(pipe[0], 1 << 20)
            except BlockingIOError:
                await asyncio.sleep(0.001)
    assert taken == content
    assert target.acknowledged == len(content)
    target.close()


async def test_writer_that_waits_goes_on_when_the_process_is_gone() -> None:
    reader, writer = os.pipe()
    target = Input(writer)
    async with asyncio.TaskGroup() as group:
        group.create_task(target.write(0, b"x" * 500_000))
        await asyncio.sleep(0)
        os.close(reader)
    assert target.broken
    assert target.closed
    await target.write(10**9, b"dropped, and no error")


async def test_writer_that_waits_goes_on_when_the_exec_ends(pipe: tuple[int, int]) -> None:
    target = Input(pipe[1])
    async with asyncio.TaskGroup() as group:
        group.create_task(target.append(b"x" * 500_000))
        await asyncio.sleep(0)
        target.close(broken=True)
    assert target.broken


async def test_end_of_a_pipe_closes_it(pipe: tuple[int, int]) -> None:
    target = Input(pipe[1])
    await target.append(b"last")
    await target.end()
    assert os.read(pipe[0], 100) == b"last"
    assert os.read(pipe[0], 100) == b""
    assert target.closed
    assert not target.broken


async def test_end_of_a_terminal_is_its_character() -> None:
    ours, theirs = os.openpty()
    target = Input(os.dup(ours), is_terminal=True)
    await target.append(b"line\n")
    await target.end()
    assert target.acknowledged == 5, "the character is none of the client's bytes"
    assert os.read(theirs, 100) == b"line\n"
    assert os.read(theirs, 100) == b""
    target.close()
    os.close(ours)
    os.close(theirs)


async def test_two_writers_take_turns(pipe: tuple[int, int]) -> None:
    target = Input(pipe[1])
    async with asyncio.TaskGroup() as group:
        for word in (b"aaaa", b"bbbb"):
            group.create_task(target.append(word))
    assert os.read(pipe[0], 100) == b"aaaabbbb"
    target.close()


async def test_input_without_descriptor_is_closed() -> None:
    target = Input()
    await target.append(b"x")
    assert target.closed
    assert target.acknowledged == 0
