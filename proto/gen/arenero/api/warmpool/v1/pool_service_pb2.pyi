import datetime

from arenero.api.common.v1 import page_pb2 as _page_pb2
from arenero.api.warmpool.v1 import claim_service_pb2 as _claim_service_pb2
from arenero.api.warmpool.v1 import pool_pb2 as _pool_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ApplyOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    APPLY_OUTCOME_UNSPECIFIED: _ClassVar[ApplyOutcome]
    APPLY_OUTCOME_CREATED: _ClassVar[ApplyOutcome]
    APPLY_OUTCOME_UPDATED: _ClassVar[ApplyOutcome]
    APPLY_OUTCOME_UNCHANGED: _ClassVar[ApplyOutcome]
APPLY_OUTCOME_UNSPECIFIED: ApplyOutcome
APPLY_OUTCOME_CREATED: ApplyOutcome
APPLY_OUTCOME_UPDATED: ApplyOutcome
APPLY_OUTCOME_UNCHANGED: ApplyOutcome

class PoolName(_message.Message):
    __slots__ = ("id", "name")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class CreateRequest(_message.Message):
    __slots__ = ("request_id", "name", "metadata", "spec")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    name: str
    metadata: _containers.ScalarMap[str, str]
    spec: _pool_pb2.PoolSpec
    def __init__(self, request_id: _Optional[str] = ..., name: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ..., spec: _Optional[_Union[_pool_pb2.PoolSpec, _Mapping]] = ...) -> None: ...

class CreateResponse(_message.Message):
    __slots__ = ("pool", "repeated_request")
    POOL_FIELD_NUMBER: _ClassVar[int]
    REPEATED_REQUEST_FIELD_NUMBER: _ClassVar[int]
    pool: _pool_pb2.Pool
    repeated_request: bool
    def __init__(self, pool: _Optional[_Union[_pool_pb2.Pool, _Mapping]] = ..., repeated_request: _Optional[bool] = ...) -> None: ...

class ApplyRequest(_message.Message):
    __slots__ = ("name", "metadata", "spec", "dry_run")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    name: str
    metadata: _containers.ScalarMap[str, str]
    spec: _pool_pb2.PoolSpec
    dry_run: bool
    def __init__(self, name: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ..., spec: _Optional[_Union[_pool_pb2.PoolSpec, _Mapping]] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class ApplyResponse(_message.Message):
    __slots__ = ("pool", "outcome", "changed_fields")
    POOL_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELDS_FIELD_NUMBER: _ClassVar[int]
    pool: _pool_pb2.Pool
    outcome: ApplyOutcome
    changed_fields: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, pool: _Optional[_Union[_pool_pb2.Pool, _Mapping]] = ..., outcome: _Optional[_Union[ApplyOutcome, str]] = ..., changed_fields: _Optional[_Iterable[str]] = ...) -> None: ...

