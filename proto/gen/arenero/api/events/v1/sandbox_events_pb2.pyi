import datetime

from arenero.api.lifecycle.v1 import sandbox_pb2 as _sandbox_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SandboxEvent(_message.Message):
    __slots__ = ("sandbox", "internal_sealed", "requested", "progressed", "started", "failed", "renewed", "metadata_updated", "policy_updated", "pausing", "paused", "resuming", "resumed", "stopping", "terminated", "claimed", "forked", "recovered")
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    INTERNAL_SEALED_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_FIELD_NUMBER: _ClassVar[int]
    PROGRESSED_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    RENEWED_FIELD_NUMBER: _ClassVar[int]
    METADATA_UPDATED_FIELD_NUMBER: _ClassVar[int]
    POLICY_UPDATED_FIELD_NUMBER: _ClassVar[int]
    PAUSING_FIELD_NUMBER: _ClassVar[int]
    PAUSED_FIELD_NUMBER: _ClassVar[int]
    RESUMING_FIELD_NUMBER: _ClassVar[int]
    RESUMED_FIELD_NUMBER: _ClassVar[int]
    STOPPING_FIELD_NUMBER: _ClassVar[int]
    TERMINATED_FIELD_NUMBER: _ClassVar[int]
    CLAIMED_FIELD_NUMBER: _ClassVar[int]
    FORKED_FIELD_NUMBER: _ClassVar[int]
    RECOVERED_FIELD_NUMBER: _ClassVar[int]
    sandbox: _sandbox_pb2.Sandbox
    internal_sealed: bytes
    requested: SandboxRequested
    progressed: SandboxProgressed
    started: SandboxStarted
    failed: SandboxFailed
    renewed: SandboxRenewed
    metadata_updated: SandboxMetadataUpdated
    policy_updated: SandboxPolicyUpdated
    pausing: SandboxPausing
    paused: SandboxPaused
    resuming: SandboxResuming
    resumed: SandboxResumed
    stopping: SandboxStopping
    terminated: SandboxTerminated
    claimed: SandboxClaimed
    forked: SandboxForked
    recovered: SandboxRecovered
    def __init__(self, sandbox: _Optional[_Union[_sandbox_pb2.Sandbox, _Mapping]] = ..., internal_sealed: _Optional[bytes] = ..., requested: _Optional[_Union[SandboxRequested, _Mapping]] = ..., progressed: _Optional[_Union[SandboxProgressed, _Mapping]] = ..., started: _Optional[_Union[SandboxStarted, _Mapping]] = ..., failed: _Optional[_Union[SandboxFailed, _Mapping]] = ..., renewed: _Optional[_Union[SandboxRenewed, _Mapping]] = ..., metadata_updated: _Optional[_Union[SandboxMetadataUpdated, _Mapping]] = ..., policy_updated: _Optional[_Union[SandboxPolicyUpdated, _Mapping]] = ..., pausing: _Optional[_Union[SandboxPausing, _Mapping]] = ..., paused: _Optional[_Union[SandboxPaused, _Mapping]] = ..., resuming: _Optional[_Union[SandboxResuming, _Mapping]] = ..., resumed: _Optional[_Union[SandboxResumed, _Mapping]] = ..., stopping: _Optional[_Union[SandboxStopping, _Mapping]] = ..., terminated: _Optional[_Union[SandboxTerminated, _Mapping]] = ..., claimed: _Optional[_Union[SandboxClaimed, _Mapping]] = ..., forked: _Optional[_Union[SandboxForked, _Mapping]] = ..., recovered: _Optional[_Union[SandboxRecovered, _Mapping]] = ...) -> None: ...

class SandboxInternal(_message.Message):
    __slots__ = ("handle_json", "request_digest", "owner", "start_timeout", "execd_address", "undoing", "failure_kind", "failure_field", "exit", "failure_fix")
    HANDLE_JSON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_DIGEST_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    START_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    EXECD_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    UNDOING_FIELD_NUMBER: _ClassVar[int]
    FAILURE_KIND_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_FIELD_NUMBER: _ClassVar[int]
    EXIT_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIX_FIELD_NUMBER: _ClassVar[int]
    handle_json: str
    request_digest: str
    owner: str
    start_timeout: _duration_pb2.Duration
    execd_address: str
    undoing: bool
    failure_kind: str
    failure_field: str
    exit: SandboxExit
    failure_fix: str
    def __init__(self, handle_json: _Optional[str] = ..., request_digest: _Optional[str] = ..., owner: _Optional[str] = ..., start_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., execd_address: _Optional[str] = ..., undoing: _Optional[bool] = ..., failure_kind: _Optional[str] = ..., failure_field: _Optional[str] = ..., exit: _Optional[_Union[SandboxExit, _Mapping]] = ..., failure_fix: _Optional[str] = ...) -> None: ...

