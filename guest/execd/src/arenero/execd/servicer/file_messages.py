"""Files, changes and search results as messages, and requests as what the file modules take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from google.protobuf.timestamp_pb2 import Timestamp

from arenero.api.execd.v1 import file_pb2
from arenero.api.execd.v1 import file_service_pb2 as api
from arenero.errors import InvalidArgument
from arenero.execd.changes import Change
from arenero.execd.entries import Entry, Kind
from arenero.execd.packing import PackSpec
from arenero.execd.reading import DEFAULT_CHUNK_BYTES, Chunk, ReadRange
from arenero.execd.replace import Replaced, Replacement
from arenero.execd.scope import checked_mode
from arenero.execd.search import DEFAULT_LIMIT, Match, SearchSpec
from arenero.execd.servicer.fields import at_most, seconds_of
from arenero.execd.unpacking import DEFAULT_MOST_ENTRIES, UnpackSpec
from arenero.execd.uploads import WriteMode, WriteSpec
from arenero.execd.walking import DEEPEST
from arenero.execd.watches import (
    DEFAULT_COALESCE_S,
    DEFAULT_HEARTBEAT_S,
    LEAST_HEARTBEAT_S,
    MOST_COALESCE_S,
    Pace,
    WatchSpec,
)

_NS: Final = 1_000_000_000
_WRITE_MODES: Final = {
    api.WRITE_MODE_UNSPECIFIED: WriteMode.REPLACE,
    api.WRITE_MODE_REPLACE: WriteMode.REPLACE,
    api.WRITE_MODE_CREATE: WriteMode.CREATE,
    api.WRITE_MODE_APPEND: WriteMode.APPEND,
    api.WRITE_MODE_IN_PLACE: WriteMode.IN_PLACE,
}
_COMPRESSED: Final = {
    api.ARCHIVE_COMPRESSION_UNSPECIFIED: False,
    api.ARCHIVE_COMPRESSION_NONE: False,
    api.ARCHIVE_COMPRESSION_GZIP: True,
}


def stat_message(entry: Entry) -> file_pb2.FileStat:
    """Return an entry as a message."""
    status = entry.status
    kind: Any = entry.kind.value
    return file_pb2.FileStat(
        path=entry.path,
        type=kind,
        size_bytes=status.size_bytes,
        disk_bytes=status.disk_bytes,
        mode=status.mode & 0o7777,
        uid=status.uid,
        gid=status.gid,
        owner=entry.owner,
        group=entry.group,
        modified_at=_timestamp(status.modified_ns),
        changed_at=_timestamp(status.changed_ns),
        accessed_at=_timestamp(status.accessed_ns),
        created_at=None if status.created_ns is None else _timestamp(status.created_ns),
        link_target=entry.link_target,
        links=status.links,
        inode=status.inode,
    )


def chunk_message(chunk: Chunk) -> api.ReadResponse:
    """Return a part of a file as a message."""
    return api.ReadResponse(
        stat=None if chunk.entry is None else stat_message(chunk.entry),
        offset=chunk.offset,
        data=chunk.data,
        sha256=chunk.sha256,
        end=chunk.is_end,
    )


def match_message(match: Match) -> api.SearchMatch:
    """Return a search result as a message."""
    return api.SearchMatch(stat=stat_message(match.entry), line=match.line, text=match.text)


def change_message(change: Change) -> api.FileChange:
    """Return a change as a message."""
    kind: Any = change.kind.value
    return api.FileChange(kind=kind, path=change.path, moved_from=change.moved_from, is_directory=change.is_directory)


def replaced_message(result: Replaced) -> api.ReplaceResult:
    """Return the outcome of a change of text as a message."""
    return api.ReplaceResult(path=result.path, replaced=result.count, reason=result.reason, message=result.message)


def range_of(request: api.ReadRequest) -> ReadRange:
    """Return what to read."""
    return ReadRange(
        offset=request.offset,
        length=request.length,
        is_sparse=request.sparse,
        chunk_bytes=request.chunk_bytes or DEFAULT_CHUNK_BYTES,
        has_checksum=request.checksum,
    )


def write_spec_of(opening: api.WriteOpen) -> WriteSpec:
    """Return what to write.

    Raises:
        InvalidArgument: The mode of the file or of the writing makes no sense.
    """
    write_mode = _WRITE_MODES.get(opening.write_mode)
    if write_mode is None:
        raise InvalidArgument("the write mode is not known", reason="UNKNOWN_WRITE_MODE", field="open.write_mode")
    return WriteSpec(
        path=opening.path,
        mode=checked_mode(opening.mode, "open.mode") if opening.HasField("mode") else None,
        owner=opening.ownership.owner,
        group=opening.ownership.group,
        make_parents=opening.make_parents,
        write_mode=write_mode,
        expected_size_bytes=opening.expected_size_bytes,
        sync=opening.sync,
        has_checksum=opening.checksum,
    )


def search_spec_of(request: api.SearchRequest) -> SearchSpec:
    """Return what to look for. Kinds that this version doesn't know match nothing."""
    return SearchSpec(
        path=request.path,
        glob=request.glob,
        content=request.content,
        exclude=tuple(request.exclude),
        limit=request.limit or DEFAULT_LIMIT,
        ignore_case=request.ignore_case,
        depth=at_most("depth", request.depth, DEEPEST) or DEEPEST,
        kinds=_kinds(request.types),
    )


