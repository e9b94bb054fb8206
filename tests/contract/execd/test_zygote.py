"""The zygote over its socket, with a trivial init: orders, answers, ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from arenero.isolation import frames
from arenero.isolation.namespaces import IdMap
from arenero.isolation.plan import Bind, Layers, Rootfs, SandboxPlan
from tests.contract.isolation.running import ROOT

pytestmark = pytest.mark.root
RUN = (IdMap(0, 720_000, 65_536),)

SERVE = """
import functools, json, os, socket, sys, time
from arenero.execd import zygote
def entry(surroundings, claim):
    plan = claim()
    if plan is None:
        return
    seen = {"pid": os.getpid(), "uid": os.getuid(), "plan": plan.to_json(), "root": sorted(os.listdir("/")),
            "host": os.uname().nodename, "fds": sorted(map(int, os.listdir("/proc/self/fd"))),
            "cmdline": open("/proc/self/cmdline").read(), "hosts": open("/etc/hosts").read()}
    if plan.env.get("fail"):
        raise ValueError("told to fail")
    open("/tmp/seen", "w").write(json.dumps(seen))
    print("a complaint", file=sys.stderr, flush=True)
    if plan.env.get("nonsense"):
        os.write(plan.ready_fd, b"ready or not\\n")
    if not plan.env.get("silent"):
        os.write(plan.ready_fd, b"ready []\\n")
        os.close(plan.ready_fd)
    while not plan.env.get("silent"):
        time.sleep(1)
zygote.serve(socket.socket(fileno=int(sys.argv[1])), entry)
"""


class Failed(Exception):
    """The zygote answered that something failed."""


class Zygote:
    """The driver's end, as plain as can be."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        ours, theirs = socket.socketpair()
        self.control = ours
        ours.settimeout(20)
        self.decoder = frames.Decoder()
        self.pending: list[dict[str, Any]] = []
        with theirs, (directory / "log").open("wb") as log:
            command = [sys.executable, "-c", SERVE, str(theirs.fileno())]
            self.process = subprocess.Popen(command, pass_fds=(theirs.fileno(),), cwd=ROOT, stdout=log, stderr=log)

    def send(self, **message: Any) -> None:
        self.control.sendall(frames.encode(message))

    def hear(self, event: str, **fields: Any) -> dict[str, Any]:
        """Return the next message of a kind; others are dropped."""
        while True:
            while not self.pending:
                received = self.control.recv(65_536)
                assert received, "the zygote hung up"
                self.pending.extend(self.decoder.feed(received))
            message = self.pending.pop(0)
            if message["event"] == event and all(message.get(name) == value for name, value in fields.items()):
                return message
            if message["event"] == "failed":
                raise Failed(message)

    def build(self, name: str, **changes: Any) -> dict[str, Any]:
        self.order(name, **changes)
        return self.hear("built", id=name)

    def order(self, name: str, **changes: Any) -> None:
        self.send(do="build", id=name, plan={**self.plan(name).to_json(), **changes}, record=str(self.directory / name))

    def enter(self, name: str, *, rename: bool = False, **env: str) -> None:
        plan = {"sandbox_id": name, "hostname": "renamed", "env": env}
        self.send(do="enter", id=name, plan=plan, rename=rename)

    def plan(self, name: str) -> SandboxPlan:
        own, lower, stage = (self.directory / part for part in (f"{name}-own", "lower", "stage"))
        for path in (own / "upper", own / "work", lower / "etc", stage, lower / "tmp", lower / "usr"):
            path.mkdir(parents=True, exist_ok=True)
        layers = Layers((str(lower),), str(own))
        rootfs = Rootfs(str(stage), layers, (Bind("/usr", "/usr", recursive=True),))
        return SandboxPlan(name, "built", rootfs, uids=RUN, gids=RUN)

    def seen(self, name: str) -> Any:
        return json.loads((self.directory / f"{name}-own/upper/tmp/seen").read_text())


@pytest.fixture
def zygote() -> Iterator[Zygote]:
    with tempfile.TemporaryDirectory(prefix="arn-") as directory:
        zygote = Zygote(Path(directory))
        born = []
        try:
            zygote.hear("loaded")
            yield zygote
            born = [path for path in Path(directory).iterdir() if path.is_file() and path.name.startswith("s")]
        finally:
            for path in born:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(path.read_text().split()[0]), signal.SIGKILL)
            zygote.control.close()
            zygote.process.kill()
            zygote.process.wait()


