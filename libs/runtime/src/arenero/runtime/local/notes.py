"""Notes: what is known of one thing, in a file of JSON lines of which the last word on each name counts.

A line is written in one go, and one that was cut off is no note; so each is there whole or not at all. To replace a
file instead would make the file system write the new one out first (ext4), and each new file costs a search for a free
inode, which is long where many were freed lately (ext4 without a journal).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def read(path: Path) -> dict[str, Any]:
    """Return all that is noted; empty when there is nothing, or nothing that can be read."""
    try:
        *lines, _ = path.read_bytes().split(b"\n")
    except OSError:
        return {}
    noted: dict[str, Any] = {}
    for line in lines:
        with contextlib.suppress(ValueError):
            facts = json.loads(line)
            noted |= facts if isinstance(facts, dict) else {}
    return noted


def begin(path: Path, facts: Mapping[str, Any]) -> None:
    """Note the first facts; whatever was in the file is gone."""
    line = _line(facts)
    # Not O_TRUNC: a file that is emptied and written again is written out when it is closed, as a replaced one is.
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _write(fd, line)
        os.ftruncate(fd, len(line))
    finally:
        os.close(fd)


def add(path: Path, facts: Mapping[str, Any]) -> None:
    """Note more facts. Where the file is gone, nobody wants to know any more.

    Raises:
        OSError: The disk is full.
    """
    try:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        # A line break of its own ends what an earlier write may have left on a full disk.
        _write(fd, b"\n" + _line(facts))
    finally:
        os.close(fd)


def _write(fd: int, line: bytes) -> None:
    if os.write(fd, line) < len(line):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _line(facts: Mapping[str, Any]) -> bytes:
    return json.dumps(facts).encode() + b"\n"
