"""The template `host`: the programs of this machine, read-only, under a root file system that is otherwise made up.

Its layer (directories, links, a synthetic /etc) is written once and shared by all sandboxes. It is named after a digest
of what it was made from, so an upgrade of the host makes a new one and running sandboxes keep theirs.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from arenero.isolation.plan import Bind
from arenero.runtime.local.etc import TEXTS, inputs_of, write_etc

_FORMAT: Final = "1"
_PROGRAMS: Final = ("/usr", "/opt")
_LINKED: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_DIRECTORIES: Final = (
    ("dev", 0o755),
    ("etc", 0o755),
    ("home", 0o755),
    ("media", 0o755),
    ("mnt", 0o755),
    ("opt", 0o755),
    ("proc", 0o555),
    ("root", 0o700),
    ("run", 0o755),
    ("srv", 0o755),
    ("sys", 0o555),
    ("tmp", 0o1777),
    ("usr", 0o755),
    ("var/cache", 0o755),
    ("var/lib", 0o755),
    ("var/log", 0o755),
    ("var/mail", 0o755),
    ("var/spool", 0o755),
    ("var/tmp", 0o1777),
)
_VAR_LINKS: Final = (("run", "/run"), ("lock", "/run/lock"))
SANDBOX_ID: Final = 1000


def host_binds() -> tuple[Bind, ...]:
    """Return what of the host is seen inside: its programs, read-only."""
    unlinked = tuple(f"/{name}" for name in _LINKED if Path("/", name).is_dir() and not Path("/", name).is_symlink())
    return tuple(Bind(path, path, recursive=True) for path in (*_PROGRAMS, *unlinked) if os.path.isdir(path))


def digest_of(copies: Sequence[str]) -> str:
    """Return what the template's layer would be named now."""
    lines = [_FORMAT, *sorted(f"{name}={text}" for name, text in TEXTS.items()), *inputs_of(copies)]
    lines += [f"{bind.source}" for bind in host_binds()]
    return hashlib.sha256("\n".join(lines).encode(errors="surrogateescape")).hexdigest()


def make_layer(parent: Path, copies: Sequence[str], *, own_ids: bool, shift: int = 0) -> Path:
    """Return the template's layer below a directory; make it when it isn't there. It appears whole or not at all.

    Args:
        parent: Directory of all templates' layers.
        copies: See `etc.write_etc`.
        own_ids: Whether files can be given to other users, which only root can.
        shift: Added to every owner.
    """
    layer = parent / f"host-{digest_of(copies)[:24]}{f'-{shift}' if shift else ''}"
    if layer.is_dir():
        return layer
    draft = Path(tempfile.mkdtemp(dir=parent, prefix=".draft-"))
    try:
        _fill(draft, copies)
        if own_ids:
            _set_owners(draft, shift)
        draft.chmod(0o755)
        draft.rename(layer)
    except OSError:
        shutil.rmtree(draft, ignore_errors=True)
        if not layer.is_dir():
            raise
    return layer


def _fill(root: Path, copies: Sequence[str]) -> None:
    for name, _ in _DIRECTORIES:
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in _LINKED:
        host = Path("/", name)
        if host.is_symlink():
            (root / name).symlink_to(os.readlink(host).removeprefix("/"))
        elif host.is_dir():
            (root / name).mkdir()
    for name, leads_to in _VAR_LINKS:
        (root / "var" / name).symlink_to(leads_to)
    write_etc(root / "etc", copies)
    (root / "home/sandbox").mkdir()
    _set_modes(root)


def _set_owners(root: Path, shift: int) -> None:
    if shift:
        for path in (root, *root.rglob("*")):
            os.chown(path, shift, shift, follow_symlinks=False)
    os.chown(root / "home/sandbox", shift + SANDBOX_ID, shift + SANDBOX_ID)


def _set_modes(root: Path) -> None:
    """Let everybody read everything, whatever umask it was made with, but for the few directories with a mode."""
    for path in root.rglob("*"):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o644))
    for name, mode in (*_DIRECTORIES, ("etc/ssl/private", 0o710)):
        (root / name).chmod(mode)
