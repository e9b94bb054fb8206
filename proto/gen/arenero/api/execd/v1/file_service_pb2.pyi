import datetime

from arenero.api.execd.v1 import file_pb2 as _file_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WriteMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WRITE_MODE_UNSPECIFIED: _ClassVar[WriteMode]
    WRITE_MODE_REPLACE: _ClassVar[WriteMode]
    WRITE_MODE_CREATE: _ClassVar[WriteMode]
    WRITE_MODE_APPEND: _ClassVar[WriteMode]
    WRITE_MODE_IN_PLACE: _ClassVar[WriteMode]

class ArchiveCompression(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ARCHIVE_COMPRESSION_UNSPECIFIED: _ClassVar[ArchiveCompression]
    ARCHIVE_COMPRESSION_NONE: _ClassVar[ArchiveCompression]
    ARCHIVE_COMPRESSION_GZIP: _ClassVar[ArchiveCompression]

class FileChangeKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FILE_CHANGE_KIND_UNSPECIFIED: _ClassVar[FileChangeKind]
    FILE_CHANGE_KIND_CREATED: _ClassVar[FileChangeKind]
    FILE_CHANGE_KIND_MODIFIED: _ClassVar[FileChangeKind]
    FILE_CHANGE_KIND_REMOVED: _ClassVar[FileChangeKind]
    FILE_CHANGE_KIND_MOVED: _ClassVar[FileChangeKind]
    FILE_CHANGE_KIND_ATTRIBUTES: _ClassVar[FileChangeKind]
WRITE_MODE_UNSPECIFIED: WriteMode
WRITE_MODE_REPLACE: WriteMode
WRITE_MODE_CREATE: WriteMode
WRITE_MODE_APPEND: WriteMode
WRITE_MODE_IN_PLACE: WriteMode
ARCHIVE_COMPRESSION_UNSPECIFIED: ArchiveCompression
ARCHIVE_COMPRESSION_NONE: ArchiveCompression
ARCHIVE_COMPRESSION_GZIP: ArchiveCompression
FILE_CHANGE_KIND_UNSPECIFIED: FileChangeKind
FILE_CHANGE_KIND_CREATED: FileChangeKind
FILE_CHANGE_KIND_MODIFIED: FileChangeKind
FILE_CHANGE_KIND_REMOVED: FileChangeKind
FILE_CHANGE_KIND_MOVED: FileChangeKind
FILE_CHANGE_KIND_ATTRIBUTES: FileChangeKind

class ReadRequest(_message.Message):
    __slots__ = ("root", "path", "offset", "length", "sparse", "chunk_bytes", "checksum")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    SPARSE_FIELD_NUMBER: _ClassVar[int]
    CHUNK_BYTES_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    path: bytes
    offset: int
    length: int
    sparse: bool
    chunk_bytes: int
    checksum: bool
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., path: _Optional[bytes] = ..., offset: _Optional[int] = ..., length: _Optional[int] = ..., sparse: _Optional[bool] = ..., chunk_bytes: _Optional[int] = ..., checksum: _Optional[bool] = ...) -> None: ...

class ReadResponse(_message.Message):
    __slots__ = ("stat", "offset", "data", "sha256", "end")
    STAT_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    stat: _file_pb2.FileStat
    offset: int
    data: bytes
    sha256: bytes
    end: bool
    def __init__(self, stat: _Optional[_Union[_file_pb2.FileStat, _Mapping]] = ..., offset: _Optional[int] = ..., data: _Optional[bytes] = ..., sha256: _Optional[bytes] = ..., end: _Optional[bool] = ...) -> None: ...

class WriteRequest(_message.Message):
    __slots__ = ("open", "offset", "data", "finish")
    OPEN_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    FINISH_FIELD_NUMBER: _ClassVar[int]
    open: WriteOpen
    offset: int
    data: bytes
    finish: WriteFinish
    def __init__(self, open: _Optional[_Union[WriteOpen, _Mapping]] = ..., offset: _Optional[int] = ..., data: _Optional[bytes] = ..., finish: _Optional[_Union[WriteFinish, _Mapping]] = ...) -> None: ...

