"""The files of a sandbox. Paths are text or bytes; content is bytes, never guessed to be text."""

from __future__ import annotations

import asyncio
import hashlib
import os
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from arenero.api.execd.v1 import file_pb2, file_service_pb2
from arenero.api.execd.v1.file_service_pb2_grpc import FileServiceStub
from arenero.sdk import _plane
from arenero.sdk._local_files import Writing
from arenero.sdk._payloads import write_request
from arenero.sdk._plane import Plane
from arenero.sdk._sending import MESSAGE_BYTES, Content, chunks_of, receive, send, slices
from arenero.sdk.commands import set_duration, to_bytes
from arenero.sdk.errors import FailedPrecondition, NotFound, OutcomeUnknown

SandboxPath: TypeAlias = str | bytes
Progress: TypeAlias = Callable[[int], None]
"""Is told the number of bytes done so far."""

_TYPES: Final = {
    file_pb2.FILE_TYPE_REGULAR: "file",
    file_pb2.FILE_TYPE_DIRECTORY: "directory",
    file_pb2.FILE_TYPE_SYMLINK: "symlink",
    file_pb2.FILE_TYPE_FIFO: "fifo",
    file_pb2.FILE_TYPE_SOCKET: "socket",
    file_pb2.FILE_TYPE_CHARACTER_DEVICE: "character-device",
    file_pb2.FILE_TYPE_BLOCK_DEVICE: "block-device",
}


