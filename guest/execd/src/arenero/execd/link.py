"""The server's end of the line to init: questions with answers, and what init tells about execs.

Everything happens on the event loop, in callbacks: between a datagram and what it changes there is no task that could
be cancelled half way. When init is gone there is nothing left to serve, and `on_lost` is called once.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import itertools
import os
import signal
import socket
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from arenero.errors import Unavailable
from arenero.execd import control, procfs
from arenero.execd.control import Kind, Message, Outbox
from arenero.execd.daemon import INIT_NAME
from arenero.execd.launch import Fault, Launch, Limits

_BATCH: Final = 64
_RETRY_S: Final = 0.005
LAUNCH_TIMEOUT_S: Final = 5.0
"""A launch that takes longer hangs on a file system that doesn't answer, or on a file that someone holds a lease on."""
Body = Mapping[str, Any]


class ExecEvents(Protocol):
    """Who hears about one exec."""

    def on_started(self, pid: int, cgroup: str) -> None:
        """Its program runs."""

    def on_start_failed(self, fault: Fault) -> None:
        """Its program never ran; nothing more comes."""

    def on_exited(self, body: Body) -> None:
        """Its first process has ended."""


class InitLink:
    """Speaks with init."""

    def __init__(self, sock: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._loop = loop
        self._outbox = Outbox(sock)
        self._numbers = itertools.count(1)
        self._execs: dict[int, ExecEvents] = {}
        self._launching: dict[int, None] = {}
        """Keys that init has not answered yet. It answers in order, so it is at the first one."""
        self._hung: set[int] = set()
        self._watchdog: asyncio.TimerHandle | None = None
        self._questions: dict[int, asyncio.Future[Body]] = {}
        self.on_stopping: Callable[[str, float], None] = lambda reason, grace_s: None
        """Called when init begins to end the sandbox."""
        self.on_lost: Callable[[], None] = lambda: None
        self.lost = False
        """Init is gone."""
        loop.add_reader(sock.fileno(), self._on_readable)

    def new_key(self) -> int:
        """Return a number for an exec, never used before."""
        return next(self._numbers)

    def spawn(self, key: int, launch: Launch, limits: Limits, fds: tuple[int, ...], events: ExecEvents) -> None:
        """Have a process started; the descriptors are closed here once they are sent."""
        self._execs[key] = events
        self._launching[key] = None
        if self._watchdog is None:
            self._arm_watchdog()
        if limits:
            self._send(Message(Kind.LIMIT, key, limits.to_body()))
        self._send(Message(Kind.SPAWN, key, launch.to_body(), fds))

    def release(self, key: int) -> None:
        """Nothing will be asked about this exec any more. Init itself released those that were `alone` at their end."""
        if self._execs.pop(key, None) is not None:
            self._send(Message(Kind.RELEASE, key))

    def drop(self, key: int) -> None:
        """Init has released this exec."""
        self._execs.pop(key, None)

    def ask(self, kind: Kind, body: Body) -> asyncio.Future[Body]:
        """Ask and return the answer's future."""
        number = next(self._numbers)
        future: asyncio.Future[Body] = self._loop.create_future()
        self._questions[number] = future
        self._send(Message(kind, number, body))
        return future

    def tell(self, kind: Kind, body: Body) -> None:
        """Ask for something that has no answer."""
        self._send(Message(kind, 0, body))

    def signal(self, key: int, number: int, target: str, group: int = 0) -> asyncio.Future[Body]:
        """Signal processes of an exec; the answer's `delivered` says how many."""
        return self.ask(Kind.SIGNAL, {"exec": key, "signal": number, "target": target, "group": group})

    def send_signal(self, key: int, number: int) -> None:
        """Signal all processes of an exec, without waiting for an answer."""
        self.tell(Kind.SIGNAL, {"exec": key, "signal": number, "target": "all", "group": 0})

    def kill(self, key: int) -> asyncio.Future[Body]:
        """Kill all of an exec; the answer comes when nothing is left, or with how much is."""
        return self.ask(Kind.KILL, {"exec": key})

    def close(self) -> None:
        """Close the line, which tells init that the server is done."""
        self._loop.remove_reader(self._sock.fileno())
        self._sock.close()

    def _send(self, message: Message) -> None:
        was_empty = self._outbox.empty
        self._outbox.send(message)
        if was_empty and not self._outbox.empty:
            self._loop.call_later(_RETRY_S, self._flush)

    def _flush(self) -> None:
        self._outbox.flush()
        if not self._outbox.empty:
            self._loop.call_later(_RETRY_S, self._flush)

    def _on_readable(self) -> None:
        for _ in range(_BATCH):
            try:
                raw = self._sock.recv(65_536)
            except BlockingIOError:
                return
            except OSError:
                raw = b""
            if not raw:
                self._lose()
                return
            self._deliver(control.unpack(raw))

    def _deliver(self, message: Message) -> None:
        if message.kind is Kind.STOPPING:
            self.on_stopping(message.body["reason"], message.body["grace_s"])
        elif future := self._questions.pop(message.key, None):
            if not future.done():
                future.set_result(message.body)
        elif events := self._execs.get(message.key):
            self._tell(events, message)

    def _tell(self, events: ExecEvents, message: Message) -> None:
        body = message.body
        if message.kind is Kind.EXITED:
            events.on_exited(body)
            return
        self._launching.pop(message.key, None)
        self._arm_watchdog()
        if message.kind is Kind.START_FAILED:
            self.drop(message.key)
            events.on_start_failed(Fault.from_body(body))
        elif message.key in self._hung:
            # Killed on the way to its program, which init can't tell from a program that was killed.
            self._hung.discard(message.key)
            self.release(message.key)
            events.on_start_failed(Fault("execve", errno.ETIMEDOUT))
        else:
            events.on_started(body["pid"], body["cgroup"])

    def _arm_watchdog(self) -> None:
        if self._watchdog:
            self._watchdog.cancel()
        self._watchdog = self._loop.call_later(LAUNCH_TIMEOUT_S, self._end_hung_launch) if self._launching else None

    def _end_hung_launch(self) -> None:
        """Kill the child that init waits for: while that can't get to its program, init does nothing else."""
        init = os.getppid()
        for stat in procfs.processes():
            if stat.parent == init and stat.name == INIT_NAME:
                self._hung.add(next(iter(self._launching)))
                with contextlib.suppress(OSError):
                    os.kill(stat.pid, signal.SIGKILL)
        self._arm_watchdog()

    def _lose(self) -> None:
        self.lost = True
        self._loop.remove_reader(self._sock.fileno())
        for future in self._questions.values():
            if not future.done():
                future.set_exception(Unavailable("the sandbox is ending", reason="SANDBOX_ENDING"))
                future.exception()
        self._questions.clear()
        self.on_lost()
