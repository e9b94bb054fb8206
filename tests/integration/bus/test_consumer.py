"""Shared work: every message handled, by somebody, again if need be."""

import asyncio
from collections import Counter

import pytest

from arenero.bus.connection import BusConnection
from arenero.bus.consumer import ConsumerConfig, Delivery, Handle, WorkConsumer
from arenero.bus.nats import NatsEventLog
from arenero.bus.server import NatsServer
from arenero.bus.streams import STREAMS
from arenero.bus.subjects import Kind
from arenero.errors import Conflict, FailedPrecondition, InvalidArgument, Unavailable

STREAM = STREAMS[Kind.SANDBOX]
CONFIG = ConsumerConfig("worker", ("sandbox.*.*.requested",), concurrency=4, ack_wait_s=0.6)


class Handled:
    """Counts what was handled, and waits for enough of it."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.attempts: list[int] = []
        self._more = asyncio.Event()

    def add(self, delivery: Delivery) -> None:
        self.counts[delivery.entry.message_id] += 1
        self.attempts.append(delivery.attempt)
        self._more.set()

    async def wait_for(self, count: int) -> None:
        async with asyncio.timeout(20):
            while len(self.counts) < count:
                self._more.clear()
                await self._more.wait()


async def write(log: NatsEventLog, *numbers: int, fact: str = "requested") -> None:
    for number in numbers:
        await log.publish(f"sandbox.acme.s{number}.{fact}", b"", message_id=f"m{number}")


async def run_while(consumer: WorkConsumer, handle: Handle, until: object) -> None:
    async with asyncio.TaskGroup() as group:
        running = group.create_task(consumer.run(handle))
        await until  # type: ignore[misc]
        await asyncio.sleep(0.05)
        running.cancel()


async def test_only_matching_messages_are_handled_and_each_once(connection: BusConnection, log: NatsEventLog) -> None:
    await write(log, *range(20))
    await write(log, 100, fact="started")
    handled = Handled()

    async def handle(delivery: Delivery) -> None:
        handled.add(delivery)

    await run_while(WorkConsumer(connection, STREAM, CONFIG), handle, handled.wait_for(20))
    assert handled.counts == Counter({f"m{number}": 1 for number in range(20)})


async def test_work_goes_on_where_it_stopped(connection: BusConnection, log: NatsEventLog) -> None:
    handled = Handled()

    async def handle(delivery: Delivery) -> None:
        handled.add(delivery)

    for part in range(2):
        await write(log, *range(part * 5, part * 5 + 5))
        await run_while(WorkConsumer(connection, STREAM, CONFIG), handle, handled.wait_for(part * 5 + 5))
    assert set(handled.counts.values()) == {1}


async def test_replicas_share_the_work(connection: BusConnection, log: NatsEventLog) -> None:
    handled, by_replica = Handled(), Counter[int]()

    def replica(number: int) -> Handle:
        async def handle(delivery: Delivery) -> None:
            await asyncio.sleep(0.01)
            by_replica[number] += 1
            handled.add(delivery)

        return handle

    async with asyncio.TaskGroup() as group:
        running = [
            group.create_task(WorkConsumer(connection, STREAM, CONFIG).run(replica(number))) for number in range(2)
        ]
        await write(log, *range(60))
        await handled.wait_for(60)
        await asyncio.sleep(0.05)
        for task in running:
            task.cancel()
    assert set(handled.counts.values()) == {1}
    assert min(by_replica.values()) > 5


async def test_no_more_than_its_share_runs_at_once(connection: BusConnection, log: NatsEventLog) -> None:
    handled, now, most = Handled(), 0, 0

    async def handle(delivery: Delivery) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.005)
        now -= 1
        handled.add(delivery)

    await write(log, *range(40))
    await run_while(WorkConsumer(connection, STREAM, CONFIG), handle, handled.wait_for(40))
    assert most == CONFIG.concurrency


@pytest.mark.parametrize("error", [Unavailable("away"), Conflict("raced"), KeyError("defect")])
async def test_failure_that_may_pass_is_tried_again(
    connection: BusConnection, log: NatsEventLog, error: Exception
) -> None:
    handled = Handled()

    async def handle(delivery: Delivery) -> None:
        if delivery.attempt < 3:
            raise error
        handled.add(delivery)

    await write(log, 1)
    await run_while(WorkConsumer(connection, STREAM, CONFIG), handle, handled.wait_for(1))
    assert handled.attempts == [3]


async def test_failure_that_stays_is_given_up(connection: BusConnection, log: NatsEventLog) -> None:
    handled, tries = Handled(), 0

    async def handle(delivery: Delivery) -> None:
        nonlocal tries
        if delivery.entry.message_id == "m1":
            tries += 1
            raise InvalidArgument("never")
        handled.add(delivery)

    await write(log, 1, 2)
    await run_while(WorkConsumer(connection, STREAM, CONFIG), handle, handled.wait_for(1))
    await asyncio.sleep(1)
    await write(log, 3)
    await run_while(WorkConsumer(connection, STREAM, CONFIG), handle, handled.wait_for(2))
    assert tries == 1


async def test_long_work_is_not_given_to_another(connection: BusConnection, log: NatsEventLog) -> None:
    handled = Handled()

    async def handle(delivery: Delivery) -> None:
        await asyncio.sleep(3 * CONFIG.ack_wait_s)
        handled.add(delivery)

    await write(log, 1)
    await run_while(WorkConsumer(connection, STREAM, CONFIG), handle, handled.wait_for(1))
    assert (handled.counts["m1"], handled.attempts) == (1, [1])


async def test_work_of_a_dead_worker_is_done_by_the_next(connection: BusConnection, log: NatsEventLog) -> None:
    handled, begun = Handled(), asyncio.Event()

    async def die(delivery: Delivery) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def handle(delivery: Delivery) -> None:
        handled.add(delivery)

    await write(log, 1)
    await run_while(WorkConsumer(connection, STREAM, CONFIG), die, begun.wait())
    await run_while(WorkConsumer(connection, STREAM, CONFIG), handle, handled.wait_for(1))
    assert handled.attempts == [2]


async def test_restart_of_the_server_loses_no_work(
    server: NatsServer, connection: BusConnection, log: NatsEventLog
) -> None:
    handled = Handled()

    async def handle(delivery: Delivery) -> None:
        await asyncio.sleep(0.02)
        handled.add(delivery)

    async def disturbed() -> None:
        await write(log, *range(50))
        await server.kill()
        await server.start()
        await write(log, *range(50, 60))
        await handled.wait_for(60)

    await run_while(WorkConsumer(connection, STREAM, CONFIG), handle, disturbed())
    assert len(handled.counts) == 60


async def test_consumer_can_begin_with_what_is_new(connection: BusConnection, log: NatsEventLog) -> None:
    await write(log, 1)
    handled = Handled()

    async def handle(delivery: Delivery) -> None:
        handled.add(delivery)

    async def later() -> None:
        await asyncio.sleep(0.1)
        await write(log, 2)
        await handled.wait_for(1)

    config = ConsumerConfig("late", CONFIG.filters, from_now=True)
    await run_while(WorkConsumer(connection, STREAM, config), handle, later())
    assert set(handled.counts) == {"m2"}


async def test_other_settings_under_the_same_name_are_told(connection: BusConnection, log: NatsEventLog) -> None:
    handled = Handled()

    async def handle(delivery: Delivery) -> None:
        handled.add(delivery)

    await write(log, 1)
    await run_while(WorkConsumer(connection, STREAM, CONFIG), handle, handled.wait_for(1))
    other = ConsumerConfig(CONFIG.name, CONFIG.filters, from_now=True)
    with pytest.raises(ExceptionGroup) as caught:
        await WorkConsumer(connection, STREAM, other).run(handle)
    assert caught.group_contains(FailedPrecondition)