class WriteOpen(_message.Message):
    __slots__ = ("root", "path", "mode", "ownership", "make_parents", "write_mode", "upload_id", "expected_size_bytes", "sync", "checksum")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    OWNERSHIP_FIELD_NUMBER: _ClassVar[int]
    MAKE_PARENTS_FIELD_NUMBER: _ClassVar[int]
    WRITE_MODE_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SYNC_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    path: bytes
    mode: int
    ownership: _file_pb2.Ownership
    make_parents: bool
    write_mode: WriteMode
    upload_id: str
    expected_size_bytes: int
    sync: bool
    checksum: bool
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., path: _Optional[bytes] = ..., mode: _Optional[int] = ..., ownership: _Optional[_Union[_file_pb2.Ownership, _Mapping]] = ..., make_parents: _Optional[bool] = ..., write_mode: _Optional[_Union[WriteMode, str]] = ..., upload_id: _Optional[str] = ..., expected_size_bytes: _Optional[int] = ..., sync: _Optional[bool] = ..., checksum: _Optional[bool] = ...) -> None: ...

class WriteFinish(_message.Message):
    __slots__ = ("size_bytes", "sha256")
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    size_bytes: int
    sha256: bytes
    def __init__(self, size_bytes: _Optional[int] = ..., sha256: _Optional[bytes] = ...) -> None: ...

class WriteResponse(_message.Message):
    __slots__ = ("stat", "written_in_place", "received_bytes", "attributes_refused")
    STAT_FIELD_NUMBER: _ClassVar[int]
    WRITTEN_IN_PLACE_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_BYTES_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_REFUSED_FIELD_NUMBER: _ClassVar[int]
    stat: _file_pb2.FileStat
    written_in_place: bool
    received_bytes: int
    attributes_refused: bool
    def __init__(self, stat: _Optional[_Union[_file_pb2.FileStat, _Mapping]] = ..., written_in_place: _Optional[bool] = ..., received_bytes: _Optional[int] = ..., attributes_refused: _Optional[bool] = ...) -> None: ...

class WriteStatusRequest(_message.Message):
    __slots__ = ("root", "path", "upload_id")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    path: bytes
    upload_id: str
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., path: _Optional[bytes] = ..., upload_id: _Optional[str] = ...) -> None: ...

class WriteStatusResponse(_message.Message):
    __slots__ = ("received_offset",)
    RECEIVED_OFFSET_FIELD_NUMBER: _ClassVar[int]
    received_offset: int
    def __init__(self, received_offset: _Optional[int] = ...) -> None: ...

class ListDirectoryRequest(_message.Message):
    __slots__ = ("root", "path", "depth", "limit")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    path: bytes
    depth: int
    limit: int
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., path: _Optional[bytes] = ..., depth: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class ListDirectoryResponse(_message.Message):
    __slots__ = ("entries", "truncated")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[_file_pb2.FileStat]
    truncated: bool
    def __init__(self, entries: _Optional[_Iterable[_Union[_file_pb2.FileStat, _Mapping]]] = ..., truncated: _Optional[bool] = ...) -> None: ...

class StatRequest(_message.Message):
    __slots__ = ("root", "path", "follow")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    FOLLOW_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    path: bytes
    follow: bool
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., path: _Optional[bytes] = ..., follow: _Optional[bool] = ...) -> None: ...

class StatResponse(_message.Message):
    __slots__ = ("stat",)
    STAT_FIELD_NUMBER: _ClassVar[int]
    stat: _file_pb2.FileStat
    def __init__(self, stat: _Optional[_Union[_file_pb2.FileStat, _Mapping]] = ...) -> None: ...

