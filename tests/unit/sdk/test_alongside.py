"""One thing beside another."""

import asyncio

import pytest

from arenero.sdk._alongside import alongside, first_of


async def test_what_runs_beside_ends_with_the_main_thing() -> None:
    ended = asyncio.Event()

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def answer() -> int:
        await asyncio.sleep(0)
        return 42

    assert await alongside(answer(), forever()) == 42
    assert ended.is_set()


async def test_main_thing_goes_on_when_the_other_is_done() -> None:
    async def nothing() -> None:
        return None

    assert await alongside(asyncio.sleep(0.01, "done"), nothing()) == "done"


async def test_failure_of_either_comes_out_as_it_was_raised() -> None:
    async def fail() -> None:
        raise KeyError("k") from ValueError("v")

    with pytest.raises(KeyError) as raised:
        await alongside(asyncio.Event().wait(), fail())
    assert isinstance(raised.value.__cause__, ValueError)
    with pytest.raises(KeyError):
        await alongside(fail(), asyncio.Event().wait())


async def test_cancellation_ends_both() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await alongside(asyncio.Event().wait(), asyncio.Event().wait())


def test_first_of_nested_groups() -> None:
    group = BaseExceptionGroup("a", [BaseExceptionGroup("b", [KeyError()]), ValueError()])
    assert isinstance(first_of(group), KeyError)
