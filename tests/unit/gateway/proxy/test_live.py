import asyncio

import pytest

from arenero.errors import Unauthenticated
from arenero.gateway.proxy.live import LiveCalls


async def test_calls_of_a_key_that_has_ended_end_with_the_reason() -> None:
    live, began = LiveCalls(), asyncio.Event()

    async def call() -> None:
        with live.holding("key:a"):
            began.set()
            await asyncio.Event().wait()

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:

        async def expect() -> None:
            with pytest.raises(Unauthenticated) as caught:
                await call()
            assert caught.value.reason == "KEY_ENDED"

        group.create_task(expect())
        await began.wait()
        assert len(live) == 1
        live.end("key:b")
        live.end("key:a")
    assert len(live) == 0


async def test_other_cancellations_stay_what_they_are() -> None:
    live = LiveCalls()

    async def call() -> None:
        with live.holding("key:a"):
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        running = group.create_task(call())
        await asyncio.sleep(0)
        running.cancel()
    assert running.cancelled()
    assert len(live) == 0
