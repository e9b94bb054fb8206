"""Cells: a sandbox's directory, slot, control group and first process, as found on this host.

A *cell* is made without a sandbox, and claimed by one by renaming its directory. So the directory of a sandbox, named
by its id, is the anchor of everything it has: it appears last and goes last. In it:

    cell            notes: what the cell is (name of its control group, slot, size of its disk), and what is known of
                    the sandbox in it (its address and isolation, that it was stopped, how it ended)
    process         pid and start time of the first process
    image           its own layer, as a file system, or
    upper, work     its own layer, as directories
    run             seen inside as /run/arenero, where execd makes its socket
    execd.sock      that socket, moved out of the sandbox's sight
    root            private directory of a sandbox that has rules instead of a root file system

Under rules the sandbox runs as a user of its own, to whom the driver's directory is closed. Then `run`, `root` and
`execd.sock` are in a directory of the cell's name below the temporary directory, through which everybody may pass.

A cell that has ended leaves its directory, with nothing of the sandbox in it, to a new one: that saves the file system
most of its work.

A *slot* is a number below the most sandboxes; it says which user ids of the host belong to the cell.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from arenero.errors import ResourceExhausted
from arenero.isolation import disk
from arenero.isolation.cgroups import Group, Limits, Tree
from arenero.isolation.namespaces import to_outside
from arenero.model.ids import SandboxId
from arenero.model.record import ExitFacts
from arenero.runtime.local import notes
from arenero.runtime.local.blanks import Blanks
from arenero.runtime.local.mode import Mode, Way
from arenero.runtime.local.trees import remove_tree

SOCKET: Final = "execd.sock"
_LOCKED: Final = 0o755
_NOTES: Final = "cell"
_PROCESS: Final = "process"
_MOST_SPENT: Final = 64


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell on disk."""

    directory: Path
    name: str
    slot: int
    disk_bytes: int | None
    """Size of its own file system; None: a plain directory."""
    open_directory: Path | None = None
    """Where `run`, `root` and `execd.sock` are instead, when the sandbox's user could not reach them here."""
    known: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What its notes and its record say. Nobody else writes notes, and the record changes with `begin_notes` only."""

    @property
    def _reachable(self) -> Path:
        return self.open_directory or self.directory

    @property
    def _notes(self) -> Path:
        return self.directory / _NOTES

    @property
    def record(self) -> Path:
        """File with the pid of its first process."""
        return self.directory / _PROCESS

    @property
    def run(self) -> Path:
        """Directory seen inside as /run/arenero."""
        return self._reachable / "run"

    @property
    def private(self) -> Path:
        """Private directory of a sandbox that has rules instead of a root file system."""
        return self._reachable / "root"

    @property
    def socket(self) -> Path:
        """Where execd answers, out of the sandbox's reach."""
        return self._reachable / SOCKET

    def process(self) -> tuple[int, int] | None:
        """Return pid and start time of the first process, if there ever was one."""
        if (process := self.known.get(_PROCESS)) is None:
            try:
                pid, ticks = map(int, self.record.read_text().split())
            except (OSError, ValueError):
                return None
            process = self.known[_PROCESS] = (pid, ticks)
        return process

    def state(self) -> dict[str, Any]:
        """Return what is known of the sandbox; empty when it was never started."""
        state = self.known.get("state")
        return state if isinstance(state, dict) else {}

    def write_state(self, state: Mapping[str, Any]) -> None:
        """Write down what is known of the sandbox, whole or not at all."""
        self._note(state=dict(state))

    def note_stopped(self) -> None:
        """Write down that the sandbox's end is our doing."""
        self._note(stopped=True)

    def was_stopped(self) -> bool:
        """Whether the sandbox's end is our doing."""
        return "stopped" in self.known

    def exit(self) -> ExitFacts | None:
        """Return how the sandbox ended, once that is known."""
        known = self.known.get("exit")
        return ExitFacts(**known) if known else None

    def write_exit(self, facts: ExitFacts) -> None:
        """Write down how the sandbox ended, whole or not at all."""
        self._note(exit=asdict(facts))

    def begin_notes(self) -> None:
        """Write down what the cell is, and that nothing else is known."""
        described: dict[str, Any] = {"name": self.name, "slot": self.slot, "disk_bytes": self.disk_bytes}
        described["open_directory"] = str(self.open_directory) if self.open_directory else None
        notes.begin(self._notes, described)
        self.known.clear()
        self.known.update(described)

    def _note(self, **facts: Any) -> None:
        notes.add(self._notes, facts)
        self.known.update(facts)