@dataclass(frozen=True, slots=True)
class FileStat:
    """A directory entry; links are described themselves."""

    raw_path: bytes
    type: str
    size_bytes: int
    disk_bytes: int
    mode: int
    uid: int
    gid: int
    owner: str
    group: str
    modified_at: datetime
    link_target: bytes

    @property
    def path(self) -> str:
        """The path as text; bytes that are no UTF-8 are kept as surrogates."""
        return os.fsdecode(self.raw_path)

    @property
    def is_dir(self) -> bool:
        """Whether it is a directory."""
        return self.type == "directory"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One change below a watched directory."""

    kind: Literal["created", "modified", "removed", "moved", "attributes", "overflow"]
    """`overflow`: changes were lost, look at the whole tree again."""
    path: str = ""
    moved_from: str = ""
    is_directory: bool = False


@dataclass(frozen=True, slots=True)
class ArchiveEnd:
    """What an archive of a directory came to."""

    entries: int
    """How many are in it."""
    skipped: tuple[bytes, ...]
    """What isn't, below the base: what vanished, shrank, couldn't be read or lies too deep, sockets and devices; of
    more than 1000 the first ones."""
    skipped_count: int
    """How many there are of them."""


class Files:
    """The files of one sandbox. With a `root`, no call leaves that directory, by whatever path or link."""

    def __init__(self, plane: Plane, *, root: SandboxPath = b"", as_user: str = "") -> None:
        self._plane = plane
        self._root = file_pb2.FileRoot(root=to_bytes(root), as_user=as_user)

    def within(self, root: SandboxPath, *, as_user: str = "") -> Files:
        """Return the same files confined to a directory."""
        return Files(self._plane, root=root, as_user=as_user)

    async def read(self, path: SandboxPath, *, offset: int = 0, length: int = 0) -> bytes:
        """Return a file's content, or a range of it (`length` 0: to the end)."""
        return b"".join([piece async for piece in self.read_stream(path, offset=offset, length=length)])

    async def read_text(self, path: SandboxPath, encoding: str = "utf-8") -> str:
        """Return a file's content as text.

        Raises:
            UnicodeDecodeError: It isn't text of that encoding.
        """
        return (await self.read(path)).decode(encoding)

    async def read_stream(self, path: SandboxPath, *, offset: int = 0, length: int = 0) -> AsyncIterator[bytes]:
        """Stream a file's content.

        Raises:
            NotFound: It isn't there.
            OutcomeUnknown: The connection broke.
        """
        request = file_service_pb2.ReadRequest(
            root=self._root, path=to_bytes(path), offset=offset, length=length, chunk_bytes=MESSAGE_BYTES
        )
        async for message in self._stream("Read", request):
            if data := message.data:
                yield data
            if message.end:
                return
        raise OutcomeUnknown("the file ended without its last message", reason="STREAM_BROKEN")

    async def write(  # noqa: PLR0913 - all but two are options by name
        self,
        path: SandboxPath,
        content: Content,
        *,
        mode: int | None = None,
        owner: str = "",
        group: str = "",
        make_parents: bool = True,
        append: bool = False,
        exclusive: bool = False,
        progress: Progress | None = None,
    ) -> FileStat:
        """Store a file: readers see the old content or the new, nothing between. Text is stored as UTF-8.

        Args:
            path: Where to.
            content: Bytes, text, an open binary file, or an iterable of bytes.
            mode: Permission bits of a new file; None: 0644.
            owner: By name or number; empty: the sandbox's default user.
            group: Likewise.
            make_parents: Make missing directories, owned like the file.
            append: Append in place instead.
            exclusive: Refuse when it exists.
            progress: Is told the bytes sent so far.
        """
        how = file_service_pb2.WRITE_MODE_REPLACE
        if append:
            how = file_service_pb2.WRITE_MODE_APPEND
        elif exclusive:
            how = file_service_pb2.WRITE_MODE_CREATE
        opening = file_service_pb2.WriteOpen(
            root=self._root,
            path=to_bytes(path),
            ownership=file_pb2.Ownership(owner=owner, group=group),
            make_parents=make_parents,
            write_mode=how,
            checksum=True,
        )
        if mode is not None:
            opening.mode = mode
        messages = _write_messages(opening, chunks_of(content), progress)
        return _stat((await send(self._plane, "Write", messages)).stat)

    async def upload(
        self, local: str | os.PathLike[str], path: SandboxPath, *, progress: Progress | None = None
    ) -> FileStat:
        """Copy a local file into the sandbox, with its permission bits."""
        source = Path(local)
        with source.open("rb") as content:  # noqa: ASYNC230 - a local file; its reads are short
            mode = source.stat().st_mode & 0o777
            return await self.write(path, content, mode=mode, progress=progress)

    async def download(
        self, path: SandboxPath, local: str | os.PathLike[str], *, progress: Progress | None = None
    ) -> int:
        """Copy a file of the sandbox to a local file, complete or not at all; return its size in bytes."""
        target = Path(local)
        partial = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
        done = 0
        try:
            with partial.open("wb") as out:
                async with Writing(out) as writing:
                    async for piece in self.read_stream(path):
                        await writing.write(piece)
                        done += len(piece)
                        if progress is not None:
                            progress(done)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
        return done

    async def stat(self, path: SandboxPath, *, follow: bool = False) -> FileStat:
        """Describe an entry; a link itself unless `follow`."""
        request = file_service_pb2.StatRequest(root=self._root, path=to_bytes(path), follow=follow)
        return _stat((await self._call("Stat", request, repeatable=True)).stat)

    async def exists(self, path: SandboxPath) -> bool:
        """Whether there is an entry of that name."""
        try:
            await self.stat(path)
        except NotFound:
            return False
        return True

    async def list(self, path: SandboxPath = b".", *, depth: int = 1) -> list[FileStat]:
        """Return the entries of a directory in the order of their names, `depth` levels of them."""
        request = file_service_pb2.ListDirectoryRequest(root=self._root, path=to_bytes(path), depth=depth)
        return [_stat(entry) async for page in self._stream("ListDirectory", request) for entry in page.entries]

    async def move(self, source: SandboxPath, destination: SandboxPath, *, overwrite: bool = False) -> FileStat:
        """Rename; across file systems by copy."""
        request = file_service_pb2.MoveRequest(
            root=self._root, source=to_bytes(source), destination=to_bytes(destination), overwrite=overwrite
        )
        return _stat((await self._call("Move", request)).stat)

    async def remove(self, path: SandboxPath, *, recursive: bool = False, ignore_missing: bool = False) -> int:
        """Delete an entry, or a tree; return how many entries went."""
        request = file_service_pb2.RemoveRequest(
            root=self._root, path=to_bytes(path), recursive=recursive, ignore_missing=ignore_missing
        )
        return int((await self._call("Remove", request)).removed)

    async def make_directory(
        self, path: SandboxPath, *, mode: int | None = None, make_parents: bool = True
    ) -> FileStat:
        """Make a directory, and its parents; one that is there stays as it is."""
        request = file_service_pb2.MakeDirectoryRequest(root=self._root, path=to_bytes(path), make_parents=make_parents)
        if mode is not None:
            request.mode = mode
        return _stat((await self._call("MakeDirectory", request)).stat)

    async def chmod(self, path: SandboxPath, mode: int, *, recursive: bool = False) -> int:
        """Change permission bits; return how many entries changed."""
        request = file_service_pb2.ChmodRequest(root=self._root, path=to_bytes(path), mode=mode, recursive=recursive)
        return int((await self._call("Chmod", request)).changed)

    async def chown(self, path: SandboxPath, owner: str = "", group: str = "", *, recursive: bool = False) -> int:
        """Change owner and group, by name or number; return how many entries changed."""
        request = file_service_pb2.ChownRequest(
            root=self._root,
            path=to_bytes(path),
            ownership=file_pb2.Ownership(owner=owner, group=group),
            recursive=recursive,
        )
        return int((await self._call("Chown", request)).changed)

    async def symlink(self, target: SandboxPath, path: SandboxPath) -> FileStat:
        """Make a symbolic link at `path` that points to `target`."""
        request = file_service_pb2.SymlinkRequest(root=self._root, path=to_bytes(path), target=to_bytes(target))
        return _stat((await self._call("Symlink", request)).stat)

    async def search(
        self, path: SandboxPath, glob: str = "", *, content: str = "", limit: int = 0
    ) -> Sequence[tuple[FileStat, int, bytes]]:
        """Find entries by name and lines by content; return (entry, line number or 0, line)."""
        request = file_service_pb2.SearchRequest(
            root=self._root, path=to_bytes(path), glob=glob, content=content, limit=limit
        )
        return [
            (_stat(match.stat), match.line, match.text)
            async for page in self._stream("Search", request)
            for match in page.matches
        ]

    async def replace(self, path: SandboxPath, old: bytes | str, new: bytes | str, *, expected_count: int = 0) -> int:
        """Replace text in a file in one step; return how many places changed.

        Raises:
            AreneroError: The file is missing, or another number of places than `expected_count` was found.
        """
        change = file_service_pb2.Replacement(
            path=to_bytes(path), old=to_bytes(old), new=to_bytes(new), expected_count=expected_count
        )
        request = file_service_pb2.ReplaceRequest(root=self._root, replacements=[change], all_or_nothing=True)
        [result] = (await self._call("Replace", request)).results
        if result.reason:
            raise FailedPrecondition(result.message, reason=result.reason)
        return int(result.replaced)

    async def download_archive(
        self,
        base: SandboxPath,
        paths: Sequence[SandboxPath] = (),
        *,
        gzip: bool = False,
        on_end: Callable[[ArchiveEnd], None] | None = None,
    ) -> AsyncIterator[bytes]:
        """Stream a directory, or some entries of it, as a tar.

        Args:
            base: The directory.
            paths: Entries of it; empty: all.
            gzip: Compress it.
            on_end: Is told at the end what is in it and what had to be left out.

        Raises:
            OutcomeUnknown: The connection broke.
        """
        request = file_service_pb2.DownloadArchiveRequest(
            root=self._root,
            base=to_bytes(base),
            paths=[to_bytes(path) for path in paths],
            compression=_compression(gzip),
        )
        async for message in self._stream("DownloadArchive", request):
            if message.data:
                yield message.data
            if message.end:
                if on_end is not None:
                    on_end(ArchiveEnd(message.entries, tuple(message.skipped), message.skipped_count))
                return
        raise OutcomeUnknown("the archive ended without its last message", reason="STREAM_BROKEN")

    async def upload_archive(
        self, content: Content, path: SandboxPath, *, gzip: bool = False, outside_links: bool = False
    ) -> int:
        """Unpack a tar below a directory, made when missing; return the number of entries.

        Entries that would leave it are refused, and so are links that point out of it unless `outside_links` is given.
        """
        opening = file_service_pb2.UploadArchiveOpen(
            root=self._root, path=to_bytes(path), compression=_compression(gzip), outside_links=outside_links
        )
        messages = _archive_messages(opening, chunks_of(content))
        return int((await send(self._plane, "UploadArchive", messages)).entries)

    async def watch(
        self, path: SandboxPath, *, recursive: bool = True, ignore: Sequence[str] = (), coalesce_s: float | None = None
    ) -> AsyncIterator[FileChange]:
        """Stream changes below a directory until the caller leaves."""
        request = file_service_pb2.WatchDirectoryRequest(
            root=self._root, path=to_bytes(path), recursive=recursive, ignore=ignore
        )
        set_duration(request.coalesce, coalesce_s)
        async for message in self._stream("WatchDirectory", request):
            if message.overflow:
                yield FileChange("overflow")
            for change in message.changes:
                yield _change(change)

    async def _call(self, method: str, request: Any, *, repeatable: bool = False) -> Any:
        return await _plane.call(self._plane, FileServiceStub, method, request, repeatable=repeatable)

    def _stream(self, method: str, request: Any) -> AsyncIterator[Any]:
        return receive(self._plane, method, request)