class MoveRequest(_message.Message):
    __slots__ = ("root", "source", "destination", "overwrite", "make_parents")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_FIELD_NUMBER: _ClassVar[int]
    OVERWRITE_FIELD_NUMBER: _ClassVar[int]
    MAKE_PARENTS_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    source: bytes
    destination: bytes
    overwrite: bool
    make_parents: bool
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., source: _Optional[bytes] = ..., destination: _Optional[bytes] = ..., overwrite: _Optional[bool] = ..., make_parents: _Optional[bool] = ...) -> None: ...

class MoveResponse(_message.Message):
    __slots__ = ("stat",)
    STAT_FIELD_NUMBER: _ClassVar[int]
    stat: _file_pb2.FileStat
    def __init__(self, stat: _Optional[_Union[_file_pb2.FileStat, _Mapping]] = ...) -> None: ...

class RemoveRequest(_message.Message):
    __slots__ = ("root", "path", "recursive", "ignore_missing")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    RECURSIVE_FIELD_NUMBER: _ClassVar[int]
    IGNORE_MISSING_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    path: bytes
    recursive: bool
    ignore_missing: bool
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., path: _Optional[bytes] = ..., recursive: _Optional[bool] = ..., ignore_missing: _Optional[bool] = ...) -> None: ...

class RemoveResponse(_message.Message):
    __slots__ = ("removed",)
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    removed: int
    def __init__(self, removed: _Optional[int] = ...) -> None: ...

class MakeDirectoryRequest(_message.Message):
    __slots__ = ("root", "path", "mode", "ownership", "make_parents")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    OWNERSHIP_FIELD_NUMBER: _ClassVar[int]
    MAKE_PARENTS_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    path: bytes
    mode: int
    ownership: _file_pb2.Ownership
    make_parents: bool
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., path: _Optional[bytes] = ..., mode: _Optional[int] = ..., ownership: _Optional[_Union[_file_pb2.Ownership, _Mapping]] = ..., make_parents: _Optional[bool] = ...) -> None: ...

class MakeDirectoryResponse(_message.Message):
    __slots__ = ("stat", "made")
    STAT_FIELD_NUMBER: _ClassVar[int]
    MADE_FIELD_NUMBER: _ClassVar[int]
    stat: _file_pb2.FileStat
    made: int
    def __init__(self, stat: _Optional[_Union[_file_pb2.FileStat, _Mapping]] = ..., made: _Optional[int] = ...) -> None: ...

class ChmodRequest(_message.Message):
    __slots__ = ("root", "path", "mode", "recursive")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    RECURSIVE_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    path: bytes
    mode: int
    recursive: bool
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., path: _Optional[bytes] = ..., mode: _Optional[int] = ..., recursive: _Optional[bool] = ...) -> None: ...

class ChmodResponse(_message.Message):
    __slots__ = ("changed",)
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    changed: int
    def __init__(self, changed: _Optional[int] = ...) -> None: ...

class ChownRequest(_message.Message):
    __slots__ = ("root", "path", "ownership", "recursive")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    OWNERSHIP_FIELD_NUMBER: _ClassVar[int]
    RECURSIVE_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    path: bytes
    ownership: _file_pb2.Ownership
    recursive: bool
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., path: _Optional[bytes] = ..., ownership: _Optional[_Union[_file_pb2.Ownership, _Mapping]] = ..., recursive: _Optional[bool] = ...) -> None: ...

class ChownResponse(_message.Message):
    __slots__ = ("changed",)
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    changed: int
    def __init__(self, changed: _Optional[int] = ...) -> None: ...

class SymlinkRequest(_message.Message):
    __slots__ = ("root", "path", "target")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    path: bytes
    target: bytes
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., path: _Optional[bytes] = ..., target: _Optional[bytes] = ...) -> None: ...

class SymlinkResponse(_message.Message):
    __slots__ = ("stat",)
    STAT_FIELD_NUMBER: _ClassVar[int]
    stat: _file_pb2.FileStat
    def __init__(self, stat: _Optional[_Union[_file_pb2.FileStat, _Mapping]] = ...) -> None: ...

