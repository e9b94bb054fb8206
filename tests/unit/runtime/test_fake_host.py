"""What the fake's sandboxes live on."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arenero.model.ids import new_sandbox_id
from arenero.model.record import ExitFacts
from arenero.runtime.fake_host import DirectoryHost, FakeHost, Held, MemoryHost, Phase

HOSTS: dict[str, Callable[[Path], FakeHost]] = {"memory": lambda path: MemoryHost(), "directory": DirectoryHost}


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> FakeHost:
    return HOSTS[request.param](tmp_path)


def running() -> Held:
    return Held(new_sandbox_id(), 1, Phase.RUNNING, started_unix_s=5.0, settings={"a": "b"})


def test_what_was_put_is_found_until_it_is_removed(host: FakeHost) -> None:
    held = replace(running(), exit=ExitFacts(None, 9, True))
    host.put(held)
    assert host.find(held.sandbox_id) == held
    assert host.ids() == {held.sandbox_id}
    host.remove(held.sandbox_id)
    host.remove(held.sandbox_id)
    assert host.find(held.sandbox_id) is None


def test_the_first_end_counts(host: FakeHost) -> None:
    held = running()
    host.put(held)
    host.exit(held.sandbox_id, ExitFacts(exit_code=1))
    host.exit(held.sandbox_id, ExitFacts(signal=9))
    found = host.find(held.sandbox_id)
    assert found is not None
    assert (found.phase, found.exit) == (Phase.EXITED, ExitFacts(exit_code=1))
    host.exit(new_sandbox_id(), ExitFacts())


def test_a_reboot_leaves_nothing(host: FakeHost) -> None:
    for _ in range(3):
        host.put(running())
    host.lose_all()
    assert not host.ids()


async def test_all_who_wait_hear_of_the_end(host: FakeHost) -> None:
    held = running()
    host.put(held)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        waiting = [group.create_task(host.wait_exit(held.sandbox_id)) for _ in range(3)]
        await asyncio.sleep(0)
        host.put(replace(held, phase=Phase.FROZEN))
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        host.exit(held.sandbox_id, ExitFacts(exit_code=4))
    assert {task.result() for task in waiting} == {ExitFacts(exit_code=4)}


async def test_what_is_gone_has_ended(host: FakeHost) -> None:
    held = running()
    host.put(held)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        waiting = group.create_task(host.wait_exit(held.sandbox_id))
        await asyncio.sleep(0)
        host.remove(held.sandbox_id)
    assert waiting.result() == ExitFacts()


def test_a_directory_is_shared_between_processes(tmp_path: Path) -> None:
    held = running()
    DirectoryHost(tmp_path).put(held)
    assert DirectoryHost(tmp_path).find(held.sandbox_id) == held


def test_a_half_written_file_is_no_sandbox(tmp_path: Path) -> None:
    """A process that was killed while it wrote leaves its scratch file only."""
    (tmp_path / f"{new_sandbox_id()}.tmp").write_text('{"sandbox')
    assert not DirectoryHost(tmp_path).ids()
