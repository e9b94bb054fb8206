"""Directories of a sandbox on their way out of it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from typing import Final

from arenero.cli.left_out import LeftOut
from arenero.sdk import Sandbox
from arenero.sdk.errors import AreneroError, NotFound
from arenero.sdk.files import ArchiveEnd

_NO_CONTENT: Final = ("socket", "character-device", "block-device")


class Fetching:
    """A directory of a sandbox on its way as a tar. What vanishes meanwhile is left out."""

    def __init__(self, sandbox: Sandbox, base: str, paths: Sequence[str] = ()) -> None:
        self._sandbox = sandbox
        self._base = base
        self._paths = paths
        self._end = ArchiveEnd(entries=0, skipped=(), skipped_count=0)

    def pieces(self) -> AsyncIterator[bytes]:
        """Stream it."""
        return self._sandbox.files.download_archive(self._base, self._paths, on_end=self._take)

    async def left_out(self) -> LeftOut:
        """Return what isn't in the tar that was streamed: the sandbox says which, and is asked what they are."""
        left_out = LeftOut()
        for name in self._end.skipped:
            await self._look_at(name, left_out)
        if (unnamed := self._end.skipped_count - len(self._end.skipped)) > 0:
            left_out.fail(f"{unnamed} more of {self._base}")
        return left_out

    def _take(self, end: ArchiveEnd) -> None:
        self._end = end

    async def _look_at(self, name: bytes, left_out: LeftOut) -> None:
        path = os.path.join(os.fsencode(self._base), name)
        shown = os.fsdecode(path)
        try:
            found = await self._sandbox.files.stat(path)
        except NotFound:
            return  # It has vanished: as if the copy had begun a moment later.
        except AreneroError:
            left_out.fail(f"{shown}: it can't be read")
            return
        if found.type in _NO_CONTENT:
            left_out.reasons.append(f"{shown}: it is a {found.type}")
        elif found.is_dir:
            left_out.fail(f"{shown}: what is in it can't be read, or lies too deep")
        else:
            left_out.fail(f"{shown}: it can't be read, or changed while it was")
