import datetime

from arenero.api.lifecycle.v1 import sandbox_pb2 as _sandbox_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MissReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MISS_REASON_UNSPECIFIED: _ClassVar[MissReason]
    MISS_REASON_NO_POOL: _ClassVar[MissReason]
    MISS_REASON_EMPTY: _ClassVar[MissReason]
    MISS_REASON_KEY_MISMATCH: _ClassVar[MissReason]
    MISS_REASON_NOT_CHANGEABLE: _ClassVar[MissReason]
    MISS_REASON_UNHEALTHY: _ClassVar[MissReason]
    MISS_REASON_NOT_ACTIVE: _ClassVar[MissReason]
    MISS_REASON_CONTENDED: _ClassVar[MissReason]
MISS_REASON_UNSPECIFIED: MissReason
MISS_REASON_NO_POOL: MissReason
MISS_REASON_EMPTY: MissReason
MISS_REASON_KEY_MISMATCH: MissReason
MISS_REASON_NOT_CHANGEABLE: MissReason
MISS_REASON_UNHEALTHY: MissReason
MISS_REASON_NOT_ACTIVE: MissReason
MISS_REASON_CONTENDED: MissReason

class ClaimRequest(_message.Message):
    __slots__ = ("claim_id", "spec", "pool", "exclude_sandbox_ids", "cold_budget")
    CLAIM_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    EXCLUDE_SANDBOX_IDS_FIELD_NUMBER: _ClassVar[int]
    COLD_BUDGET_FIELD_NUMBER: _ClassVar[int]
    claim_id: str
    spec: _sandbox_pb2.SandboxSpec
    pool: str
    exclude_sandbox_ids: _containers.RepeatedScalarFieldContainer[str]
    cold_budget: _duration_pb2.Duration
    def __init__(self, claim_id: _Optional[str] = ..., spec: _Optional[_Union[_sandbox_pb2.SandboxSpec, _Mapping]] = ..., pool: _Optional[str] = ..., exclude_sandbox_ids: _Optional[_Iterable[str]] = ..., cold_budget: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ClaimResponse(_message.Message):
    __slots__ = ("member", "miss")
    MEMBER_FIELD_NUMBER: _ClassVar[int]
    MISS_FIELD_NUMBER: _ClassVar[int]
    member: ClaimedMember
    miss: Miss
    def __init__(self, member: _Optional[_Union[ClaimedMember, _Mapping]] = ..., miss: _Optional[_Union[Miss, _Mapping]] = ...) -> None: ...

class ClaimedMember(_message.Message):
    __slots__ = ("sandbox_id", "revision", "pool_id", "cold")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    POOL_ID_FIELD_NUMBER: _ClassVar[int]
    COLD_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    revision: int
    pool_id: str
    cold: bool
    def __init__(self, sandbox_id: _Optional[str] = ..., revision: _Optional[int] = ..., pool_id: _Optional[str] = ..., cold: _Optional[bool] = ...) -> None: ...

class Miss(_message.Message):
    __slots__ = ("reason", "field", "message", "pool_id")
    REASON_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    POOL_ID_FIELD_NUMBER: _ClassVar[int]
    reason: MissReason
    field: str
    message: str
    pool_id: str
    def __init__(self, reason: _Optional[_Union[MissReason, str]] = ..., field: _Optional[str] = ..., message: _Optional[str] = ..., pool_id: _Optional[str] = ...) -> None: ...

class ReleaseRequest(_message.Message):
    __slots__ = ("claim_id", "reason")
    CLAIM_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    claim_id: str
    reason: str
    def __init__(self, claim_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class ReleaseResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
