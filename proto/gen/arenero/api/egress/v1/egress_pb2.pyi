import datetime

from arenero.api.common.v1 import policy_pb2 as _policy_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EgressMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EGRESS_MODE_UNSPECIFIED: _ClassVar[EgressMode]
    EGRESS_MODE_DENY_ALL: _ClassVar[EgressMode]
    EGRESS_MODE_ALLOW_ALL: _ClassVar[EgressMode]
    EGRESS_MODE_ENFORCING: _ClassVar[EgressMode]
    EGRESS_MODE_NO_NETWORK: _ClassVar[EgressMode]

class EgressEnforcement(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EGRESS_ENFORCEMENT_UNSPECIFIED: _ClassVar[EgressEnforcement]
    EGRESS_ENFORCEMENT_LOOPBACK: _ClassVar[EgressEnforcement]
    EGRESS_ENFORCEMENT_GATEWAY: _ClassVar[EgressEnforcement]

class DecisionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DECISION_KIND_UNSPECIFIED: _ClassVar[DecisionKind]
    DECISION_KIND_NAME: _ClassVar[DecisionKind]
    DECISION_KIND_CONNECTION: _ClassVar[DecisionKind]
    DECISION_KIND_REQUEST: _ClassVar[DecisionKind]
EGRESS_MODE_UNSPECIFIED: EgressMode
EGRESS_MODE_DENY_ALL: EgressMode
EGRESS_MODE_ALLOW_ALL: EgressMode
EGRESS_MODE_ENFORCING: EgressMode
EGRESS_MODE_NO_NETWORK: EgressMode
EGRESS_ENFORCEMENT_UNSPECIFIED: EgressEnforcement
EGRESS_ENFORCEMENT_LOOPBACK: EgressEnforcement
EGRESS_ENFORCEMENT_GATEWAY: EgressEnforcement
DECISION_KIND_UNSPECIFIED: DecisionKind
DECISION_KIND_NAME: DecisionKind
DECISION_KIND_CONNECTION: DecisionKind
DECISION_KIND_REQUEST: DecisionKind

class PolicyState(_message.Message):
    __slots__ = ("sandbox_id", "policy", "revision", "revision_in_force", "operator_rules", "updated_at")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    REVISION_IN_FORCE_FIELD_NUMBER: _ClassVar[int]
    OPERATOR_RULES_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    policy: _policy_pb2.NetworkPolicy
    revision: int
    revision_in_force: int
    operator_rules: _containers.RepeatedCompositeFieldContainer[_policy_pb2.NetworkRule]
    updated_at: _timestamp_pb2.Timestamp
    def __init__(self, sandbox_id: _Optional[str] = ..., policy: _Optional[_Union[_policy_pb2.NetworkPolicy, _Mapping]] = ..., revision: _Optional[int] = ..., revision_in_force: _Optional[int] = ..., operator_rules: _Optional[_Iterable[_Union[_policy_pb2.NetworkRule, _Mapping]]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class EgressStatus(_message.Message):
    __slots__ = ("mode", "enforcement", "features", "missing", "running", "restarts", "started_at", "policy_revision", "vault_revision", "counters", "learning_until", "reason")
    MODE_FIELD_NUMBER: _ClassVar[int]
    ENFORCEMENT_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    RESTARTS_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    POLICY_REVISION_FIELD_NUMBER: _ClassVar[int]
    VAULT_REVISION_FIELD_NUMBER: _ClassVar[int]
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    LEARNING_UNTIL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    mode: EgressMode
    enforcement: EgressEnforcement
    features: _containers.RepeatedScalarFieldContainer[str]
    missing: _containers.RepeatedScalarFieldContainer[str]
    running: bool
    restarts: int
    started_at: _timestamp_pb2.Timestamp
    policy_revision: int
    vault_revision: int
    counters: _containers.RepeatedCompositeFieldContainer[RuleCounter]
    learning_until: _timestamp_pb2.Timestamp
    reason: str
    def __init__(self, mode: _Optional[_Union[EgressMode, str]] = ..., enforcement: _Optional[_Union[EgressEnforcement, str]] = ..., features: _Optional[_Iterable[str]] = ..., missing: _Optional[_Iterable[str]] = ..., running: _Optional[bool] = ..., restarts: _Optional[int] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., policy_revision: _Optional[int] = ..., vault_revision: _Optional[int] = ..., counters: _Optional[_Iterable[_Union[RuleCounter, _Mapping]]] = ..., learning_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reason: _Optional[str] = ...) -> None: ...

class RuleCounter(_message.Message):
    __slots__ = ("rule", "allowed", "denied", "sent_bytes", "received_bytes")
    RULE_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    DENIED_FIELD_NUMBER: _ClassVar[int]
    SENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_BYTES_FIELD_NUMBER: _ClassVar[int]
    rule: str
    allowed: int
    denied: int
    sent_bytes: int
    received_bytes: int
    def __init__(self, rule: _Optional[str] = ..., allowed: _Optional[int] = ..., denied: _Optional[int] = ..., sent_bytes: _Optional[int] = ..., received_bytes: _Optional[int] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("time", "kind", "action", "host", "address", "port", "rule", "reason", "binding", "method", "path", "count", "learnt")
    TIME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    LEARNT_FIELD_NUMBER: _ClassVar[int]
    time: _timestamp_pb2.Timestamp
    kind: DecisionKind
    action: _policy_pb2.NetworkAction
    host: str
    address: str
    port: int
    rule: str
    reason: str
    binding: str
    method: str
    path: str
    count: int
    learnt: bool
    def __init__(self, time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., kind: _Optional[_Union[DecisionKind, str]] = ..., action: _Optional[_Union[_policy_pb2.NetworkAction, str]] = ..., host: _Optional[str] = ..., address: _Optional[str] = ..., port: _Optional[int] = ..., rule: _Optional[str] = ..., reason: _Optional[str] = ..., binding: _Optional[str] = ..., method: _Optional[str] = ..., path: _Optional[str] = ..., count: _Optional[int] = ..., learnt: _Optional[bool] = ...) -> None: ...

class PolicyDraft(_message.Message):
    __slots__ = ("policy", "entries", "base_revision", "began_at", "learnt_for")
    POLICY_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    BASE_REVISION_FIELD_NUMBER: _ClassVar[int]
    BEGAN_AT_FIELD_NUMBER: _ClassVar[int]
    LEARNT_FOR_FIELD_NUMBER: _ClassVar[int]
    policy: _policy_pb2.NetworkPolicy
    entries: _containers.RepeatedCompositeFieldContainer[DraftEntry]
    base_revision: int
    began_at: _timestamp_pb2.Timestamp
    learnt_for: _duration_pb2.Duration
    def __init__(self, policy: _Optional[_Union[_policy_pb2.NetworkPolicy, _Mapping]] = ..., entries: _Optional[_Iterable[_Union[DraftEntry, _Mapping]]] = ..., base_revision: _Optional[int] = ..., began_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., learnt_for: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class DraftEntry(_message.Message):
    __slots__ = ("rule", "count", "first_at", "last_at", "programs")
    RULE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    FIRST_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_AT_FIELD_NUMBER: _ClassVar[int]
    PROGRAMS_FIELD_NUMBER: _ClassVar[int]
    rule: _policy_pb2.NetworkRule
    count: int
    first_at: _timestamp_pb2.Timestamp
    last_at: _timestamp_pb2.Timestamp
    programs: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, rule: _Optional[_Union[_policy_pb2.NetworkRule, _Mapping]] = ..., count: _Optional[int] = ..., first_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., programs: _Optional[_Iterable[str]] = ...) -> None: ...
