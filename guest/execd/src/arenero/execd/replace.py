"""Changes text in files: each file in one step, or all files or none.

Content is bytes. Files are held in memory while they are changed, so their size is bounded.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from arenero.errors import (
    ArenError,
    Conflict,
    InvalidArgument,
    OutcomeUnknown,
    ResourceExhausted,
)
from arenero.execd import filecalls
from arenero.execd.content import CALM, check_content
from arenero.execd.faults import blamed_on, shown
from arenero.execd.filecalls import Status
from arenero.execd.scope import Scope
from arenero.execd.uploads import Upload, WriteSpec, begin

MOST_REPLACEMENTS: Final = 10_000
NOT_APPLIED: Final = "NOT_APPLIED"


@dataclass(frozen=True, slots=True)
class Replacement:
    """One change in one file."""

    path: bytes
    old: bytes
    new: bytes
    expected_count: int = 0
    """0: any number of places."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """What became of one change."""

    path: bytes
    count: int = 0
    reason: str = ""
    """Empty when it was done."""
    message: str = ""


@dataclass(slots=True)
class _File:
    """A file with all its changes, which apply one after the other."""

    path: bytes
    original: bytes = b""
    content: bytes = b""
    status: Status | None = None
    error: ArenError | None = None
    """Of reading or writing it: none of its changes was done."""
    results: dict[int, Replaced] = field(default_factory=dict)
    """By the place of the change in the request."""

    @property
    def has_failed(self) -> bool:
        return self.error is not None or any(result.reason for result in self.results.values())

    def fail(self, error: ArenError) -> None:
        self.error = error
        for at in self.results:
            self.results[at] = Replaced(self.path, 0, error.reason, error.message)


def replace(
    scope: Scope, replacements: Sequence[Replacement], *, all_or_nothing: bool = False
) -> Generator[None, None, list[Replaced]]:
    """Do all changes, in order, and return what became of each.

    Raises:
        InvalidArgument: A change looks for nothing, or there are too many; nothing was done.
        OutcomeUnknown: A file could neither be changed nor be put back as it was.
    """
    _check(replacements)
    files = {change.path: _File(change.path) for change in replacements}
    budget = scope.config.replace_most_bytes
    for file in files.values():
        yield from _compute(scope, file, replacements, budget)
        if all_or_nothing:
            budget -= len(file.original) + len(file.content)
    changed = [file for file in files.values() if file.error is None and file.content != file.original]
    if not all_or_nothing:
        for file in changed:
            yield from _write(scope, [file])
    elif not any(file.has_failed for file in files.values()):
        yield from _write(scope, changed)
    if all_or_nothing and any(file.has_failed for file in files.values()):
        _hold_back(files.values())
    return [files[change.path].results[at] for at, change in enumerate(replacements)]


def _check(replacements: Sequence[Replacement]) -> None:
    if len(replacements) > MOST_REPLACEMENTS:
        raise InvalidArgument(
            f"more than {MOST_REPLACEMENTS} changes", reason="TOO_MANY_REPLACEMENTS", field="replacements"
        )
    for at, change in enumerate(replacements):
        if not change.old:
            raise InvalidArgument(
                "there is nothing to look for", reason="EMPTY_OLD_TEXT", field=f"replacements[{at}].old"
            )


def _compute(
    scope: Scope, file: _File, replacements: Sequence[Replacement], budget: int
) -> Generator[None, None, None]:
    """Read a file and work out what it is to become."""
    changes = [(at, change) for at, change in enumerate(replacements) if change.path == file.path]
    file.results = dict.fromkeys((at for at, _ in changes), Replaced(file.path))
    try:
        file.original, file.status = yield from _read(scope, file.path, budget)
    except ArenError as error:
        file.fail(error)
        return
    file.content = file.original
    for at, change in changes:
        file.results[at] = _apply(file, change, budget)
        yield


def _apply(file: _File, change: Replacement, budget: int) -> Replaced:
    count = file.content.count(change.old)
    if change.expected_count and count != change.expected_count:
        message = f"{shown(change.path)}: the text is there {count} times, not {change.expected_count}"
        return Replaced(change.path, 0, "COUNT_MISMATCH", message)
    if len(file.content) + count * (len(change.new) - len(change.old)) > budget:
        return Replaced(change.path, 0, "FILE_TOO_LARGE", f"{shown(change.path)}: it would become too large")
    file.content = file.content.replace(change.old, change.new)
    return Replaced(change.path, count)


def _read(scope: Scope, path: bytes, budget: int) -> Generator[None, None, tuple[bytes, Status]]:
    with scope.open_tree() as tree:
        fd = tree.open_file(path, os.O_RDONLY | CALM)
    try:
        with blamed_on(path):
            check_content(fd, path)
            status = filecalls.status(fd, b"")
            if status.size_bytes > budget:
                raise ResourceExhausted(
                    f"{shown(path)}: it is too large to be changed", reason="FILE_TOO_LARGE", field="path"
                )
            pieces = []
            left = status.size_bytes
            while left > 0 and (piece := os.read(fd, min(left, 1024 * 1024))):
                pieces.append(piece)
                left -= len(piece)
                yield
            return b"".join(pieces), status
    finally:
        os.close(fd)


def _write(scope: Scope, files: Sequence[_File]) -> Generator[Any, None, None]:
    """Write the new content of all these files, or when one fails put those back that were changed."""
    begun: list[tuple[_File, Upload]] = []
    touched: list[_File] = []
    at = None
    try:
        for at in files:
            upload = begin(scope, WriteSpec(at.path, expected_size_bytes=len(at.content)))
            begun.append((at, upload))
            if upload.is_in_place:
                touched.append(at)
            upload.write(upload.claim(), [(0, at.content)])
            yield
        for at, upload in begun:
            yield from _finish(scope, at, upload)
            if at not in touched:
                touched.append(at)
    except ArenError as error:
        if at is not None:
            at.fail(error)
        yield from _put_back(scope, touched)
    except GeneratorExit:
        # The caller went away: all or nothing holds for nobody to see, too.
        for _ in _put_back(scope, touched):
            pass
        raise
    finally:
        for _, upload in begun:
            upload.discard()


def _put_back(scope: Scope, files: Sequence[_File]) -> Generator[Any, None, None]:
    lost = []
    for file in files:
        try:
            upload = begin(scope, WriteSpec(file.path))
        except ArenError:
            lost.append(shown(file.path))
            continue
        try:
            upload.write(upload.claim(), [(0, file.original)])
            yield from upload.finish(upload.claim(), len(file.original), b"")
        except ArenError:
            lost.append(shown(file.path))
        finally:
            upload.discard()
    if lost:
        raise OutcomeUnknown(
            f"a change failed, and these files could not be put back: {', '.join(lost)[:500]}", reason="NOT_PUT_BACK"
        )


def _finish(scope: Scope, file: _File, upload: Upload) -> Generator[Any, None, None]:
    """Put the new content in place, unless somebody else changed the file since it was read."""
    if not upload.is_in_place:
        _check_unchanged(scope, file)
    yield from upload.finish(upload.claim(), len(file.content), b"")


def _check_unchanged(scope: Scope, file: _File) -> None:
    with scope.open_tree() as tree:
        fd = tree.open_file(file.path, os.O_PATH | os.O_CLOEXEC)
    try:
        with blamed_on(file.path):
            now = filecalls.status(fd, b"")
    finally:
        os.close(fd)
    if file.status is None or _identity(now) != _identity(file.status):
        raise Conflict(f"{shown(file.path)}: it was changed meanwhile", reason="CHANGED_MEANWHILE", field="path")


def _identity(status: Status) -> tuple[int, int, int, int]:
    return status.device, status.inode, status.size_bytes, status.modified_ns


def _hold_back(files: Iterable[_File]) -> None:
    """Say of all changes that would have worked that they were not done."""
    message = "another change of the same call failed, so nothing was done"
    for file in files:
        for at, result in file.results.items():
            if not result.reason:
                file.results[at] = Replaced(file.path, 0, NOT_APPLIED, message)
