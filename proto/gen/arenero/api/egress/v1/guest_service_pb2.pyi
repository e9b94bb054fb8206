import datetime

from arenero.api.common.v1 import policy_pb2 as _policy_pb2
from arenero.api.egress.v1 import egress_pb2 as _egress_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ConfigureRequest(_message.Message):
    __slots__ = ("sandbox_id", "generation", "policy_revision", "policy", "operator_rules", "upstream_resolvers", "search_domains", "extra_ca_files", "tenant")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    POLICY_REVISION_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    OPERATOR_RULES_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_RESOLVERS_FIELD_NUMBER: _ClassVar[int]
    SEARCH_DOMAINS_FIELD_NUMBER: _ClassVar[int]
    EXTRA_CA_FILES_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    generation: int
    policy_revision: int
    policy: _policy_pb2.NetworkPolicy
    operator_rules: _containers.RepeatedCompositeFieldContainer[_policy_pb2.NetworkRule]
    upstream_resolvers: _containers.RepeatedScalarFieldContainer[str]
    search_domains: _containers.RepeatedScalarFieldContainer[str]
    extra_ca_files: _containers.RepeatedScalarFieldContainer[str]
    tenant: str
    def __init__(self, sandbox_id: _Optional[str] = ..., generation: _Optional[int] = ..., policy_revision: _Optional[int] = ..., policy: _Optional[_Union[_policy_pb2.NetworkPolicy, _Mapping]] = ..., operator_rules: _Optional[_Iterable[_Union[_policy_pb2.NetworkRule, _Mapping]]] = ..., upstream_resolvers: _Optional[_Iterable[str]] = ..., search_domains: _Optional[_Iterable[str]] = ..., extra_ca_files: _Optional[_Iterable[str]] = ..., tenant: _Optional[str] = ...) -> None: ...

class ConfigureResponse(_message.Message):
    __slots__ = ("policy_revision", "ended_connections")
    POLICY_REVISION_FIELD_NUMBER: _ClassVar[int]
    ENDED_CONNECTIONS_FIELD_NUMBER: _ClassVar[int]
    policy_revision: int
    ended_connections: int
    def __init__(self, policy_revision: _Optional[int] = ..., ended_connections: _Optional[int] = ...) -> None: ...

class InspectRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class InspectResponse(_message.Message):
    __slots__ = ("status", "ca_certificate_pem")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CA_CERTIFICATE_PEM_FIELD_NUMBER: _ClassVar[int]
    status: _egress_pb2.EgressStatus
    ca_certificate_pem: str
    def __init__(self, status: _Optional[_Union[_egress_pb2.EgressStatus, _Mapping]] = ..., ca_certificate_pem: _Optional[str] = ...) -> None: ...

class ObserveRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ObserveResponse(_message.Message):
    __slots__ = ("decisions", "left_out", "time")
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    decisions: _containers.RepeatedCompositeFieldContainer[_egress_pb2.Decision]
    left_out: int
    time: _timestamp_pb2.Timestamp
    def __init__(self, decisions: _Optional[_Iterable[_Union[_egress_pb2.Decision, _Mapping]]] = ..., left_out: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class EvaluateRequest(_message.Message):
    __slots__ = ("host", "port")
    HOST_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    host: str
    port: int
    def __init__(self, host: _Optional[str] = ..., port: _Optional[int] = ...) -> None: ...

class EvaluateResponse(_message.Message):
    __slots__ = ("decision", "intercepted")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    INTERCEPTED_FIELD_NUMBER: _ClassVar[int]
    decision: _egress_pb2.Decision
    intercepted: bool
    def __init__(self, decision: _Optional[_Union[_egress_pb2.Decision, _Mapping]] = ..., intercepted: _Optional[bool] = ...) -> None: ...

class LearnRequest(_message.Message):
    __slots__ = ("duration", "let_pass")
    DURATION_FIELD_NUMBER: _ClassVar[int]
    LET_PASS_FIELD_NUMBER: _ClassVar[int]
    duration: _duration_pb2.Duration
    let_pass: bool
    def __init__(self, duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., let_pass: _Optional[bool] = ...) -> None: ...

class LearnResponse(_message.Message):
    __slots__ = ("draft",)
    DRAFT_FIELD_NUMBER: _ClassVar[int]
    draft: _egress_pb2.PolicyDraft
    def __init__(self, draft: _Optional[_Union[_egress_pb2.PolicyDraft, _Mapping]] = ...) -> None: ...

class DrainRequest(_message.Message):
    __slots__ = ("grace",)
    GRACE_FIELD_NUMBER: _ClassVar[int]
    grace: _duration_pb2.Duration
    def __init__(self, grace: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class DrainResponse(_message.Message):
    __slots__ = ("ended_connections",)
    ENDED_CONNECTIONS_FIELD_NUMBER: _ClassVar[int]
    ended_connections: int
    def __init__(self, ended_connections: _Optional[int] = ...) -> None: ...
