"""Attacks on the confinement of file calls, by a program that runs while they do and changes the tree under them.

Each attack swaps names as fast as it can for a bounded time, by the kernel's atomic exchange, while confined calls go
on. Whatever a call answers, nothing outside the root may be read, changed or made. The same holds where the kernel
can't confine and the look-up is walked by hand.
"""

import contextlib
import ctypes
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arenero.errors import ArenError
from arenero.execd import paths
from arenero.execd.files import change_mode, change_owner, describe_path, list_directory, move, remove
from arenero.execd.packing import PackSpec, pack
from arenero.execd.reading import ReadRange, read
from arenero.execd.replace import Replacement, replace
from arenero.execd.scope import Scope
from arenero.execd.search import Match, SearchSpec, search
from arenero.execd.tar import Member, MemberKind
from arenero.execd.tar_writer import END, content_end, header
from arenero.execd.unpacking import Unpacker, UnpackSpec
from arenero.execd.uploads import WriteMode, WriteSpec
from tests.unit.execd.filekit import given, result, scope_of, write

ATTACK_S = 1.5
SECRET = b"the secret outside"
_EXCHANGE = 2
_libc = ctypes.CDLL(None, use_errno=True)


@pytest.fixture(params=["kernel", "walk"])
def resolver(request, monkeypatch) -> str:
    monkeypatch.setattr(paths._Kernel, "confines", request.param == "kernel")
    return str(request.param)


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """Lay out a root with a directory `d`, a file `f`, and links out of it waiting to be swapped in for them."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "d").mkdir(parents=True)
    (outside / "deep").mkdir(parents=True)
    for directory in (root / "d", outside):
        (directory / "f").write_bytes(SECRET if directory == outside else b"fine")
        (directory / "victim").mkdir()
    (outside / "victim/x").write_bytes(SECRET)
    (root / "f").write_bytes(b"fine")
    (root / "d-link").symlink_to("../outside")
    (root / "f-link").symlink_to("../outside/f")
    return root


class Swapper:
    """Exchanges two names again and again in a thread."""

    def __init__(self, directory: Path, *pairs: tuple[str, str]) -> None:
        self._pairs = pairs
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run)
        # Opened here, not in the thread: by then the directory may be gone already.
        self._fd = os.open(directory, os.O_PATH)
        self.swaps = 0

    def _run(self) -> None:
        while not self._done.is_set():
            for first, second in self._pairs:
                _libc.renameat2(self._fd, first.encode(), self._fd, second.encode(), _EXCHANGE)
                self.swaps += 1
        os.close(self._fd)

    def __enter__(self) -> "Swapper":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()


def attack(arena: Path, attempt: Callable[[Scope], object]) -> None:
    """Repeat a call for a while against the swaps; it must succeed at times, and be refused at others."""
    scope = scope_of(arena)
    successes = refusals = 0
    with Swapper(arena, ("d", "d-link"), ("f", "f-link")) as swapper:
        until = time.monotonic() + ATTACK_S
        while time.monotonic() < until:
            try:
                attempt(scope)
                successes += 1
            except ArenError:
                refusals += 1
    assert swapper.swaps > 100
    assert refusals
    assert successes


@pytest.fixture(autouse=True)
def outside_is_untouched(arena: Path) -> Iterator[None]:
    outside = arena.parent / "outside"

    def state() -> list[tuple[object, ...]]:
        return sorted(
            (
                str(path),
                path.lstat().st_mode,
                path.lstat().st_uid,
                path.lstat().st_ino,
                path.lstat().st_nlink,
                path.read_bytes() if path.is_file() else b"",
            )
            for path in [outside, *outside.rglob("*")]
        )

    before = state()
    yield
    assert state() == before


def test_read_never_gives_what_is_outside(resolver: str, arena: Path):
    """Case 38."""

    def attempt(scope: Scope) -> None:
        for path in (b"f", b"d/f"):
            for chunk in given(read(scope, path, ReadRange())):
                assert SECRET not in chunk.data

    attack(arena, attempt)


@pytest.mark.parametrize("write_mode", [WriteMode.REPLACE, WriteMode.APPEND, WriteMode.IN_PLACE, WriteMode.CREATE])
def test_write_never_reaches_outside(resolver: str, arena: Path, write_mode: WriteMode):
    numbers = itertools.count()

    def attempt(scope: Scope) -> None:
        fresh = b"d/%d/x" % next(numbers)
        for path in (fresh,) if write_mode is WriteMode.CREATE else (b"f", b"d/f", fresh):
            write(scope, WriteSpec(path, write_mode=write_mode, make_parents=True), (0, b"attack"))

    attack(arena, attempt)


def test_entries_outside_are_never_described_or_listed(resolver: str, arena: Path):
    def attempt(scope: Scope) -> None:
        assert describe_path(scope, b"f", follow=True).status.size_bytes != len(SECRET)
        names = {entry.path for entry in given(list_directory(scope, b"d", depth=5))}
        assert names <= {b"f", b"victim"}

    attack(arena, attempt)


def test_modes_and_owners_outside_never_change(resolver: str, arena: Path):
    def attempt(scope: Scope) -> None:
        result(change_mode(scope, b"d", 0o700, recursive=True))
        result(change_mode(scope, b"d/f", 0o600))
        result(change_owner(scope, b"d", owner=str(os.geteuid()), recursive=True))

    attack(arena, attempt)


def test_nothing_outside_is_removed(resolver: str, arena: Path):
    def attempt(scope: Scope) -> None:
        result(remove(scope, b"d/victim", recursive=True, ignore_missing=True))
        # The other side may swap the directory for a link between any two steps.
        with contextlib.suppress(OSError):
            os.mkdir(arena / "d/victim")
        result(remove(scope, b"d/f", ignore_missing=True))

    attack(arena, attempt)


def test_tree_that_is_swapped_while_it_is_removed_takes_nothing_along(arena: Path):
    """The directory in the middle of the tree becomes a link while the removal is below it."""
    scope = scope_of(arena)
    until = time.monotonic() + ATTACK_S
    rounds = 0
    while time.monotonic() < until:
        rounds += 1
        tree = arena / f"tree{rounds}"
        (tree / "mid/low").mkdir(parents=True)
        for number in range(5):
            (tree / f"mid/low/{number}").touch()
        (tree / "mid-link").symlink_to("../../outside")
        with Swapper(tree, ("mid", "mid-link")):
            try:
                result(remove(scope, tree.name.encode(), recursive=True))
            except ArenError:
                pass
    assert rounds > 3


def test_nothing_is_moved_out_or_in(resolver: str, arena: Path):
    directory = os.open(arena / "d", os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)

    def attempt(scope: Scope) -> None:
        (arena / "mine").write_bytes(b"mine")
        # An attempt that was refused half way has taken it away.
        os.close(os.open("f", os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, dir_fd=directory))
        result(move(scope, b"mine", b"d/taken", overwrite=True))
        result(move(scope, b"d/f", b"loot", overwrite=True))
        assert (arena / "loot").read_bytes() != SECRET
        result(move(scope, b"loot", b"d/f", overwrite=True))

    try:
        attack(arena, attempt)
    finally:
        os.close(directory)


def test_search_and_replace_stay_inside(resolver: str, arena: Path):
    def attempt(scope: Scope) -> None:
        for found in given(search(scope, SearchSpec(b".", content="secret"))):
            assert not isinstance(found, Match)
        for each in result(replace(scope, [Replacement(b"d/f", b"secret", b"attack")])):
            assert each.count == 0
        given(list_directory(scope, b"d"))

    attack(arena, attempt)


def test_archive_packs_nothing_from_outside(resolver: str, arena: Path):
    def attempt(scope: Scope) -> None:
        pieces = given(pack(scope, PackSpec(b".", paths=(b"d", b"f"))))
        assert SECRET not in b"".join(piece for piece in pieces if isinstance(piece, bytes))
        given(list_directory(scope, b"d"))

    attack(arena, attempt)


def test_archive_unpacks_nothing_outside(resolver: str, arena: Path):
    """Case 38: between any two members, and within one, directories become links."""
    members = [
        Member(b"d/", MemberKind.DIRECTORY),
        Member(b"d/f", MemberKind.FILE, size_bytes=6),
        Member(b"d/sub/new", MemberKind.FILE, size_bytes=6),
        Member(b"d/link", MemberKind.SYMLINK, link_target=b"f"),
        Member(b"d/hard", MemberKind.HARD_LINK, link_target=b"d/f"),
        Member(b"d/fifo", MemberKind.FIFO),
    ]
    data = b"".join(header(member) + b"attack"[: member.size_bytes] + content_end(member) for member in members) + END

    def attempt(scope: Scope) -> None:
        unpacker = Unpacker(scope, UnpackSpec(b"."))
        try:
            result(unpacker.feed([data]))
            result(unpacker.finish())
        finally:
            unpacker.close()

    attack(arena, attempt)
