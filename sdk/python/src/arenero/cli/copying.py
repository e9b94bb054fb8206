"""`arenero cp`: files and directories into, out of and between sandboxes and this machine.

A copy goes where `cp -r` and `docker cp` would put it: to the name that was given, or under its own name into a
directory that is there. Of a directory written as `DIR/.` (or `.`, `..`, `/`: they have no name) the content is copied.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import click

from arenero.cli.archives import Packing, unpack
from arenero.cli.fetching import Fetching
from arenero.cli.left_out import LeftOut
from arenero.cli.output import Progress
from arenero.cli.running import asynchronous, client
from arenero.sdk import Client, Sandbox
from arenero.sdk.errors import NotFound
from arenero.sdk.files import FileStat

_EXAMPLES = """\b
Examples:
  arenero cp notes.txt sbx_1:            into the home directory
  arenero cp project sbx_1:              as ~/project
  arenero cp project/. sbx_1:work        its content, as ~/work
  arenero cp sbx_1:/tmp/results .        as ./results
  arenero cp sbx_1:project - | tar -t    as a tar
"""


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

    @property
    def name(self) -> str:
        """What a copy of it is called inside of a directory; empty when its content is meant, as with `DIR/.`."""
        name = os.path.basename(self.path.rstrip("/"))
        return "" if name in (".", "..") else name


@click.command(epilog=_EXAMPLES)
@click.argument("source")
@click.argument("destination")
@asynchronous
async def cp(source: str, destination: str) -> int:
    """Copy a file or a directory: SANDBOX:PATH is in a sandbox, other paths are here, - is a standard stream.

    As with `cp -r`, a copy gets the name that DESTINATION says, or keeps its own when DESTINATION is a directory that
    is there; SOURCE/. means the content of a directory. Links in a directory are copied as links. A directory is a tar
    on standard output, and a tar from standard input goes into a directory that is there.
    """
    from_place, to_place = Place.parse(source), Place.parse(destination)
    async with client() as connection:
        if from_place.sandbox_id and to_place.sandbox_id:
            return await _between(connection, from_place, to_place)
        if to_place.sandbox_id:
            return await _into(connection, from_place, to_place)
        if from_place.sandbox_id:
            return await _out_of(connection, from_place, to_place.path)
    raise click.UsageError("one of the two must be in a sandbox: SANDBOX:PATH")


async def _into(connection: Client, local: Place, place: Place) -> int:
    sandbox = await Sandbox.connect(place.sandbox_id, client=connection)
    if local.path == "-":
        return await _from_stdin(sandbox, place.path)
    source = Path(local.path)
    if not source.exists():
        raise click.UsageError(f"{local.path}: no such file or directory")
    if source.is_dir():
        return await _directory_into(sandbox, source, local.name, place.path)
    target = await _target(sandbox, place.path, source.name)
    with Progress(f"uploading {source.name}", total_bytes=source.stat().st_size) as progress:
        await sandbox.files.upload(source, target, progress=progress.update)
    return 0


async def _from_stdin(sandbox: Sandbox, path: str) -> int:
    found = await _find(sandbox, path)
    if found is not None and found.is_dir:
        await sandbox.files.upload_archive(sys.stdin.buffer, path, outside_links=True)
    else:
        await sandbox.files.write(path, sys.stdin.buffer)
    return 0


async def _directory_into(sandbox: Sandbox, source: Path, name: str, path: str) -> int:
    packing = Packing(source)
    target, is_new = await _directory_target(sandbox, path, name)
    with Progress(f"uploading {source.name or source}") as progress:
        await sandbox.files.upload_archive(packing.pieces(progress=progress.update), target, outside_links=True)
    if is_new:
        await sandbox.files.chmod(target, source.stat().st_mode & 0o777)
    return LeftOut(packing.left_out, packing.has_failed).tell()


async def _out_of(connection: Client, place: Place, local: str) -> int:
    sandbox = await Sandbox.connect(place.sandbox_id, client=connection)
    stat = await sandbox.files.stat(place.path, follow=True)
    if stat.is_dir:
        if local == "-":
            return await _directory_to_stdout(sandbox, place)
        return await _directory_out_of(sandbox, place, stat, Path(local))
    if local == "-":
        await _to_stdout(sandbox.files.read_stream(place.path))
    else:
        await _file_out_of(sandbox, place, stat, local)
    return 0


async def _to_stdout(pieces: AsyncIterator[bytes]) -> None:
    async for piece in pieces:
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


async def _directory_to_stdout(sandbox: Sandbox, place: Place) -> int:
    """Write a directory as a tar in which it has its name, where it has one."""
    if sys.stdout.isatty():
        raise click.UsageError(f"{place.path} is a directory, which is a tar on standard output: pipe it somewhere")
    if place.name and (await sandbox.files.stat(place.path.rstrip("/"))).is_dir:
        parent = os.path.dirname(place.path.rstrip("/")) or "."
        fetching = Fetching(sandbox, parent, [place.name])
    else:
        fetching = Fetching(sandbox, place.path)
    await _to_stdout(fetching.pieces())
    return (await fetching.left_out()).tell()


async def _directory_out_of(sandbox: Sandbox, place: Place, stat: FileStat, local: Path) -> int:
    target = local / place.name if local.is_dir() else local
    is_new = not target.exists()
    if not is_new and not target.is_dir():
        raise click.ClickException(f"{target} is a file, which a directory can't replace")
    fetching = Fetching(sandbox, place.path)
    with Progress(f"downloading {target.name}") as progress:
        left_out = await unpack(fetching.pieces(), target, progress=progress.update)
    if is_new:
        target.chmod(stat.mode & 0o755 | 0o700)
    left_out.extend(await fetching.left_out())
    return left_out.tell()


async def _file_out_of(sandbox: Sandbox, place: Place, stat: FileStat, local: str) -> None:
    target = Path(local)
    if local.endswith("/"):
        target.mkdir(parents=True, exist_ok=True)
    if target.is_dir():
        target /= place.name or "file"
    with Progress(f"downloading {target.name}", total_bytes=stat.size_bytes) as progress:
        await sandbox.files.download(place.path, target, progress=progress.update)


async def _between(connection: Client, source: Place, destination: Place) -> int:
    from_sandbox = await Sandbox.connect(source.sandbox_id, client=connection)
    to_sandbox = await Sandbox.connect(destination.sandbox_id, client=connection)
    stat = await from_sandbox.files.stat(source.path, follow=True)
    if not stat.is_dir:
        target = await _target(to_sandbox, destination.path, source.name or "file")
        await to_sandbox.files.write(target, from_sandbox.files.read_stream(source.path), mode=stat.mode & 0o777)
        return 0
    target, is_new = await _directory_target(to_sandbox, destination.path, source.name)
    fetching = Fetching(from_sandbox, source.path)
    await to_sandbox.files.upload_archive(fetching.pieces(), target, outside_links=True)
    if is_new:
        await to_sandbox.files.chmod(target, stat.mode & 0o777)
    return (await fetching.left_out()).tell()


async def _target(sandbox: Sandbox, path: str, name: str) -> str:
    """Return where a file goes."""
    found = await _find(sandbox, path)
    if path.endswith("/") or (found is not None and found.is_dir):
        return f"{path.rstrip('/')}/{name}"
    return path


async def _directory_target(sandbox: Sandbox, path: str, name: str) -> tuple[str, bool]:
    """Return where a directory goes, and whether it is new there.

    Raises:
        click.ClickException: A file has that name.
    """
    found = await _find(sandbox, path)
    if found is not None and found.is_dir and name:
        path = f"{path.rstrip('/')}/{name}"
        found = await _find(sandbox, path)
    if found is not None and not found.is_dir:
        raise click.ClickException(f"{path} is a file, which a directory can't replace")
    return path, found is None


async def _find(sandbox: Sandbox, path: str) -> FileStat | None:
    try:
        return await sandbox.files.stat(path, follow=True)
    except NotFound:
        return None
