import datetime

from arenero.api.common.v1 import page_pb2 as _page_pb2
from arenero.api.lifecycle.v1 import sandbox_pb2 as _sandbox_pb2
from arenero.api.snapshot.v1 import snapshot_pb2 as _snapshot_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MemoryDemand(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MEMORY_DEMAND_UNSPECIFIED: _ClassVar[MemoryDemand]
    MEMORY_DEMAND_NONE: _ClassVar[MemoryDemand]
    MEMORY_DEMAND_PREFERRED: _ClassVar[MemoryDemand]
    MEMORY_DEMAND_REQUIRED: _ClassVar[MemoryDemand]

class CreateWait(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CREATE_WAIT_UNSPECIFIED: _ClassVar[CreateWait]
    CREATE_WAIT_READY: _ClassVar[CreateWait]
    CREATE_WAIT_ACCEPTED: _ClassVar[CreateWait]

class DiffKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DIFF_KIND_UNSPECIFIED: _ClassVar[DiffKind]
    DIFF_KIND_ADDED: _ClassVar[DiffKind]
    DIFF_KIND_CHANGED: _ClassVar[DiffKind]
    DIFF_KIND_DELETED: _ClassVar[DiffKind]
MEMORY_DEMAND_UNSPECIFIED: MemoryDemand
MEMORY_DEMAND_NONE: MemoryDemand
MEMORY_DEMAND_PREFERRED: MemoryDemand
MEMORY_DEMAND_REQUIRED: MemoryDemand
CREATE_WAIT_UNSPECIFIED: CreateWait
CREATE_WAIT_READY: CreateWait
CREATE_WAIT_ACCEPTED: CreateWait
DIFF_KIND_UNSPECIFIED: DiffKind
DIFF_KIND_ADDED: DiffKind
DIFF_KIND_CHANGED: DiffKind
DIFF_KIND_DELETED: DiffKind

class CreateRequest(_message.Message):
    __slots__ = ("request_id", "sandbox_id", "name", "metadata", "memory", "purpose", "before_exec_id", "ttl", "pinned", "wait", "max_frozen")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    BEFORE_EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    MAX_FROZEN_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    sandbox_id: str
    name: str
    metadata: _containers.ScalarMap[str, str]
    memory: MemoryDemand
    purpose: _snapshot_pb2.SnapshotPurpose
    before_exec_id: str
    ttl: _duration_pb2.Duration
    pinned: bool
    wait: CreateWait
    max_frozen: _duration_pb2.Duration
    def __init__(self, request_id: _Optional[str] = ..., sandbox_id: _Optional[str] = ..., name: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ..., memory: _Optional[_Union[MemoryDemand, str]] = ..., purpose: _Optional[_Union[_snapshot_pb2.SnapshotPurpose, str]] = ..., before_exec_id: _Optional[str] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., pinned: _Optional[bool] = ..., wait: _Optional[_Union[CreateWait, str]] = ..., max_frozen: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class CreateResponse(_message.Message):
    __slots__ = ("snapshot", "repeated_request")
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    REPEATED_REQUEST_FIELD_NUMBER: _ClassVar[int]
    snapshot: _snapshot_pb2.Snapshot
    repeated_request: bool
    def __init__(self, snapshot: _Optional[_Union[_snapshot_pb2.Snapshot, _Mapping]] = ..., repeated_request: _Optional[bool] = ...) -> None: ...

class GetRequest(_message.Message):
    __slots__ = ("snapshot_id",)
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    snapshot_id: str
    def __init__(self, snapshot_id: _Optional[str] = ...) -> None: ...

class GetResponse(_message.Message):
    __slots__ = ("snapshot",)
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    snapshot: _snapshot_pb2.Snapshot
    def __init__(self, snapshot: _Optional[_Union[_snapshot_pb2.Snapshot, _Mapping]] = ...) -> None: ...

class SnapshotFilter(_message.Message):
    __slots__ = ("states", "purposes", "sandbox_id", "name", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    STATES_FIELD_NUMBER: _ClassVar[int]
    PURPOSES_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    states: _containers.RepeatedScalarFieldContainer[_snapshot_pb2.SnapshotState]
    purposes: _containers.RepeatedScalarFieldContainer[_snapshot_pb2.SnapshotPurpose]
    sandbox_id: str
    name: str
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, states: _Optional[_Iterable[_Union[_snapshot_pb2.SnapshotState, str]]] = ..., purposes: _Optional[_Iterable[_Union[_snapshot_pb2.SnapshotPurpose, str]]] = ..., sandbox_id: _Optional[str] = ..., name: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("filter", "page")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    filter: SnapshotFilter
    page: _page_pb2.PageRequest
    def __init__(self, filter: _Optional[_Union[SnapshotFilter, _Mapping]] = ..., page: _Optional[_Union[_page_pb2.PageRequest, _Mapping]] = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("snapshots", "page")
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    snapshots: _containers.RepeatedCompositeFieldContainer[_snapshot_pb2.Snapshot]
    page: _page_pb2.PageResult
    def __init__(self, snapshots: _Optional[_Iterable[_Union[_snapshot_pb2.Snapshot, _Mapping]]] = ..., page: _Optional[_Union[_page_pb2.PageResult, _Mapping]] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("snapshot_id", "filter")
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    snapshot_id: str
    filter: SnapshotFilter
    def __init__(self, snapshot_id: _Optional[str] = ..., filter: _Optional[_Union[SnapshotFilter, _Mapping]] = ...) -> None: ...

class WatchResponse(_message.Message):
    __slots__ = ("snapshot", "fact")
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    FACT_FIELD_NUMBER: _ClassVar[int]
    snapshot: _snapshot_pb2.Snapshot
    fact: str
    def __init__(self, snapshot: _Optional[_Union[_snapshot_pb2.Snapshot, _Mapping]] = ..., fact: _Optional[str] = ...) -> None: ...

class UpdateRequest(_message.Message):
    __slots__ = ("snapshot_id", "name", "set_metadata", "remove_metadata", "pinned", "expires_at", "never_expires", "expected_revision")
    class SetMetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SET_METADATA_FIELD_NUMBER: _ClassVar[int]
    REMOVE_METADATA_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    NEVER_EXPIRES_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    snapshot_id: str
    name: str
    set_metadata: _containers.ScalarMap[str, str]
    remove_metadata: _containers.RepeatedScalarFieldContainer[str]
    pinned: bool
    expires_at: _timestamp_pb2.Timestamp
    never_expires: bool
    expected_revision: int
    def __init__(self, snapshot_id: _Optional[str] = ..., name: _Optional[str] = ..., set_metadata: _Optional[_Mapping[str, str]] = ..., remove_metadata: _Optional[_Iterable[str]] = ..., pinned: _Optional[bool] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., never_expires: _Optional[bool] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class UpdateResponse(_message.Message):
    __slots__ = ("snapshot",)
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    snapshot: _snapshot_pb2.Snapshot
    def __init__(self, snapshot: _Optional[_Union[_snapshot_pb2.Snapshot, _Mapping]] = ...) -> None: ...

class DeleteRequest(_message.Message):
    __slots__ = ("snapshot_id", "expected_revision", "even_if_pinned", "no_wait")
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    EVEN_IF_PINNED_FIELD_NUMBER: _ClassVar[int]
    NO_WAIT_FIELD_NUMBER: _ClassVar[int]
    snapshot_id: str
    expected_revision: int
    even_if_pinned: bool
    no_wait: bool
    def __init__(self, snapshot_id: _Optional[str] = ..., expected_revision: _Optional[int] = ..., even_if_pinned: _Optional[bool] = ..., no_wait: _Optional[bool] = ...) -> None: ...

class DeleteResponse(_message.Message):
    __slots__ = ("snapshot",)
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    snapshot: _snapshot_pb2.Snapshot
    def __init__(self, snapshot: _Optional[_Union[_snapshot_pb2.Snapshot, _Mapping]] = ...) -> None: ...

class RegistryAccess(_message.Message):
    __slots__ = ("username", "password", "plain_http")
    USERNAME_FIELD_NUMBER: _ClassVar[int]
    PASSWORD_FIELD_NUMBER: _ClassVar[int]
    PLAIN_HTTP_FIELD_NUMBER: _ClassVar[int]
    username: str
    password: str
    plain_http: bool
    def __init__(self, username: _Optional[str] = ..., password: _Optional[str] = ..., plain_http: _Optional[bool] = ...) -> None: ...

class PushRequest(_message.Message):
    __slots__ = ("snapshot_id", "reference", "access")
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    ACCESS_FIELD_NUMBER: _ClassVar[int]
    snapshot_id: str
    reference: str
    access: RegistryAccess
    def __init__(self, snapshot_id: _Optional[str] = ..., reference: _Optional[str] = ..., access: _Optional[_Union[RegistryAccess, _Mapping]] = ...) -> None: ...

class TransferProgress(_message.Message):
    __slots__ = ("blobs_done", "blobs_total", "done_bytes", "total_bytes")
    BLOBS_DONE_FIELD_NUMBER: _ClassVar[int]
    BLOBS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    DONE_BYTES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    blobs_done: int
    blobs_total: int
    done_bytes: int
    total_bytes: int
    def __init__(self, blobs_done: _Optional[int] = ..., blobs_total: _Optional[int] = ..., done_bytes: _Optional[int] = ..., total_bytes: _Optional[int] = ...) -> None: ...

class PushResponse(_message.Message):
    __slots__ = ("progress", "pushed_reference", "snapshot")
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    PUSHED_REFERENCE_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    progress: TransferProgress
    pushed_reference: str
    snapshot: _snapshot_pb2.Snapshot
    def __init__(self, progress: _Optional[_Union[TransferProgress, _Mapping]] = ..., pushed_reference: _Optional[str] = ..., snapshot: _Optional[_Union[_snapshot_pb2.Snapshot, _Mapping]] = ...) -> None: ...

class PullRequest(_message.Message):
    __slots__ = ("request_id", "reference", "access", "name", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    ACCESS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    reference: str
    access: RegistryAccess
    name: str
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, request_id: _Optional[str] = ..., reference: _Optional[str] = ..., access: _Optional[_Union[RegistryAccess, _Mapping]] = ..., name: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class PullResponse(_message.Message):
    __slots__ = ("progress", "snapshot")
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    progress: TransferProgress
    snapshot: _snapshot_pb2.Snapshot
    def __init__(self, progress: _Optional[_Union[TransferProgress, _Mapping]] = ..., snapshot: _Optional[_Union[_snapshot_pb2.Snapshot, _Mapping]] = ...) -> None: ...

class DiffRequest(_message.Message):
    __slots__ = ("from_snapshot_id", "to_snapshot_id", "to_sandbox_id", "paths", "compare_content")
    FROM_SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    TO_SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    TO_SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    COMPARE_CONTENT_FIELD_NUMBER: _ClassVar[int]
    from_snapshot_id: str
    to_snapshot_id: str
    to_sandbox_id: str
    paths: _containers.RepeatedScalarFieldContainer[str]
    compare_content: bool
    def __init__(self, from_snapshot_id: _Optional[str] = ..., to_snapshot_id: _Optional[str] = ..., to_sandbox_id: _Optional[str] = ..., paths: _Optional[_Iterable[str]] = ..., compare_content: _Optional[bool] = ...) -> None: ...

class DiffResponse(_message.Message):
    __slots__ = ("entries", "summary")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[DiffEntry]
    summary: DiffSummary
    def __init__(self, entries: _Optional[_Iterable[_Union[DiffEntry, _Mapping]]] = ..., summary: _Optional[_Union[DiffSummary, _Mapping]] = ...) -> None: ...

class DiffEntry(_message.Message):
    __slots__ = ("path", "kind", "before", "after")
    PATH_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    path: bytes
    kind: DiffKind
    before: DiffSide
    after: DiffSide
    def __init__(self, path: _Optional[bytes] = ..., kind: _Optional[_Union[DiffKind, str]] = ..., before: _Optional[_Union[DiffSide, _Mapping]] = ..., after: _Optional[_Union[DiffSide, _Mapping]] = ...) -> None: ...

class DiffSide(_message.Message):
    __slots__ = ("mode", "size_bytes", "uid", "gid", "modified_at", "link_target")
    MODE_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    UID_FIELD_NUMBER: _ClassVar[int]
    GID_FIELD_NUMBER: _ClassVar[int]
    MODIFIED_AT_FIELD_NUMBER: _ClassVar[int]
    LINK_TARGET_FIELD_NUMBER: _ClassVar[int]
    mode: int
    size_bytes: int
    uid: int
    gid: int
    modified_at: _timestamp_pb2.Timestamp
    link_target: bytes
    def __init__(self, mode: _Optional[int] = ..., size_bytes: _Optional[int] = ..., uid: _Optional[int] = ..., gid: _Optional[int] = ..., modified_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., link_target: _Optional[bytes] = ...) -> None: ...

class DiffSummary(_message.Message):
    __slots__ = ("added", "changed", "deleted", "bytes")
    ADDED_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    added: int
    changed: int
    deleted: int
    bytes: int
    def __init__(self, added: _Optional[int] = ..., changed: _Optional[int] = ..., deleted: _Optional[int] = ..., bytes: _Optional[int] = ...) -> None: ...

class RollbackRequest(_message.Message):
    __slots__ = ("sandbox_id", "snapshot_id", "before_exec_id", "memory", "checkpoint_first", "expected_revision")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    BEFORE_EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIRST_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    snapshot_id: str
    before_exec_id: str
    memory: MemoryDemand
    checkpoint_first: bool
    expected_revision: int
    def __init__(self, sandbox_id: _Optional[str] = ..., snapshot_id: _Optional[str] = ..., before_exec_id: _Optional[str] = ..., memory: _Optional[_Union[MemoryDemand, str]] = ..., checkpoint_first: _Optional[bool] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class RollbackResponse(_message.Message):
    __slots__ = ("sandbox", "snapshot", "former")
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    FORMER_FIELD_NUMBER: _ClassVar[int]
    sandbox: _sandbox_pb2.Sandbox
    snapshot: _snapshot_pb2.Snapshot
    former: _snapshot_pb2.Snapshot
    def __init__(self, sandbox: _Optional[_Union[_sandbox_pb2.Sandbox, _Mapping]] = ..., snapshot: _Optional[_Union[_snapshot_pb2.Snapshot, _Mapping]] = ..., former: _Optional[_Union[_snapshot_pb2.Snapshot, _Mapping]] = ...) -> None: ...

class GetRetentionRequest(_message.Message):
    __slots__ = ("sandbox_id",)
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    def __init__(self, sandbox_id: _Optional[str] = ...) -> None: ...

class GetRetentionResponse(_message.Message):
    __slots__ = ("policy", "inherited")
    POLICY_FIELD_NUMBER: _ClassVar[int]
    INHERITED_FIELD_NUMBER: _ClassVar[int]
    policy: _snapshot_pb2.RetentionPolicy
    inherited: bool
    def __init__(self, policy: _Optional[_Union[_snapshot_pb2.RetentionPolicy, _Mapping]] = ..., inherited: _Optional[bool] = ...) -> None: ...

class SetRetentionRequest(_message.Message):
    __slots__ = ("sandbox_id", "policy", "dry_run")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    policy: _snapshot_pb2.RetentionPolicy
    dry_run: bool
    def __init__(self, sandbox_id: _Optional[str] = ..., policy: _Optional[_Union[_snapshot_pb2.RetentionPolicy, _Mapping]] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class SetRetentionResponse(_message.Message):
    __slots__ = ("policy", "deleted_snapshot_ids")
    POLICY_FIELD_NUMBER: _ClassVar[int]
    DELETED_SNAPSHOT_IDS_FIELD_NUMBER: _ClassVar[int]
    policy: _snapshot_pb2.RetentionPolicy
    deleted_snapshot_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, policy: _Optional[_Union[_snapshot_pb2.RetentionPolicy, _Mapping]] = ..., deleted_snapshot_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class CollectGarbageRequest(_message.Message):
    __slots__ = ("dry_run",)
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    dry_run: bool
    def __init__(self, dry_run: _Optional[bool] = ...) -> None: ...

class CollectGarbageResponse(_message.Message):
    __slots__ = ("removed_blobs", "removed_bytes", "kept_blobs", "kept_bytes")
    REMOVED_BLOBS_FIELD_NUMBER: _ClassVar[int]
    REMOVED_BYTES_FIELD_NUMBER: _ClassVar[int]
    KEPT_BLOBS_FIELD_NUMBER: _ClassVar[int]
    KEPT_BYTES_FIELD_NUMBER: _ClassVar[int]
    removed_blobs: int
    removed_bytes: int
    kept_blobs: int
    kept_bytes: int
    def __init__(self, removed_blobs: _Optional[int] = ..., removed_bytes: _Optional[int] = ..., kept_blobs: _Optional[int] = ..., kept_bytes: _Optional[int] = ...) -> None: ...
