"""The execs of a sandbox: started once per id, remembered for a time after their end, forgotten when that is over.

What is remembered is bounded in number too; the one that ended first goes first, and with it its output.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Final

from arenero.errors import AlreadyExists, FailedPrecondition, NotFound, ResourceExhausted, Unavailable
from arenero.execd.execution import Exec, Services
from arenero.execd.spec import Spec

MAX_RUNNING: Final = 2048
MAX_ENDED: Final = 1000


class Processes:
    """All execs."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._execs: dict[str, Exec] = {}
        self._ended: dict[str, float] = {}
        """When to forget, by loop time, of those that have ended; in the order of their end."""
        self._loop = asyncio.get_running_loop()
        self._sweeper: asyncio.TimerHandle | None = None
        self._stopping = False
        self._has_started = False
        self.on_first: Callable[[], None] = lambda: None
        """Called when the first exec is on its way: from now on there may be processes that use up what there is."""
        self.on_drained: Callable[[], None] = lambda: None
        """Called when the sandbox is ending and no exec is left."""
        services.spool.make_room = self._forget_oldest
        services.link.on_stopping = self._on_stopping

    def __iter__(self) -> Iterator[Exec]:
        """Iterate over all that are remembered, oldest first."""
        return iter(tuple(self._execs.values()))

    @property
    def running(self) -> int:
        """How many have not ended."""
        return len(self._execs) - len(self._ended)

    def start(self, exec_id: str, spec: Spec, traceparent: str = "") -> tuple[Exec, bool]:
        """Start an exec, unless it was started before; wait for its `begun` afterwards.

        Returns:
            The exec, and whether it was started before.

        Raises:
            AlreadyExists: The id belongs to an exec of another spec.
            ResourceExhausted: Too many are running.
            Unavailable: The sandbox is ending.
        """
        if (known := self._execs.get(exec_id)) is not None:
            if known.spec != spec:
                raise AlreadyExists(f"{exec_id} was started with another spec", reason="EXEC_ID_TAKEN", field="exec_id")
            return known, True
        if self._stopping:
            raise Unavailable("the sandbox is ending", reason="SANDBOX_ENDING")
        if self.running >= MAX_RUNNING:
            raise ResourceExhausted(f"{MAX_RUNNING} execs are running", reason="TOO_MANY_EXECS", retry_after_s=1.0)
        exec_ = Exec(exec_id, spec, self._services)
        exec_.on_over = self._on_over
        self._execs[exec_id] = exec_
        exec_.start(traceparent)
        if not self._has_started:
            self._has_started = True
            self._loop.call_soon(self.on_first)
        return exec_, False

    def get(self, exec_id: str) -> Exec:
        """Return an exec.

        Raises:
            NotFound: It was never started, or is forgotten.
        """
        try:
            return self._execs[exec_id]
        except KeyError:
            raise NotFound(f"there is no exec {exec_id[:64]!r}", reason="EXEC_NOT_FOUND", field="exec_id") from None

    def forget(self, exec_id: str) -> None:
        """Drop an ended exec and its output.

        Raises:
            NotFound: There is no such exec.
            FailedPrecondition: It has not ended.
        """
        if self.get(exec_id).ended is None:
            raise FailedPrecondition("the exec has not ended", reason="EXEC_RUNNING", fix="kill it first")
        self._forget(exec_id)

    def lose_all(self) -> None:
        """Init is gone: kill what can be reached, and end all, so that readers hear of it."""
        self._stopping = True
        for exec_ in self:
            exec_.lose()

    def _on_stopping(self, reason: str, grace_s: float) -> None:
        self._stopping = True
        for exec_ in self:
            exec_.note_sandbox_stops()
        self._check_drained()

    def _check_drained(self) -> None:
        if self._stopping and not self.running:
            self.on_drained()

    def _on_over(self, exec_: Exec) -> None:
        due_s = self._loop.time() + exec_.spec.retain_s
        self._ended[exec_.id] = due_s
        if len(self._ended) > MAX_ENDED:
            self._forget_oldest()
        if self._sweeper is None or self._sweeper.when() > due_s:
            self._arm_sweeper(due_s)
        self._check_drained()

    def _forget(self, exec_id: str) -> None:
        del self._ended[exec_id]
        self._execs.pop(exec_id).forget()

    def _forget_oldest(self) -> bool:
        """Forget the one that ended first; False when none has."""
        oldest = next(iter(self._ended), None)
        if oldest is None:
            return False
        self._forget(oldest)
        return True

    def _arm_sweeper(self, due_s: float) -> None:
        if self._sweeper:
            self._sweeper.cancel()
        self._sweeper = self._loop.call_at(due_s, self._sweep)

    def _sweep(self) -> None:
        self._sweeper = None
        now_s = self._loop.time()
        for exec_id in [known for known, due_s in self._ended.items() if due_s <= now_s]:
            self._forget(exec_id)
        if self._ended:
            self._arm_sweeper(min(self._ended.values()))
