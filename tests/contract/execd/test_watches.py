"""Watches between readers."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from arenero.errors import Conflict, InvalidArgument, NotFound, ResourceExhausted
from arenero.execd.changes import ChangeKind
from arenero.execd.file_config import FileConfig
from arenero.execd.watches import Batch, Pace, Watches, WatchSpec
from arenero.execd.workers import FileWorkers
from tests.unit.execd.filekit import scope_of

QUICK = Pace(coalesce_s=0.02, heartbeat_s=1.0)


@pytest.fixture
async def workers() -> AsyncIterator[FileWorkers]:
    workers = FileWorkers(2)
    yield workers
    workers.close()


def config(**more: float) -> FileConfig:
    return FileConfig(**more)  # type: ignore[arg-type]


@pytest.fixture
async def watches(workers: FileWorkers) -> AsyncIterator[Watches]:
    watches = Watches(config(most_watches=2, watch_idle_s=0.2, watch_most_changes=5), workers)
    yield watches
    watches.close()


def spec(directory: Path, **more: object) -> WatchSpec:
    return WatchSpec(os.fsencode(directory), b".", **more)  # type: ignore[arg-type]


async def until_changes(batches: AsyncGenerator[Batch, None]) -> Batch:
    async with asyncio.timeout(10):
        while not (batch := await anext(batches)).changes and not batch.overflow:
            pass
    return batch


async def test_every_change_after_the_start_is_told(watches: Watches, tmp_path: Path):
    watch = await watches.begin(scope_of(tmp_path), spec(tmp_path))
    (tmp_path / "before the reader").touch()
    async with aclosing(watches.follow(watch, 0, QUICK)) as batches:
        assert await anext(batches) == Batch(0)
        first = await until_changes(batches)
        assert [(change.kind, change.path) for change in first.changes] == [(ChangeKind.CREATED, b"before the reader")]
        (tmp_path / "x").touch()
        second = await until_changes(batches)
        assert second.cursor > first.cursor


async def test_changes_of_one_path_within_the_window_become_one(watches: Watches, tmp_path: Path):
    watch = await watches.begin(scope_of(tmp_path), spec(tmp_path))
    async with aclosing(watches.follow(watch, 0, Pace(coalesce_s=0.3))) as batches:
        await anext(batches)
        for number in range(20):
            (tmp_path / "f").write_text(str(number))
            await asyncio.sleep(0.005)
        batch = await until_changes(batches)
        assert [(change.kind, change.path) for change in batch.changes] == [(ChangeKind.CREATED, b"f")]


async def test_reader_goes_on_where_it_left_off(watches: Watches, tmp_path: Path):
    watch = await watches.begin(scope_of(tmp_path), spec(tmp_path))
    async with aclosing(watches.follow(watch, 0, QUICK)) as batches:
        await anext(batches)
        (tmp_path / "first").touch()
        seen = await until_changes(batches)
    (tmp_path / "between").touch()
    again = watches.find(watch.watch_id, scope_of(tmp_path), spec(tmp_path))
    async with aclosing(watches.follow(again, seen.cursor, QUICK)) as batches:
        assert [change.path for change in (await until_changes(batches)).changes] == [b"between"]
    async with aclosing(watches.follow(again, 0, QUICK)) as batches:
        await anext(batches)
        assert [change.path for change in (await until_changes(batches)).changes] == [b"first", b"between"]


async def test_changes_that_were_dropped_are_an_overflow(watches: Watches, tmp_path: Path):
    watch = await watches.begin(scope_of(tmp_path), spec(tmp_path))
    for number in range(9):
        (tmp_path / str(number)).touch()
    async with aclosing(watches.follow(watch, 0, QUICK)) as batches:
        await anext(batches)
        lost = await until_changes(batches)
        rest = await until_changes(batches)
    assert (lost.overflow, lost.cursor, lost.changes) == (True, 4, ())
    assert [change.path for change in rest.changes] == [b"4", b"5", b"6", b"7", b"8"]


async def test_reader_hears_that_nothing_happens(watches: Watches, tmp_path: Path):
    watch = await watches.begin(scope_of(tmp_path), spec(tmp_path))
    async with asyncio.timeout(5), aclosing(watches.follow(watch, 0, QUICK)) as batches:
        assert [await anext(batches), await anext(batches)] == [Batch(0), Batch(0)]


async def test_second_reader_takes_over(watches: Watches, tmp_path: Path):
    watch = await watches.begin(scope_of(tmp_path), spec(tmp_path))
    async with aclosing(watches.follow(watch, 0, QUICK)) as first, aclosing(watches.follow(watch, 0, QUICK)) as second:
        await anext(first)
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(conflict_of(first))
            await asyncio.sleep(0.05)
            await anext(second)
        assert waiting.result() == "WATCH_TAKEN_OVER"
        (tmp_path / "f").touch()
        assert [change.path for change in (await until_changes(second)).changes] == [b"f"]


async def conflict_of(batches: AsyncGenerator[Batch, None]) -> str:
    with pytest.raises(Conflict) as error:
        await anext(batches)
    return error.value.reason


async def test_watch_without_a_reader_ends_after_a_while(watches: Watches, tmp_path: Path):
    watch = await watches.begin(scope_of(tmp_path), spec(tmp_path))
    async with aclosing(watches.follow(watch, 0, QUICK)) as batches:
        await anext(batches)
    watches.find(watch.watch_id, scope_of(tmp_path), spec(tmp_path))
    await asyncio.sleep(0.4)
    with pytest.raises(NotFound) as error:
        watches.find(watch.watch_id, scope_of(tmp_path), spec(tmp_path))
    assert error.value.reason == "WATCH_NOT_FOUND"


async def test_number_is_limited_but_idle_ones_make_room(watches: Watches, tmp_path: Path):
    scope = scope_of(tmp_path)
    first, second = [await watches.begin(scope, spec(tmp_path)) for _ in range(2)]
    async with aclosing(watches.follow(first, 0, QUICK)) as batches:
        await anext(batches)
        async with aclosing(watches.follow(second, 0, QUICK)) as others:
            await anext(others)
            with pytest.raises(ResourceExhausted) as error:
                await watches.begin(scope, spec(tmp_path))
            assert error.value.reason == "WATCH_LIMIT"
    await watches.begin(scope, spec(tmp_path))


async def test_watch_is_for_what_it_was_made(watches: Watches, tmp_path: Path):
    watch = await watches.begin(scope_of(tmp_path), spec(tmp_path))
    with pytest.raises(InvalidArgument):
        watches.find(watch.watch_id, scope_of(tmp_path), spec(tmp_path, is_recursive=True))


async def test_stream_ends_when_the_directory_goes(watches: Watches, tmp_path: Path):
    (tmp_path / "d").mkdir()
    watch = await watches.begin(scope_of(tmp_path / "d"), spec(tmp_path / "d"))
    (tmp_path / "d").rmdir()
    async with asyncio.timeout(10):
        batches = [batch async for batch in watches.follow(watch, 0, QUICK)]
    assert [change.path for change in batches[-1].changes] == [b""]


async def test_what_cant_be_watched(watches: Watches, tmp_path: Path):
    (tmp_path / "f").touch()
    with pytest.raises(InvalidArgument):
        await watches.begin(scope_of(tmp_path), spec(tmp_path, ignore=("",)))
    with pytest.raises(NotFound):
        await watches.begin(scope_of(tmp_path), WatchSpec(os.fsencode(tmp_path), b"no"))


@pytest.mark.parametrize(("pace", "field"), [(Pace(coalesce_s=11), "coalesce"), (Pace(heartbeat_s=0.5), "heartbeat")])
def test_pace_has_bounds(pace: Pace, field: str):
    with pytest.raises(InvalidArgument) as error:
        pace.check()
    assert error.value.field == field
