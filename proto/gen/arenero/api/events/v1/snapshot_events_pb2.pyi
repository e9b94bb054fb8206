import datetime

from arenero.api.snapshot.v1 import snapshot_pb2 as _snapshot_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SnapshotEvent(_message.Message):
    __slots__ = ("snapshot", "requested", "progressed", "completed", "failed", "updated", "pushed", "pulled", "restored", "deleting", "deleted")
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_FIELD_NUMBER: _ClassVar[int]
    PROGRESSED_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    UPDATED_FIELD_NUMBER: _ClassVar[int]
    PUSHED_FIELD_NUMBER: _ClassVar[int]
    PULLED_FIELD_NUMBER: _ClassVar[int]
    RESTORED_FIELD_NUMBER: _ClassVar[int]
    DELETING_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    snapshot: _snapshot_pb2.Snapshot
    requested: SnapshotRequested
    progressed: SnapshotProgressed
    completed: SnapshotCompleted
    failed: SnapshotFailed
    updated: SnapshotUpdated
    pushed: SnapshotPushed
    pulled: SnapshotPulled
    restored: SnapshotRestored
    deleting: SnapshotDeleting
    deleted: SnapshotDeleted
    def __init__(self, snapshot: _Optional[_Union[_snapshot_pb2.Snapshot, _Mapping]] = ..., requested: _Optional[_Union[SnapshotRequested, _Mapping]] = ..., progressed: _Optional[_Union[SnapshotProgressed, _Mapping]] = ..., completed: _Optional[_Union[SnapshotCompleted, _Mapping]] = ..., failed: _Optional[_Union[SnapshotFailed, _Mapping]] = ..., updated: _Optional[_Union[SnapshotUpdated, _Mapping]] = ..., pushed: _Optional[_Union[SnapshotPushed, _Mapping]] = ..., pulled: _Optional[_Union[SnapshotPulled, _Mapping]] = ..., restored: _Optional[_Union[SnapshotRestored, _Mapping]] = ..., deleting: _Optional[_Union[SnapshotDeleting, _Mapping]] = ..., deleted: _Optional[_Union[SnapshotDeleted, _Mapping]] = ...) -> None: ...

class SnapshotRequested(_message.Message):
    __slots__ = ("request_id",)
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    def __init__(self, request_id: _Optional[str] = ...) -> None: ...

class SnapshotProgressed(_message.Message):
    __slots__ = ("step", "took", "undone")
    STEP_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    UNDONE_FIELD_NUMBER: _ClassVar[int]
    step: str
    took: _duration_pb2.Duration
    undone: bool
    def __init__(self, step: _Optional[str] = ..., took: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., undone: _Optional[bool] = ...) -> None: ...

class SnapshotCompleted(_message.Message):
    __slots__ = ("took", "frozen_for", "added_bytes")
    TOOK_FIELD_NUMBER: _ClassVar[int]
    FROZEN_FOR_FIELD_NUMBER: _ClassVar[int]
    ADDED_BYTES_FIELD_NUMBER: _ClassVar[int]
    took: _duration_pb2.Duration
    frozen_for: _duration_pb2.Duration
    added_bytes: int
    def __init__(self, took: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., frozen_for: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., added_bytes: _Optional[int] = ...) -> None: ...

class SnapshotFailed(_message.Message):
    __slots__ = ("reason", "message", "step")
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    reason: str
    message: str
    step: str
    def __init__(self, reason: _Optional[str] = ..., message: _Optional[str] = ..., step: _Optional[str] = ...) -> None: ...

class SnapshotUpdated(_message.Message):
    __slots__ = ("fields",)
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    fields: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, fields: _Optional[_Iterable[str]] = ...) -> None: ...

class SnapshotPushed(_message.Message):
    __slots__ = ("reference", "sent_bytes", "took")
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    SENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    reference: str
    sent_bytes: int
    took: _duration_pb2.Duration
    def __init__(self, reference: _Optional[str] = ..., sent_bytes: _Optional[int] = ..., took: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class SnapshotPulled(_message.Message):
    __slots__ = ("reference", "received_bytes", "took")
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_BYTES_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    reference: str
    received_bytes: int
    took: _duration_pb2.Duration
    def __init__(self, reference: _Optional[str] = ..., received_bytes: _Optional[int] = ..., took: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class SnapshotRestored(_message.Message):
    __slots__ = ("sandbox_id", "rollback")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    ROLLBACK_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    rollback: bool
    def __init__(self, sandbox_id: _Optional[str] = ..., rollback: _Optional[bool] = ...) -> None: ...

class SnapshotDeleting(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class SnapshotDeleted(_message.Message):
    __slots__ = ("freed_bytes",)
    FREED_BYTES_FIELD_NUMBER: _ClassVar[int]
    freed_bytes: int
    def __init__(self, freed_bytes: _Optional[int] = ...) -> None: ...
