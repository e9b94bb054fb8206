import asyncio

from arenero.bus.envelope import unpack
from arenero.bus.memory import MemoryEventLog
from arenero.bus.publisher import ActivityPublisher
from arenero.gateway.usage import Usage, Used
from arenero.model.ids import SandboxId, TenantId
from arenero.model.time import SystemClock

ONE = Used(TenantId("acme"), SandboxId("sbx_aaaaaaaaaaaaaaaaaaaa"))
OTHER = Used(TenantId("acme"), SandboxId("sbx_bbbbbbbbbbbbbbbbbbbb"))


def make() -> tuple[Usage, ActivityPublisher, MemoryEventLog]:
    log = MemoryEventLog("activity.>")
    publisher = ActivityPublisher(log, source="gateway/test", clock=SystemClock())
    return Usage(publisher, interval_s=10.0), publisher, log


async def published(publisher: ActivityPublisher, log: MemoryEventLog) -> list[tuple[str, str, int]]:
    await publisher.flush()
    events = [unpack(entry).activity for entry in await log.history("activity.>")]
    return [(event.sandbox_id, str(event.WhichOneof("kind")), event.count) for event in events]


async def test_calls_of_one_window_are_one_event() -> None:
    usage, publisher, log = make()
    for _ in range(50):
        usage.begin(ONE)
        usage.end(ONE)
    usage.begin(OTHER)
    assert await published(publisher, log) == [(ONE.id, "endpoint_accessed", 50), (OTHER.id, "endpoint_accessed", 1)]


async def test_call_that_stays_open_is_reported_as_long_as_it_does() -> None:
    usage, publisher, log = make()
    usage.begin(ONE)
    usage.begin(ONE)
    usage.report()
    await publisher.flush()
    usage.end(ONE)
    usage.end(ONE)
    usage.report()
    found = await published(publisher, log)
    assert [kind for _, kind, _ in found] == ["endpoint_accessed", "streams_open"]
    last = unpack((await log.history("activity.>"))[-1])
    assert last.activity.streams_open.open == 2
    assert last.actor == "system:gateway"


async def test_nothing_is_kept_of_what_is_over() -> None:
    usage, _, _ = make()
    usage.begin(ONE)
    assert usage.open_calls(ONE) == 1
    usage.end(ONE)
    assert usage.open_calls(ONE) == 0


async def test_reports_at_the_interval() -> None:
    log = MemoryEventLog("activity.>")
    publisher = ActivityPublisher(log, source="gateway/test", clock=SystemClock())
    usage = Usage(publisher, interval_s=0.01)
    usage.begin(ONE)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        running = group.create_task(usage.run())
        while ("sandbox", "streams_open") not in [("sandbox", kind) for _, kind, _ in await published(publisher, log)]:
            await asyncio.sleep(0.01)
        running.cancel()