class SandboxExit(_message.Message):
    __slots__ = ("exit_code", "signal", "oom_killed")
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    OOM_KILLED_FIELD_NUMBER: _ClassVar[int]
    exit_code: int
    signal: int
    oom_killed: bool
    def __init__(self, exit_code: _Optional[int] = ..., signal: _Optional[int] = ..., oom_killed: _Optional[bool] = ...) -> None: ...

class SandboxRequested(_message.Message):
    __slots__ = ("request_id",)
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    def __init__(self, request_id: _Optional[str] = ...) -> None: ...

class SandboxProgressed(_message.Message):
    __slots__ = ("saga", "step", "took", "undone")
    SAGA_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    UNDONE_FIELD_NUMBER: _ClassVar[int]
    saga: str
    step: str
    took: _duration_pb2.Duration
    undone: bool
    def __init__(self, saga: _Optional[str] = ..., step: _Optional[str] = ..., took: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., undone: _Optional[bool] = ...) -> None: ...

class SandboxStarted(_message.Message):
    __slots__ = ("took",)
    TOOK_FIELD_NUMBER: _ClassVar[int]
    took: _duration_pb2.Duration
    def __init__(self, took: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class SandboxFailed(_message.Message):
    __slots__ = ("reason", "message", "step")
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    reason: str
    message: str
    step: str
    def __init__(self, reason: _Optional[str] = ..., message: _Optional[str] = ..., step: _Optional[str] = ...) -> None: ...

class SandboxRenewed(_message.Message):
    __slots__ = ("previous_expires_at", "expires_at")
    PREVIOUS_EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    previous_expires_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, previous_expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SandboxMetadataUpdated(_message.Message):
    __slots__ = ("set_keys", "removed_keys")
    SET_KEYS_FIELD_NUMBER: _ClassVar[int]
    REMOVED_KEYS_FIELD_NUMBER: _ClassVar[int]
    set_keys: _containers.RepeatedScalarFieldContainer[str]
    removed_keys: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, set_keys: _Optional[_Iterable[str]] = ..., removed_keys: _Optional[_Iterable[str]] = ...) -> None: ...

class SandboxPolicyUpdated(_message.Message):
    __slots__ = ("rules",)
    RULES_FIELD_NUMBER: _ClassVar[int]
    rules: int
    def __init__(self, rules: _Optional[int] = ...) -> None: ...

class SandboxPausing(_message.Message):
    __slots__ = ("mode",)
    MODE_FIELD_NUMBER: _ClassVar[int]
    mode: _sandbox_pb2.PauseMode
    def __init__(self, mode: _Optional[_Union[_sandbox_pb2.PauseMode, str]] = ...) -> None: ...

class SandboxPaused(_message.Message):
    __slots__ = ("took",)
    TOOK_FIELD_NUMBER: _ClassVar[int]
    took: _duration_pb2.Duration
    def __init__(self, took: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class SandboxResuming(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SandboxResumed(_message.Message):
    __slots__ = ("took",)
    TOOK_FIELD_NUMBER: _ClassVar[int]
    took: _duration_pb2.Duration
    def __init__(self, took: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class SandboxStopping(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class SandboxTerminated(_message.Message):
    __slots__ = ("reason", "ran_for")
    REASON_FIELD_NUMBER: _ClassVar[int]
    RAN_FOR_FIELD_NUMBER: _ClassVar[int]
    reason: str
    ran_for: _duration_pb2.Duration
    def __init__(self, reason: _Optional[str] = ..., ran_for: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class SandboxClaimed(_message.Message):
    __slots__ = ("pool_id", "claimed_by")
    POOL_ID_FIELD_NUMBER: _ClassVar[int]
    CLAIMED_BY_FIELD_NUMBER: _ClassVar[int]
    pool_id: str
    claimed_by: str
    def __init__(self, pool_id: _Optional[str] = ..., claimed_by: _Optional[str] = ...) -> None: ...

class SandboxForked(_message.Message):
    __slots__ = ("sandbox_ids",)
    SANDBOX_IDS_FIELD_NUMBER: _ClassVar[int]
    sandbox_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, sandbox_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class SandboxRecovered(_message.Message):
    __slots__ = ("instance",)
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    instance: str
    def __init__(self, instance: _Optional[str] = ...) -> None: ...
