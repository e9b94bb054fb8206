"""An exec in the server: from its request to its end frame. Init runs its processes, this knows what they mean.

An exec is *launching*, *running*, *draining* (its first process has ended; output may still come, and what it left
behind may still have to be killed), *ended*. It moves on callbacks from init, from its descriptors and from timers,
never in a task, so nothing can be cancelled between two of its states. Callers wait on `begun` and `over`.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from arenero.execd import pty
from arenero.execd.collector import Collector
from arenero.execd.control import close_all, write_memfd
from arenero.execd.deadlines import Deadlines
from arenero.execd.launch import Fault
from arenero.execd.link import Body, InitLink
from arenero.execd.memory import MemoryWatch
from arenero.execd.outcome import Cause, Ended, StartFailure, Usage, WaitStatus, explain
from arenero.execd.output import OutputRecord, Stream
from arenero.execd.spec import OnExit, Size, Spec
from arenero.execd.spool import Spool
from arenero.execd.stdin import Input
from arenero.execd.surroundings import SCRIPT_FD, Surroundings, Unstartable

AFTER_KILL_S: Final = 0.1
"""How long the output of killed processes may take to come to its end."""
_KILLED_BY_SHELL: Final = 128 + signal.SIGKILL


class State(Enum):
    """How far an exec has come."""

    LAUNCHING = auto()
    RUNNING = auto()
    DRAINING = auto()
    ENDED = auto()


@dataclass(frozen=True, slots=True)
class Services:
    """What every exec of a sandbox uses."""

    link: InitLink
    surroundings: Surroundings
    spool: Spool
    memory: MemoryWatch


@dataclass(frozen=True, slots=True, eq=False)
class Writer:
    """Who may write to a terminal: one client at a time."""

    lose: Callable[[], None]
    """Called when another client takes over."""


@dataclass(frozen=True, slots=True)
class _Exit:
    """The first process has ended."""

    status: WaitStatus
    usage: Usage
    at_ns: int
    alone: bool
    """Surely nothing else of the exec is left."""
    oom_kills: int
    """Processes of its own cgroup that lack of memory ended."""


class Exec:
    """One exec. `start` it once."""

    def __init__(self, exec_id: str, spec: Spec, services: Services) -> None:
        self.id = exec_id
        self.spec = spec
        self.key = services.link.new_key()
        self.state = State.LAUNCHING
        self.pid = 0
        self.cgroup = ""
        """Name of its own cgroup; empty without one."""
        self.started_ns = 0
        self.ended: Ended | None = None
        self.begun = asyncio.Event()
        """It runs, or never will."""
        self.over = asyncio.Event()
        """`ended` is set, and all output that there will be is in the record."""
        streams = (Stream.PTY,) if spec.terminal else (Stream.STDOUT, Stream.STDERR)
        self.record = OutputRecord(streams, spec.output, services.spool.open)
        self.input = Input()
        self.attached = 0
        """Clients that read its output now."""
        self.writer: Writer | None = None
        self.on_over: Callable[[Exec], None] = lambda exec_: None
        self._services = services
        self._link = services.link
        self._loop = asyncio.get_running_loop()
        self._collectors: list[Collector] = []
        self._deadlines = Deadlines(None, None, 0.0)
        self._timer: asyncio.TimerHandle | None = None
        self._grace: asyncio.TimerHandle | None = None
        self._oom_kills_before = services.memory.kills()
        self._sent_signals: set[int] = set()
        self._cause: Cause | None = None
        self._stop_when_begun: float | None = None
        self._exit: _Exit | None = None
        self._kill_asked = False
        self._kill_done = False
        self._held_open = False
        self._escapees_possible = False
        self._sandbox_stops = False

    # --- what callers ask

    def start(self, traceparent: str = "") -> None:
        """Have it launched; `begun` is set when it runs or can't."""
        try:
            prepared = self._services.surroundings.prepare(self.spec, traceparent)
            fds, targets = self._open(prepared.launch.uid, prepared.script)
        except Unstartable as error:
            self._fail(error.failure)
        except OSError as error:
            self._fail(explain(Fault("stdio", error.errno or 0)))
        else:
            launch = dataclasses.replace(prepared.launch, targets=targets)
            self._link.spawn(self.key, launch, self.spec.limits, fds, self)

    def stop(self, cause: Cause, grace_s: float) -> None:
        """Ask all of its processes to end, and kill what is left after the grace. The first cause stays the cause."""
        if self.state is State.LAUNCHING:
            self._cause = self._cause or cause
            self._stop_when_begun = grace_s
        elif self.state is State.RUNNING:
            self._cause = self._cause or cause
            self._ask_to_end(grace_s)
        elif self.state is State.DRAINING:
            self._finish(kill=True)

    async def signal(self, number: int, target: str) -> int:
        """Send a signal and return how many processes or groups it went to."""
        await self.begun.wait()
        if self.ended and self.spec.on_exit is OnExit.REAP:
            return 0
        group = pty.foreground_group(self.input.terminal_fd) if target == "foreground" else 0
        self._sent_signals.add(number)
        answer = await self._link.signal(self.key, number, target, group)
        return int(answer["delivered"])

    async def kill_rest(self) -> None:
        """Kill what an ended exec has left running."""
        await self._link.kill(self.key)

    def resize(self, size: Size) -> None:
        """Set the terminal's size, if it still has one."""
        if self.input.terminal_fd >= 0:
            pty.resize(self.input.terminal_fd, size)

    def hang_up(self) -> None:
        """Close the terminal, as when a line breaks: whoever uses it gets SIGHUP, and an end of file."""
        self._sent_signals.add(signal.SIGHUP)
        self.input.close(broken=True)
        for collector in self._collectors:
            collector.close()

    def note_sandbox_stops(self) -> None:
        """Init has begun to end every process."""
        self._sandbox_stops = True
        if self._cause is None and self._exit is None:
            self._cause = Cause.SANDBOX_STOPPED

    def lose(self) -> None:
        """Init is gone: whatever becomes of the processes, nobody will hear of it."""
        if self.pid and not self.ended:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        if not self.ended:
            self.begun.set()
            self._end(cause=Cause.DAEMON_LOST)

    def forget(self) -> None:
        """Drop the output, and let init drop the exec."""
        for collector in self._collectors:
            collector.close()
        self.record.close()
        self._link.release(self.key)

    # --- what init tells

    def on_started(self, pid: int, cgroup: str) -> None:
        """Its program runs."""
        self.state = State.RUNNING
        self.pid = pid
        self.cgroup = cgroup
        self.started_ns = time.time_ns()
        spec = self.spec
        self._deadlines = Deadlines(spec.timeout_s, spec.idle_output_timeout_s, self._loop.time())
        self._arm_deadline()
        self.begun.set()
        if self._stop_when_begun is not None:
            self._ask_to_end(self._stop_when_begun)

    def on_start_failed(self, fault: Fault) -> None:
        """Its program never ran."""
        self._fail(explain(fault))

    def on_exited(self, body: Body) -> None:
        """Its first process has ended: collect what is left of its output, then deal with what it left running."""
        status = WaitStatus.of(body["status"])
        self._exit = _Exit(status, Usage.of(body["usage"]), body["at_ns"], body["alone"], body["oom_kills"])
        self.state = State.DRAINING
        if self._exit.alone:
            self._link.drop(self.key)
        self._cancel_timers()
        for collector in self._collectors:
            collector.pull()
        if self.state is State.DRAINING and not self._streams_ended():
            self._timer = self._loop.call_later(self._drain_s(), self._on_drain_deadline)
        else:
            self._finish()

    # --- start

    def _open(self, uid: int, script: bytes) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        """Make the descriptors and return the exec's sides with the numbers that they get there."""
        theirs: list[int] = []
        targets: list[tuple[int, ...]] = []
        try:
            if self.spec.terminal:
                self._open_terminal(self.spec.terminal.size, uid, theirs)
                targets.append((0, 1, 2))
            else:
                self._open_pipes(theirs, targets)
            if script:
                theirs.append(write_memfd("arenero-script", script))
                targets.append((SCRIPT_FD,))
        except OSError:
            close_all(theirs)
            raise
        return tuple(theirs), tuple(targets)

    def _open_terminal(self, size: Size, uid: int, theirs: list[int]) -> None:
        ours, slave = pty.open_terminal(size, uid)
        theirs.append(slave)
        self._collect(ours, Stream.PTY)
        self.input = Input(os.dup(ours), is_terminal=True)

    def _open_pipes(self, theirs: list[int], targets: list[tuple[int, ...]]) -> None:
        if self.spec.takes_input:
            reader, writer = os.pipe()
            theirs.append(reader)
            targets.append((0,))
            self.input = Input(writer)
        for stream in (Stream.STDOUT, Stream.STDERR):
            reader, writer = os.pipe()
            theirs.append(writer)
            targets.append((int(stream),))
            self._collect(reader, stream)

    def _collect(self, fd: int, stream: Stream) -> None:
        self._collectors.append(Collector(fd, stream, self.record, self._on_output, self._on_stream_end))

    def _fail(self, failure: StartFailure) -> None:
        now_ns = time.time_ns()
        self.state = State.ENDED
        self._close_descriptors()
        self.record.close()
        self.ended = Ended(failure=failure, cause=Cause.START_FAILED, started_ns=now_ns, ended_ns=now_ns)
        self._link.release(self.key)
        self.begun.set()
        self.over.set()
        self.on_over(self)

    # --- running

    def _on_output(self) -> None:
        self._deadlines.last_output_s = self._loop.time()

    def _arm_deadline(self) -> None:
        due_s = self._deadlines.next_s()
        self._timer = None if due_s is None else self._loop.call_at(due_s, self._on_deadline)

    def _on_deadline(self) -> None:
        cause = self._deadlines.passed(self._loop.time())
        if cause:
            self.stop(cause, self.spec.kill_grace_s)
        else:
            self._arm_deadline()

    def _ask_to_end(self, grace_s: float) -> None:
        if grace_s <= 0:
            self._kill()
            return
        asking = signal.SIGHUP if self.spec.terminal else signal.SIGTERM
        # Each once: a program may say good-bye for every SIGTERM that it gets.
        for number in dict.fromkeys((asking, signal.SIGTERM, signal.SIGCONT)):
            self._link.send_signal(self.key, number)
        due_s = self._loop.time() + grace_s
        if self._grace is None or self._grace.when() > due_s:
            if self._grace:
                self._grace.cancel()
            self._grace = self._loop.call_at(due_s, self._kill)

    def _kill(self) -> None:
        if not self._kill_asked:
            self._kill_asked = True
            self._link.kill(self.key).add_done_callback(self._on_killed)

    def _on_killed(self, answer: asyncio.Future[Any]) -> None:
        self._kill_done = True
        if answer.cancelled() or answer.exception() is not None:
            self._escapees_possible = True
        else:
            body = answer.result()
            self._escapees_possible = bool(body["left"]) or not body["certain"]
        if self.state is State.DRAINING:
            self._finish_after_kill()

    # --- draining

    def _streams_ended(self) -> bool:
        return all(collector.ended for collector in self._collectors)

    def _on_stream_end(self) -> None:
        if self.state is State.DRAINING and self._streams_ended():
            self._finish()

    def _drain_s(self) -> float:
        """Return how long to wait for the output's end: the exec's timeout counts on while it drains."""
        due_s = self._deadlines.next_s() if self.spec.timeout_s is not None else None
        left_s = self.spec.drain_s if due_s is None else max(0.0, due_s - self._loop.time())
        return AFTER_KILL_S if self._kill_done else min(self.spec.drain_s, left_s)

    def _on_drain_deadline(self) -> None:
        self._held_open = True
        self._finish()

    def _finish(self, *, kill: bool = False) -> None:
        """Kill what is left where that is asked for, then end."""
        if self.state is not State.DRAINING or self._exit is None:
            return
        must_kill = kill or self._cause is not None or self.spec.on_exit is OnExit.REAP
        if self._exit.alone or self._sandbox_stops or self._kill_done or not must_kill:
            self._end()
        else:
            self._kill()

    def _finish_after_kill(self) -> None:
        self._cancel_timers()
        if self._streams_ended():
            self._finish()
        else:
            # Killed processes have closed their ends by now; what is in the pipes comes in a moment.
            self._timer = self._loop.call_later(AFTER_KILL_S, self._finish)

    # --- the end

    def _end(self, cause: Cause | None = None) -> None:
        self.state = State.ENDED
        self._cancel_timers()
        self._close_descriptors()
        self.record.settle()
        exited = self._exit
        status = exited.status if exited else WaitStatus(None, signal.SIGKILL, False)
        self.ended = Ended(
            exit_code=status.exit_code,
            signal=status.signal,
            core_dumped=status.core_dumped,
            cause=cause or self._find_cause(),
            offsets=self.record.offsets(),
            dropped=self.record.dropped(),
            usage=exited.usage if exited else None,
            started_ns=self.started_ns,
            ended_ns=exited.at_ns if exited else time.time_ns(),
            stdio_held_open=self._held_open,
            escapees_possible=self._escapees_possible,
        )
        if self._kill_done:
            self._link.release(self.key)
        self.over.set()
        self.record.tell()
        self.on_over(self)

    def _find_cause(self) -> Cause:
        if self._cause is not None:
            return self._cause
        if self._exit is None:
            return Cause.DAEMON_LOST
        status = self._exit.status
        if status.signal in self._sent_signals or (status.exit_code or 0) - 128 in self._sent_signals:
            return Cause.CANCELLED
        return Cause.OUT_OF_MEMORY if self._ran_out_of_memory(self._exit) else Cause.OWN_EXIT

    def _ran_out_of_memory(self, exited: _Exit) -> bool:
        if exited.oom_kills and exited.status.exit_code != 0:
            return True
        killed = exited.status.signal == signal.SIGKILL or exited.status.exit_code == _KILLED_BY_SHELL
        return killed and self._services.memory.kills() > self._oom_kills_before

    def _close_descriptors(self) -> None:
        """Close all, but go on reading what processes that may stay still write: SIGPIPE would end them."""
        self.input.close(broken=True)
        leaves = self.spec.on_exit is OnExit.LEAVE and not self._kill_done and not self._sandbox_stops
        for collector in self._collectors:
            if leaves and self._exit is not None:
                collector.discard()
            else:
                collector.close()

    def _cancel_timers(self) -> None:
        for timer in (self._timer, self._grace):
            if timer:
                timer.cancel()
        self._timer = self._grace = None
