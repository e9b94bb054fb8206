import datetime

from arenero.api.events.v1 import activity_events_pb2 as _activity_events_pb2
from arenero.api.events.v1 import key_events_pb2 as _key_events_pb2
from arenero.api.events.v1 import pool_events_pb2 as _pool_events_pb2
from arenero.api.events.v1 import sandbox_events_pb2 as _sandbox_events_pb2
from arenero.api.events.v1 import snapshot_events_pb2 as _snapshot_events_pb2
from arenero.api.events.v1 import vault_events_pb2 as _vault_events_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Event(_message.Message):
    __slots__ = ("id", "subject", "sequence", "revision", "time", "tenant", "actor", "cause", "traceparent", "source", "sandbox", "snapshot", "pool", "vault", "key", "activity")
    ID_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    VAULT_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    ACTIVITY_FIELD_NUMBER: _ClassVar[int]
    id: str
    subject: str
    sequence: int
    revision: int
    time: _timestamp_pb2.Timestamp
    tenant: str
    actor: str
    cause: str
    traceparent: str
    source: str
    sandbox: _sandbox_events_pb2.SandboxEvent
    snapshot: _snapshot_events_pb2.SnapshotEvent
    pool: _pool_events_pb2.PoolEvent
    vault: _vault_events_pb2.VaultEvent
    key: _key_events_pb2.KeyEvent
    activity: _activity_events_pb2.ActivityEvent
    def __init__(self, id: _Optional[str] = ..., subject: _Optional[str] = ..., sequence: _Optional[int] = ..., revision: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., tenant: _Optional[str] = ..., actor: _Optional[str] = ..., cause: _Optional[str] = ..., traceparent: _Optional[str] = ..., source: _Optional[str] = ..., sandbox: _Optional[_Union[_sandbox_events_pb2.SandboxEvent, _Mapping]] = ..., snapshot: _Optional[_Union[_snapshot_events_pb2.SnapshotEvent, _Mapping]] = ..., pool: _Optional[_Union[_pool_events_pb2.PoolEvent, _Mapping]] = ..., vault: _Optional[_Union[_vault_events_pb2.VaultEvent, _Mapping]] = ..., key: _Optional[_Union[_key_events_pb2.KeyEvent, _Mapping]] = ..., activity: _Optional[_Union[_activity_events_pb2.ActivityEvent, _Mapping]] = ...) -> None: ...
