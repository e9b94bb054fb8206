import datetime

from arenero.api.execd.v1 import exec_pb2 as _exec_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CodeContextState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CODE_CONTEXT_STATE_UNSPECIFIED: _ClassVar[CodeContextState]
    CODE_CONTEXT_STATE_STARTING: _ClassVar[CodeContextState]
    CODE_CONTEXT_STATE_IDLE: _ClassVar[CodeContextState]
    CODE_CONTEXT_STATE_BUSY: _ClassVar[CodeContextState]
    CODE_CONTEXT_STATE_DEAD: _ClassVar[CodeContextState]

class CodeEndCause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CODE_END_CAUSE_UNSPECIFIED: _ClassVar[CodeEndCause]
    CODE_END_CAUSE_COMPLETED: _ClassVar[CodeEndCause]
    CODE_END_CAUSE_ERROR: _ClassVar[CodeEndCause]
    CODE_END_CAUSE_INTERRUPTED: _ClassVar[CodeEndCause]
    CODE_END_CAUSE_DEADLINE: _ClassVar[CodeEndCause]
    CODE_END_CAUSE_KERNEL_DIED: _ClassVar[CodeEndCause]
    CODE_END_CAUSE_OUT_OF_MEMORY: _ClassVar[CodeEndCause]
    CODE_END_CAUSE_CONTEXT_DELETED: _ClassVar[CodeEndCause]
    CODE_END_CAUSE_SANDBOX_STOPPED: _ClassVar[CodeEndCause]
CODE_CONTEXT_STATE_UNSPECIFIED: CodeContextState
CODE_CONTEXT_STATE_STARTING: CodeContextState
CODE_CONTEXT_STATE_IDLE: CodeContextState
CODE_CONTEXT_STATE_BUSY: CodeContextState
CODE_CONTEXT_STATE_DEAD: CodeContextState
CODE_END_CAUSE_UNSPECIFIED: CodeEndCause
CODE_END_CAUSE_COMPLETED: CodeEndCause
CODE_END_CAUSE_ERROR: CodeEndCause
CODE_END_CAUSE_INTERRUPTED: CodeEndCause
CODE_END_CAUSE_DEADLINE: CodeEndCause
CODE_END_CAUSE_KERNEL_DIED: CodeEndCause
CODE_END_CAUSE_OUT_OF_MEMORY: CodeEndCause
CODE_END_CAUSE_CONTEXT_DELETED: CodeEndCause
CODE_END_CAUSE_SANDBOX_STOPPED: CodeEndCause

class ListLanguagesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListLanguagesResponse(_message.Message):
    __slots__ = ("languages",)
    LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    languages: _containers.RepeatedCompositeFieldContainer[Language]
    def __init__(self, languages: _Optional[_Iterable[_Union[Language, _Mapping]]] = ...) -> None: ...

class Language(_message.Message):
    __slots__ = ("name", "usable", "kernel", "reason", "capabilities")
    NAME_FIELD_NUMBER: _ClassVar[int]
    USABLE_FIELD_NUMBER: _ClassVar[int]
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    name: str
    usable: bool
    kernel: str
    reason: str
    capabilities: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., usable: _Optional[bool] = ..., kernel: _Optional[str] = ..., reason: _Optional[str] = ..., capabilities: _Optional[_Iterable[str]] = ...) -> None: ...