def wait_for(done: Any, timeout_s: float = 10.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_built_sandbox_waits_and_then_becomes_who_it_is_told(zygote: Zygote) -> None:
    built = zygote.build("s1")
    assert [name for name, _, _ in built["spans"]][:2] == ["cgroup", "stage"]
    assert all(0 < start <= end for _, start, end in built["spans"])
    assert alive(built["pid"])
    assert not (zygote.directory / "s1-own/upper/tmp").exists()
    zygote.enter("s1", rename=True, COLOR="blue")
    zygote.hear("ready", id="s1")
    seen = zygote.seen("s1")
    assert (seen["pid"], seen["uid"], seen["host"]) == (1, 0, "renamed")
    assert seen["plan"]["env"] == {"COLOR": "blue"}
    assert seen["cmdline"].rstrip("\0") == "arenero-init"
    assert "renamed" in seen["hosts"]
    assert seen["root"] == ["dev", "etc", "proc", "run", "sys", "tmp", "usr"]


def test_the_first_process_has_no_descriptor_but_its_own(zygote: Zygote) -> None:
    zygote.build("s1")
    zygote.enter("s1")
    zygote.hear("ready", id="s1")
    seen = zygote.seen("s1")
    # Standard ones, the line to the zygote, and the directory that was just read.
    assert len(seen["fds"]) == 5
    assert seen["plan"]["ready_fd"] in seen["fds"]


def test_the_pid_is_on_record_with_its_start(zygote: Zygote) -> None:
    pid = zygote.build("s1")["pid"]
    recorded, ticks = map(int, (zygote.directory / "s1").read_text().split())
    assert recorded == pid
    assert str(ticks) in Path(f"/proc/{pid}/stat").read_text()


def test_a_failed_step_is_named_with_its_errno(zygote: Zygote) -> None:
    plan = zygote.plan("s1").to_json()
    plan["rootfs"]["binds"] = [{"source": "/nonexistent", "target": "/usr"}]
    zygote.order("s1", rootfs=plan["rootfs"])
    with pytest.raises(Failed, match=r"'step': 'binds', 'errno': 2"):
        zygote.hear("built", id="s1")


@pytest.mark.parametrize(
    "order", [{"do": "build", "plan": {}}, {"do": "build"}, {"do": "dance"}, {"do": "enter", "plan": {}}]
)
def test_an_order_that_makes_no_sense_is_refused(zygote: Zygote, order: Mapping[str, Any]) -> None:
    zygote.send(id="x", **order)
    with pytest.raises(Failed, match="'event': 'failed', 'id': 'x'"):
        zygote.hear("built")
    zygote.build("s1")


def test_a_defect_of_init_is_told(zygote: Zygote) -> None:
    zygote.build("s1")
    zygote.enter("s1", fail="yes")
    with pytest.raises(Failed, match="told to fail"):
        zygote.hear("ready")


def test_an_init_that_ends_before_it_is_ready_is_a_failure(zygote: Zygote) -> None:
    zygote.build("s1")
    zygote.enter("s1", silent="yes")
    with pytest.raises(Failed, match="ended before its server listened"):
        zygote.hear("ready")


def test_ends_are_told_with_their_status(zygote: Zygote) -> None:
    pid = zygote.build("s1")["pid"]
    zygote.enter("s1")
    zygote.hear("ready")
    os.kill(pid, signal.SIGKILL)
    assert zygote.hear("exited", pid=pid)["status"] == signal.SIGKILL


def test_running_sandboxes_outlive_it_and_waiting_ones_do_not(zygote: Zygote) -> None:
    running, waiting = zygote.build("s1")["pid"], zygote.build("s2")["pid"]
    zygote.enter("s1")
    zygote.hear("ready")
    zygote.control.close()
    assert zygote.process.wait(10) == 0
    wait_for(lambda: not alive(waiting))
    assert alive(running)


def test_complaints_of_a_sandbox_are_in_its_log(zygote: Zygote) -> None:
    zygote.build("s1")
    zygote.enter("s1")
    zygote.hear("ready")
    wait_for(lambda: "s1: a complaint" in (zygote.directory / "log").read_text())


def test_nothing_is_mounted_on_the_host(zygote: Zygote) -> None:
    zygote.build("s1")
    zygote.enter("s1")
    zygote.hear("ready")
    assert str(zygote.directory) not in Path("/proc/self/mountinfo").read_text()


def test_many_are_built_at_once(zygote: Zygote) -> None:
    names = [f"s{number}" for number in range(8)]
    for name in names:
        zygote.order(name)
    pids = {zygote.hear("built")["pid"] for _ in names}
    assert len(pids) == 8


def test_nothing_that_a_sandbox_says_ends_it(zygote: Zygote) -> None:
    zygote.build("s1")
    zygote.enter("s1", nonsense="yes")
    with pytest.raises(Failed, match="can't be read"):
        zygote.hear("ready", id="s1")
    assert zygote.build("s2")["pid"]
