"""Tasks with an owner: the only place that starts any.

Two kinds. `serve` runs the named tasks that a process consists of: they run until it stops, and one that fails or
returns early ends the process loudly, since a service without its reconciler is worse than none. A `TaskScope` holds
work that comes and goes, such as one saga per sandbox: a failure there is logged and harms nobody else, and leaving the
scope waits for all of it. Neither loses a task: every one has a name, someone who waits for it, and a place where its
error goes.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, Self

from arenero.errors import ArenError

_log = logging.getLogger(__name__)
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_CANCEL_S: Final = 2.0
"""How long cancelled tasks may take beyond the grace: enough for `finally` blocks, not for work."""

Run = Callable[[], Awaitable[None]]


class TaskExited(Exception):
    """A task that runs as long as its process returned."""


class GraceRanOut(Exception):
    """Something went on after the grace for stopping was over."""


async def serve(
    tasks: Mapping[str, Run],
    *,
    stop: asyncio.Event | None = None,
    drain: Run | None = None,
    grace_s: float = 10.0,
) -> None:
    """Run the named tasks until SIGTERM, SIGINT or `stop`; then drain, then cancel them, last started first.

    Args:
        tasks: What the process consists of; each runs until cancelled.
        stop: Ends it as a signal does.
        drain: Finishes what is under way: refuse new calls, wait for running ones.
        grace_s: How long draining may take, counted from the signal. A second signal ends it at once.

    Raises:
        ExceptionGroup: A task failed, or returned before shutdown (TaskExited).
        GraceRanOut: Draining or cancelled tasks outlasted the grace.
    """
    stopping = stop or asyncio.Event()
    hurry = asyncio.Event()
    with _signals(stopping, hurry):
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(_forever(name, run), name=name) for name, run in tasks.items()]
            await stopping.wait()
            in_time = await _drain(drain, hurry, grace_s)
            in_time = await _cancel(running) and in_time
    if not in_time:
        raise GraceRanOut(f"stopping took longer than {grace_s:g} s")


async def _forever(name: str, run: Run) -> None:
    await run()
    raise TaskExited(f"the task {name} returned, and should run until the process stops")


async def _drain(drain: Run | None, hurry: asyncio.Event, grace_s: float) -> bool:
    """Drain within the grace or until someone is in a hurry; return whether it came to its end."""
    if drain is None:
        return True
    draining = asyncio.create_task(_awaited(drain), name="drain")
    hurrying = asyncio.create_task(hurry.wait(), name="hurry")
    try:
        await asyncio.wait({draining, hurrying}, timeout=grace_s, return_when=asyncio.FIRST_COMPLETED)
        if draining.done():
            draining.result()
        return draining.done()
    finally:
        await _cancel([draining, hurrying])


async def _awaited(run: Run) -> None:
    await run()


async def _cancel(tasks: list[asyncio.Task[Any]]) -> bool:
    """Cancel tasks one after the other, last started first; return whether all ended in time."""
    for task in reversed(tasks):
        task.cancel()
        await asyncio.wait([task], timeout=_CANCEL_S)
        if not task.done():
            _log.error("task.stuck", extra={"task": task.get_name()})
            return False
    return True


@contextmanager
def _signals(stopping: asyncio.Event, hurry: asyncio.Event) -> Iterator[None]:
    """Let the first signal stop and the second hurry."""
    loop = asyncio.get_running_loop()

    def on_signal(number: signal.Signals) -> None:
        _log.info("host.signal", extra={"signal": number.name})
        (hurry if stopping.is_set() else stopping).set()

    for number in _SIGNALS:
        loop.add_signal_handler(number, on_signal, number)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


class TaskScope:
    """Work that comes and goes. Use it as an async context: leaving it cancels what is left and waits for it.

    Args:
        name: Goes into logs.
        on_error: Told of each failure, after it was logged.
    """

    def __init__(self, name: str, *, on_error: Callable[[str, BaseException], None] | None = None) -> None:
        self._name = name
        self._on_error = on_error
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._is_open = True

    def __len__(self) -> int:
        return len(self._tasks)

    def __contains__(self, name: str) -> bool:
        return name in self._tasks

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> bool:
        """Start work under a name; return False, without starting it, when work of that name is under way.

        Raises:
            RuntimeError: The scope is closed.
        """
        if not self._is_open or name in self._tasks:
            work.close()
            if not self._is_open:
                raise RuntimeError(f"the scope {self._name} is closed")
            return False
        task = asyncio.create_task(self._guarded(name, work), name=f"{self._name}:{name}")
        self._tasks[name] = task
        task.add_done_callback(lambda done: self._forget(name, done, work))
        return True

    def cancel(self, name: str) -> None:
        """Cancel the work of that name, if there is any."""
        if task := self._tasks.get(name):
            task.cancel()

    async def wait(self, name: str) -> None:
        """Wait until the work of that name is over, however it ended; at once when there is none."""
        if task := self._tasks.get(name):
            await asyncio.wait([task])

    async def drain(self) -> None:
        """Wait until nothing is under way; what is spawned meanwhile is waited for too."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))
            await asyncio.sleep(0)  # Let the done callbacks run.

    async def close(self) -> None:
        """Take no more work, cancel what is left and wait for it."""
        self._is_open = False
        for task in self._tasks.values():
            task.cancel()
        await self.drain()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _guarded(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except asyncio.CancelledError:
            raise
        except ArenError as error:
            _log.warning("task.failed", extra={"task": f"{self._name}:{name}", "error": str(error)})
            self._report(name, error)
        except Exception as error:  # noqa: BLE001  # one piece of work must not take the others with it
            _log.exception("task.defect", extra={"task": f"{self._name}:{name}"})
            self._report(name, error)

    def _report(self, name: str, error: BaseException) -> None:
        if self._on_error is not None:
            self._on_error(name, error)

    def _forget(self, name: str, task: asyncio.Task[None], work: Coroutine[Any, Any, None]) -> None:
        work.close()  # Does nothing, unless the task was cancelled before it began.
        if self._tasks.get(name) is task:
            del self._tasks[name]
