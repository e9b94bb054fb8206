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

class GetPolicyRequest(_message.Message):
    __slots__ = ("sandbox_id",)
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    def __init__(self, sandbox_id: _Optional[str] = ...) -> None: ...

class GetPolicyResponse(_message.Message):
    __slots__ = ("state",)
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: _egress_pb2.PolicyState
    def __init__(self, state: _Optional[_Union[_egress_pb2.PolicyState, _Mapping]] = ...) -> None: ...

class ReplacePolicyRequest(_message.Message):
    __slots__ = ("sandbox_id", "policy", "expected_revision", "wait_in_force")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    WAIT_IN_FORCE_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    policy: _policy_pb2.NetworkPolicy
    expected_revision: int
    wait_in_force: bool
    def __init__(self, sandbox_id: _Optional[str] = ..., policy: _Optional[_Union[_policy_pb2.NetworkPolicy, _Mapping]] = ..., expected_revision: _Optional[int] = ..., wait_in_force: _Optional[bool] = ...) -> None: ...

class ReplacePolicyResponse(_message.Message):
    __slots__ = ("state",)
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: _egress_pb2.PolicyState
    def __init__(self, state: _Optional[_Union[_egress_pb2.PolicyState, _Mapping]] = ...) -> None: ...

class PatchPolicyRequest(_message.Message):
    __slots__ = ("sandbox_id", "put", "remove_targets", "default_action", "expected_revision", "wait_in_force")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    PUT_FIELD_NUMBER: _ClassVar[int]
    REMOVE_TARGETS_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_ACTION_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    WAIT_IN_FORCE_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    put: _containers.RepeatedCompositeFieldContainer[_policy_pb2.NetworkRule]
    remove_targets: _containers.RepeatedScalarFieldContainer[str]
    default_action: _policy_pb2.NetworkAction
    expected_revision: int
    wait_in_force: bool
    def __init__(self, sandbox_id: _Optional[str] = ..., put: _Optional[_Iterable[_Union[_policy_pb2.NetworkRule, _Mapping]]] = ..., remove_targets: _Optional[_Iterable[str]] = ..., default_action: _Optional[_Union[_policy_pb2.NetworkAction, str]] = ..., expected_revision: _Optional[int] = ..., wait_in_force: _Optional[bool] = ...) -> None: ...

class PatchPolicyResponse(_message.Message):
    __slots__ = ("state", "unknown_targets")
    STATE_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_TARGETS_FIELD_NUMBER: _ClassVar[int]
    state: _egress_pb2.PolicyState
    unknown_targets: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, state: _Optional[_Union[_egress_pb2.PolicyState, _Mapping]] = ..., unknown_targets: _Optional[_Iterable[str]] = ...) -> None: ...

class TestPolicyRequest(_message.Message):
    __slots__ = ("sandbox_id", "destination", "port", "policy")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    destination: str
    port: int
    policy: _policy_pb2.NetworkPolicy
    def __init__(self, sandbox_id: _Optional[str] = ..., destination: _Optional[str] = ..., port: _Optional[int] = ..., policy: _Optional[_Union[_policy_pb2.NetworkPolicy, _Mapping]] = ...) -> None: ...

class TestPolicyResponse(_message.Message):
    __slots__ = ("decision", "rule_index", "message", "intercepted")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    RULE_INDEX_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    INTERCEPTED_FIELD_NUMBER: _ClassVar[int]
    decision: _egress_pb2.Decision
    rule_index: int
    message: str
    intercepted: bool
    def __init__(self, decision: _Optional[_Union[_egress_pb2.Decision, _Mapping]] = ..., rule_index: _Optional[int] = ..., message: _Optional[str] = ..., intercepted: _Optional[bool] = ...) -> None: ...

class GetStatusRequest(_message.Message):
    __slots__ = ("sandbox_id",)
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    def __init__(self, sandbox_id: _Optional[str] = ...) -> None: ...

class GetStatusResponse(_message.Message):
    __slots__ = ("status",)
    STATUS_FIELD_NUMBER: _ClassVar[int]
    status: _egress_pb2.EgressStatus
    def __init__(self, status: _Optional[_Union[_egress_pb2.EgressStatus, _Mapping]] = ...) -> None: ...

class WatchDecisionsRequest(_message.Message):
    __slots__ = ("sandbox_id", "actions")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    actions: _containers.RepeatedScalarFieldContainer[_policy_pb2.NetworkAction]
    def __init__(self, sandbox_id: _Optional[str] = ..., actions: _Optional[_Iterable[_Union[_policy_pb2.NetworkAction, str]]] = ...) -> None: ...

class WatchDecisionsResponse(_message.Message):
    __slots__ = ("decision", "heartbeat", "left_out")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    decision: _egress_pb2.Decision
    heartbeat: _timestamp_pb2.Timestamp
    left_out: int
    def __init__(self, decision: _Optional[_Union[_egress_pb2.Decision, _Mapping]] = ..., heartbeat: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., left_out: _Optional[int] = ...) -> None: ...

class StartLearningRequest(_message.Message):
    __slots__ = ("sandbox_id", "duration", "let_pass")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    LET_PASS_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    duration: _duration_pb2.Duration
    let_pass: bool
    def __init__(self, sandbox_id: _Optional[str] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., let_pass: _Optional[bool] = ...) -> None: ...

class StartLearningResponse(_message.Message):
    __slots__ = ("status",)
    STATUS_FIELD_NUMBER: _ClassVar[int]
    status: _egress_pb2.EgressStatus
    def __init__(self, status: _Optional[_Union[_egress_pb2.EgressStatus, _Mapping]] = ...) -> None: ...

class StopLearningRequest(_message.Message):
    __slots__ = ("sandbox_id",)
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    def __init__(self, sandbox_id: _Optional[str] = ...) -> None: ...

class StopLearningResponse(_message.Message):
    __slots__ = ("draft",)
    DRAFT_FIELD_NUMBER: _ClassVar[int]
    draft: _egress_pb2.PolicyDraft
    def __init__(self, draft: _Optional[_Union[_egress_pb2.PolicyDraft, _Mapping]] = ...) -> None: ...

class GetDraftRequest(_message.Message):
    __slots__ = ("sandbox_id",)
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    def __init__(self, sandbox_id: _Optional[str] = ...) -> None: ...

class GetDraftResponse(_message.Message):
    __slots__ = ("draft",)
    DRAFT_FIELD_NUMBER: _ClassVar[int]
    draft: _egress_pb2.PolicyDraft
    def __init__(self, draft: _Optional[_Union[_egress_pb2.PolicyDraft, _Mapping]] = ...) -> None: ...

class ApproveDraftRequest(_message.Message):
    __slots__ = ("sandbox_id", "targets", "expected_revision")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    TARGETS_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    targets: _containers.RepeatedScalarFieldContainer[str]
    expected_revision: int
    def __init__(self, sandbox_id: _Optional[str] = ..., targets: _Optional[_Iterable[str]] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class ApproveDraftResponse(_message.Message):
    __slots__ = ("state",)
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: _egress_pb2.PolicyState
    def __init__(self, state: _Optional[_Union[_egress_pb2.PolicyState, _Mapping]] = ...) -> None: ...