class SearchRequest(_message.Message):
    __slots__ = ("root", "path", "glob", "content", "exclude", "limit", "ignore_case", "depth", "types")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    GLOB_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    EXCLUDE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    IGNORE_CASE_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    path: bytes
    glob: str
    content: str
    exclude: _containers.RepeatedScalarFieldContainer[str]
    limit: int
    ignore_case: bool
    depth: int
    types: _containers.RepeatedScalarFieldContainer[_file_pb2.FileType]
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., path: _Optional[bytes] = ..., glob: _Optional[str] = ..., content: _Optional[str] = ..., exclude: _Optional[_Iterable[str]] = ..., limit: _Optional[int] = ..., ignore_case: _Optional[bool] = ..., depth: _Optional[int] = ..., types: _Optional[_Iterable[_Union[_file_pb2.FileType, str]]] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("matches", "truncated", "unreadable")
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    matches: _containers.RepeatedCompositeFieldContainer[SearchMatch]
    truncated: bool
    unreadable: int
    def __init__(self, matches: _Optional[_Iterable[_Union[SearchMatch, _Mapping]]] = ..., truncated: _Optional[bool] = ..., unreadable: _Optional[int] = ...) -> None: ...

class SearchMatch(_message.Message):
    __slots__ = ("stat", "line", "text")
    STAT_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    stat: _file_pb2.FileStat
    line: int
    text: bytes
    def __init__(self, stat: _Optional[_Union[_file_pb2.FileStat, _Mapping]] = ..., line: _Optional[int] = ..., text: _Optional[bytes] = ...) -> None: ...

class ReplaceRequest(_message.Message):
    __slots__ = ("root", "replacements", "all_or_nothing")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    REPLACEMENTS_FIELD_NUMBER: _ClassVar[int]
    ALL_OR_NOTHING_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    replacements: _containers.RepeatedCompositeFieldContainer[Replacement]
    all_or_nothing: bool
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., replacements: _Optional[_Iterable[_Union[Replacement, _Mapping]]] = ..., all_or_nothing: _Optional[bool] = ...) -> None: ...

class Replacement(_message.Message):
    __slots__ = ("path", "old", "new", "expected_count")
    PATH_FIELD_NUMBER: _ClassVar[int]
    OLD_FIELD_NUMBER: _ClassVar[int]
    NEW_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_COUNT_FIELD_NUMBER: _ClassVar[int]
    path: bytes
    old: bytes
    new: bytes
    expected_count: int
    def __init__(self, path: _Optional[bytes] = ..., old: _Optional[bytes] = ..., new: _Optional[bytes] = ..., expected_count: _Optional[int] = ...) -> None: ...

class ReplaceResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[ReplaceResult]
    def __init__(self, results: _Optional[_Iterable[_Union[ReplaceResult, _Mapping]]] = ...) -> None: ...

class ReplaceResult(_message.Message):
    __slots__ = ("path", "replaced", "reason", "message")
    PATH_FIELD_NUMBER: _ClassVar[int]
    REPLACED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    path: bytes
    replaced: int
    reason: str
    message: str
    def __init__(self, path: _Optional[bytes] = ..., replaced: _Optional[int] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class DownloadArchiveRequest(_message.Message):
    __slots__ = ("root", "base", "paths", "exclude", "compression")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    EXCLUDE_FIELD_NUMBER: _ClassVar[int]
    COMPRESSION_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    base: bytes
    paths: _containers.RepeatedScalarFieldContainer[bytes]
    exclude: _containers.RepeatedScalarFieldContainer[str]
    compression: ArchiveCompression
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., base: _Optional[bytes] = ..., paths: _Optional[_Iterable[bytes]] = ..., exclude: _Optional[_Iterable[str]] = ..., compression: _Optional[_Union[ArchiveCompression, str]] = ...) -> None: ...

class DownloadArchiveResponse(_message.Message):
    __slots__ = ("data", "entries", "skipped", "end", "skipped_count")
    DATA_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_COUNT_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    entries: int
    skipped: _containers.RepeatedScalarFieldContainer[bytes]
    end: bool
    skipped_count: int
    def __init__(self, data: _Optional[bytes] = ..., entries: _Optional[int] = ..., skipped: _Optional[_Iterable[bytes]] = ..., end: _Optional[bool] = ..., skipped_count: _Optional[int] = ...) -> None: ...

