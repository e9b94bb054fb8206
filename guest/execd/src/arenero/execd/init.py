"""Init: the first process of a sandbox. It owns every child, and outlives whatever goes wrong beside it.

One thread, no gRPC, one loop over two descriptors: signals and the server's line. It alone launches, collects and
signals, so a pid never means another process than the one it was taken for. It keeps the lease by the monotonic clock,
whether or not the server lives.

Not its work: what to run and why (the server), namespaces and mounts (whoever made this process).
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import time
import traceback
from collections.abc import Callable
from typing import Any, Final, NoReturn

from arenero.execd import control, daemon, shutdown, signalfd
from arenero.execd.cgroups import ExecCgroups
from arenero.execd.control import Kind, Message, Outbox
from arenero.execd.killing import KILL_TIMEOUT_S, Kill, Killer
from arenero.execd.launch import Limits
from arenero.execd.launcher import Launcher
from arenero.execd.lease import Lease
from arenero.execd.plan import InitPlan
from arenero.execd.roster import Roster
from arenero.execd.shutdown import ExitCode, Phase, Shutdown
from arenero.isolation import syscalls

EXPIRY_GRACE_S: Final = 0.5
"""Time between SIGTERM and SIGKILL when the lease has run out."""
_KILL_TICK_S: Final = 0.002
_QUIET_S: Final = 0.001
"""Without an event for this long, there is time for chores."""


def main(
    surroundings: InitPlan, claim: Callable[[], InitPlan | None], serve: Callable[[InitPlan, socket.socket], int]
) -> NoReturn:
    """Be init until the sandbox ends, then exit with an `ExitCode`. For a process with a single thread.

    The server is started first and gets the plan by the line: until a sandbox is claimed, it can make itself ready.

    Args:
        surroundings: The plan as far as it is known before anybody claims the sandbox: what it is made of.
        claim: Waits for the whole plan and returns it; None: nobody will claim it.
        serve: Called in a forked child to be the server, with its end of the line; returns its exit code.
    """
    code = ExitCode.CRASHED
    try:
        daemon.harden(surroundings)
        signals = signalfd.open_for((signal.SIGCHLD, signal.SIGTERM, signal.SIGINT))
        ours, theirs = control.pair()
        cgroups = ExecCgroups(surroundings.cgroup_fd, surroundings.cgroup_controllers)
        server = os.fork()
        if server == 0:
            ours.close()
            os.close(signals)
            daemon.run_server(surroundings, theirs, serve)
        theirs.close()
        gc.freeze()
        code = _claimed(claim(), cgroups, server, ours, signals)
    except BaseException:  # noqa: BLE001 - process 1 must end with its own code, and say why
        daemon.note(traceback.format_exc())
    finally:
        os._exit(code)  # noqa: TID251 - forked from a zygote, whose exit handlers are not ours


def _claimed(plan: InitPlan | None, cgroups: ExecCgroups, server: int, line: socket.socket, signals: int) -> ExitCode:
    if plan is None:
        return ExitCode.STOPPED
    control.send(line, Message(Kind.PLAN, 0, plan.to_json()))
    if plan.ready_fd >= 0:
        os.close(plan.ready_fd)
    return Init(plan, cgroups, server, line, signals).run()


class Init:
    """The loop and what it decides."""

    def __init__(self, plan: InitPlan, cgroups: ExecCgroups, server: int, line: socket.socket, signals: int) -> None:
        line.setblocking(False)
        self._server: int | None = server
        self._line = line
        self._outbox = Outbox(line)
        self._signals = signals
        self._cgroups = cgroups
        self._roster = Roster(cgroups, Launcher(plan.exec_oom_score_adj), self._outbox.send)
        self._killer = Killer(cgroups)
        self._kills: list[Kill] = []
        self._lease = Lease(plan.ttl_s, time.monotonic())
        self._shutdown: Shutdown | None = None
        self._poll = select.epoll()
        self._poll.register(signals, select.EPOLLIN)
        self._poll.register(line, select.EPOLLIN)
        self._answers: dict[Kind, Callable[[Message], None]] = {
            Kind.SPAWN: self._roster.launch,
            Kind.LIMIT: lambda m: self._roster.limit(m.key, Limits(**m.body)),
            Kind.RELEASE: lambda m: self._roster.release(m.key),
            Kind.SIGNAL: self._on_signal,
            Kind.KILL: self._on_kill,
            Kind.LEASE: self._on_lease,
            Kind.RENAME: self._on_rename,
            Kind.STOP: lambda m: self._stop(ExitCode.STOPPED, m.body["grace_s"]),
        }

    def run(self) -> ExitCode:
        """Loop until the sandbox has ended."""
        while True:
            busy = False
            for fd, _ in self._poll.poll(self._timeout_s()):
                busy = True
                self._on_readable(fd)
            now_s = time.monotonic()
            self._check_times(now_s)
            if not busy and not self._shutdown:
                self._cgroups.do_chores()
            if self._shutdown and self._shutdown.step(now_s, self._server is not None) is Phase.DONE:
                return self._shutdown.code

    def _on_readable(self, fd: int) -> None:
        if fd == self._line.fileno():
            self._on_line()
        else:
            self._on_signals()

    # --- the server's line

    def _on_line(self) -> None:
        """Answer what the server asks, a bounded number of messages at a time."""
        for _ in range(64):
            try:
                message = control.receive(self._line)
            except BlockingIOError:
                return
            except OSError:
                message = None
            if message is None:
                self._lose_line()
                return
            self._answers[message.kind](message)

    def _on_signal(self, message: Message) -> None:
        body = message.body
        entry = self._roster.find(body["exec"])
        sent = self._killer.signal(entry, body["signal"], body["target"], body["group"]) if entry else 0
        if message.key:
            self._tell(Kind.SIGNALLED, message.key, {"delivered": sent})

    def _on_kill(self, message: Message) -> None:
        entry = self._roster.find(message.body["exec"])
        if entry is None:
            self._tell(Kind.KILLED, message.key, {"left": 0, "certain": True})
            return
        self._kills.append(Kill(message.key, entry, time.monotonic() + KILL_TIMEOUT_S))

    def _on_lease(self, message: Message) -> None:
        self._lease.set(message.body["ttl_s"], message.body["revision"], time.monotonic())
        self._tell(Kind.LEASE_SET, message.key, {"revision": self._lease.revision})

    def _on_rename(self, message: Message) -> None:
        try:
            syscalls.sethostname(message.body["hostname"])
            code = 0
        except OSError as error:
            code = error.errno or 1
        self._tell(Kind.RENAMED, message.key, {"errno": code})

    def _tell(self, kind: Kind, key: int, body: dict[str, Any]) -> None:
        self._outbox.send(Message(kind, key, body))

    def _lose_line(self) -> None:
        """The server closed its end: it is ending, or has ended already."""
        self._poll.unregister(self._line)
        if self._shutdown is None:
            self._stop(ExitCode.SERVER_LOST, 0.0)

    # --- signals

    def _on_signals(self) -> None:
        for number, sender in signalfd.read(self._signals):
            if number in (signal.SIGTERM, signal.SIGINT) and self._may_stop(sender):
                self._stop(ExitCode.STOPPED, EXPIRY_GRACE_S)
        for pid, status in self._roster.collect():
            if pid == self._server:
                self._server = None
                self._on_server_end(status)

    def _may_stop(self, sender: int) -> bool:
        """Process 1 obeys the outside only; elsewhere a sender is whoever started execd."""
        return sender == 0 or os.getpid() != 1

    def _on_server_end(self, status: int) -> None:
        if self._shutdown is None or self._shutdown.code is ExitCode.SERVER_LOST:
            daemon.note(f"the server ended unasked with wait status {status:#x}")
            self._stop(ExitCode.SERVER_LOST, 0.0)

    # --- time

    def _timeout_s(self) -> float | None:
        """Return how long to wait for events at most."""
        if self._shutdown:
            return shutdown.TICK_S
        if self._kills:
            return _KILL_TICK_S
        if not self._outbox.empty or self._cgroups.has_chores:
            return _QUIET_S
        return self._lease.left_s(time.monotonic())

    def _check_times(self, now_s: float) -> None:
        if not self._outbox.empty:
            self._outbox.flush()
        if self._lease.expired(now_s):
            self._stop(ExitCode.LEASE_EXPIRED, EXPIRY_GRACE_S)
        if self._kills:
            self._kills = [kill for kill in self._kills if not self._check_kill(kill, now_s)]

    def _check_kill(self, kill: Kill, now_s: float) -> bool:
        left = self._killer.kill(kill.entry)
        if left and now_s < kill.deadline_s:
            return False
        self._tell(Kind.KILLED, kill.question, {"left": left, "certain": kill.entry.enclosed})
        return True

    # --- the end

    def _stop(self, code: ExitCode, grace_s: float) -> None:
        now_s = time.monotonic()
        if self._shutdown:
            self._shutdown.hurry(now_s + grace_s)
            return
        self._lease.clear()
        self._tell(Kind.STOPPING, 0, {"reason": code.name, "grace_s": grace_s})
        self._shutdown = Shutdown(code, now_s + grace_s, self._workloads)

    def _workloads(self) -> list[int]:
        return shutdown.workloads(frozenset({self._server} if self._server else ()))
