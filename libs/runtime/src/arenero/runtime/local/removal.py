"""Removing what sandboxes leave on disk, whoever it belongs to and whatever its modes say."""

from __future__ import annotations

import asyncio
from pathlib import Path

from arenero.errors import FailedPrecondition
from arenero.runtime.local.cells import Cell, Cells
from arenero.runtime.local.mode import Mode, Way
from arenero.runtime.local.trees import remove_tree
from arenero.runtime.local.zygote import Zygote


class Removal:
    """Removes directories.

    Args:
        mode: How sandboxes are isolated here.
        cells: May have a use for what is left.
        zygote: Removes for an ordinary user what belongs to ids of a user namespace.
    """

    def __init__(self, mode: Mode, cells: Cells, zygote: Zygote) -> None:
        self._mode = mode
        self._cells = cells
        self._zygote = zygote

    async def remove_cell(self, cell: Cell) -> None:
        """Remove the directories of a cell, its own one last, or leave that to a new cell.

        Raises:
            FailedPrecondition: Something is left.
        """
        if await asyncio.to_thread(self._cells.retire, cell):
            return
        if cell.open_directory is not None:
            await self.remove(cell.open_directory)
        await self.remove(cell.directory)

    async def remove(self, directory: Path) -> None:
        """Remove a directory with all that is in it; one that is gone is no error.

        Raises:
            FailedPrecondition: Something is left.
        """
        if self._mode.way is Way.ROOTLESS and self._mode.newuidmap and directory.exists():
            await self._zygote.remove(str(directory), *self._mode.granted, newuidmap=True)
        else:
            await asyncio.to_thread(remove_tree, directory)
        if directory.exists():
            raise FailedPrecondition(f"{directory} can't be removed", reason="REMOVAL_FAILED")
