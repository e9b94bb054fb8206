"""The driver's side of the zygote: starts it, gives it orders, hears what becomes of them.

Messages and their meaning are described where they are answered, in `arenero.execd.zygote`. A zygote that died is
started again by the next order; sandboxes that run don't notice.
"""

from __future__ import annotations

import asyncio
import errno
import itertools
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from arenero.errors import FailedPrecondition, ResourceExhausted, Unavailable
from arenero.isolation import frames
from arenero.isolation.namespaces import IdMap
from arenero.isolation.plan import SandboxPlan

_MODULE: Final = "arenero.execd.zygote"
_LOAD_TIMEOUT_S: Final = 30.0
_CLOSE_TIMEOUT_S: Final = 5.0
_NO_ROOM: Final = frozenset({"EAGAIN", "EBUSY", "EMFILE", "ENFILE", "ENOMEM", "ENOSPC", "EUSERS"})
_PASSED_ON: Final = ("LANG", "LC_ALL", "TZ", "PYTHONPATH", "LD_LIBRARY_PATH")

Span = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Built:
    """A sandbox that waits to be entered."""

    order_id: str
    ordered_ns: int
    """When it was ordered, in nanoseconds since 1970."""
    pid: int
    spans: tuple[Span, ...]


class Zygote:
    """A connection to the running zygote, and the process behind it.

    Args:
        on_exit: Called with the pid and wait status of every first process that has ended.
        log_path: File that the zygote's standard error is appended to.
    """

    def __init__(self, on_exit: Callable[[int, int], None], log_path: str) -> None:
        self._on_exit = on_exit
        self._log_path = log_path
        self._process: subprocess.Popen[bytes] | None = None
        self._line: _Line | None = None
        self._starting = asyncio.Lock()
        self._orders = itertools.count(1)

    async def start(self) -> None:
        """Start the zygote unless it runs; returns when it can fork.

        Raises:
            Unavailable: It ended instead.
        """
        async with self._starting:
            if self._line is None or self._line.closed:
                await self._collect()
                await self._start()

    async def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = self._spawn(theirs)
        line = _Line(self._on_exit)
        await asyncio.get_running_loop().create_connection(lambda: line, sock=ours)
        self._line = line
        try:
            await asyncio.wait_for(line.loaded, _LOAD_TIMEOUT_S)
        except TimeoutError as error:
            raise Unavailable("the zygote did not load", reason="ZYGOTE_LOST") from error

    def _spawn(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        environment |= {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "GRPC_ENABLE_FORK_SUPPORT": "0"}
        with open(self._log_path, "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-P", "-s", "-m", _MODULE, "--fd", str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def order(self, plan: SandboxPlan, record: str) -> asyncio.Future[Built]:
        """Have the zygote, which runs, fork a sandbox and build it.

        The order stands, whoever waits for the answer or doesn't any more. The future may get FailedPrecondition or
        ResourceExhausted, when a step failed (the message names it), and Unavailable, when the zygote is lost.

        Raises:
            Unavailable: The zygote is gone.
        """
        order_id, ordered_ns = f"{plan.name}.{next(self._orders)}", time.time_ns()
        message = {"do": "build", "id": order_id, "plan": plan.to_json(), "record": record}
        answer = self._open_line().ask(order_id, message)
        built: asyncio.Future[Built] = asyncio.get_running_loop().create_future()

        def pass_on(done: asyncio.Future[Mapping[str, Any]]) -> None:
            error = done.exception()
            if built.cancelled():
                return
            if error is not None:
                built.set_exception(error)
                # Whoever waits gets it; when nobody does any more, it is nobody's news.
                built.exception()
                return
            built.set_result(Built(order_id, ordered_ns, done.result()["pid"], _spans(done.result()["spans"])))

        answer.add_done_callback(pass_on)
        return built

    async def enter(self, built: Built, plan: Mapping[str, Any], *, rename: bool) -> tuple[Span, ...]:
        """Let a built sandbox run; returns when its server serves, with what that took by its own account.

        Raises:
            FailedPrecondition, ResourceExhausted: It ended instead.
            Unavailable: The zygote is gone.
        """
        message = {"do": "enter", "id": built.order_id, "plan": plan, "rename": rename}
        answer = await self._open_line().ask(built.order_id, message)
        return _spans(answer["spans"])

    async def remove(self, path: str, uids: Sequence[IdMap], gids: Sequence[IdMap], *, newuidmap: bool) -> None:
        """Remove a directory as root of a user namespace with these maps, as an ordinary user must.

        Raises:
            FailedPrecondition: Something of it can't be removed.
            Unavailable: The zygote is gone.
        """
        await self.start()
        order_id = f"remove.{next(self._orders)}"
        message = {"do": "remove", "id": order_id, "path": path, "newuidmap": newuidmap}
        message |= {"uids": [asdict(run) for run in uids], "gids": [asdict(run) for run in gids]}
        await self._open_line().ask(order_id, message)

    def _open_line(self) -> _Line:
        if self._line is None or self._line.closed:
            raise Unavailable("the zygote is gone", reason="ZYGOTE_LOST")
        return self._line

    async def close(self) -> None:
        """End the zygote; what was built and not entered ends with it."""
        if self._line is not None:
            self._line.close()
        await self._collect()

    async def _collect(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        try:
            await asyncio.to_thread(process.wait, _CLOSE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            await asyncio.to_thread(process.wait)


class _Line(asyncio.Protocol):
    """The socket to one zygote: one answer per question, and news of exits."""

    def __init__(self, on_exit: Callable[[int, int], None]) -> None:
        self._on_exit = on_exit
        self._decoder = frames.Decoder()
        self._waiting: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        self._transport: asyncio.WriteTransport | None = None
        self.loaded: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        try:
            for message in self._decoder.feed(data):
                self._hear(message)
        except frames.FrameTooLong:
            self.close()

    def _hear(self, message: Mapping[str, Any]) -> None:
        event = message["event"]
        if event == "exited":
            self._on_exit(message["pid"], message["status"])
        elif event == "loaded":
            if not self.loaded.done():
                self.loaded.set_result(None)
        else:
            waiting = self._waiting.pop(message["id"], None)
            if waiting is None or waiting.done():
                return
            if event == "failed":
                waiting.set_exception(_error_of(message))
            else:
                waiting.set_result(message)

    def ask(self, order_id: str, message: dict[str, Any]) -> asyncio.Future[Mapping[str, Any]]:
        """Send an order; the future gets its answer. One at a time per id."""
        assert self._transport is not None
        waiting: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[order_id] = waiting
        self._transport.write(frames.encode(message))
        return waiting

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        lost = Unavailable("the zygote has ended", reason="ZYGOTE_LOST", retry_after_s=0.1)
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(lost)
        if not self.loaded.done():
            self.loaded.set_exception(lost)
            # Whoever waits gets it; when nobody does any more, it is nobody's news.
            self.loaded.exception()

    def close(self) -> None:
        """Hang up."""
        self.closed = True
        if self._transport is not None:
            self._transport.close()


def _spans(values: Sequence[Sequence[Any]]) -> tuple[Span, ...]:
    return tuple((str(name), int(start), int(end)) for name, start, end in values)


def _error_of(message: Mapping[str, Any]) -> FailedPrecondition | ResourceExhausted:
    name = errno_name(message["errno"])
    text = f"the step {message['step']} failed: {message['message']}"
    facts = {"step": str(message["step"]), "errno": name}
    if name in _NO_ROOM:
        return ResourceExhausted(text, reason="HOST_EXHAUSTED", metadata=facts, retry_after_s=1.0)
    return FailedPrecondition(text, reason="START_FAILED", metadata=facts)


def errno_name(code: int) -> str:
    """Return an errno's name; empty for 0."""
    return errno.errorcode.get(code, str(code)) if code else ""
