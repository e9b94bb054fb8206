"""`arenero cp`: files and directories into, out of and between sandboxes and this machine."""

from __future__ import annotations

import asyncio
import io
import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import click

from arenero.cli.output import Progress
from arenero.cli.running import asynchronous, client
from arenero.sdk import Client, Sandbox

_CHUNK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Place:
    """One end of a copy."""

    sandbox_id: str
    """Empty: this machine."""
    path: str

    @classmethod
    def parse(cls, text: str) -> Place:
        """Parse `SANDBOX:PATH`, a local path, or `-` for a standard stream. `./a:b` is a local file with a colon."""
        sandbox_id, colon, path = text.partition(":")
        if colon and "/" not in sandbox_id and sandbox_id:
            return cls(sandbox_id, path or ".")
        return cls("", text)


@click.command()
@click.argument("source")
@click.argument("destination")
@asynchronous
async def cp(source: str, destination: str) -> None:
    """Copy a file or a directory: SANDBOX:PATH is in a sandbox, other paths are here, - is a standard stream."""
    from_place, to_place = Place.parse(source), Place.parse(destination)
    async with client() as connection:
        if from_place.sandbox_id and to_place.sandbox_id:
            await _between(connection, from_place, to_place)
        elif to_place.sandbox_id:
            await _into(connection, from_place.path, to_place)
        elif from_place.sandbox_id:
            await _out_of(connection, from_place, to_place.path)
        else:
            raise click.UsageError("one of the two must be in a sandbox: SANDBOX:PATH")


async def _into(connection: Client, local: str, place: Place) -> None:
    sandbox = await Sandbox.connect(place.sandbox_id, client=connection)
    if local == "-":
        await sandbox.files.write(place.path, sys.stdin.buffer)
        return
    source = Path(local)
    if not source.exists():
        raise click.UsageError(f"{local}: no such file or directory")
    if source.is_dir():
        await sandbox.files.upload_archive(_pack(source), place.path)
        return
    target = await _target(sandbox, place.path, source.name)
    with Progress(f"uploading {source.name}", total_bytes=source.stat().st_size) as progress:
        await sandbox.files.upload(source, target, progress=progress.update)


async def _out_of(connection: Client, place: Place, local: str) -> None:
    sandbox = await Sandbox.connect(place.sandbox_id, client=connection)
    if local == "-":
        async for piece in sandbox.files.read_stream(place.path):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    stat = await sandbox.files.stat(place.path, follow=True)
    target = Path(local)
    if stat.is_dir:
        await _unpack(sandbox.files.download_archive(place.path), target)
        return
    if target.is_dir():
        target /= os.path.basename(place.path)
    with Progress(f"downloading {target.name}", total_bytes=stat.size_bytes) as progress:
        await sandbox.files.download(place.path, target, progress=progress.update)


async def _between(connection: Client, source: Place, destination: Place) -> None:
    from_sandbox = await Sandbox.connect(source.sandbox_id, client=connection)
    to_sandbox = await Sandbox.connect(destination.sandbox_id, client=connection)
    stat = await from_sandbox.files.stat(source.path, follow=True)
    if stat.is_dir:
        await to_sandbox.files.upload_archive(from_sandbox.files.download_archive(source.path), destination.path)
        return
    target = await _target(to_sandbox, destination.path, os.path.basename(source.path))
    await to_sandbox.files.write(target, from_sandbox.files.read_stream(source.path), mode=stat.mode & 0o777)


async def _target(sandbox: Sandbox, path: str, name: str) -> str:
    """Return where a file goes: into `path` when that is a directory, as `cp` does."""
    if path.endswith("/") or (
        await sandbox.files.exists(path) and (await sandbox.files.stat(path, follow=True)).is_dir
    ):
        return f"{path.rstrip('/')}/{name}"
    return path


async def _pack(directory: Path) -> AsyncIterator[bytes]:
    """Stream a directory as a tar, one entry in memory at a time."""
    for root, directories, names in os.walk(directory):
        directories.sort()
        for name in sorted([*directories, *names]):
            path = Path(root, name)
            async for piece in _pack_entry(path, str(path.relative_to(directory))):
                yield piece
    yield bytes(2 * tarfile.BLOCKSIZE)


async def _pack_entry(path: Path, name: str) -> AsyncIterator[bytes]:
    holder = tarfile.TarFile(fileobj=io.BytesIO(), mode="w", format=tarfile.PAX_FORMAT)
    entry = holder.gettarinfo(path, name)
    if entry is None:
        return
    yield entry.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
    if not entry.isreg():
        return
    left = entry.size
    with path.open("rb") as content:
        while left and (piece := content.read(min(left, _CHUNK_BYTES))):
            left -= len(piece)
            yield piece
    # A file that shrank meanwhile is filled up: its size was promised in the header.
    yield bytes(left + -entry.size % tarfile.BLOCKSIZE)


async def _unpack(pieces: AsyncIterator[bytes], target: Path) -> None:
    """Unpack a tar from a sandbox, which is not to be trusted: nothing may leave the target."""
    with tempfile.TemporaryFile() as spool:
        with Progress(f"downloading {target.name}") as progress:
            async for piece in pieces:
                await asyncio.to_thread(spool.write, piece)
                progress.update(spool.tell())
        spool.seek(0)
        target.mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=spool) as archive:
            await asyncio.to_thread(_extract, archive, target.resolve())


def _extract(archive: tarfile.TarFile, target: Path) -> None:
    # Not TarFile.extractall with its filter: Python 3.11.2, which Debian 12 has, doesn't know it.
    for entry in archive:
        place = target / entry.name
        if Path(entry.name).is_absolute() or not _is_within(place.parent, target):
            raise click.ClickException(f"{entry.name!r} would leave {target}: refused")
        if entry.issym() and (os.path.isabs(entry.linkname) or not _is_within(place.parent / entry.linkname, target)):
            click.echo(f"arenero: left out {entry.name!r}: it links to outside of {target}", err=True)
        elif entry.isdir() or entry.isreg() or entry.issym():
            entry.mode &= 0o755
            archive.extract(entry, target, set_attrs=not entry.issym())
        elif entry.islnk():
            shutil.copyfile(_inside(target / entry.linkname, target), place)


def _is_within(path: Path, target: Path) -> bool:
    """Whether a path stays below the target, with all links in it followed."""
    return path.resolve().is_relative_to(target)


def _inside(path: Path, target: Path) -> Path:
    if not _is_within(path, target):
        raise click.ClickException(f"a hard link to {str(path)!r} would leave {target}: refused")
    return path
