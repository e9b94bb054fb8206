import datetime

from arenero.api.lifecycle.v1 import sandbox_pb2 as _sandbox_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SnapshotState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SNAPSHOT_STATE_UNSPECIFIED: _ClassVar[SnapshotState]
    SNAPSHOT_STATE_CREATING: _ClassVar[SnapshotState]
    SNAPSHOT_STATE_READY: _ClassVar[SnapshotState]
    SNAPSHOT_STATE_FAILED: _ClassVar[SnapshotState]
    SNAPSHOT_STATE_DELETING: _ClassVar[SnapshotState]
    SNAPSHOT_STATE_DELETED: _ClassVar[SnapshotState]

class SnapshotKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SNAPSHOT_KIND_UNSPECIFIED: _ClassVar[SnapshotKind]
    SNAPSHOT_KIND_DISK: _ClassVar[SnapshotKind]
    SNAPSHOT_KIND_DISK_AND_MEMORY: _ClassVar[SnapshotKind]

class SnapshotPurpose(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SNAPSHOT_PURPOSE_UNSPECIFIED: _ClassVar[SnapshotPurpose]
    SNAPSHOT_PURPOSE_GENERAL: _ClassVar[SnapshotPurpose]
    SNAPSHOT_PURPOSE_CHECKPOINT: _ClassVar[SnapshotPurpose]
    SNAPSHOT_PURPOSE_PAUSE: _ClassVar[SnapshotPurpose]
    SNAPSHOT_PURPOSE_TEMPLATE: _ClassVar[SnapshotPurpose]
SNAPSHOT_STATE_UNSPECIFIED: SnapshotState
SNAPSHOT_STATE_CREATING: SnapshotState
SNAPSHOT_STATE_READY: SnapshotState
SNAPSHOT_STATE_FAILED: SnapshotState
SNAPSHOT_STATE_DELETING: SnapshotState
SNAPSHOT_STATE_DELETED: SnapshotState
SNAPSHOT_KIND_UNSPECIFIED: SnapshotKind
SNAPSHOT_KIND_DISK: SnapshotKind
SNAPSHOT_KIND_DISK_AND_MEMORY: SnapshotKind
SNAPSHOT_PURPOSE_UNSPECIFIED: SnapshotPurpose
SNAPSHOT_PURPOSE_GENERAL: SnapshotPurpose
SNAPSHOT_PURPOSE_CHECKPOINT: SnapshotPurpose
SNAPSHOT_PURPOSE_PAUSE: SnapshotPurpose
SNAPSHOT_PURPOSE_TEMPLATE: SnapshotPurpose

class Snapshot(_message.Message):
    __slots__ = ("id", "tenant", "name", "metadata", "state", "revision", "kind", "purpose", "origin", "content", "memory", "created_at", "updated_at", "completed_at", "expires_at", "pinned", "frozen_for", "references", "used_by_sandboxes", "reason", "message", "step")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    FROZEN_FOR_FIELD_NUMBER: _ClassVar[int]
    REFERENCES_FIELD_NUMBER: _ClassVar[int]
    USED_BY_SANDBOXES_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    id: str
    tenant: str
    name: str
    metadata: _containers.ScalarMap[str, str]
    state: SnapshotState
    revision: int
    kind: SnapshotKind
    purpose: SnapshotPurpose
    origin: SnapshotOrigin
    content: SnapshotContent
    memory: MemoryState
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    completed_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    pinned: bool
    frozen_for: _duration_pb2.Duration
    references: _containers.RepeatedScalarFieldContainer[str]
    used_by_sandboxes: int
    reason: str
    message: str
    step: str
    def __init__(self, id: _Optional[str] = ..., tenant: _Optional[str] = ..., name: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ..., state: _Optional[_Union[SnapshotState, str]] = ..., revision: _Optional[int] = ..., kind: _Optional[_Union[SnapshotKind, str]] = ..., purpose: _Optional[_Union[SnapshotPurpose, str]] = ..., origin: _Optional[_Union[SnapshotOrigin, _Mapping]] = ..., content: _Optional[_Union[SnapshotContent, _Mapping]] = ..., memory: _Optional[_Union[MemoryState, _Mapping]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., completed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., pinned: _Optional[bool] = ..., frozen_for: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., references: _Optional[_Iterable[str]] = ..., used_by_sandboxes: _Optional[int] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ..., step: _Optional[str] = ...) -> None: ...

class SnapshotOrigin(_message.Message):
    __slots__ = ("sandbox_id", "generation", "before_exec_id", "parent_id", "runtime", "source", "reference", "entrypoint", "env_names")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    BEFORE_EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    RUNTIME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    ENTRYPOINT_FIELD_NUMBER: _ClassVar[int]
    ENV_NAMES_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    generation: int
    before_exec_id: str
    parent_id: str
    runtime: str
    source: _sandbox_pb2.ResolvedSource
    reference: str
    entrypoint: _containers.RepeatedScalarFieldContainer[str]
    env_names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, sandbox_id: _Optional[str] = ..., generation: _Optional[int] = ..., before_exec_id: _Optional[str] = ..., parent_id: _Optional[str] = ..., runtime: _Optional[str] = ..., source: _Optional[_Union[_sandbox_pb2.ResolvedSource, _Mapping]] = ..., reference: _Optional[str] = ..., entrypoint: _Optional[_Iterable[str]] = ..., env_names: _Optional[_Iterable[str]] = ...) -> None: ...

class SnapshotContent(_message.Message):
    __slots__ = ("digest", "base_digest", "blobs", "stored_bytes", "unique_bytes", "unpacked_bytes", "encryption_key_id")
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    BASE_DIGEST_FIELD_NUMBER: _ClassVar[int]
    BLOBS_FIELD_NUMBER: _ClassVar[int]
    STORED_BYTES_FIELD_NUMBER: _ClassVar[int]
    UNIQUE_BYTES_FIELD_NUMBER: _ClassVar[int]
    UNPACKED_BYTES_FIELD_NUMBER: _ClassVar[int]
    ENCRYPTION_KEY_ID_FIELD_NUMBER: _ClassVar[int]
    digest: str
    base_digest: str
    blobs: _containers.RepeatedCompositeFieldContainer[SnapshotBlob]
    stored_bytes: int
    unique_bytes: int
    unpacked_bytes: int
    encryption_key_id: str
    def __init__(self, digest: _Optional[str] = ..., base_digest: _Optional[str] = ..., blobs: _Optional[_Iterable[_Union[SnapshotBlob, _Mapping]]] = ..., stored_bytes: _Optional[int] = ..., unique_bytes: _Optional[int] = ..., unpacked_bytes: _Optional[int] = ..., encryption_key_id: _Optional[str] = ...) -> None: ...

class SnapshotBlob(_message.Message):
    __slots__ = ("media_type", "digest", "size_bytes")
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    media_type: str
    digest: str
    size_bytes: int
    def __init__(self, media_type: _Optional[str] = ..., digest: _Optional[str] = ..., size_bytes: _Optional[int] = ...) -> None: ...

class MemoryState(_message.Message):
    __slots__ = ("format_version", "engine", "machine_type", "cpu_model", "memory_bytes", "used_bytes", "disk_usable_alone")
    FORMAT_VERSION_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    MACHINE_TYPE_FIELD_NUMBER: _ClassVar[int]
    CPU_MODEL_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    USED_BYTES_FIELD_NUMBER: _ClassVar[int]
    DISK_USABLE_ALONE_FIELD_NUMBER: _ClassVar[int]
    format_version: int
    engine: str
    machine_type: str
    cpu_model: str
    memory_bytes: int
    used_bytes: int
    disk_usable_alone: bool
    def __init__(self, format_version: _Optional[int] = ..., engine: _Optional[str] = ..., machine_type: _Optional[str] = ..., cpu_model: _Optional[str] = ..., memory_bytes: _Optional[int] = ..., used_bytes: _Optional[int] = ..., disk_usable_alone: _Optional[bool] = ...) -> None: ...

class RetentionPolicy(_message.Message):
    __slots__ = ("keep_last", "max_age", "max_stored_bytes")
    KEEP_LAST_FIELD_NUMBER: _ClassVar[int]
    MAX_AGE_FIELD_NUMBER: _ClassVar[int]
    MAX_STORED_BYTES_FIELD_NUMBER: _ClassVar[int]
    keep_last: int
    max_age: _duration_pb2.Duration
    max_stored_bytes: int
    def __init__(self, keep_last: _Optional[int] = ..., max_age: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., max_stored_bytes: _Optional[int] = ...) -> None: ...
