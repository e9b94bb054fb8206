"""Notices that a nats-server can't store any more, and when starting it again would help.

After a failed write, such as on a full disk, a stream of nats-server 2.15 refuses all further ones without an answer,
also when there is room again, until the server is started anew. It says so once, in its log, so that is read here.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

_SIGN: Final = b"Critical write error"
_ENOUGH_BYTES: Final = 64 * 1024 * 1024
_READ_BYTES: Final = 1024 * 1024


class StoreWatch:
    """Reads a log from now on.

    Args:
        log: nats-server's log file.
        store: Its store directory.
        enough_bytes: Free space at which a new start is worth it.
    """

    def __init__(self, log: Path, store: Path, *, enough_bytes: int = _ENOUGH_BYTES) -> None:
        self._log = log
        self._store = store
        self._enough_bytes = enough_bytes
        self._offset = _size(log)
        self._tail = b""
        self._is_broken = False

    @property
    def is_broken(self) -> bool:
        """Whether a write has failed since this watch began, as far as it has looked."""
        return self._is_broken

    def should_restart(self) -> bool:
        """Look for news; return whether a write has failed and there is room now."""
        if not self._is_broken:
            self._is_broken = _SIGN in self._news()
        return self._is_broken and shutil.disk_usage(self._store).free >= self._enough_bytes

    def _news(self) -> bytes:
        """Return what was logged since the last look, with the end of what came before: a sign may lie across."""
        size = _size(self._log)
        if size < self._offset:
            self._offset = 0  # The log was rotated.
        if size == self._offset:
            return b""
        with self._log.open("rb") as file:
            file.seek(self._offset)
            read = file.read(_READ_BYTES)
        self._offset += len(read)
        news = self._tail + read
        self._tail = news[-len(_SIGN) :]
        return news


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
