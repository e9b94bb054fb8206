"""Taking the platform down: every sandbox ends by way of the log, and what the runtime holds beyond that goes too."""

import signal

from arenero.api.lifecycle.v1 import sandbox_pb2
from tests.integration.lifecycle.conftest import Client, Process

TERMINATED = sandbox_pb2.SANDBOX_STATE_TERMINATED


async def test_all_sandboxes_end_and_their_records_say_why(process: Process, client: Client) -> None:
    made = [await client.create(f"r{number}") for number in range(5)]
    gone = await client.create("gone")
    await client.delete(gone.id)
    await process.stop()
    assert len(process.host.ids()) == 5
    await process.start("--drain")
    assert await process.wait() == 0
    assert not process.host.ids()
    await process.start()
    records = {record.id: record for record in await client.list_all()}
    assert {(records[one.id].state, records[one.id].reason) for one in made} == {(TERMINATED, "PLATFORM_STOPPED")}
    assert records[gone.id].reason == "DELETED"


async def test_may_be_killed_and_repeated(process: Process, client: Client) -> None:
    for number in range(5):
        await client.create(f"r{number}")
    await process.kill()
    await process.start("--drain")
    await process.kill()
    await process.start("--drain")
    assert await process.wait() == 0
    assert not process.host.ids()


async def test_nothing_to_end_is_no_error(process: Process, client: Client) -> None:
    await process.stop()
    for _ in range(2):
        await process.start("--drain")
        assert await process.wait() == 0


async def test_one_that_runs_ends_all_sandboxes_as_it_stops_when_it_was_told_to(
    process: Process, client: Client
) -> None:
    made = [await client.create(f"r{number}") for number in range(5)]
    process.send_signal(signal.SIGUSR1)
    assert await process.stop() == 0
    assert not process.host.ids()
    await process.start()
    records = {record.id: record for record in await client.list_all()}
    assert {(records[one.id].state, records[one.id].reason) for one in made} == {(TERMINATED, "PLATFORM_STOPPED")}


async def test_one_that_runs_leaves_sandboxes_alone_as_it_stops(process: Process, client: Client) -> None:
    await client.create("stays")
    assert await process.stop() == 0
    assert len(process.host.ids()) == 1
