"""What the fake driver's sandboxes live on: facts that outlast the driver, as processes and directories would.

`MemoryHost` keeps them in the process, `DirectoryHost` in one file per sandbox. Both end a sandbox by the wall clock
when its time has come, whoever looks. Tests use a host directly for what happens behind a driver's back: a process
that is killed, a machine that loses everything.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from arenero.model.ids import SandboxId
from arenero.model.record import ExitFacts


class Phase(Enum):
    """How far a sandbox of the fake is."""

    CREATED = "created"
    RUNNING = "running"
    FROZEN = "frozen"
    EXITED = "exited"


@dataclass(frozen=True, slots=True)
class Held:
    """What is on the host of one sandbox."""

    sandbox_id: SandboxId
    generation: int
    phase: Phase
    started_unix_s: float = 0.0
    exits_unix_s: float | None = None
    """When its first process ends by itself; None: never."""
    exit: ExitFacts | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """The spec's extensions, in which failures are ordered."""


class FakeHost(ABC):
    """Facts about sandboxes, and who waits for their end."""

    def __init__(self) -> None:
        self._changed: dict[SandboxId, asyncio.Event] = {}

    def find(self, sandbox_id: SandboxId) -> Held | None:
        """Return what there is of a sandbox now."""
        held = self._load(sandbox_id)
        is_over = held and held.phase is Phase.RUNNING and held.exits_unix_s and held.exits_unix_s <= time.time()
        if held is None or not is_over:
            return held
        ended = replace(held, phase=Phase.EXITED, exit=_ordered_exit(held.settings))
        self._save(ended)
        return ended

    def put(self, held: Held) -> None:
        """Store a sandbox's facts and wake who waits for it."""
        self._save(held)
        self._wake(held.sandbox_id)

    def remove(self, sandbox_id: SandboxId) -> None:
        """Drop everything of a sandbox; one that is gone is no error."""
        self._drop(sandbox_id)
        self._wake(sandbox_id)

    def exit(self, sandbox_id: SandboxId, facts: ExitFacts) -> None:
        """End its first process, as a signal or the kernel would. One that has ended keeps its first end."""
        held = self.find(sandbox_id)
        if held is not None and held.phase is not Phase.EXITED:
            self.put(replace(held, phase=Phase.EXITED, exit=facts))

    def lose_all(self) -> None:
        """Drop everything, as a reboot would."""
        for sandbox_id in self.ids():
            self.remove(sandbox_id)

    async def wait_exit(self, sandbox_id: SandboxId) -> ExitFacts:
        """Wait until its first process has ended, or nothing is left of it."""
        while True:
            changed = self._changed.setdefault(sandbox_id, asyncio.Event())
            held = self.find(sandbox_id)
            if held is None or held.phase is Phase.EXITED:
                self._wake(sandbox_id)
                return (held and held.exit) or ExitFacts()
            await _wait_until(changed, held.exits_unix_s if held.phase is Phase.RUNNING else None)

    @abstractmethod
    def ids(self) -> frozenset[SandboxId]:
        """Return every sandbox of which there is anything."""

    @abstractmethod
    def _load(self, sandbox_id: SandboxId) -> Held | None: ...

    @abstractmethod
    def _save(self, held: Held) -> None: ...

    @abstractmethod
    def _drop(self, sandbox_id: SandboxId) -> None: ...

    def _wake(self, sandbox_id: SandboxId) -> None:
        if changed := self._changed.pop(sandbox_id, None):
            changed.set()


class MemoryHost(FakeHost):
    """A host that lasts as long as the object."""

    def __init__(self) -> None:
        super().__init__()
        self._held: dict[SandboxId, Held] = {}

    def ids(self) -> frozenset[SandboxId]:
        """Return every sandbox of which there is anything."""
        return frozenset(self._held)

    def _load(self, sandbox_id: SandboxId) -> Held | None:
        return self._held.get(sandbox_id)

    def _save(self, held: Held) -> None:
        self._held[held.sandbox_id] = held

    def _drop(self, sandbox_id: SandboxId) -> None:
        self._held.pop(sandbox_id, None)


class DirectoryHost(FakeHost):
    """A host that lasts as long as its directory; a file is replaced in one step, so a kill leaves no half of one."""

    def __init__(self, directory: str | Path) -> None:
        super().__init__()
        self._directory = Path(directory)
        self._directory.mkdir(parents=True, exist_ok=True)

    def ids(self) -> frozenset[SandboxId]:
        """Return every sandbox of which there is anything."""
        return frozenset(SandboxId(path.stem) for path in self._directory.glob("*.json"))

    def _load(self, sandbox_id: SandboxId) -> Held | None:
        try:
            return _from_json(self._path(sandbox_id).read_text())
        except FileNotFoundError:
            return None

    def _save(self, held: Held) -> None:
        path = self._path(held.sandbox_id)
        scratch = path.with_suffix(".tmp")
        scratch.write_text(_to_json(held))
        os.replace(scratch, path)

    def _drop(self, sandbox_id: SandboxId) -> None:
        self._path(sandbox_id).unlink(missing_ok=True)

    def _path(self, sandbox_id: SandboxId) -> Path:
        return self._directory / f"{sandbox_id}.json"


async def _wait_until(changed: asyncio.Event, unix_s: float | None) -> None:
    """Wait for a change, at most until an instant."""
    patience_s = None if unix_s is None else max(unix_s - time.time(), 0.001)
    try:
        await asyncio.wait_for(changed.wait(), patience_s)
    except TimeoutError:
        pass  # its time has come: the caller looks again


def _ordered_exit(settings: Mapping[str, str]) -> ExitFacts:
    if settings.get("fake.oom") == "true":
        return ExitFacts(signal=9, oom_killed=True)
    return ExitFacts(exit_code=int(settings.get("fake.exit_code", 0)))


def _to_json(held: Held) -> str:
    facts = held.exit and [held.exit.exit_code, held.exit.signal, held.exit.oom_killed]
    values = {
        "sandbox_id": held.sandbox_id,
        "generation": held.generation,
        "phase": held.phase.value,
        "started_unix_s": held.started_unix_s,
        "exits_unix_s": held.exits_unix_s,
        "exit": facts,
        "settings": dict(held.settings),
    }
    return json.dumps(values)


def _from_json(text: str) -> Held:
    values = json.loads(text)
    facts = values.pop("exit")
    phase = Phase(values.pop("phase"))
    return Held(**values, phase=phase, exit=ExitFacts(*facts) if facts else None)
