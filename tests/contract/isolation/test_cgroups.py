"""Control groups on this kernel, whichever versions it has."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arenero.isolation import cgroup_layout, forking
from arenero.isolation.cgroups import Limits, Tree
from arenero.isolation.namespaces import Namespace
from tests.contract.isolation.running import trial

pytestmark = pytest.mark.root
MIB = 1 << 20
OWNER = 700_000


@pytest.fixture
def tree() -> Iterator[Tree]:
    tree = Tree(cgroup_layout.detect(), f"test-{os.getpid()}")
    tree.open()
    if tree.missing:
        pytest.skip(f"no limits here: {tree.missing}")
    yield tree
    for name in tree.names():
        end(tree, name)
    assert tree.remove()


def end(tree: Tree, name: str) -> None:
    group = tree.group(name)
    wait_for(lambda: group.kill() == 0 and group.remove())


def wait_for(done: Any, timeout_s: float = 10.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def run_in(tree: Tree, name: str, code: str, **limits: Any) -> subprocess.Popen[bytes]:
    """Run Python code in a group."""
    group = tree.create(name, Limits(**limits))
    join = "; ".join(f"open({path!r} + '/cgroup.procs', 'w').write('0')" for path in group.paths)
    return subprocess.Popen([sys.executable, "-c", f"{join}\n{code}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_memory_is_limited_and_the_kill_is_counted(tree: Tree) -> None:
    process = run_in(tree, "hog", "bytearray(200 << 20)", memory_bytes=64 * MIB)
    process.communicate(timeout=30)
    assert process.returncode == -9
    usage = tree.group("hog").usage()
    assert usage.oom_kills == 1
    assert usage.memory_peak_bytes is not None
    assert usage.memory_peak_bytes <= 65 * MIB


def test_processes_are_limited(tree: Tree) -> None:
    code = """
import os
made = 0
try:
    while made < 100:
        if os.fork() == 0:
            import time; time.sleep(60)
        made += 1
except BlockingIOError:
    print(made, flush=True)
"""
    process = run_in(tree, "bomb", code, pids=10)
    assert process.stdout is not None
    assert int(process.stdout.readline()) == 9
    assert tree.group("bomb").usage().pids == 10
    end(tree, "bomb")
    process.communicate()


def test_processor_time_is_limited_and_counted(tree: Tree) -> None:
    process = run_in(tree, "spin", "while True: pass", cpus=0.2)
    time.sleep(0.5)
    first = tree.group("spin").usage().cpu_time_s
    time.sleep(1.0)
    second = tree.group("spin").usage().cpu_time_s
    assert first is not None
    assert second is not None
    assert 0.02 < second - first < 0.45
    end(tree, "spin")
    process.communicate()


def test_killing_ends_processes_that_fork_all_the_time(tree: Tree) -> None:
    code = """
import os
while True:
    try:
        if os.fork():
            os._exit(0)  # noqa: TID251 - a forked child
    except BlockingIOError:
        pass
"""
    process = run_in(tree, "hydra", code, pids=50)
    process.wait(timeout=10)
    group = tree.group("hydra")
    assert group.is_populated()
    wait_for(lambda: group.kill() == 0 and not group.is_populated())
    process.communicate()


def test_a_frozen_group_stands_still_and_dies(tree: Tree) -> None:
    process = run_in(tree, "frozen", "while True: pass")
    group = tree.group("frozen")
    wait_for(lambda: bool(group.pids()))
    group.freeze()
    wait_for(group.is_frozen)
    before = group.usage().cpu_time_s
    time.sleep(0.2)
    assert group.usage().cpu_time_s == pytest.approx(before, abs=0.01)
    group.thaw()
    wait_for(lambda: not group.is_frozen())
    group.freeze()
    wait_for(group.is_frozen)
    end(tree, "frozen")
    process.communicate(timeout=10)


def test_a_group_that_is_used_is_not_removed(tree: Tree) -> None:
    process = run_in(tree, "used", "import time; time.sleep(60)")
    group = tree.group("used")
    wait_for(lambda: bool(group.pids()))
    assert not group.remove()
    assert not tree.remove()
    end(tree, "used")
    process.communicate()


def joins_and_delegates(instance: str) -> Any:
    tree = Tree(cgroup_layout.detect(), instance)
    tree.open()
    group = tree.create("joined", Limits())
    directory = os.open(group.unified, os.O_RDONLY)
    reader, writer = os.pipe()
    pid = forking.fork_into(Namespace.PID, cgroup_fd=directory)
    if pid == 0:
        group.join()
        group.settle()
        group.delegate(OWNER, OWNER)
        os.setresuid(OWNER, OWNER, OWNER)
        os.write(writer, json.dumps(use_what_was_delegated(group.unified)).encode())
        while True:
            time.sleep(1)
    found = json.loads(os.read(reader, 10_000))
    held = [str(pid) in group_pids(path) for path in group.paths]
    group.kill()
    os.waitpid(pid, 0)
    wait_for(lambda: group.kill() == 0 and group.remove())
    tree.remove()
    return [held, *found]


def use_what_was_delegated(directory: str) -> list[Any]:
    """Move a child into a group of its own; return whether that worked, and what was refused."""
    made = f"{directory}/exec-1"
    os.mkdir(made)
    child = os.fork()
    if child == 0:
        while True:
            time.sleep(1)
    Path(made, "cgroup.procs").write_text(str(child))
    moved = Path(made, "cgroup.procs").read_text().split() == [str(child)]
    refused = []
    for path in (f"{directory}/cgroup.kill", f"{directory}/cgroup.freeze", f"{directory}/../cgroup.procs"):
        try:
            Path(path).write_text("1")
        except PermissionError:
            refused.append(Path(path).name)
    return [moved, refused]


def group_pids(path: str) -> list[str]:
    return [word for procs in Path(path).rglob("cgroup.procs") for word in procs.read_text().split()]


def test_a_process_joins_every_hierarchy_and_gets_only_what_was_delegated(tree: Tree) -> None:
    if not tree.group("x").unified:
        pytest.skip("no unified hierarchy")
    held, moved, refused = trial(joins_and_delegates, f"test-join-{os.getpid()}")
    assert held
    assert all(held)
    assert moved
    assert refused == ["cgroup.kill", "cgroup.freeze", "cgroup.procs"]
