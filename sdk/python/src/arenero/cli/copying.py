"""`arenero cp`: files and directories into, out of and between sandboxes and this machine."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from arenero.cli.archives import pack, unpack
from arenero.cli.output import Progress, note
from arenero.cli.running import asynchronous, client
from arenero.sdk import Client, Sandbox


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
        await sandbox.files.upload_archive(pack(source), place.path)
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
        with Progress(f"downloading {target.name}") as progress:
            left_out = await unpack(sandbox.files.download_archive(place.path), target, progress=progress.update)
        for reason in left_out:
            note(f"arenero: left out {reason}")
        return
    if target.is_dir():
        target /= _name_of(place.path)
    with Progress(f"downloading {target.name}", total_bytes=stat.size_bytes) as progress:
        await sandbox.files.download(place.path, target, progress=progress.update)


async def _between(connection: Client, source: Place, destination: Place) -> None:
    from_sandbox = await Sandbox.connect(source.sandbox_id, client=connection)
    to_sandbox = await Sandbox.connect(destination.sandbox_id, client=connection)
    stat = await from_sandbox.files.stat(source.path, follow=True)
    if stat.is_dir:
        await to_sandbox.files.upload_archive(from_sandbox.files.download_archive(source.path), destination.path)
        return
    target = await _target(to_sandbox, destination.path, _name_of(source.path))
    await to_sandbox.files.write(target, from_sandbox.files.read_stream(source.path), mode=stat.mode & 0o777)


def _name_of(path: str) -> str:
    """Return what a copy of a file is called."""
    return os.path.basename(path.rstrip("/")) or "file"


async def _target(sandbox: Sandbox, path: str, name: str) -> str:
    """Return where a file goes: into `path` when that is a directory, as `cp` does."""
    if path.endswith("/") or (
        await sandbox.files.exists(path) and (await sandbox.files.stat(path, follow=True)).is_dir
    ):
        return f"{path.rstrip('/')}/{name}"
    return path
