"""Directory trees that may hold anything."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path


def remove_tree(directory: Path) -> None:
    """Remove a directory as far as that is possible, opening directories of our own that are closed to us."""
    if os.geteuid() != 0:
        _open_up(directory)
    shutil.rmtree(directory, ignore_errors=True)


def _open_up(directory: Path) -> None:
    """Give ourselves every directory's mode. Links are not followed, and what isn't ours stays as it is."""
    for parent, names, _ in os.walk(directory):
        for name in names:
            path = os.path.join(parent, name)
            with contextlib.suppress(OSError):
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
