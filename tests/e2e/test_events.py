"""Events and traces of what was done."""

import asyncio
import contextlib
import time
import urllib.request
from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime

import betterproto2

from arenero.sdk import Client, Sandbox
from arenero.sdk.errors import NotFound
from arenero.sdk.traces import Trace, tree
from arenero.sdk.types import EventFilter, EventLog
from tests.e2e.kit import Instance


def fact_of(event) -> str:
    noun = event.sandbox or event.activity
    return str(betterproto2.which_one_of(noun, "fact" if event.sandbox else "kind")[0])


async def test_life_of_a_sandbox_is_told_in_order(client: Client) -> None:
    before = datetime.now(UTC)
    async with Sandbox.create(client=client, ttl_s=300) as sandbox:
        await sandbox.update_metadata({"a": "b"})
        await sandbox.renew(600)
    only_state = EventFilter(sandbox_id=sandbox.id, log=EventLog.STATE)
    told = [event async for event in client.replay(only_state, from_time=before)]
    facts = [fact_of(event) for event in told]
    assert facts[0] == "requested"
    assert facts[-1] == "terminated"
    assert "started" in facts
    assert facts.index("started") < facts.index("renewed")
    assert [event.sequence for event in told] == sorted({event.sequence for event in told})
    for event in told:
        assert event.subject == f"sandbox.{event.tenant}.{sandbox.id}.{fact_of(event)}"
        assert event.id.startswith("evt_")
        assert event.time is not None
        assert event.time >= before.replace(microsecond=0)
        assert event.sandbox is not None
        assert event.sandbox.sandbox is not None
        assert event.sandbox.sandbox.id == sandbox.id
        assert not event.sandbox.internal_sealed
    assert told[0].actor.startswith("key:key_")


async def test_events_are_followed_while_they_happen(client: Client) -> None:
    seen: list[str] = []
    ready = asyncio.Event()

    async def follow(sandbox: Sandbox) -> None:
        async with aclosing(sandbox.follow(from_beginning=True)) as events:  # type: ignore[type-var]
            async for event in events:
                seen.append(fact_of(event))
                ready.set()
                if seen[-1] == "terminated":
                    return

    async with asyncio.timeout(30), asyncio.TaskGroup() as group, Sandbox.create(client=client) as sandbox:
        group.create_task(follow(sandbox))
        await ready.wait()
        await sandbox.exec("true")
    assert seen[0] == "requested"
    assert seen.count("terminated") == 1


async def test_subjects_choose(client: Client) -> None:
    async with Sandbox.create(client=client) as first, Sandbox.create(client=client) as second:
        pass
    wanted = EventFilter(subjects=["sandbox.*.terminated"])
    ended = [event async for event in client.replay(wanted)]
    assert {fact_of(event) for event in ended} == {"terminated"}
    assert {first.id, second.id} <= {event.subject.split(".")[2] for event in ended}
    limited = [event async for event in client.replay(wanted, limit=1)]
    assert len(limited) == 1
    later = [event async for event in client.replay(wanted, from_sequence=ended[-1].sequence)]
    assert [event.id for event in later] == [ended[-1].id]


async def test_use_through_the_gateway_is_told_as_activity(platform: Instance) -> None:
    async with platform.client(direct=False) as client, Sandbox.create(client=client) as sandbox:
        await sandbox.exec("true")
        wanted = EventFilter(sandbox_id=sandbox.id, log=EventLog.ACTIVITY)
        async with asyncio.timeout(30):
            while not (told := [event async for event in client.replay(wanted)]):
                await asyncio.sleep(0.2)
    assert {event.subject for event in told} == {f"activity.{told[0].tenant}.{sandbox.id}.endpoint_accessed"}
    assert not [
        event async for event in client.replay(EventFilter(sandbox_id=sandbox.id, log=EventLog.STATE)) if event.activity
    ]


async def trace_of(client: Client, sandbox: Sandbox, condition: Callable[[Trace], bool]) -> Trace:
    """Wait until a trace is there: services hand their spans over a little later."""
    async with asyncio.timeout(30):
        while True:
            with contextlib.suppress(NotFound):
                trace = await client.trace(sandbox_id=sandbox.id, root_name="gateway.sandbox.Create")
                if condition(trace):
                    return trace
            await asyncio.sleep(0.2)


async def test_trace_of_a_creation_goes_through_all_services(client: Client) -> None:
    async with Sandbox.create(client=client) as sandbox:
        trace = await trace_of(client, sandbox, lambda found: any("execd" in span.name for span in found.spans))
        assert trace.spans[0].name == "gateway.sandbox.Create"
        assert {"gateway", "lifecycle"} <= {span.service for span in trace.spans}
        names = [span.name for span in trace.spans]
        assert any(name.startswith("driver.local.") for name in names), names
        assert (await client.trace(trace.trace_id)).trace_id == trace.trace_id
        assert len([*tree(trace)]) == len(trace.spans)
        by_id = {span.span_id: span for span in trace.spans}
        for span in trace.spans[1:]:
            assert span.depth == by_id[span.parent_span_id].depth + 1
            assert span.start_unix_ns >= trace.spans[0].start_unix_ns


async def test_callers_trace_is_continued(client: Client) -> None:
    trace_id = f"{time.time_ns():032x}"
    async with Sandbox.create(client=client, traceparent=f"00-{trace_id}-b7ad6b7169203331-01") as sandbox:
        told = [event async for event in sandbox.replay()]
        assert {event.traceparent.split("-")[1] for event in told if fact_of(event) == "started"} == {trace_id}
        await trace_of(client, sandbox, lambda found: found.trace_id == trace_id)


async def test_metrics_and_health_are_served(platform: Instance) -> None:
    base = platform.state()["http"]
    url = base if "://" in base else f"http://{base}"
    with urllib.request.urlopen(f"{url}/healthz", timeout=10) as answer:
        assert answer.status == 200
    with urllib.request.urlopen(f"{url}/metrics", timeout=10) as answer:
        assert b"arenero" in answer.read()
