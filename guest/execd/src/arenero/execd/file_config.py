"""What execd's file service may do, and for whom."""

from __future__ import annotations

from dataclasses import dataclass


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
