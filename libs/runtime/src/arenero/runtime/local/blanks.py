"""Blanks: empty file systems, one for each size of disk that was asked for lately, of which cells get copies.

Making one takes 30 ms and a copy 1.5 ms, so blanks are kept; only a few, since anybody may ask for any size: the one
not used for longest goes. A large blank has so much in it that copying it would hold up everything else. So a copy is
made beforehand, where it holds up nobody (`prepare`), and `take` only moves it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
from pathlib import Path
from typing import Final

from arenero.isolation import disk
from arenero.runtime.local.trees import remove_tree

MOST: Final = 8
"""How many sizes."""
_LARGE_BYTES: Final = 1 << 20
_BLANK: Final = ".img"
_COPY: Final = ".copy"


class Blanks:
    """The blanks of one driver. `prepare` is for threads, the rest for the event loop.

    Args:
        directory: Where they are.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._sizes: dict[int, None] = {}
        """What there is, the one not used for longest first."""
        self._lock = threading.Lock()

    def open(self) -> None:
        """Find the blanks of an earlier driver, and remove what it was making when it was killed."""
        self._directory.mkdir(mode=0o700, exist_ok=True)
        found: list[tuple[float, int]] = []
        for path in self._directory.iterdir():
            if path.suffix == _BLANK and path.stem.isdecimal():
                found.append((path.stat().st_mtime, int(path.stem)))
            elif path.is_dir():
                remove_tree(path)
            else:
                path.unlink()
        for _, size_bytes in sorted(found):
            self._note_use(size_bytes)

    def lacks(self, size_bytes: int) -> bool:
        """Whether `prepare` has something to do before `take`."""
        try:
            large = self._path(size_bytes).stat().st_blocks * 512 > _LARGE_BYTES
        except FileNotFoundError:
            return True
        return large and not self._path(size_bytes, _COPY).exists()

    def prepare(self, size_bytes: int) -> None:
        """Make a blank of a size, and a copy of it when it is large.

        Raises:
            OSError: It can't be made.
        """
        blank = self._path(size_bytes)
        if not blank.exists():
            disk.format_image(blank, size_bytes)
        self._note_use(size_bytes)
        if self.lacks(size_bytes):
            draft = self._directory / f".image-{secrets.token_hex(6)}"
            try:
                disk.copy_image(blank, draft)
                draft.replace(self._path(size_bytes, _COPY))
            finally:
                draft.unlink(missing_ok=True)
            # Others may have been in use meanwhile, and this one gone: then its copy is one too many for now.
            self._note_use(size_bytes)

    def take(self, size_bytes: int, target: Path) -> None:
        """Put a copy of a blank somewhere. The target must not exist.

        Raises:
            OSError: There is no such blank, or no room.
        """
        self._note_use(size_bytes)
        try:
            self._path(size_bytes, _COPY).rename(target)
        except FileNotFoundError:
            disk.copy_image(self._path(size_bytes), target)

    def _note_use(self, size_bytes: int) -> None:
        """Remember that a size is in use, and remove the blanks that are too many."""
        with self._lock:
            self._sizes.pop(size_bytes, None)
            self._sizes[size_bytes] = None
            for unused in list(self._sizes)[:-MOST]:
                del self._sizes[unused]
                for suffix in (_BLANK, _COPY):
                    with contextlib.suppress(OSError):
                        os.unlink(self._path(unused, suffix))

    def _path(self, size_bytes: int, suffix: str = _BLANK) -> Path:
        return self._directory / f"{size_bytes}{suffix}"
