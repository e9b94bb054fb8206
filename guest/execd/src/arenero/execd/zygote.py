"""The zygote: a process with execd loaded that forks itself into sandboxes.

Started by the local driver (`python -m arenero.execd.zygote --fd N`), it has imported all that a sandbox's own
processes need, so a fork is ready to serve within milliseconds; a fresh interpreter would take a hundred. It has one
thread, no gRPC server and no secret: every sandbox is a copy of its memory.

A sandbox is made in two steps. `build` forks it and builds its surroundings, and its server begins to listen; `enter`
tells it who it is. A built one waits, so some can be kept ready. Messages (`frames`) come over the socket N:

    driver -> zygote   {"do": "build", "id", "plan": SandboxPlan, "record": path}
                       {"do": "enter", "id", "plan": InitPlan, "rename": true}
                       {"do": "remove", "id", "path", "uids", "gids", "newuidmap"}
    zygote -> driver   {"event": "loaded", "pid"}                          once, when it can fork
                       {"event": "built", "id", "pid", "spans"}
                       {"event": "ready", "id", "spans"}                   the server serves
                       {"event": "removed", "id"}
                       {"event": "failed", "id", "step", "errno", "message"}
                       {"event": "exited", "pid", "status"}                with a wait status

`record` is a file for the pid, written as soon as there is one, so that a sandbox is never running unknown. `remove` is
for ordinary users: what a sandbox leaves may belong to ids that are theirs in a user namespace only.

When the driver's end of the socket closes, the zygote ends, and with it what was built and not entered. Sandboxes that
run stay: the next driver adopts them.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import selectors
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from arenero.execd import init, preload, shared_pages, wiring
from arenero.execd.spawning import Child, Entry, Spawner, as_mapped_root, name_host, send_plan, write_record
from arenero.isolation import cgroup_layout, frames, seccomp, syscalls
from arenero.isolation.namespaces import IdMap
from arenero.isolation.plan import SandboxPlan

_READ_BYTES: Final = 65_536
_LOG_BYTES_PER_SANDBOX: Final = 256 * 1024


@dataclass(slots=True)
class Birth:
    """A sandbox on its way: being built, waiting to be entered, or starting."""

    order_id: str
    child: Child
    heard: bytes = b""


@dataclass(slots=True)
class Log:
    """What a sandbox's own processes write on standard error, passed on up to a limit."""

    name: str
    left_bytes: int = _LOG_BYTES_PER_SANDBOX


