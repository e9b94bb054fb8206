"""What execd's file service may do, and for whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_OWN_BYTES: Final = 24 << 20
"""What a sandbox needs for itself."""
_TRANSFER_BYTES: Final = 6 << 20
"""What a transfer has in memory at most: a batch, the next, and messages on their way."""
MOST_TRANSFERS: Final = 64


def transfers_within(memory_bytes: int) -> int:
    """Return how many transfers a sandbox's memory has room for at once; 0 bytes: it has no limit."""
    if not memory_bytes:
        return MOST_TRANSFERS
    return min(MOST_TRANSFERS, max(1, (memory_bytes - _OWN_BYTES) // _TRANSFER_BYTES))


@dataclass(frozen=True, slots=True)
class FileConfig:
    """Settings of the file service; the defaults are those of a sandbox of the local runtime."""

    uid: int = 1000
    """Owner of new files where a call names none: the sandbox's default user."""
    gid: int = 1000
    """Their group."""
    home: bytes = b"/home/sandbox"
    """Where relative paths start, as they do for execs."""
    threads: int = 4
    """Threads for blocking calls. Work is sliced, so more of them only help where storage is slow to answer."""
    most_transfers: int = MOST_TRANSFERS
    """Contents that are read or written at once, each with a few megabytes in memory; the others wait."""
    most_uploads: int = 64
    """Resumable uploads that are kept at once; each holds a descriptor and disk space."""
    upload_idle_s: float = 3600.0
    """How long an interrupted upload can be resumed; then its bytes are dropped."""
    replace_most_bytes: int = 64 * 1024 * 1024
    """Largest file, before and after, whose text can be replaced: it is held in memory."""
    most_watches: int = 32
    """Watched directories at once. Each takes one of the 128 inotify instances that a user has by default."""
    watch_idle_s: float = 120.0
    """How long a watch without a reader can be gone on with."""
    watch_most_changes: int = 10_000
    """Changes that a watch keeps for a reader that is slow or away; older ones become an overflow."""
