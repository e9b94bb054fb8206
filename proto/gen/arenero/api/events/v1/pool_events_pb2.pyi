import datetime

from arenero.api.warmpool.v1 import claim_service_pb2 as _claim_service_pb2
from arenero.api.warmpool.v1 import pool_pb2 as _pool_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PoolEvent(_message.Message):
    __slots__ = ("pool", "created", "updated", "scaled", "member_added", "member_claimed", "member_retired", "missed", "breaker_opened", "breaker_closed", "draining", "deleted")
    POOL_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    UPDATED_FIELD_NUMBER: _ClassVar[int]
    SCALED_FIELD_NUMBER: _ClassVar[int]
    MEMBER_ADDED_FIELD_NUMBER: _ClassVar[int]
    MEMBER_CLAIMED_FIELD_NUMBER: _ClassVar[int]
    MEMBER_RETIRED_FIELD_NUMBER: _ClassVar[int]
    MISSED_FIELD_NUMBER: _ClassVar[int]
    BREAKER_OPENED_FIELD_NUMBER: _ClassVar[int]
    BREAKER_CLOSED_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    pool: _pool_pb2.Pool
    created: PoolCreated
    updated: PoolUpdated
    scaled: PoolScaled
    member_added: PoolMemberAdded
    member_claimed: PoolMemberClaimed
    member_retired: PoolMemberRetired
    missed: PoolMissed
    breaker_opened: PoolBreakerOpened
    breaker_closed: PoolBreakerClosed
    draining: PoolDraining
    deleted: PoolDeleted
    def __init__(self, pool: _Optional[_Union[_pool_pb2.Pool, _Mapping]] = ..., created: _Optional[_Union[PoolCreated, _Mapping]] = ..., updated: _Optional[_Union[PoolUpdated, _Mapping]] = ..., scaled: _Optional[_Union[PoolScaled, _Mapping]] = ..., member_added: _Optional[_Union[PoolMemberAdded, _Mapping]] = ..., member_claimed: _Optional[_Union[PoolMemberClaimed, _Mapping]] = ..., member_retired: _Optional[_Union[PoolMemberRetired, _Mapping]] = ..., missed: _Optional[_Union[PoolMissed, _Mapping]] = ..., breaker_opened: _Optional[_Union[PoolBreakerOpened, _Mapping]] = ..., breaker_closed: _Optional[_Union[PoolBreakerClosed, _Mapping]] = ..., draining: _Optional[_Union[PoolDraining, _Mapping]] = ..., deleted: _Optional[_Union[PoolDeleted, _Mapping]] = ...) -> None: ...

class PoolCreated(_message.Message):
    __slots__ = ("request_id",)
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    def __init__(self, request_id: _Optional[str] = ...) -> None: ...

class PoolUpdated(_message.Message):
    __slots__ = ("fields", "rolls_over")
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    ROLLS_OVER_FIELD_NUMBER: _ClassVar[int]
    fields: _containers.RepeatedScalarFieldContainer[str]
    rolls_over: bool
    def __init__(self, fields: _Optional[_Iterable[str]] = ..., rolls_over: _Optional[bool] = ...) -> None: ...

class PoolScaled(_message.Message):
    __slots__ = ("previous_target", "target", "rule")
    PREVIOUS_TARGET_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    previous_target: int
    target: int
    rule: str
    def __init__(self, previous_target: _Optional[int] = ..., target: _Optional[int] = ..., rule: _Optional[str] = ...) -> None: ...

class PoolMemberAdded(_message.Message):
    __slots__ = ("sandbox_id", "took", "cold")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    COLD_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    took: _duration_pb2.Duration
    cold: bool
    def __init__(self, sandbox_id: _Optional[str] = ..., took: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., cold: _Optional[bool] = ...) -> None: ...

class PoolMemberClaimed(_message.Message):
    __slots__ = ("sandbox_id", "claim_id", "cold", "took")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    CLAIM_ID_FIELD_NUMBER: _ClassVar[int]
    COLD_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    claim_id: str
    cold: bool
    took: _duration_pb2.Duration
    def __init__(self, sandbox_id: _Optional[str] = ..., claim_id: _Optional[str] = ..., cold: _Optional[bool] = ..., took: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class PoolMemberRetired(_message.Message):
    __slots__ = ("sandbox_id", "reason")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    reason: str
    def __init__(self, sandbox_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class PoolMissed(_message.Message):
    __slots__ = ("miss", "count", "first_at")
    MISS_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    FIRST_AT_FIELD_NUMBER: _ClassVar[int]
    miss: _claim_service_pb2.Miss
    count: int
    first_at: _timestamp_pb2.Timestamp
    def __init__(self, miss: _Optional[_Union[_claim_service_pb2.Miss, _Mapping]] = ..., count: _Optional[int] = ..., first_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class PoolBreakerOpened(_message.Message):
    __slots__ = ("failures", "reason", "message", "retry_at")
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RETRY_AT_FIELD_NUMBER: _ClassVar[int]
    failures: int
    reason: str
    message: str
    retry_at: _timestamp_pb2.Timestamp
    def __init__(self, failures: _Optional[int] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ..., retry_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class PoolBreakerClosed(_message.Message):
    __slots__ = ("open_for",)
    OPEN_FOR_FIELD_NUMBER: _ClassVar[int]
    open_for: _duration_pb2.Duration
    def __init__(self, open_for: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class PoolDraining(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PoolDeleted(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