class Zygote:
    """The loop: orders in, events out, children collected.

    Args:
        control: Connected to the driver.
        spawner: Does the forking.
    """

    def __init__(self, control: socket.socket, spawner: Spawner) -> None:
        self._control = control
        self._spawner = spawner
        self._decoder = frames.Decoder()
        self._births: dict[str, Birth] = {}
        self._logs: dict[int, Log] = {}
        self._selector = selectors.DefaultSelector()
        self._running = True
        self._orders: dict[str, Callable[[str, Mapping[str, Any]], None]] = {
            "build": self._build,
            "enter": self._enter,
            "remove": self._remove,
        }

    def run(self) -> None:
        """Serve until the driver's end closes."""
        reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        # The handler itself does nothing: the byte in the pipe wakes the loop.
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        self._selector.register(self._control, selectors.EVENT_READ, self._on_control)
        self._selector.register(reader, selectors.EVENT_READ, lambda: self._on_children(reader))
        self._send({"event": "loaded", "pid": os.getpid()})
        while self._running:
            for key, _ in self._selector.select():
                key.data()

    def _on_control(self) -> None:
        try:
            received = self._control.recv(_READ_BYTES)
            for message in self._decoder.feed(received):
                self._on_order(message)
        except (ConnectionError, frames.FrameTooLong):
            received = b""
        self._running = bool(received)

    def _on_order(self, message: Mapping[str, Any]) -> None:
        order_id = str(message.get("id"))
        try:
            self._orders[message["do"]](order_id, message)
        except OSError as error:
            self._fail(order_id, message["do"], error.errno or 0, str(error))
        except (TypeError, ValueError, KeyError) as error:
            self._fail(order_id, "plan", 0, f"the order can't be read: {error!r}")

    def _build(self, order_id: str, message: Mapping[str, Any]) -> None:
        plan = SandboxPlan.from_json(message["plan"])
        child = self._spawner.spawn(plan)
        if record := message.get("record"):
            write_record(record, child.pid)
        birth = Birth(order_id, child)
        self._births[order_id] = birth
        self._logs[child.log_fd] = Log(plan.name)
        self._selector.register(child.line, selectors.EVENT_READ, lambda: self._on_line(birth))
        self._selector.register(child.log_fd, selectors.EVENT_READ, lambda: self._on_log(child.log_fd))

    def _enter(self, order_id: str, message: Mapping[str, Any]) -> None:
        birth = self._births.get(order_id)
        if birth is None:
            self._fail(order_id, "enter", 0, "the sandbox is not there any more")
            return
        if message.get("rename"):
            name_host(birth.child.pid, message["plan"]["hostname"])
        send_plan(birth.child.line, message["plan"])

    def _remove(self, order_id: str, message: Mapping[str, Any]) -> None:
        path = message["path"]

        def remove() -> int:
            shutil.rmtree(path)
            return 0

        uids, gids = (tuple(IdMap(**run) for run in message[name]) for name in ("uids", "gids"))
        as_mapped_root(uids, gids, remove, newuidmap=message["newuidmap"])
        self._send({"event": "removed", "id": order_id})

    def _on_line(self, birth: Birth) -> None:
        try:
            received = birth.child.line.recv(_READ_BYTES)
        except ConnectionError:
            received = b""
        *lines, birth.heard = (birth.heard + received).split(b"\n")
        for line in lines:
            try:
                is_last = self._hear(birth, line)
            except (ValueError, KeyError, TypeError):
                self._fail(birth.order_id, "start", 0, "the sandbox's first process said what can't be read")
                is_last = True
            if is_last:
                self._forget(birth)
                return
        if not received:
            self._fail(birth.order_id, "start", 0, "the sandbox's first process ended before its server listened")
            self._forget(birth)

    def _hear(self, birth: Birth, line: bytes) -> bool:
        """Take one line of a child; True when it was the last."""
        word, _, spans = line.partition(b" ")
        if word == b"ready":
            self._send({"event": "ready", "id": birth.order_id, "spans": json.loads(spans)})
            return True
        facts = json.loads(line)
        if "step" in facts:
            self._fail(birth.order_id, facts["step"], facts["errno"], facts["message"])
            return True
        self._send({"event": "built", "id": birth.order_id, "pid": birth.child.pid, "spans": facts["spans"]})
        return False

    def _forget(self, birth: Birth) -> None:
        self._selector.unregister(birth.child.line)
        birth.child.line.close()
        del self._births[birth.order_id]

    def _on_log(self, fd: int) -> None:
        try:
            received = os.read(fd, _READ_BYTES)
        except BlockingIOError:
            return
        if not received:
            self._selector.unregister(fd)
            os.close(fd)
            del self._logs[fd]
            return
        log = self._logs[fd]
        shown = received[: log.left_bytes]
        log.left_bytes -= len(shown)
        for line in shown.decode(errors="replace").splitlines():
            print(f"{log.name}: {line}", file=sys.stderr, flush=True)  # noqa: T201 - standard error is its log

    def _on_children(self, wakeup: int) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(wakeup, _READ_BYTES)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._send({"event": "exited", "pid": pid, "status": status})

    def _fail(self, order_id: str, step: str, code: int, message: str) -> None:
        self._send({"event": "failed", "id": order_id, "step": step, "errno": code, "message": message})

    def _send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(ConnectionError):
            self._control.sendall(frames.encode(message))


def serve(control: socket.socket, entry: Entry) -> None:
    """Be the zygote over a connected socket until its other end closes."""
    syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    syscalls.set_process_name("arenero-zygote")
    seccomp.compile_default()
    shared_pages.settle()
    Zygote(control, Spawner(cgroup_layout.detect(), entry)).run()


def _entry() -> Entry:
    """Return what the first process of every sandbox runs: init, with execd's server as its child."""
    return functools.partial(init.main, serve=wiring.serve)


def main(argv: list[str]) -> int:
    """Run the zygote for the driver at the other end of an inherited socket."""
    parser = argparse.ArgumentParser(prog="arenero.execd.zygote", description=__doc__.partition("\n")[0])
    parser.add_argument("--fd", type=int, required=True, help="connected stream socket, inherited")
    arguments = parser.parse_args(argv)
    preload.load()
    os.chdir("/")
    serve(socket.socket(fileno=arguments.fd), _entry())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
