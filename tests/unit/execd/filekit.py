"""What the tests of execd's file modules share: scopes on a directory of their own, and generators run to their end."""

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from arenero.execd.accounts import Directory, parse_group, parse_passwd
from arenero.execd.file_config import FileConfig
from arenero.execd.identity import Identity
from arenero.execd.scope import Scope
from arenero.execd.uploads import WriteSpec, Written, begin

_T = TypeVar("_T")

IS_ROOT = os.geteuid() == 0
OWN = FileConfig(uid=os.geteuid(), gid=os.getegid())
"""New files belong to whoever runs the tests, so that they run as anybody."""
USERS = Directory(
    parse_passwd(b"root:x:0:0::/root:/bin/sh\nalice:x:4001:4001::/home/alice:/bin/sh\nbob:x:4002:4002::/:/bin/sh\n"),
    parse_group(b"root:x:0:\nalice:x:4001:\nbob:x:4002:\nteam:x:4100:alice\n"),
)
ALICE = Identity(4001, 4001, (4001, 4100))


def scope_of(root: Path | str | bytes = b"", *, config: FileConfig = OWN, identity: Identity | None = None) -> Scope:
    return Scope(config, USERS, os.fsencode(root), identity)


def result(steps: Generator[Any, Any, _T]) -> _T:
    """Run to the end and return what comes back."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: _T = end.value
            return value


def given(steps: Iterator[_T | None]) -> list[_T]:
    """Run to the end and return what was yielded, but for the signs of life."""
    return [item for item in steps if item is not None]


def write(
    scope: Scope, spec: WriteSpec, *chunks: tuple[int, bytes], size: int | None = None, sha256: bytes = b""
) -> Written:
    """Write a file in one go."""
    upload = begin(scope, spec)
    try:
        token = upload.claim()
        for chunk in chunks:
            upload.write(token, [chunk])
        return result(upload.finish(token, size, sha256))
    finally:
        upload.discard()


def names_in(directory: Path) -> list[str]:
    """Return what is in a directory, hidden leftovers too."""
    return sorted(entry.name for entry in directory.iterdir())


def open_descriptors() -> int:
    """Return how many descriptors this process holds."""
    return len(os.listdir("/proc/self/fd"))


@contextmanager
def shared_directory(mode: int = 0o711) -> Iterator[Path]:
    """Give a directory that other users can get to; pytest's own are closed to them."""
    with TemporaryDirectory(prefix="arenero-test-", dir="/tmp") as path:
        os.chmod(path, mode)
        yield Path(path)


@contextmanager
def no_leaked_descriptors() -> Iterator[None]:
    """Fail when the block leaves descriptors open."""
    before = open_descriptors()
    yield
    assert open_descriptors() == before