def replacements_of(request: api.ReplaceRequest) -> list[Replacement]:
    """Return the changes of text."""
    return [Replacement(each.path, each.old, each.new, each.expected_count) for each in request.replacements]


def pack_spec_of(request: api.DownloadArchiveRequest) -> PackSpec:
    """Return what to pack."""
    return PackSpec(
        base=request.base,
        paths=tuple(request.paths),
        exclude=tuple(request.exclude),
        is_compressed=_is_compressed(request.compression, "compression"),
    )


def unpack_spec_of(opening: api.UploadArchiveOpen) -> UnpackSpec:
    """Return where to unpack, and how.

    Raises:
        InvalidArgument: Owners are both given and to be kept.
    """
    if opening.keep_owners and (opening.ownership.owner or opening.ownership.group):
        raise InvalidArgument(
            "owners are either given or the archive's", reason="OWNERS_TWICE", field="open.keep_owners"
        )
    return UnpackSpec(
        path=opening.path,
        owner=opening.ownership.owner,
        group=opening.ownership.group,
        keep_owners=opening.keep_owners,
        is_compressed=_is_compressed(opening.compression, "open.compression"),
        most_entries=opening.max_entries or DEFAULT_MOST_ENTRIES,
        most_bytes=opening.max_bytes,
        outside_links=opening.outside_links,
    )


def watch_spec_of(request: api.WatchDirectoryRequest) -> WatchSpec:
    """Return what to watch."""
    return WatchSpec(request.root.root, request.path, request.recursive, tuple(request.ignore))


def pace_of(request: api.WatchDirectoryRequest) -> Pace:
    """Return how often the reader of a watch wants to hear.

    Raises:
        InvalidArgument: A duration is out of range.
    """
    coalesce_s = seconds_of(request, "coalesce", high_s=MOST_COALESCE_S)
    heartbeat_s = seconds_of(request, "heartbeat", low_s=LEAST_HEARTBEAT_S)
    return Pace(
        coalesce_s=DEFAULT_COALESCE_S if coalesce_s is None else coalesce_s,
        heartbeat_s=DEFAULT_HEARTBEAT_S if heartbeat_s is None else heartbeat_s,
    )


def _kinds(types: Iterable[int]) -> frozenset[Kind]:
    known = {kind.value for kind in Kind}
    return frozenset(Kind(number) if number in known else Kind.UNKNOWN for number in types)


def _is_compressed(compression: int, field: str) -> bool:
    is_compressed = _COMPRESSED.get(compression)  # type: ignore[call-overload]
    if is_compressed is None:
        raise InvalidArgument("the compression is not known", reason="UNKNOWN_COMPRESSION", field=field)
    return bool(is_compressed)


def _timestamp(ns: int) -> Timestamp:
    return Timestamp(seconds=ns // _NS, nanos=ns % _NS)
