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

class PoolState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    POOL_STATE_UNSPECIFIED: _ClassVar[PoolState]
    POOL_STATE_ACTIVE: _ClassVar[PoolState]
    POOL_STATE_BROKEN: _ClassVar[PoolState]
    POOL_STATE_SUSPENDED: _ClassVar[PoolState]
    POOL_STATE_DRAINING: _ClassVar[PoolState]
    POOL_STATE_DELETED: _ClassVar[PoolState]

class BreakerState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BREAKER_STATE_UNSPECIFIED: _ClassVar[BreakerState]
    BREAKER_STATE_CLOSED: _ClassVar[BreakerState]
    BREAKER_STATE_OPEN: _ClassVar[BreakerState]
    BREAKER_STATE_HALF_OPEN: _ClassVar[BreakerState]

class PoolMemberState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    POOL_MEMBER_STATE_UNSPECIFIED: _ClassVar[PoolMemberState]
    POOL_MEMBER_STATE_CREATING: _ClassVar[PoolMemberState]
    POOL_MEMBER_STATE_READY: _ClassVar[PoolMemberState]
    POOL_MEMBER_STATE_COLD: _ClassVar[PoolMemberState]
    POOL_MEMBER_STATE_RETIRING: _ClassVar[PoolMemberState]
POOL_STATE_UNSPECIFIED: PoolState
POOL_STATE_ACTIVE: PoolState
POOL_STATE_BROKEN: PoolState
POOL_STATE_SUSPENDED: PoolState
POOL_STATE_DRAINING: PoolState
POOL_STATE_DELETED: PoolState
BREAKER_STATE_UNSPECIFIED: BreakerState
BREAKER_STATE_CLOSED: BreakerState
BREAKER_STATE_OPEN: BreakerState
BREAKER_STATE_HALF_OPEN: BreakerState
POOL_MEMBER_STATE_UNSPECIFIED: PoolMemberState
POOL_MEMBER_STATE_CREATING: PoolMemberState
POOL_MEMBER_STATE_READY: PoolMemberState
POOL_MEMBER_STATE_COLD: PoolMemberState
POOL_MEMBER_STATE_RETIRING: PoolMemberState

