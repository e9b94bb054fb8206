"""FileService: reads, changes, packs and watches the files of the sandbox.

Nothing here blocks: what touches files runs in threads, and streams work one batch ahead of what is being sent, or
receive while a batch is being written.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Final, TypeVar

from arenero.api.execd.v1 import file_pb2
from arenero.api.execd.v1 import file_service_pb2 as api
from arenero.api.execd.v1 import file_service_pb2_grpc as api_grpc
from arenero.errors import ArenError, Conflict, InvalidArgument, ResourceExhausted, Unsupported
from arenero.execd import files, packing, reading, search, uploads
from arenero.execd.accounts import Accounts
from arenero.execd.directories import DIRECTORY_MODE, make_directory
from arenero.execd.entries import Entry
from arenero.execd.file_config import FileConfig
from arenero.execd.identity import Identity, identity_of
from arenero.execd.pending_uploads import PendingUploads, UploadKey
from arenero.execd.replace import replace
from arenero.execd.scope import Scope, checked_mode
from arenero.execd.servicer.file_messages import (
    change_message,
    chunk_message,
    match_message,
    pace_of,
    pack_spec_of,
    range_of,
    replaced_message,
    replacements_of,
    search_spec_of,
    stat_message,
    unpack_spec_of,
    watch_spec_of,
    write_spec_of,
)
from arenero.execd.servicer.payloads import Part, as_message, content
from arenero.execd.unpacking import Unpacker
from arenero.execd.uploads import Upload, WriteMode, WriteSpec
from arenero.execd.watches import Watches
from arenero.execd.workers import FileWorkers
from arenero.host import heap
from arenero.rpc.interceptors import Context

BATCH_BYTES: Final = 1024 * 1024
"""Content that one visit to a thread reads or writes."""
_ENTRIES_AT_ONCE: Final = 128
_STEPS_AT_ONCE: Final = 4096
_PIECES_AT_ONCE: Final = 2
_TRIM_AFTER_S: Final = 2.0
_TURN_S: Final = 60.0
"""How long a transfer waits for its turn."""
_UNFINISHED: Final = "UNFINISHED"

_Message = TypeVar("_Message")


class FileServicer(api_grpc.FileServiceServicer):
    """Serves the files of one sandbox. Close it when the server has stopped."""

    def __init__(self, config: FileConfig, accounts: Accounts) -> None:
        self._config = config
        self._accounts = accounts
        self._workers = FileWorkers(config.threads)
        self._uploads = PendingUploads(config, lambda upload: self._workers.submit(upload.discard))
        self._watches = Watches(config, self._workers)
        self._transfers = _Transfers(config.most_transfers)

    async def close(self) -> None:
        """Give up what waits to be resumed, and let go of the threads."""
        self._uploads.close()
        self._watches.close()
        self._workers.close()

    # --- content ------------------------------------------------------------------------------------------------------

    async def Read(  # noqa: N802
        self, request: api.ReadRequest, context: Context
    ) -> AsyncGenerator[api.ReadResponse, None]:
        scope = self._scope(request.root)
        wanted = range_of(request)
        chunks = reading.read(scope, request.path, wanted)
        most = max(BATCH_BYTES // wanted.chunk_bytes, 1)
        async with (
            self._transfers.one(),
            aclosing(self._workers.batches(scope.identity, chunks, most=most)) as batches,
        ):
            async for batch in batches:
                for chunk in batch:
                    if chunk is not None:
                        is_more = chunk.entry is not None or chunk.is_end
                        yield chunk_message(chunk) if is_more else as_message(api.ReadResponse, content(chunk))

    async def Write(  # noqa: N802
        self, request_iterator: AsyncIterator[api.WriteRequest | Part], context: Context
    ) -> api.WriteResponse:
        messages = aiter(request_iterator)
        first = await _first(messages)
        scope = self._scope(first.open.root)
        spec = write_spec_of(first.open)
        if not first.open.upload_id:
            upload = await self._begin(scope, spec)
            try:
                return await self._store(upload, upload.claim(), scope.identity, first, messages)
            finally:
                self._workers.submit(upload.discard)
        return await self._store_resumable(first, messages, scope, spec)

    async def _store_resumable(
        self, first: api.WriteRequest, messages: AsyncIterator[api.WriteRequest | Part], scope: Scope, spec: WriteSpec
    ) -> api.WriteResponse:
        key = _upload_key(first.open.upload_id, first.open.root, spec.path, scope.identity)
        if spec.write_mode in (WriteMode.APPEND, WriteMode.IN_PLACE):
            raise InvalidArgument(
                "only whole files are resumed", reason="NOT_RESUMABLE", field="open.upload_id", fix="leave the id out"
            )
        upload = await self._resume_or_begin(key, scope, spec)
        token = upload.claim()
        self._uploads.use(key, upload)
        try:
            answer = await self._store(upload, token, scope.identity, first, messages)
        except BaseException as error:
            if not _may_resume(error):
                self._forget(key, upload)
            elif upload.is_claimed_by(token):
                self._uploads.rest(key)
            raise
        self._forget(key, upload)
        return answer

    async def _resume_or_begin(self, key: UploadKey, scope: Scope, spec: WriteSpec) -> Upload:
        if (known := self._uploads.find(key)) is not None:
            return known
        self._uploads.make_room()
        upload = await self._begin(scope, spec)
        if (raced := self._uploads.find(key)) is not None:
            self._workers.submit(upload.discard)
            return raced
        return upload

    async def _begin(self, scope: Scope, spec: WriteSpec) -> Upload:
        return await self._workers.acquire(scope.identity, lambda: uploads.begin(scope, spec), Upload.discard)

    def _forget(self, key: UploadKey, upload: Upload) -> None:
        if self._uploads.find(key) is upload:
            self._uploads.forget(key)
        self._workers.submit(upload.discard)

    async def _store(
        self,
        upload: Upload,
        token: int,
        identity: Identity | None,
        first: api.WriteRequest,
        messages: AsyncIterator[api.WriteRequest | Part],
    ) -> api.WriteResponse:
        receiving = _Receiving(self._workers, upload, token, identity)
        try:
            async with self._transfers.one():
                finish = await receiving.run(_with(first, messages))
        finally:
            receiving.close()
        if finish is None:
            raise InvalidArgument("the file was not finished", reason=_UNFINISHED, field="finish")
        size_bytes = finish.size_bytes if finish.HasField("size_bytes") else None
        written = await self._workers.finish(identity, upload.finish(token, size_bytes, finish.sha256))
        return api.WriteResponse(
            stat=stat_message(written.entry),
            written_in_place=written.is_in_place,
            received_bytes=receiving.received_bytes,
            attributes_refused=written.attributes_refused,
        )

    async def WriteStatus(  # noqa: N802
        self, request: api.WriteStatusRequest, context: Context
    ) -> api.WriteStatusResponse:
        scope = self._scope(request.root)
        upload = self._uploads.find(_upload_key(request.upload_id, request.root, request.path, scope.identity))
        return api.WriteStatusResponse(received_offset=upload.received_offset if upload else 0)

    async def Replace(self, request: api.ReplaceRequest, context: Context) -> api.ReplaceResponse:  # noqa: N802
        scope = self._scope(request.root)
        changes = replacements_of(request)
        results = await self._workers.finish(
            scope.identity, replace(scope, changes, all_or_nothing=request.all_or_nothing)
        )
        return api.ReplaceResponse(results=[replaced_message(result) for result in results])

    # --- entries ------------------------------------------------------------------------------------------------------

    async def ListDirectory(  # noqa: N802
        self, request: api.ListDirectoryRequest, context: Context
    ) -> AsyncGenerator[api.ListDirectoryResponse, None]:
        scope = self._scope(request.root)
        entries = files.list_directory(scope, request.path, depth=request.depth or 1)
        left = request.limit
        async with aclosing(self._workers.batches(scope.identity, entries, most=_ENTRIES_AT_ONCE)) as batches:
            async for batch in batches:
                found = [stat_message(entry) for entry in batch if entry is not None]
                if request.limit and len(found) > left:
                    yield api.ListDirectoryResponse(entries=found[:left], truncated=True)
                    return
                left -= len(found)
                if found:
                    yield api.ListDirectoryResponse(entries=found)

    async def Stat(self, request: api.StatRequest, context: Context) -> api.StatResponse:  # noqa: N802
        scope = self._scope(request.root)
        entry = await self._workers.run(scope.identity, files.describe_path, scope, request.path, follow=request.follow)
        return api.StatResponse(stat=stat_message(entry))

    async def Move(self, request: api.MoveRequest, context: Context) -> api.MoveResponse:  # noqa: N802
        scope = self._scope(request.root)
        moving = files.move(
            scope,
            request.source,
            request.destination,
            overwrite=request.overwrite,
            make_parents=request.make_parents,
        )
        entry: Entry = await self._workers.finish(scope.identity, moving)
        return api.MoveResponse(stat=stat_message(entry))

    async def Remove(self, request: api.RemoveRequest, context: Context) -> api.RemoveResponse:  # noqa: N802
        scope = self._scope(request.root)
        removing = files.remove(scope, request.path, recursive=request.recursive, ignore_missing=request.ignore_missing)
        return api.RemoveResponse(removed=await self._workers.finish(scope.identity, removing))

    async def MakeDirectory(  # noqa: N802
        self, request: api.MakeDirectoryRequest, context: Context
    ) -> api.MakeDirectoryResponse:
        scope = self._scope(request.root)
        made = await self._workers.run(
            scope.identity,
            make_directory,
            scope,
            request.path,
            mode=checked_mode(request.mode) if request.HasField("mode") else DIRECTORY_MODE,
            owner=request.ownership.owner,
            group=request.ownership.group,
            parents=request.make_parents,
        )
        return api.MakeDirectoryResponse(stat=stat_message(made.entry), made=made.count)

    async def Chmod(self, request: api.ChmodRequest, context: Context) -> api.ChmodResponse:  # noqa: N802
        scope = self._scope(request.root)
        changing = files.change_mode(scope, request.path, request.mode, recursive=request.recursive)
        return api.ChmodResponse(changed=await self._workers.finish(scope.identity, changing))

    async def Chown(self, request: api.ChownRequest, context: Context) -> api.ChownResponse:  # noqa: N802
        scope = self._scope(request.root)
        changing = files.change_owner(
            scope,
            request.path,
            owner=request.ownership.owner,
            group=request.ownership.group,
            recursive=request.recursive,
        )
        return api.ChownResponse(changed=await self._workers.finish(scope.identity, changing))

    async def Symlink(self, request: api.SymlinkRequest, context: Context) -> api.SymlinkResponse:  # noqa: N802
        scope = self._scope(request.root)
        entry = await self._workers.run(scope.identity, files.make_link, scope, request.path, request.target)
        return api.SymlinkResponse(stat=stat_message(entry))

    async def Search(  # noqa: N802
        self, request: api.SearchRequest, context: Context
    ) -> AsyncGenerator[api.SearchResponse, None]:
        scope = self._scope(request.root)
        results = search.search(scope, search_spec_of(request))
        async with aclosing(self._workers.batches(scope.identity, results, most=_STEPS_AT_ONCE)) as batches:
            async for batch in batches:
                matches = [match_message(found) for found in batch if isinstance(found, search.Match)]
                for begin in range(0, len(matches), _ENTRIES_AT_ONCE):
                    yield api.SearchResponse(matches=matches[begin : begin + _ENTRIES_AT_ONCE])
                if isinstance(end := batch[-1], search.SearchEnd):
                    yield api.SearchResponse(truncated=end.truncated, unreadable=end.unreadable)

    # --- trees --------------------------------------------------------------------------------------------------------

    async def DownloadArchive(  # noqa: N802
        self, request: api.DownloadArchiveRequest, context: Context
    ) -> AsyncGenerator[api.DownloadArchiveResponse, None]:
        scope = self._scope(request.root)
        pieces = packing.pack(scope, pack_spec_of(request))
        async with aclosing(self._workers.batches(scope.identity, pieces, most=_PIECES_AT_ONCE)) as batches:
            async for batch in batches:
                for piece in batch:
                    if isinstance(piece, packing.PackEnd):
                        yield api.DownloadArchiveResponse(
                            entries=piece.entries,
                            skipped=piece.skipped,
                            skipped_count=piece.skipped_count,
                            end=True,
                        )
                    elif piece:
                        yield api.DownloadArchiveResponse(data=piece)

    async def UploadArchive(  # noqa: N802
        self, request_iterator: AsyncIterator[api.UploadArchiveRequest], context: Context
    ) -> api.UploadArchiveResponse:
        messages = aiter(request_iterator)
        first = await _first(messages)
        scope = self._scope(first.open.root)
        spec = unpack_spec_of(first.open)
        unpacker = await self._workers.acquire(scope.identity, lambda: Unpacker(scope, spec), Unpacker.close)
        try:
            await self._unpack(unpacker, scope.identity, first, messages)
        except ArenError as error:
            raise _with_progress(error, unpacker) from error
        finally:
            self._workers.submit(unpacker.close)
        return api.UploadArchiveResponse(entries=unpacker.entries, bytes=unpacker.bytes)

    async def _unpack(
        self,
        unpacker: Unpacker,
        identity: Identity | None,
        first: api.UploadArchiveRequest,
        messages: AsyncIterator[api.UploadArchiveRequest],
    ) -> None:
        batch: list[bytes] = []
        batch_bytes = 0
        async for message in _with(first, messages):
            if message.data:
                batch.append(message.data)
                batch_bytes += len(message.data)
            if batch_bytes >= BATCH_BYTES:
                await self._workers.finish(identity, unpacker.feed(batch))
                batch, batch_bytes = [], 0
        await self._workers.finish(identity, unpacker.feed(batch))
        await self._workers.finish(identity, unpacker.finish())

    async def WatchDirectory(  # noqa: N802
        self, request: api.WatchDirectoryRequest, context: Context
    ) -> AsyncGenerator[api.WatchDirectoryResponse, None]:
        scope = self._scope(request.root)
        spec, pace = watch_spec_of(request), pace_of(request)
        if request.watch_id:
            watch = self._watches.find(request.watch_id, scope, spec)
        else:
            watch = await self._watches.begin(scope, spec)
        watch_id = watch.watch_id
        async with aclosing(self._watches.follow(watch, request.cursor if request.watch_id else 0, pace)) as batches:
            async for batch in batches:
                yield api.WatchDirectoryResponse(
                    watch_id=watch_id,
                    cursor=batch.cursor,
                    changes=[change_message(change) for change in batch.changes],
                    overflow=batch.overflow,
                )
                watch_id = ""

    # --- what they share ----------------------------------------------------------------------------------------------

    def _scope(self, root: file_pb2.FileRoot) -> Scope:
        if root.isolation_session_id:
            raise Unsupported(
                "isolation sessions are not available in this build yet",
                reason="NOT_YET_AVAILABLE",
                field="root.isolation_session_id",
            )
        directory = self._accounts.read()
        identity = identity_of(root.as_user, directory) if root.as_user else None
        return Scope(self._config, directory, root.root, identity)


class _Transfers:
    """What moves much data: so much at once as there is memory for.

    Some time after the last, the memory that it took goes back to the kernel.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._slots = asyncio.Semaphore(most)
        self._running = 0
        self._trimming: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Be one of them; wait for a turn first.

        Raises:
            ResourceExhausted: None came.
        """
        await self._take_slot()
        if self._trimming is not None:
            self._trimming.cancel()
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            self._slots.release()
            if not self._running:
                self._trimming = asyncio.get_running_loop().call_later(_TRIM_AFTER_S, heap.trim)

    async def _take_slot(self) -> None:
        try:
            async with asyncio.timeout(_TURN_S):
                await self._slots.acquire()
        except TimeoutError:
            raise ResourceExhausted(
                f"{self._most} transfers are under way, as many as the sandbox has memory for",
                reason="TRANSFER_LIMIT",
                retry_after_s=5.0,
                fix="end some of them, or give the sandbox more memory",
            ) from None


class _Receiving:
    """Writes chunks as they come, a batch at a time; hashes the last batch, and receives the next one, meanwhile."""

    def __init__(self, workers: FileWorkers, upload: Upload, token: int, identity: Identity | None) -> None:
        self._workers = workers
        self._upload = upload
        self._token = token
        self._identity = identity
        self._writing: asyncio.Future[None] | None = None
        self._hashing: asyncio.Future[None] | None = None
        self.received_bytes = 0

    async def run(self, messages: AsyncIterator[api.WriteRequest | Part]) -> api.WriteFinish | None:
        """Return the end of the file, once all before it is written; None when the stream ended without one."""
        batch: list[tuple[int, bytes | memoryview]] = []
        batch_bytes = 0
        async for message in messages:
            if data := message.data:
                batch.append((message.offset, data))
                batch_bytes += len(data)
                self.received_bytes += len(data)
            if batch_bytes >= BATCH_BYTES:
                await self._write(batch)
                batch, batch_bytes = [], 0
            if not isinstance(message, Part) and message.HasField("finish"):
                await self._write(batch)
                await self._written()
                return message.finish
        await self._write(batch)
        await self._written()
        return None

    def close(self) -> None:
        """Take no more interest in what is being written."""
        if self._writing is not None:
            self._writing.cancel()
            self._workers.submit(self._upload.hash)

    async def _write(self, batch: list[tuple[int, bytes | memoryview]]) -> None:
        await self._written()
        if batch:
            self._writing = self._workers.start(self._identity, self._upload.write, self._token, batch)

    async def _written(self) -> None:
        if self._writing is not None:
            await self._writing
            self._writing = None
            if self._hashing is not None:
                await self._hashing
            self._hashing = self._workers.start(None, self._upload.hash)


def _may_resume(error: BaseException) -> bool:
    """Whether an upload that ended so can be gone on with: it broke off, was taken over, or may yet fit on the disk."""
    return isinstance(error, asyncio.CancelledError | Conflict | ResourceExhausted) or (
        isinstance(error, InvalidArgument) and error.reason == _UNFINISHED
    )


def _upload_key(upload_id: str, root: file_pb2.FileRoot, path: bytes, identity: Identity | None) -> UploadKey:
    key = UploadKey(upload_id, root.root, path, identity)
    key.check()
    return key


async def _first(messages: AsyncIterator[_Message | Part]) -> _Message:
    """Return the message that opens a stream.

    Raises:
        InvalidArgument: There is none, or it opens nothing.
    """
    message = await anext(messages, None)
    if message is None or isinstance(message, Part) or not message.HasField("open"):  # type: ignore[attr-defined]
        raise InvalidArgument("the first message must carry `open`", reason="NOT_OPENED", field="open")
    return message


async def _with(first: _Message, following: AsyncIterator[_Message]) -> AsyncIterator[_Message]:
    yield first
    async for message in following:
        yield message


def _with_progress(error: ArenError, unpacker: Unpacker) -> ArenError:
    """Say how much of an archive was unpacked before it failed."""
    return type(error)(
        error.message,
        reason=error.reason,
        field=error.field,
        fix=error.fix,
        retry_after_s=error.retry_after_s,
        metadata={**error.metadata, "entries": str(unpacker.entries), "bytes": str(unpacker.bytes)},
    )