class CodeContext(_message.Message):
    __slots__ = ("context_id", "language", "kernel", "state", "created_at", "last_run_at", "execution_count", "queued", "running_run_id", "incarnation", "last_death_reason", "pid", "is_default", "idle_timeout")
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_RUN_AT_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    QUEUED_FIELD_NUMBER: _ClassVar[int]
    RUNNING_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    LAST_DEATH_REASON_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    IS_DEFAULT_FIELD_NUMBER: _ClassVar[int]
    IDLE_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    context_id: str
    language: str
    kernel: str
    state: CodeContextState
    created_at: _timestamp_pb2.Timestamp
    last_run_at: _timestamp_pb2.Timestamp
    execution_count: int
    queued: int
    running_run_id: str
    incarnation: int
    last_death_reason: str
    pid: int
    is_default: bool
    idle_timeout: _duration_pb2.Duration
    def __init__(self, context_id: _Optional[str] = ..., language: _Optional[str] = ..., kernel: _Optional[str] = ..., state: _Optional[_Union[CodeContextState, str]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_run_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., execution_count: _Optional[int] = ..., queued: _Optional[int] = ..., running_run_id: _Optional[str] = ..., incarnation: _Optional[int] = ..., last_death_reason: _Optional[str] = ..., pid: _Optional[int] = ..., is_default: _Optional[bool] = ..., idle_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class CreateContextRequest(_message.Message):
    __slots__ = ("context_id", "language", "cwd", "env", "user", "cgroup", "idle_timeout", "isolation_session_id")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    CGROUP_FIELD_NUMBER: _ClassVar[int]
    IDLE_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    ISOLATION_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    context_id: str
    language: str
    cwd: bytes
    env: _containers.ScalarMap[str, bytes]
    user: _exec_pb2.User
    cgroup: _exec_pb2.CgroupLimits
    idle_timeout: _duration_pb2.Duration
    isolation_session_id: str
    def __init__(self, context_id: _Optional[str] = ..., language: _Optional[str] = ..., cwd: _Optional[bytes] = ..., env: _Optional[_Mapping[str, bytes]] = ..., user: _Optional[_Union[_exec_pb2.User, _Mapping]] = ..., cgroup: _Optional[_Union[_exec_pb2.CgroupLimits, _Mapping]] = ..., idle_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., isolation_session_id: _Optional[str] = ...) -> None: ...

class CreateContextResponse(_message.Message):
    __slots__ = ("context", "repeated_request")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    REPEATED_REQUEST_FIELD_NUMBER: _ClassVar[int]
    context: CodeContext
    repeated_request: bool
    def __init__(self, context: _Optional[_Union[CodeContext, _Mapping]] = ..., repeated_request: _Optional[bool] = ...) -> None: ...

class GetContextRequest(_message.Message):
    __slots__ = ("context_id",)
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    context_id: str
    def __init__(self, context_id: _Optional[str] = ...) -> None: ...

class GetContextResponse(_message.Message):
    __slots__ = ("context",)
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    context: CodeContext
    def __init__(self, context: _Optional[_Union[CodeContext, _Mapping]] = ...) -> None: ...

class ListContextsRequest(_message.Message):
    __slots__ = ("language",)
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    language: str
    def __init__(self, language: _Optional[str] = ...) -> None: ...

class ListContextsResponse(_message.Message):
    __slots__ = ("contexts",)
    CONTEXTS_FIELD_NUMBER: _ClassVar[int]
    contexts: _containers.RepeatedCompositeFieldContainer[CodeContext]
    def __init__(self, contexts: _Optional[_Iterable[_Union[CodeContext, _Mapping]]] = ...) -> None: ...

class DeleteContextRequest(_message.Message):
    __slots__ = ("context_id", "language")
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    context_id: str
    language: str
    def __init__(self, context_id: _Optional[str] = ..., language: _Optional[str] = ...) -> None: ...

class DeleteContextResponse(_message.Message):
    __slots__ = ("context_ids",)
    CONTEXT_IDS_FIELD_NUMBER: _ClassVar[int]
    context_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, context_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RestartContextRequest(_message.Message):
    __slots__ = ("context_id",)
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    context_id: str
    def __init__(self, context_id: _Optional[str] = ...) -> None: ...

class RestartContextResponse(_message.Message):
    __slots__ = ("context",)
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    context: CodeContext
    def __init__(self, context: _Optional[_Union[CodeContext, _Mapping]] = ...) -> None: ...

class RunCodeRequest(_message.Message):
    __slots__ = ("run_id", "context_id", "language", "code", "timeout", "env", "silent", "on_disconnect", "heartbeat_interval", "output")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    SILENT_FIELD_NUMBER: _ClassVar[int]
    ON_DISCONNECT_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    context_id: str
    language: str
    code: str
    timeout: _duration_pb2.Duration
    env: _containers.ScalarMap[str, bytes]
    silent: bool
    on_disconnect: _exec_pb2.OnDisconnect
    heartbeat_interval: _duration_pb2.Duration
    output: _exec_pb2.OutputPolicy
    def __init__(self, run_id: _Optional[str] = ..., context_id: _Optional[str] = ..., language: _Optional[str] = ..., code: _Optional[str] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., env: _Optional[_Mapping[str, bytes]] = ..., silent: _Optional[bool] = ..., on_disconnect: _Optional[_Union[_exec_pb2.OnDisconnect, str]] = ..., heartbeat_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., output: _Optional[_Union[_exec_pb2.OutputPolicy, _Mapping]] = ...) -> None: ...

class RunCodeResponse(_message.Message):
    __slots__ = ("frame",)
    FRAME_FIELD_NUMBER: _ClassVar[int]
    frame: CodeFrame
    def __init__(self, frame: _Optional[_Union[CodeFrame, _Mapping]] = ...) -> None: ...

class AttachCodeRequest(_message.Message):
    __slots__ = ("run_id", "after_seq", "heartbeat_interval")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQ_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    after_seq: int
    heartbeat_interval: _duration_pb2.Duration
    def __init__(self, run_id: _Optional[str] = ..., after_seq: _Optional[int] = ..., heartbeat_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class AttachCodeResponse(_message.Message):
    __slots__ = ("frame",)
    FRAME_FIELD_NUMBER: _ClassVar[int]
    frame: CodeFrame
    def __init__(self, frame: _Optional[_Union[CodeFrame, _Mapping]] = ...) -> None: ...

class CodeFrame(_message.Message):
    __slots__ = ("seq", "time", "accepted", "started", "output", "result", "error", "gap", "heartbeat", "clear", "ended")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    GAP_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    CLEAR_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    seq: int
    time: _timestamp_pb2.Timestamp
    accepted: CodeAccepted
    started: CodeStarted
    output: CodeOutput
    result: CodeResult
    error: CodeError
    gap: CodeGap
    heartbeat: CodeHeartbeat
    clear: CodeClear
    ended: CodeEnded
    def __init__(self, seq: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., accepted: _Optional[_Union[CodeAccepted, _Mapping]] = ..., started: _Optional[_Union[CodeStarted, _Mapping]] = ..., output: _Optional[_Union[CodeOutput, _Mapping]] = ..., result: _Optional[_Union[CodeResult, _Mapping]] = ..., error: _Optional[_Union[CodeError, _Mapping]] = ..., gap: _Optional[_Union[CodeGap, _Mapping]] = ..., heartbeat: _Optional[_Union[CodeHeartbeat, _Mapping]] = ..., clear: _Optional[_Union[CodeClear, _Mapping]] = ..., ended: _Optional[_Union[CodeEnded, _Mapping]] = ...) -> None: ...

class CodeAccepted(_message.Message):
    __slots__ = ("run_id", "context_id", "queue_position", "fresh_interpreter", "death_reason")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    QUEUE_POSITION_FIELD_NUMBER: _ClassVar[int]
    FRESH_INTERPRETER_FIELD_NUMBER: _ClassVar[int]
    DEATH_REASON_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    context_id: str
    queue_position: int
    fresh_interpreter: bool
    death_reason: str
    def __init__(self, run_id: _Optional[str] = ..., context_id: _Optional[str] = ..., queue_position: _Optional[int] = ..., fresh_interpreter: _Optional[bool] = ..., death_reason: _Optional[str] = ...) -> None: ...

class CodeStarted(_message.Message):
    __slots__ = ("execution_count",)
    EXECUTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    execution_count: int
    def __init__(self, execution_count: _Optional[int] = ...) -> None: ...

class CodeOutput(_message.Message):
    __slots__ = ("stream", "data", "offset")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    stream: _exec_pb2.OutputStream
    data: bytes
    offset: int
    def __init__(self, stream: _Optional[_Union[_exec_pb2.OutputStream, str]] = ..., data: _Optional[bytes] = ..., offset: _Optional[int] = ...) -> None: ...

class CodeResult(_message.Message):
    __slots__ = ("parts", "is_value", "execution_count", "display_id", "is_update")
    PARTS_FIELD_NUMBER: _ClassVar[int]
    IS_VALUE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_ID_FIELD_NUMBER: _ClassVar[int]
    IS_UPDATE_FIELD_NUMBER: _ClassVar[int]
    parts: _containers.RepeatedCompositeFieldContainer[MimePart]
    is_value: bool
    execution_count: int
    display_id: str
    is_update: bool
    def __init__(self, parts: _Optional[_Iterable[_Union[MimePart, _Mapping]]] = ..., is_value: _Optional[bool] = ..., execution_count: _Optional[int] = ..., display_id: _Optional[str] = ..., is_update: _Optional[bool] = ...) -> None: ...

class MimePart(_message.Message):
    __slots__ = ("mime_type", "data", "metadata_json")
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    mime_type: str
    data: bytes
    metadata_json: str
    def __init__(self, mime_type: _Optional[str] = ..., data: _Optional[bytes] = ..., metadata_json: _Optional[str] = ...) -> None: ...

class CodeError(_message.Message):
    __slots__ = ("name", "message", "traceback", "traceback_ansi")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TRACEBACK_FIELD_NUMBER: _ClassVar[int]
    TRACEBACK_ANSI_FIELD_NUMBER: _ClassVar[int]
    name: str
    message: str
    traceback: _containers.RepeatedScalarFieldContainer[str]
    traceback_ansi: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., message: _Optional[str] = ..., traceback: _Optional[_Iterable[str]] = ..., traceback_ansi: _Optional[_Iterable[str]] = ...) -> None: ...

class CodeGap(_message.Message):
    __slots__ = ("from_seq", "to_seq")
    FROM_SEQ_FIELD_NUMBER: _ClassVar[int]
    TO_SEQ_FIELD_NUMBER: _ClassVar[int]
    from_seq: int
    to_seq: int
    def __init__(self, from_seq: _Optional[int] = ..., to_seq: _Optional[int] = ...) -> None: ...

class CodeHeartbeat(_message.Message):
    __slots__ = ("last_seq", "queue_position")
    LAST_SEQ_FIELD_NUMBER: _ClassVar[int]
    QUEUE_POSITION_FIELD_NUMBER: _ClassVar[int]
    last_seq: int
    queue_position: int
    def __init__(self, last_seq: _Optional[int] = ..., queue_position: _Optional[int] = ...) -> None: ...

class CodeClear(_message.Message):
    __slots__ = ("wait",)
    WAIT_FIELD_NUMBER: _ClassVar[int]
    wait: bool
    def __init__(self, wait: _Optional[bool] = ...) -> None: ...

class CodeEnded(_message.Message):
    __slots__ = ("cause", "execution_count", "started_at", "ended_at", "exit_code", "context_lost")
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_LOST_FIELD_NUMBER: _ClassVar[int]
    cause: CodeEndCause
    execution_count: int
    started_at: _timestamp_pb2.Timestamp
    ended_at: _timestamp_pb2.Timestamp
    exit_code: int
    context_lost: bool
    def __init__(self, cause: _Optional[_Union[CodeEndCause, str]] = ..., execution_count: _Optional[int] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., exit_code: _Optional[int] = ..., context_lost: _Optional[bool] = ...) -> None: ...

class InterruptCodeRequest(_message.Message):
    __slots__ = ("run_id", "context_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    context_id: str
    def __init__(self, run_id: _Optional[str] = ..., context_id: _Optional[str] = ...) -> None: ...

class InterruptCodeResponse(_message.Message):
    __slots__ = ("interrupted",)
    INTERRUPTED_FIELD_NUMBER: _ClassVar[int]
    interrupted: bool
    def __init__(self, interrupted: _Optional[bool] = ...) -> None: ...