class Pool(_message.Message):
    __slots__ = ("id", "tenant", "name", "metadata", "spec", "state", "revision", "member_digest", "status", "created_at", "updated_at", "reason", "message")
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
    SPEC_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    MEMBER_DIGEST_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    id: str
    tenant: str
    name: str
    metadata: _containers.ScalarMap[str, str]
    spec: PoolSpec
    state: PoolState
    revision: int
    member_digest: str
    status: PoolStatus
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    reason: str
    message: str
    def __init__(self, id: _Optional[str] = ..., tenant: _Optional[str] = ..., name: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ..., spec: _Optional[_Union[PoolSpec, _Mapping]] = ..., state: _Optional[_Union[PoolState, str]] = ..., revision: _Optional[int] = ..., member_digest: _Optional[str] = ..., status: _Optional[_Union[PoolStatus, _Mapping]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class PoolSpec(_message.Message):
    __slots__ = ("sandbox", "size", "schedules", "demand", "cold_tier", "members", "breaker", "match_any_claim", "suspended")
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    SCHEDULES_FIELD_NUMBER: _ClassVar[int]
    DEMAND_FIELD_NUMBER: _ClassVar[int]
    COLD_TIER_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    BREAKER_FIELD_NUMBER: _ClassVar[int]
    MATCH_ANY_CLAIM_FIELD_NUMBER: _ClassVar[int]
    SUSPENDED_FIELD_NUMBER: _ClassVar[int]
    sandbox: _sandbox_pb2.SandboxSpec
    size: PoolSize
    schedules: _containers.RepeatedCompositeFieldContainer[PoolSchedule]
    demand: DemandRule
    cold_tier: ColdTier
    members: MemberLimits
    breaker: BreakerRule
    match_any_claim: bool
    suspended: bool
    def __init__(self, sandbox: _Optional[_Union[_sandbox_pb2.SandboxSpec, _Mapping]] = ..., size: _Optional[_Union[PoolSize, _Mapping]] = ..., schedules: _Optional[_Iterable[_Union[PoolSchedule, _Mapping]]] = ..., demand: _Optional[_Union[DemandRule, _Mapping]] = ..., cold_tier: _Optional[_Union[ColdTier, _Mapping]] = ..., members: _Optional[_Union[MemberLimits, _Mapping]] = ..., breaker: _Optional[_Union[BreakerRule, _Mapping]] = ..., match_any_claim: _Optional[bool] = ..., suspended: _Optional[bool] = ...) -> None: ...

class PoolSize(_message.Message):
    __slots__ = ("min", "max", "buffer", "create_rate_per_s", "create_concurrency")
    MIN_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    CREATE_RATE_PER_S_FIELD_NUMBER: _ClassVar[int]
    CREATE_CONCURRENCY_FIELD_NUMBER: _ClassVar[int]
    min: int
    max: int
    buffer: int
    create_rate_per_s: float
    create_concurrency: int
    def __init__(self, min: _Optional[int] = ..., max: _Optional[int] = ..., buffer: _Optional[int] = ..., create_rate_per_s: _Optional[float] = ..., create_concurrency: _Optional[int] = ...) -> None: ...

class PoolSchedule(_message.Message):
    __slots__ = ("name", "start_cron", "duration", "time_zone", "min")
    NAME_FIELD_NUMBER: _ClassVar[int]
    START_CRON_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    name: str
    start_cron: str
    duration: _duration_pb2.Duration
    time_zone: str
    min: int
    def __init__(self, name: _Optional[str] = ..., start_cron: _Optional[str] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., time_zone: _Optional[str] = ..., min: _Optional[int] = ...) -> None: ...

class DemandRule(_message.Message):
    __slots__ = ("window", "factor", "limit")
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    FACTOR_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    window: _duration_pb2.Duration
    factor: float
    limit: int
    def __init__(self, window: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., factor: _Optional[float] = ..., limit: _Optional[int] = ...) -> None: ...

class ColdTier(_message.Message):
    __slots__ = ("size", "pause_mode", "max_age")
    SIZE_FIELD_NUMBER: _ClassVar[int]
    PAUSE_MODE_FIELD_NUMBER: _ClassVar[int]
    MAX_AGE_FIELD_NUMBER: _ClassVar[int]
    size: int
    pause_mode: _sandbox_pb2.PauseMode
    max_age: _duration_pb2.Duration
    def __init__(self, size: _Optional[int] = ..., pause_mode: _Optional[_Union[_sandbox_pb2.PauseMode, str]] = ..., max_age: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class MemberLimits(_message.Message):
    __slots__ = ("max_age", "max_idle", "health_interval")
    MAX_AGE_FIELD_NUMBER: _ClassVar[int]
    MAX_IDLE_FIELD_NUMBER: _ClassVar[int]
    HEALTH_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    max_age: _duration_pb2.Duration
    max_idle: _duration_pb2.Duration
    health_interval: _duration_pb2.Duration
    def __init__(self, max_age: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., max_idle: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., health_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class BreakerRule(_message.Message):
    __slots__ = ("failures", "cool_down", "max_cool_down")
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    COOL_DOWN_FIELD_NUMBER: _ClassVar[int]
    MAX_COOL_DOWN_FIELD_NUMBER: _ClassVar[int]
    failures: int
    cool_down: _duration_pb2.Duration
    max_cool_down: _duration_pb2.Duration
    def __init__(self, failures: _Optional[int] = ..., cool_down: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., max_cool_down: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class PoolStatus(_message.Message):
    __slots__ = ("creating", "ready", "cold", "retiring", "target", "target_rule", "breaker", "next_schedule_at", "outdated")
    CREATING_FIELD_NUMBER: _ClassVar[int]
    READY_FIELD_NUMBER: _ClassVar[int]
    COLD_FIELD_NUMBER: _ClassVar[int]
    RETIRING_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    TARGET_RULE_FIELD_NUMBER: _ClassVar[int]
    BREAKER_FIELD_NUMBER: _ClassVar[int]
    NEXT_SCHEDULE_AT_FIELD_NUMBER: _ClassVar[int]
    OUTDATED_FIELD_NUMBER: _ClassVar[int]
    creating: int
    ready: int
    cold: int
    retiring: int
    target: int
    target_rule: str
    breaker: BreakerStatus
    next_schedule_at: _timestamp_pb2.Timestamp
    outdated: int
    def __init__(self, creating: _Optional[int] = ..., ready: _Optional[int] = ..., cold: _Optional[int] = ..., retiring: _Optional[int] = ..., target: _Optional[int] = ..., target_rule: _Optional[str] = ..., breaker: _Optional[_Union[BreakerStatus, _Mapping]] = ..., next_schedule_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., outdated: _Optional[int] = ...) -> None: ...

class BreakerStatus(_message.Message):
    __slots__ = ("state", "failures", "reason", "message", "opened_at", "retry_at")
    STATE_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    OPENED_AT_FIELD_NUMBER: _ClassVar[int]
    RETRY_AT_FIELD_NUMBER: _ClassVar[int]
    state: BreakerState
    failures: int
    reason: str
    message: str
    opened_at: _timestamp_pb2.Timestamp
    retry_at: _timestamp_pb2.Timestamp
    def __init__(self, state: _Optional[_Union[BreakerState, str]] = ..., failures: _Optional[int] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ..., opened_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., retry_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class PoolMember(_message.Message):
    __slots__ = ("sandbox_id", "state", "created_at", "healthy_at", "outdated")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    HEALTHY_AT_FIELD_NUMBER: _ClassVar[int]
    OUTDATED_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    state: PoolMemberState
    created_at: _timestamp_pb2.Timestamp
    healthy_at: _timestamp_pb2.Timestamp
    outdated: bool
    def __init__(self, sandbox_id: _Optional[str] = ..., state: _Optional[_Union[PoolMemberState, str]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., healthy_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., outdated: _Optional[bool] = ...) -> None: ...
