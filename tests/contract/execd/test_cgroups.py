"""A cgroup for every exec: made, used, removed; and lack of memory is told apart from a kill."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from arenero.api.execd.v1 import exec_pb2
from arenero.execd import cgroups
from arenero.execd.cgroups import ExecCgroups
from arenero.execd.launch import Limits
from tests.contract.execd import kit

pytestmark = pytest.mark.root
V1_MEMORY = Path("/sys/fs/cgroup/memory")


@pytest.fixture
def root() -> Iterator[tuple[Path, int]]:
    with kit.own_cgroup() as path:
        if path is None:
            pytest.skip("needs a writable cgroup2")
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        yield path, fd
        os.close(fd)


def in_child(work: object) -> None:
    """Run in a forked child, since this process must not be moved about."""
    pid = os.fork()
    if pid == 0:
        try:
            work()  # type: ignore[operator]
        except BaseException:  # noqa: BLE001 - told by the exit code
            import traceback

            traceback.print_exc()
            os._exit(1)  # noqa: TID251 - a forked child
        os._exit(0)  # noqa: TID251
    assert os.waitpid(pid, 0)[1] == 0


def test_child_is_born_inside_and_its_parent_goes_home(root: tuple[Path, int]) -> None:
    def work() -> None:
        found = ExecCgroups(root[1])
        assert found.available
        name = found.take()
        with found.inside(name) as enclosed:
            assert enclosed
            child = os.posix_spawn("/bin/sleep", ["sleep", "60"], {})
        assert found.pids(name) == [child]
        assert str(os.getpid()) in (root[0] / "init/cgroup.procs").read_text().split()
        assert not found.is_empty(name)
        found.kill(name)
        os.waitpid(child, 0)
        assert found.is_empty(name)
        found.give_back(name)
        found.do_chores()
        assert not (root[0] / name).exists()

    in_child(work)


def test_names_that_are_taken_are_passed_over(root: tuple[Path, int]) -> None:
    (root[0] / "exec-1").mkdir()
    (root[0] / "exec-2").mkdir()

    def work() -> None:
        assert ExecCgroups(root[1]).take() == "exec-3"

    in_child(work)


def test_one_is_made_ahead_of_time(root: tuple[Path, int]) -> None:
    def work() -> None:
        found = ExecCgroups(root[1])
        assert found.has_chores
        found.do_chores()
        assert (root[0] / "exec-1").is_dir()
        assert not found.has_chores
        assert found.take() == "exec-1"

    in_child(work)


def test_one_in_use_is_removed_later(root: tuple[Path, int]) -> None:
    def work() -> None:
        found = ExecCgroups(root[1])
        name = found.take()
        with found.inside(name):
            child = os.posix_spawn("/bin/sleep", ["sleep", "60"], {})
        found.give_back(name)
        found.do_chores()
        assert found.has_chores
        found.kill(name)
        os.waitpid(child, 0)
        found.do_chores()
        assert not (root[0] / name).exists()

    in_child(work)


def test_all_are_killed_for_who_has_outlived_init(root: tuple[Path, int]) -> None:
    def work() -> None:
        found = ExecCgroups(root[1])
        with found.inside(found.take()):
            child = os.posix_spawn("/bin/sleep", ["sleep", "60"], {})
        cgroups.kill_all(root[1])
        assert os.waitpid(child, 0)[1] == 9

    in_child(work)


def test_without_a_cgroup_there_is_nothing_to_do() -> None:
    none = ExecCgroups(-1)
    assert not none.available
    assert none.take() == ""
    assert not none.has_chores
    assert none.pids("") == []
    assert none.is_empty("")
    none.kill("")
    with none.inside("") as enclosed:
        assert not enclosed
    with pytest.raises(OSError, match="no memory controller"):
        none.limit("", Limits(memory_bytes=1))
    none.limit("", Limits())


@pytest.mark.skipif(
    not (V1_MEMORY / "memory.limit_in_bytes").exists(), reason="needs the memory controller of cgroup v1"
)
async def test_lack_of_memory_is_the_cause_and_a_kill_is_not() -> None:
    memory = V1_MEMORY / f"arenero-test-{uuid.uuid4().hex[:8]}"
    memory.mkdir()
    try:
        (memory / "memory.limit_in_bytes").write_text(str(160 << 20))
        events = os.open(memory / "memory.oom_control", os.O_RDONLY)
        join = ["sh", "-c", f'echo $$ > {memory}/cgroup.procs; exec "$@"', "sh"]
        with kit.execd(prefix=join, memory_events_fd=events) as guest:
            async with kit.connected(guest) as client:
                eater = await client.run(argv=["python3", "-c", "x = bytearray(1 << 30)"])
                killed = await client.run("kill -9 $$")
                shell = await client.run("python3 -c 'x = bytearray(1 << 30)'; exit $?")
                alive = await client.run("echo alive")
        os.close(events)
    finally:
        for _ in range(100):
            try:
                memory.rmdir()
                break
            except OSError:
                await asyncio.sleep(0.05)
    assert (eater.end.signal, eater.end.cause) == (9, exec_pb2.END_CAUSE_OUT_OF_MEMORY)
    assert (shell.end.exit_code, shell.end.cause) == (137, exec_pb2.END_CAUSE_OUT_OF_MEMORY)
    assert (killed.end.signal, killed.end.cause) == (9, exec_pb2.END_CAUSE_OWN_EXIT)
    assert alive.out == b"alive\n"