class Cells:
    """All cells of this driver.

    Args:
        state_dir: The driver's directory.
        mode: How sandboxes are isolated here.
        tree: Control groups of this driver.
        slots: How many there are.
    """

    def __init__(self, state_dir: Path, mode: Mode, tree: Tree, slots: int) -> None:
        self._mode = mode
        self._tree = tree
        self._slots = slots
        self._unclaimed_dir = state_dir / "cells"
        self._sandboxes_dir = state_dir / "sandboxes"
        self._blanks = Blanks(state_dir / "blanks")
        self._spent_dir = state_dir / "spent"
        self._open_dir = Path(tempfile.gettempdir(), f"arenero-{state_digest(state_dir)}")
        self._used: dict[int, str] = {}
        self._spent: list[Path] = []
        self._claimed: dict[SandboxId, Cell] = {}

    def open(self) -> None:
        """Make the directories, and find the slots in use."""
        for directory in (self._unclaimed_dir, self._sandboxes_dir, self._spent_dir):
            directory.mkdir(mode=0o700, exist_ok=True)
        self._blanks.open()
        self._spent = list(self._spent_dir.iterdir())
        for sandbox_id in self.sandbox_ids():
            if cell := self.find(sandbox_id):
                self._used[cell.slot] = cell.name

    def unclaimed(self) -> list[Path]:
        """Return the directories of cells that nobody claimed, left by an earlier driver."""
        return [self._unclaimed_dir / name for name in os.listdir(self._unclaimed_dir)]

    def directory_of(self, sandbox_id: SandboxId) -> Path:
        """Return where a sandbox's directory is, or would be."""
        return self._sandboxes_dir / sandbox_id

    def stray_groups(self) -> list[Group]:
        """Return control groups that belong to no cell in use."""
        return [self._tree.group(name) for name in self._tree.names() - set(self._used.values())]

    # --- making -------------------------------------------------------------------------------------------------------

    def make(self, disk_bytes: int | None) -> Cell:
        """Make a cell that nobody has claimed.

        Raises:
            ResourceExhausted: Every slot is taken, or the disk is full.
        """
        slot = self._take_slot()
        name = secrets.token_hex(6)
        self._used[slot] = name
        size = disk_bytes if self._mode.disk_images else None
        apart = self._mode.way is Way.RULES and os.geteuid() == 0
        cell = Cell(self._unclaimed_dir / name, name, slot, size, self._open_dir / name if apart else None)
        try:
            self._fill(cell)
            self.make_group(cell, Limits())
        except (OSError, ResourceExhausted) as error:
            remove_tree(cell.directory)
            self.free(cell)
            raise ResourceExhausted(f"a sandbox can't be set up: {error}", reason="HOST_EXHAUSTED") from error
        return cell

    def make_group(self, cell: Cell, limits: Limits) -> Group:
        """Make a cell's control group.

        Raises:
            ResourceExhausted: The kernel has no more, or refuses a limit.
        """
        try:
            return self._tree.create(cell.name, limits)
        except OSError as error:
            raise ResourceExhausted(f"a control group can't be made: {error}", reason="HOST_EXHAUSTED") from error

    def _take_slot(self) -> int:
        for slot in range(self._slots):
            if slot not in self._used:
                return slot
        raise ResourceExhausted(f"all {self._slots} slots for sandboxes are taken", reason="NO_SLOT")

    def _fill(self, cell: Cell) -> None:
        if self._spent:
            self._spent.pop().rename(cell.directory)
        else:
            cell.directory.mkdir(mode=0o700)
        if cell.open_directory is not None:
            for directory in (self._open_dir, cell.open_directory):
                directory.mkdir(exist_ok=True)
                directory.chmod(0o711)
        self.renew(cell)

    def renew(self, cell: Cell) -> None:
        """Give a cell an empty layer of its own, whatever it had; nothing may be running in it.

        An image is replaced, never emptied: the kernel may still be letting go of the old one.
        """
        directory = cell.directory
        for path in (directory / "image", cell.socket):
            path.unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            # Shorter than any record, and not empty: see `notes.begin`.
            os.truncate(cell.record, 1)
        cell.begin_notes()
        for path in (cell.run, cell.private, directory / disk.UPPER, directory / disk.WORK):
            remove_tree(path)
        cell.run.mkdir(mode=_LOCKED)
        self._give(cell, cell.run)
        if self._mode.way is Way.RULES:
            for path in (cell.private, cell.private / "home", cell.private / "tmp"):
                path.mkdir(mode=0o700)
                self._give(cell, path)
        elif cell.disk_bytes is not None:
            self._blanks.take(cell.disk_bytes, directory / "image")
        else:
            for name in (disk.UPPER, disk.WORK):
                (directory / name).mkdir(mode=_LOCKED)

    def _give(self, cell: Cell, path: Path) -> None:
        """Make the sandbox's root the owner."""
        if os.geteuid() == 0:
            uids, gids = self._mode.maps(cell.slot)
            os.chown(path, to_outside(uids, 0), to_outside(gids, 0))

    async def prepare_blank(self, disk_bytes: int | None) -> None:
        """See to it that `make` and `renew`, called next, find an empty file system of a size and are done at once.

        Raises:
            ResourceExhausted: It can't be made.
        """
        if disk_bytes is None or not self._mode.disk_images:
            return
        try:
            while self._blanks.lacks(disk_bytes):
                await asyncio.to_thread(self._blanks.prepare, disk_bytes)
        except OSError as error:
            raise ResourceExhausted(f"a disk of {disk_bytes} bytes: {error}", reason="HOST_EXHAUSTED") from error

    # --- finding ------------------------------------------------------------------------------------------------------

    def claim(self, cell: Cell, sandbox_id: SandboxId) -> Cell:
        """Make a cell a sandbox's."""
        target = self._sandboxes_dir / sandbox_id
        cell.directory.rename(target)
        claimed = self._claimed[sandbox_id] = replace(cell, directory=target)
        return claimed

    def find(self, sandbox_id: SandboxId) -> Cell | None:
        """Return a sandbox's cell, or None when there is no such sandbox here."""
        cell = self._claimed.get(sandbox_id)
        if cell is None:
            cell = _read_cell(self._sandboxes_dir / sandbox_id)
            if cell is not None:
                self._claimed[sandbox_id] = cell
        elif not cell.directory.exists():
            del self._claimed[sandbox_id]
            return None
        return cell

    def sandbox_ids(self) -> frozenset[SandboxId]:
        """Return every sandbox of which anything is left."""
        return frozenset(SandboxId(name) for name in os.listdir(self._sandboxes_dir))

    def group(self, cell: Cell) -> Group:
        """Return a cell's control group."""
        return self._tree.group(cell.name)

    # --- removing -----------------------------------------------------------------------------------------------------

    def retire(self, cell: Cell) -> bool:
        """Keep the directory of a cell in which nothing runs for a new one, emptied; False: it must be removed."""
        if cell.open_directory is not None or cell.disk_bytes is None or len(self._spent) >= _MOST_SPENT:
            return False
        try:
            # Whatever the sandbox could write to goes; so nothing gets from one to the next, not even by attributes.
            for path in (cell.directory / "image", cell.socket):
                path.unlink(missing_ok=True)
            cell.run.rmdir()
            if set(os.listdir(cell.directory)) - {_NOTES, cell.record.name}:
                return False
            spent = cell.directory.rename(self._spent_dir / cell.name)
        except OSError:
            return False
        self._spent.append(spent)
        return True

    def lock_run(self, cell: Cell) -> None:
        """Let the sandbox make no more files in its run directory, which is on the host's disk."""
        if os.geteuid() == 0:
            os.chown(cell.run, 0, 0)

    def close(self) -> None:
        """Remove the directory below the temporary one when nothing is in it."""
        with contextlib.suppress(OSError):
            self._open_dir.rmdir()

    def free(self, cell: Cell) -> None:
        """Free the slot of a cell; its processes, group and directory must be gone."""
        if self._used.get(cell.slot) == cell.name:
            del self._used[cell.slot]
        self._claimed.pop(SandboxId(cell.directory.name), None)


def _read_cell(directory: Path) -> Cell | None:
    known = notes.read(directory / _NOTES)
    if "name" not in known:
        return None
    apart = known["open_directory"]
    return Cell(directory, known["name"], known["slot"], known["disk_bytes"], Path(apart) if apart else None, known)


def state_digest(state_dir: Path) -> str:
    """Return what tells the drivers of one host apart: a few letters for the driver's directory."""
    return hashlib.sha256(os.fsencode(state_dir.resolve())).hexdigest()[:12]