class UploadArchiveRequest(_message.Message):
    __slots__ = ("open", "data")
    OPEN_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    open: UploadArchiveOpen
    data: bytes
    def __init__(self, open: _Optional[_Union[UploadArchiveOpen, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class UploadArchiveOpen(_message.Message):
    __slots__ = ("root", "path", "ownership", "keep_owners", "compression", "max_entries", "max_bytes", "outside_links")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    OWNERSHIP_FIELD_NUMBER: _ClassVar[int]
    KEEP_OWNERS_FIELD_NUMBER: _ClassVar[int]
    COMPRESSION_FIELD_NUMBER: _ClassVar[int]
    MAX_ENTRIES_FIELD_NUMBER: _ClassVar[int]
    MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    OUTSIDE_LINKS_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    path: bytes
    ownership: _file_pb2.Ownership
    keep_owners: bool
    compression: ArchiveCompression
    max_entries: int
    max_bytes: int
    outside_links: bool
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., path: _Optional[bytes] = ..., ownership: _Optional[_Union[_file_pb2.Ownership, _Mapping]] = ..., keep_owners: _Optional[bool] = ..., compression: _Optional[_Union[ArchiveCompression, str]] = ..., max_entries: _Optional[int] = ..., max_bytes: _Optional[int] = ..., outside_links: _Optional[bool] = ...) -> None: ...

class UploadArchiveResponse(_message.Message):
    __slots__ = ("entries", "bytes")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    entries: int
    bytes: int
    def __init__(self, entries: _Optional[int] = ..., bytes: _Optional[int] = ...) -> None: ...

class WatchDirectoryRequest(_message.Message):
    __slots__ = ("root", "path", "recursive", "ignore", "coalesce", "cursor", "watch_id", "heartbeat")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    RECURSIVE_FIELD_NUMBER: _ClassVar[int]
    IGNORE_FIELD_NUMBER: _ClassVar[int]
    COALESCE_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    WATCH_ID_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    root: _file_pb2.FileRoot
    path: bytes
    recursive: bool
    ignore: _containers.RepeatedScalarFieldContainer[str]
    coalesce: _duration_pb2.Duration
    cursor: int
    watch_id: str
    heartbeat: _duration_pb2.Duration
    def __init__(self, root: _Optional[_Union[_file_pb2.FileRoot, _Mapping]] = ..., path: _Optional[bytes] = ..., recursive: _Optional[bool] = ..., ignore: _Optional[_Iterable[str]] = ..., coalesce: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., cursor: _Optional[int] = ..., watch_id: _Optional[str] = ..., heartbeat: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class WatchDirectoryResponse(_message.Message):
    __slots__ = ("watch_id", "cursor", "changes", "overflow")
    WATCH_ID_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    OVERFLOW_FIELD_NUMBER: _ClassVar[int]
    watch_id: str
    cursor: int
    changes: _containers.RepeatedCompositeFieldContainer[FileChange]
    overflow: bool
    def __init__(self, watch_id: _Optional[str] = ..., cursor: _Optional[int] = ..., changes: _Optional[_Iterable[_Union[FileChange, _Mapping]]] = ..., overflow: _Optional[bool] = ...) -> None: ...

class FileChange(_message.Message):
    __slots__ = ("kind", "path", "moved_from", "is_directory")
    KIND_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    MOVED_FROM_FIELD_NUMBER: _ClassVar[int]
    IS_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    kind: FileChangeKind
    path: bytes
    moved_from: bytes
    is_directory: bool
    def __init__(self, kind: _Optional[_Union[FileChangeKind, str]] = ..., path: _Optional[bytes] = ..., moved_from: _Optional[bytes] = ..., is_directory: _Optional[bool] = ...) -> None: ...
