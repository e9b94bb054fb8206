"""Blocking work in a few threads: fair, one slice ahead, and ended when nobody wants it any more."""

import asyncio
import os
import threading
import time
from collections.abc import Generator
from contextlib import aclosing

import pytest

from arenero.errors import NotFound
from arenero.execd import workers
from arenero.execd.workers import FileWorkers
from tests.unit.execd.filekit import ALICE, shared_directory


@pytest.fixture
async def pool():
    pool = FileWorkers(2)
    yield pool
    pool.close()


def counting(until: int, closed: threading.Event | None = None) -> Generator[int, None, str]:
    try:
        yield from range(until)
    finally:
        if closed is not None:
            closed.set()
    return "done"


async def test_stream_gives_everything_in_order(pool: FileWorkers):
    got = [item async for batch in pool.batches(None, counting(1000), most=7) for item in batch]
    assert got == list(range(1000))


async def test_batches_have_a_bound(pool: FileWorkers):
    sizes = [len(batch) async for batch in pool.batches(None, counting(20), most=8)]
    assert sum(sizes) == 20
    assert max(sizes) <= 8


async def test_work_is_finished_with_its_result(pool: FileWorkers):
    assert await pool.finish(None, counting(100_000)) == "done"


async def test_error_comes_after_what_came_before_it(pool: FileWorkers):
    def failing() -> Generator[int, None, None]:
        yield 1
        yield 2
        raise ValueError("third")

    batches = pool.batches(None, failing(), most=100)
    assert await anext(batches) == [1, 2]
    with pytest.raises(ValueError, match="third"):
        await anext(batches)
    with pytest.raises(ValueError, match="third"):
        await pool.finish(None, failing())


async def test_error_of_the_kernel_becomes_one_of_ours(pool: FileWorkers):
    def failing() -> Generator[int, None, None]:
        os.stat("/no/such")
        yield 1

    for attempt in (pool.finish(None, failing()), pool.run(None, os.stat, "/no/such")):
        with pytest.raises(NotFound, match="/no/such") as error:
            await attempt
        assert error.value.reason == "FILE_NOT_FOUND"


async def test_what_a_cancelled_caller_opened_is_released(pool: FileWorkers):
    opening, proceed, released = threading.Event(), threading.Event(), threading.Event()

    def slow() -> str:
        opening.set()
        proceed.wait(10)
        return "opened"

    def release(what: str) -> None:
        assert what == "opened"
        released.set()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(pool.acquire(None, slow, release))
        await asyncio.to_thread(opening.wait, 5)
        task.cancel()
    assert not released.is_set()
    proceed.set()
    assert await asyncio.to_thread(released.wait, 5)


async def test_one_slice_is_read_ahead_and_no_more(pool: FileWorkers):
    """A reader who is slow doesn't make memory fill up."""
    reached = []

    def noting() -> Generator[int, None, None]:
        for number in range(1000):
            reached.append(number)
            yield number

    async with aclosing(pool.batches(None, noting(), most=10)) as batches:
        await anext(batches)
        deadline = time.monotonic() + 5
        while len(reached) < 20 and time.monotonic() < deadline:
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.02)
        assert len(reached) == 20


async def test_generator_is_closed_when_the_reader_leaves(pool: FileWorkers):
    closed = threading.Event()
    async with aclosing(pool.batches(None, counting(10**9, closed), most=1)) as batches:
        await anext(batches)
    await asyncio.to_thread(closed.wait, 5)
    assert closed.is_set()


async def test_generator_is_closed_when_the_caller_is_cancelled(pool: FileWorkers):
    closed = threading.Event()

    def endless() -> Generator[None, None, None]:
        try:
            while True:
                time.sleep(0.001)
                yield
        finally:
            closed.set()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await pool.finish(None, endless())
    await asyncio.to_thread(closed.wait, 5)
    assert closed.is_set()


async def test_endless_work_does_not_starve_others(pool: FileWorkers):
    """More endless calls than threads, and a short one still gets its turn."""

    def endless() -> Generator[None, None, None]:
        while True:
            time.sleep(0.001)
            yield

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(pool.finish(None, endless())) for _ in range(4)]
        await asyncio.sleep(0)
        async with asyncio.timeout(20 * workers.SLICE_S * 4):
            assert await pool.run(None, lambda: "done") == "done"
        for task in tasks:
            task.cancel()


async def test_work_after_closing_is_done_at_once():
    pool = FileWorkers(1)
    pool.close()
    done = []
    pool.submit(lambda: done.append(1))
    assert done == [1]


@pytest.mark.root
async def test_every_slice_has_the_callers_rights_and_no_other(pool: FileWorkers):
    with shared_directory() as directory:
        (directory / "secret").write_text("x")
        (directory / "secret").chmod(0o600)

        def attempts(times: int) -> Generator[str, None, None]:
            for _ in range(times):
                time.sleep(0.002)
                try:
                    yield (directory / "secret").read_text()
                except PermissionError:
                    yield "refused"

        async def collect(identity, expected: str) -> None:
            got = [item async for batch in pool.batches(identity, attempts(60), most=3) for item in batch]
            assert got == [expected] * 60

        async with asyncio.TaskGroup() as group:
            for identity, expected in ((ALICE, "refused"), (None, "x")) * 3:
                group.create_task(collect(identity, expected))