async def _write_messages(
    opening: file_service_pb2.WriteOpen, chunks: AsyncIterator[bytes], progress: Progress | None
) -> AsyncGenerator[file_service_pb2.WriteRequest | bytes, None]:
    yield file_service_pb2.WriteRequest(open=opening)
    offset = 0
    checksum = hashlib.sha256()
    async for chunk in chunks:
        # The hash is computed while the chunk is on its way: hashing lets go of the interpreter.
        hashing = asyncio.gather(asyncio.to_thread(checksum.update, chunk))
        for piece in slices(chunk):
            yield write_request(offset, piece)
            offset += len(piece)
        await hashing
        if progress is not None:
            progress(offset)
    yield file_service_pb2.WriteRequest(
        finish=file_service_pb2.WriteFinish(size_bytes=offset, sha256=checksum.digest())
    )


async def _archive_messages(
    opening: file_service_pb2.UploadArchiveOpen, chunks: AsyncIterator[bytes]
) -> AsyncGenerator[file_service_pb2.UploadArchiveRequest, None]:
    yield file_service_pb2.UploadArchiveRequest(open=opening)
    async for chunk in chunks:
        for piece in slices(chunk):
            yield file_service_pb2.UploadArchiveRequest(data=bytes(piece))


def _compression(gzip: bool) -> file_service_pb2.ArchiveCompression:
    return file_service_pb2.ARCHIVE_COMPRESSION_GZIP if gzip else file_service_pb2.ARCHIVE_COMPRESSION_NONE


def _stat(stat: file_pb2.FileStat) -> FileStat:
    return FileStat(
        raw_path=stat.path,
        type=_TYPES.get(stat.type, "other"),
        size_bytes=stat.size_bytes,
        disk_bytes=stat.disk_bytes,
        mode=stat.mode,
        uid=stat.uid,
        gid=stat.gid,
        owner=stat.owner,
        group=stat.group,
        modified_at=stat.modified_at.ToDatetime(tzinfo=UTC),
        link_target=stat.link_target,
    )


def _change(change: file_service_pb2.FileChange) -> FileChange:
    kind: Any = file_service_pb2.FileChangeKind.Name(change.kind).removeprefix("FILE_CHANGE_KIND_").lower()
    return FileChange(kind, os.fsdecode(change.path), os.fsdecode(change.moved_from), change.is_directory)