class UpdateRequest(_message.Message):
    __slots__ = ("pool", "spec", "set_metadata", "remove_metadata", "expected_revision")
    class SetMetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    POOL_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    SET_METADATA_FIELD_NUMBER: _ClassVar[int]
    REMOVE_METADATA_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    pool: PoolName
    spec: _pool_pb2.PoolSpec
    set_metadata: _containers.ScalarMap[str, str]
    remove_metadata: _containers.RepeatedScalarFieldContainer[str]
    expected_revision: int
    def __init__(self, pool: _Optional[_Union[PoolName, _Mapping]] = ..., spec: _Optional[_Union[_pool_pb2.PoolSpec, _Mapping]] = ..., set_metadata: _Optional[_Mapping[str, str]] = ..., remove_metadata: _Optional[_Iterable[str]] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class UpdateResponse(_message.Message):
    __slots__ = ("pool",)
    POOL_FIELD_NUMBER: _ClassVar[int]
    pool: _pool_pb2.Pool
    def __init__(self, pool: _Optional[_Union[_pool_pb2.Pool, _Mapping]] = ...) -> None: ...

class DeleteRequest(_message.Message):
    __slots__ = ("pool", "expected_revision", "no_wait")
    POOL_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    NO_WAIT_FIELD_NUMBER: _ClassVar[int]
    pool: PoolName
    expected_revision: int
    no_wait: bool
    def __init__(self, pool: _Optional[_Union[PoolName, _Mapping]] = ..., expected_revision: _Optional[int] = ..., no_wait: _Optional[bool] = ...) -> None: ...

class DeleteResponse(_message.Message):
    __slots__ = ("pool",)
    POOL_FIELD_NUMBER: _ClassVar[int]
    pool: _pool_pb2.Pool
    def __init__(self, pool: _Optional[_Union[_pool_pb2.Pool, _Mapping]] = ...) -> None: ...

class GetRequest(_message.Message):
    __slots__ = ("pool",)
    POOL_FIELD_NUMBER: _ClassVar[int]
    pool: PoolName
    def __init__(self, pool: _Optional[_Union[PoolName, _Mapping]] = ...) -> None: ...

class GetResponse(_message.Message):
    __slots__ = ("pool",)
    POOL_FIELD_NUMBER: _ClassVar[int]
    pool: _pool_pb2.Pool
    def __init__(self, pool: _Optional[_Union[_pool_pb2.Pool, _Mapping]] = ...) -> None: ...

class PoolFilter(_message.Message):
    __slots__ = ("states", "metadata", "runtime")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    STATES_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    RUNTIME_FIELD_NUMBER: _ClassVar[int]
    states: _containers.RepeatedScalarFieldContainer[_pool_pb2.PoolState]
    metadata: _containers.ScalarMap[str, str]
    runtime: str
    def __init__(self, states: _Optional[_Iterable[_Union[_pool_pb2.PoolState, str]]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., runtime: _Optional[str] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("filter", "page")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    filter: PoolFilter
    page: _page_pb2.PageRequest
    def __init__(self, filter: _Optional[_Union[PoolFilter, _Mapping]] = ..., page: _Optional[_Union[_page_pb2.PageRequest, _Mapping]] = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("pools", "page")
    POOLS_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    pools: _containers.RepeatedCompositeFieldContainer[_pool_pb2.Pool]
    page: _page_pb2.PageResult
    def __init__(self, pools: _Optional[_Iterable[_Union[_pool_pb2.Pool, _Mapping]]] = ..., page: _Optional[_Union[_page_pb2.PageResult, _Mapping]] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("pool", "filter")
    POOL_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    pool: PoolName
    filter: PoolFilter
    def __init__(self, pool: _Optional[_Union[PoolName, _Mapping]] = ..., filter: _Optional[_Union[PoolFilter, _Mapping]] = ...) -> None: ...

class WatchResponse(_message.Message):
    __slots__ = ("pool", "fact")
    POOL_FIELD_NUMBER: _ClassVar[int]
    FACT_FIELD_NUMBER: _ClassVar[int]
    pool: _pool_pb2.Pool
    fact: str
    def __init__(self, pool: _Optional[_Union[_pool_pb2.Pool, _Mapping]] = ..., fact: _Optional[str] = ...) -> None: ...

class ListMembersRequest(_message.Message):
    __slots__ = ("pool", "states", "page")
    POOL_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    pool: PoolName
    states: _containers.RepeatedScalarFieldContainer[_pool_pb2.PoolMemberState]
    page: _page_pb2.PageRequest
    def __init__(self, pool: _Optional[_Union[PoolName, _Mapping]] = ..., states: _Optional[_Iterable[_Union[_pool_pb2.PoolMemberState, str]]] = ..., page: _Optional[_Union[_page_pb2.PageRequest, _Mapping]] = ...) -> None: ...

class ListMembersResponse(_message.Message):
    __slots__ = ("members", "page")
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    members: _containers.RepeatedCompositeFieldContainer[_pool_pb2.PoolMember]
    page: _page_pb2.PageResult
    def __init__(self, members: _Optional[_Iterable[_Union[_pool_pb2.PoolMember, _Mapping]]] = ..., page: _Optional[_Union[_page_pb2.PageResult, _Mapping]] = ...) -> None: ...

class GetStatsRequest(_message.Message):
    __slots__ = ("pool", "window")
    POOL_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    pool: PoolName
    window: _duration_pb2.Duration
    def __init__(self, pool: _Optional[_Union[PoolName, _Mapping]] = ..., window: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class GetStatsResponse(_message.Message):
    __slots__ = ("since", "hits", "cold_hits", "misses", "claim_p50", "claim_p99", "created", "create_failures", "retired", "ready_time", "cold_time")
    SINCE_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    COLD_HITS_FIELD_NUMBER: _ClassVar[int]
    MISSES_FIELD_NUMBER: _ClassVar[int]
    CLAIM_P50_FIELD_NUMBER: _ClassVar[int]
    CLAIM_P99_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    CREATE_FAILURES_FIELD_NUMBER: _ClassVar[int]
    RETIRED_FIELD_NUMBER: _ClassVar[int]
    READY_TIME_FIELD_NUMBER: _ClassVar[int]
    COLD_TIME_FIELD_NUMBER: _ClassVar[int]
    since: _timestamp_pb2.Timestamp
    hits: int
    cold_hits: int
    misses: _containers.RepeatedCompositeFieldContainer[MissCount]
    claim_p50: _duration_pb2.Duration
    claim_p99: _duration_pb2.Duration
    created: int
    create_failures: int
    retired: int
    ready_time: _duration_pb2.Duration
    cold_time: _duration_pb2.Duration
    def __init__(self, since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., hits: _Optional[int] = ..., cold_hits: _Optional[int] = ..., misses: _Optional[_Iterable[_Union[MissCount, _Mapping]]] = ..., claim_p50: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., claim_p99: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., created: _Optional[int] = ..., create_failures: _Optional[int] = ..., retired: _Optional[int] = ..., ready_time: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., cold_time: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class MissCount(_message.Message):
    __slots__ = ("reason", "field", "count")
    REASON_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    reason: _claim_service_pb2.MissReason
    field: str
    count: int
    def __init__(self, reason: _Optional[_Union[_claim_service_pb2.MissReason, str]] = ..., field: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...
