"""Tars on their way between this machine and a sandbox.

What comes from a sandbox is not trusted. Of an archive only directories, regular files and links are taken; nothing is
written outside the target, by whatever name or link; files belong to who unpacks them, without set-id bits; and what
links to outside of the target is left out. `TarFile.extractall` with its filter would do much of it, but Python 3.11.2,
which Debian 12 has, doesn't know the filter.
"""

from __future__ import annotations

import asyncio
import errno
import io
import math
import os
import shutil
import tarfile
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, Final

import click

from arenero.cli.left_out import LeftOut

_CHUNK_BYTES: Final = 1024 * 1024
_LATEST_S: Final = 2**33
"""Of a file's time, in seconds since 1970: what any file system can hold."""
_SHOWN_CHARACTERS: Final = 200
"""Of a name."""
_DAMAGE: Final = (tarfile.TarError, ValueError, LookupError, ArithmeticError, RuntimeError, EOFError)
"""What `tarfile` and the file calls raise where an archive holds absurd numbers, names or nesting."""


class Packing:
    """A directory on its way as a tar, one piece in memory at a time. What vanishes meanwhile is left out."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.left_out: list[str] = []
        """What else was left out so far, and why."""
        self.has_failed = False
        """Whether some of it should have been there."""

    async def pieces(self, *, progress: Callable[[int], None] | None = None) -> AsyncIterator[bytes]:
        """Stream it; one stream for each packing."""
        done = 0
        for root, directories, names in os.walk(self._directory, onerror=self._fail):
            directories.sort()
            for name in sorted([*directories, *names]):
                async for piece in self._entry(Path(root, name)):
                    yield piece
                    done += len(piece)
                    if progress is not None:
                        progress(done)
        yield bytes(2 * tarfile.BLOCKSIZE)

    def _fail(self, error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            self.has_failed = True
            self.left_out.append(f"{error.filename}: {error.strerror}")

    async def _entry(self, path: Path) -> AsyncIterator[bytes]:
        holder = tarfile.TarFile(fileobj=io.BytesIO(), mode="w", format=tarfile.PAX_FORMAT)
        try:
            entry: tarfile.TarInfo | None = holder.gettarinfo(path, str(path.relative_to(self._directory)))
            content = path.open("rb") if entry and entry.isreg() else None
        except OSError as error:
            self._fail(error)
            return
        if entry is None or entry.ischr() or entry.isblk():
            self.left_out.append(f"{path}: it is a {'socket' if entry is None else 'device'}")
            return
        yield entry.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
        if content is not None:
            async for piece in _content(content, entry.size):
                yield piece


async def unpack(
    pieces: AsyncIterator[bytes], target: Path, *, progress: Callable[[int], None] | None = None
) -> LeftOut:
    """Unpack a tar from a sandbox into a directory; return what was left out, and why.

    Raises:
        click.ClickException: The archive is damaged, it can't be stored here, or an entry of it would leave the target.
    """
    with tempfile.TemporaryFile() as spool:
        done = 0
        async for piece in pieces:
            await asyncio.to_thread(spool.write, piece)
            done += len(piece)
            if progress is not None:
                progress(done)
        spool.seek(0)
        target.mkdir(parents=True, exist_ok=True)
        return await asyncio.to_thread(_unpack, spool, target.resolve())


async def _content(content: BinaryIO, size: int) -> AsyncIterator[bytes]:
    left = size
    with content:
        while left and (piece := await asyncio.to_thread(content.read, min(left, _CHUNK_BYTES))):
            left -= len(piece)
            yield piece
    # A file that shrank meanwhile is filled up: its size was promised in the header.
    while left:
        yield bytes(min(left, _CHUNK_BYTES))
        left -= min(left, _CHUNK_BYTES)
    yield bytes(-size % tarfile.BLOCKSIZE)


def _unpack(spool: BinaryIO, target: Path) -> LeftOut:
    try:
        with tarfile.open(fileobj=spool, mode="r:") as archive:
            return _Unpacking(archive, target).run()
    except OSError as error:
        raise click.ClickException(f"the archive from the sandbox can't be unpacked: {_shown(str(error))}") from None
    except _DAMAGE as error:
        raise click.ClickException(f"the archive from the sandbox is damaged: {_shown(str(error))}") from None


class _Unpacking:
    """One archive on its way into one directory, which is resolved."""

    def __init__(self, archive: tarfile.TarFile, target: Path) -> None:
        self._archive = archive
        self._target = target
        self._symlinks: list[tarfile.TarInfo] = []
        self._directories: list[tuple[tarfile.TarInfo, Path]] = []
        self._left_out = LeftOut()

    def run(self) -> LeftOut:
        """Unpack, and return what is left out.

        Symbolic links come last: until then none of the archive's making is there that a name could lead through.
        """
        for entry in self._archive:
            self._unless_too_long(entry, self._take)
        self._make_symlinks()
        for entry, place in reversed(self._directories):
            _set_attributes(place, entry, at_least=0o700)
        return self._left_out

    def _take(self, entry: tarfile.TarInfo) -> None:
        place = self._place_of(entry.name)
        if place == self._target:
            return
        if entry.isdir():
            self._make_directory(entry, place)
        elif entry.isreg():
            self._write(entry, place)
        elif entry.issym():
            self._symlinks.append(entry)
        elif entry.islnk():
            self._copy(entry, place)
        else:
            self._leave_out(entry, "it is a device or a pipe")

    def _unless_too_long(self, entry: tarfile.TarInfo, take: Callable[[tarfile.TarInfo], None]) -> None:
        """Take an entry, or leave it out where its path is longer than this machine allows; others may fit."""
        try:
            take(entry)
        except RecursionError:
            self._fail(entry)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            self._fail(entry)

    def _fail(self, entry: tarfile.TarInfo) -> None:
        self._left_out.fail(f"{_shown(repr(entry.name))}: its path is too long for this machine")

    def _leave_out(self, entry: tarfile.TarInfo, reason: str) -> None:
        self._left_out.reasons.append(f"{_shown(repr(entry.name))}: {reason}")

    def _place_of(self, name: str) -> Path:
        """Return where an entry goes.

        Raises:
            click.ClickException: Not below the target.
        """
        parts = PurePosixPath(name).parts
        if "\0" in name or name.startswith("/") or ".." in parts:
            raise click.ClickException(f"{_shown(repr(name))} would leave {self._target}: refused")
        place = self._target.joinpath(*parts)
        if place != self._target and not self._is_within(place.parent):
            raise click.ClickException(f"{_shown(repr(name))} would leave {self._target} through a link: refused")
        return place

    def _is_within(self, path: Path) -> bool:
        """Whether a path stays below the target, with all links in it followed."""
        try:
            return path.resolve().is_relative_to(self._target)
        except (OSError, RuntimeError, ValueError):
            return False  # a loop of links, or no path at all

    def _make_directory(self, entry: tarfile.TarInfo, place: Path) -> None:
        if place.is_symlink() or not place.is_dir():
            _clear(place)
            place.mkdir(parents=True)
        self._directories.append((entry, place))

    def _write(self, entry: tarfile.TarInfo, place: Path) -> None:
        content = self._archive.extractfile(entry)
        assert content is not None
        _clear(place)
        with content, _create(place) as file:
            # Holes stay holes: what a sandbox says is a large file need not become one.
            for offset, size in getattr(entry, "sparse", None) or [(0, entry.size)]:
                content.seek(offset)
                file.seek(offset)
                _copy_bytes(content, file, size)
            file.truncate(entry.size)
        _set_attributes(place, entry)

    def _copy(self, entry: tarfile.TarInfo, place: Path) -> None:
        """Unpack a hard link, as a copy: what it names might be linked to from elsewhere."""
        original = self._place_of(entry.linkname)
        if original.is_symlink() or not original.is_file():
            raise click.ClickException(f"{entry.name!r} is a link to {entry.linkname!r}, which is no file: refused")
        _clear(place)
        with original.open("rb") as content, _create(place) as file:
            shutil.copyfileobj(content, file, _CHUNK_BYTES)
        _set_attributes(place, entry)

    def _make_symlinks(self) -> None:
        made: dict[Path, tarfile.TarInfo] = {}

        def make(entry: tarfile.TarInfo) -> None:
            place = self._place_of(entry.name)
            _clear(place)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(entry.linkname)
            # Its name may lead through a link that is replaced later on: remembered is where it really is.
            made[place.parent.resolve() / place.name] = entry

        try:
            for entry in self._symlinks:
                self._unless_too_long(entry, make)
        finally:
            # Also after a refusal: a link to outside is never left behind.
            self._remove_outward(made)

    def _remove_outward(self, made: dict[Path, tarfile.TarInfo]) -> None:
        """Remove the links that lead outside. Where one leads depends on the others, so all are there by now."""
        outside = [(entry, place) for place, entry in made.items() if not self._leads_inside(entry, place)]
        for entry, place in outside:
            place.unlink(missing_ok=True)
            self._leave_out(entry, f"it links to {_shown(repr(entry.linkname))}, outside of {self._target}")

    def _leads_inside(self, entry: tarfile.TarInfo, place: Path) -> bool:
        return not os.path.isabs(entry.linkname) and self._is_within(place)


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _clear(place: Path) -> None:
    """Make room for an entry: what is there would be written through, were it a link."""
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        place.unlink()
    elif place.is_dir():
        try:
            place.rmdir()
        except OSError:
            raise click.ClickException(
                f"{place} is in the way, and is a directory that holds something: refused"
            ) from None


def _create(place: Path) -> BinaryIO:
    place.parent.mkdir(parents=True, exist_ok=True)
    return place.open("xb")


def _copy_bytes(content: IO[bytes], file: BinaryIO, size: int) -> None:
    while size and (piece := content.read(min(size, _CHUNK_BYTES))):
        file.write(piece)
        size -= len(piece)


def _set_attributes(place: Path, entry: tarfile.TarInfo, *, at_least: int = 0o600) -> None:
    place.chmod(entry.mode & 0o755 | at_least)
    moment_s = min(max(entry.mtime, 0), _LATEST_S) if math.isfinite(entry.mtime) else 0
    os.utime(place, (moment_s, moment_s))
