"""Finds entries below a directory by their names, and lines by what is in them."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Final

from arenero.errors import InvalidArgument
from arenero.execd.content import CALM
from arenero.execd.entries import Entry, Kind, describe
from arenero.execd.faults import blamed_on
from arenero.execd.globs import Glob, Globs, glob
from arenero.execd.regex import Expression, line_expression
from arenero.execd.scope import Scope
from arenero.execd.walking import DEEPEST, Visit, WalkOptions, walk

DEFAULT_LIMIT: Final = 10_000
LONGEST_TEXT_BYTES: Final = 4096
BLOCK_BYTES: Final = 1024 * 1024
"""Lines are searched by the block; a longer line is searched in parts."""


@dataclass(frozen=True, slots=True)
class SearchSpec:
    """What to look for."""

    path: bytes
    glob: str = ""
    """Empty: every name."""
    content: str = ""
    """Empty: names only."""
    exclude: tuple[str, ...] = ()
    limit: int = DEFAULT_LIMIT
    ignore_case: bool = False
    depth: int = DEEPEST
    kinds: frozenset[Kind] = frozenset()
    """Empty: every kind."""


@dataclass(frozen=True, slots=True)
class Match:
    """One result."""

    entry: Entry
    line: int = 0
    """From 1; 0 for a match by name."""
    text: bytes = b""


@dataclass(frozen=True, slots=True)
class SearchEnd:
    """Comes last."""

    truncated: bool
    unreadable: int


Found = Match | SearchEnd | None
"""None: nothing new yet."""


def search(scope: Scope, spec: SearchSpec) -> Generator[Found, None, None]:
    """Give the results in the order of paths, then the end.

    Raises:
        InvalidArgument: A glob or the expression is not valid, or a number out of range.
        FailedPrecondition: The path is no directory.
    """
    run = _Search(scope, spec)
    with scope.open_tree() as tree:
        fd = tree.open_directory(spec.path)
    try:
        with blamed_on(spec.path):
            yield from run.go(fd)
    finally:
        os.close(fd)


class _Search:
    def __init__(self, scope: Scope, spec: SearchSpec) -> None:
        if not 0 < spec.depth <= DEEPEST:
            raise InvalidArgument(f"the depth is at most {DEEPEST}", reason="OUT_OF_RANGE", field="depth")
        self._scope = scope
        self._spec = spec
        self._glob: Glob | None = glob(spec.glob, "glob") if spec.glob else None
        self._exclude = Globs(spec.exclude, "exclude")
        self._expression: Expression | None = None
        if spec.content:
            self._expression = line_expression(spec.content, ignore_case=spec.ignore_case, field="content")
        self._unreadable = 0
        self._left = spec.limit

    def go(self, fd: int) -> Generator[Found, None, None]:
        for visit in walk(fd, WalkOptions(depth=self._spec.depth, failed=self._failed)):
            if self._exclude.match(visit.path):
                visit.skip = True
                continue
            for found in self._in_entry(visit):
                if isinstance(found, Match):
                    if not self._left:
                        yield SearchEnd(truncated=True, unreadable=self._unreadable)
                        return
                    self._left -= 1
                yield found
            yield None
        yield SearchEnd(truncated=False, unreadable=self._unreadable)

    def _failed(self, path: bytes, error: OSError) -> None:
        self._unreadable += 1

    def _in_entry(self, visit: Visit) -> Iterator[Found]:
        if self._glob is not None and not self._glob.matches(visit.path):
            return
        try:
            entry = describe(visit.dir_fd, visit.name, visit.path, self._scope.directory)
        except FileNotFoundError:
            return
        if self._spec.kinds and entry.kind not in self._spec.kinds:
            return
        if self._expression is None:
            yield Match(entry)
        elif entry.kind is Kind.REGULAR and entry.status.size_bytes:
            yield from self._in_content(visit, entry, self._expression)

    def _in_content(self, visit: Visit, entry: Entry, expression: Expression) -> Iterator[Found]:
        try:
            fd = os.open(visit.name, os.O_RDONLY | os.O_NOFOLLOW | CALM, dir_fd=visit.dir_fd)
        except OSError:
            self._unreadable += 1
            return
        try:
            # Between the look and the opening it may have become something else.
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return
            for found in lines_with(fd, entry.status.size_bytes, expression):
                yield None if found is None else Match(entry, *found)
        except OSError:
            self._unreadable += 1
        finally:
            os.close(fd)


def lines_with(fd: int, size_bytes: int, expression: Expression) -> Iterator[tuple[int, bytes] | None]:
    """Give number and text of each line that an expression is found in, and None after each block."""
    number = 1
    for block in _blocks(fd, size_bytes):
        counted = 0
        for begin, end in _lines_in(block, expression):
            number += block.count(b"\n", counted, begin)
            counted = begin
            yield number, block[begin : min(end, begin + LONGEST_TEXT_BYTES)]
        number += block.count(b"\n", counted)
        yield None


def _lines_in(block: bytes, expression: Expression) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(block) and (found := expression.find(block, at)) is not None:
        begin = block.rfind(b"\n", 0, found[0]) + 1
        if begin >= len(block):
            return  # An empty match behind the last line's end.
        end = block.find(b"\n", found[1])
        end = len(block) if end < 0 else end
        yield begin, end
        at = end + 1


def _blocks(fd: int, size_bytes: int) -> Iterator[bytes]:
    """Give a file's first bytes in blocks of whole lines, as far as lines aren't longer than a block."""
    rest = b""
    at = 0
    while at < size_bytes and (piece := os.pread(fd, min(BLOCK_BYTES, size_bytes - at), at)):
        at += len(piece)
        whole, newline, rest = (rest + piece).rpartition(b"\n")
        if newline:
            yield whole + newline
        if len(rest) >= BLOCK_BYTES:
            yield rest
            rest = b""
    if rest:
        yield rest
