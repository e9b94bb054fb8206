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

class SessionProfile(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_PROFILE_UNSPECIFIED: _ClassVar[SessionProfile]
    SESSION_PROFILE_STRICT: _ClassVar[SessionProfile]
    SESSION_PROFILE_BALANCED: _ClassVar[SessionProfile]

class WorkspaceMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WORKSPACE_MODE_UNSPECIFIED: _ClassVar[WorkspaceMode]
    WORKSPACE_MODE_READ_WRITE: _ClassVar[WorkspaceMode]
    WORKSPACE_MODE_OVERLAY: _ClassVar[WorkspaceMode]
    WORKSPACE_MODE_READ_ONLY: _ClassVar[WorkspaceMode]

class EnvPassthroughMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ENV_PASSTHROUGH_MODE_UNSPECIFIED: _ClassVar[EnvPassthroughMode]
    ENV_PASSTHROUGH_MODE_ALLOW: _ClassVar[EnvPassthroughMode]
    ENV_PASSTHROUGH_MODE_DENY: _ClassVar[EnvPassthroughMode]

class SessionUidMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_UID_MODE_UNSPECIFIED: _ClassVar[SessionUidMode]
    SESSION_UID_MODE_SETUID: _ClassVar[SessionUidMode]
    SESSION_UID_MODE_USER_NAMESPACE: _ClassVar[SessionUidMode]

class SessionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_STATE_UNSPECIFIED: _ClassVar[SessionState]
    SESSION_STATE_ACTIVE: _ClassVar[SessionState]
    SESSION_STATE_DEAD: _ClassVar[SessionState]
    SESSION_STATE_DESTROYED: _ClassVar[SessionState]

class SessionChangeKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_CHANGE_KIND_UNSPECIFIED: _ClassVar[SessionChangeKind]
    SESSION_CHANGE_KIND_ADDED: _ClassVar[SessionChangeKind]
    SESSION_CHANGE_KIND_CHANGED: _ClassVar[SessionChangeKind]
    SESSION_CHANGE_KIND_DELETED: _ClassVar[SessionChangeKind]
SESSION_PROFILE_UNSPECIFIED: SessionProfile
SESSION_PROFILE_STRICT: SessionProfile
SESSION_PROFILE_BALANCED: SessionProfile
WORKSPACE_MODE_UNSPECIFIED: WorkspaceMode
WORKSPACE_MODE_READ_WRITE: WorkspaceMode
WORKSPACE_MODE_OVERLAY: WorkspaceMode
WORKSPACE_MODE_READ_ONLY: WorkspaceMode
ENV_PASSTHROUGH_MODE_UNSPECIFIED: EnvPassthroughMode
ENV_PASSTHROUGH_MODE_ALLOW: EnvPassthroughMode
ENV_PASSTHROUGH_MODE_DENY: EnvPassthroughMode
SESSION_UID_MODE_UNSPECIFIED: SessionUidMode
SESSION_UID_MODE_SETUID: SessionUidMode
SESSION_UID_MODE_USER_NAMESPACE: SessionUidMode
SESSION_STATE_UNSPECIFIED: SessionState
SESSION_STATE_ACTIVE: SessionState
SESSION_STATE_DEAD: SessionState
SESSION_STATE_DESTROYED: SessionState
SESSION_CHANGE_KIND_UNSPECIFIED: SessionChangeKind
SESSION_CHANGE_KIND_ADDED: SessionChangeKind
SESSION_CHANGE_KIND_CHANGED: SessionChangeKind
SESSION_CHANGE_KIND_DELETED: SessionChangeKind

class SessionSpec(_message.Message):
    __slots__ = ("profile", "workspace", "overlays", "extra_writable", "binds", "share_network", "env_passthrough", "env", "user", "uid_mode", "idle_timeout", "limits", "disk_bytes", "hostname")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    OVERLAYS_FIELD_NUMBER: _ClassVar[int]
    EXTRA_WRITABLE_FIELD_NUMBER: _ClassVar[int]
    BINDS_FIELD_NUMBER: _ClassVar[int]
    SHARE_NETWORK_FIELD_NUMBER: _ClassVar[int]
    ENV_PASSTHROUGH_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    UID_MODE_FIELD_NUMBER: _ClassVar[int]
    IDLE_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    DISK_BYTES_FIELD_NUMBER: _ClassVar[int]
    HOSTNAME_FIELD_NUMBER: _ClassVar[int]
    profile: SessionProfile
    workspace: SessionWorkspace
    overlays: _containers.RepeatedCompositeFieldContainer[SessionOverlay]
    extra_writable: _containers.RepeatedScalarFieldContainer[bytes]
    binds: _containers.RepeatedCompositeFieldContainer[SessionBind]
    share_network: bool
    env_passthrough: EnvPassthrough
    env: _containers.ScalarMap[str, bytes]
    user: _exec_pb2.User
    uid_mode: SessionUidMode
    idle_timeout: _duration_pb2.Duration
    limits: _exec_pb2.CgroupLimits
    disk_bytes: int
    hostname: str
    def __init__(self, profile: _Optional[_Union[SessionProfile, str]] = ..., workspace: _Optional[_Union[SessionWorkspace, _Mapping]] = ..., overlays: _Optional[_Iterable[_Union[SessionOverlay, _Mapping]]] = ..., extra_writable: _Optional[_Iterable[bytes]] = ..., binds: _Optional[_Iterable[_Union[SessionBind, _Mapping]]] = ..., share_network: _Optional[bool] = ..., env_passthrough: _Optional[_Union[EnvPassthrough, _Mapping]] = ..., env: _Optional[_Mapping[str, bytes]] = ..., user: _Optional[_Union[_exec_pb2.User, _Mapping]] = ..., uid_mode: _Optional[_Union[SessionUidMode, str]] = ..., idle_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., limits: _Optional[_Union[_exec_pb2.CgroupLimits, _Mapping]] = ..., disk_bytes: _Optional[int] = ..., hostname: _Optional[str] = ...) -> None: ...

class SessionWorkspace(_message.Message):
    __slots__ = ("path", "mode")
    PATH_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    path: bytes
    mode: WorkspaceMode
    def __init__(self, path: _Optional[bytes] = ..., mode: _Optional[_Union[WorkspaceMode, str]] = ...) -> None: ...

class SessionOverlay(_message.Message):
    __slots__ = ("path", "mode", "persist")
    PATH_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    PERSIST_FIELD_NUMBER: _ClassVar[int]
    path: bytes
    mode: WorkspaceMode
    persist: bool
    def __init__(self, path: _Optional[bytes] = ..., mode: _Optional[_Union[WorkspaceMode, str]] = ..., persist: _Optional[bool] = ...) -> None: ...

class SessionBind(_message.Message):
    __slots__ = ("source", "destination", "read_only")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    source: bytes
    destination: bytes
    read_only: bool
    def __init__(self, source: _Optional[bytes] = ..., destination: _Optional[bytes] = ..., read_only: _Optional[bool] = ...) -> None: ...

class EnvPassthrough(_message.Message):
    __slots__ = ("mode", "names")
    MODE_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    mode: EnvPassthroughMode
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, mode: _Optional[_Union[EnvPassthroughMode, str]] = ..., names: _Optional[_Iterable[str]] = ...) -> None: ...

class Session(_message.Message):
    __slots__ = ("session_id", "spec", "state", "created_at", "last_run_at", "idle_remaining", "features", "running_run_id", "queued", "pid", "reason", "layer_bytes")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_RUN_AT_FIELD_NUMBER: _ClassVar[int]
    IDLE_REMAINING_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    RUNNING_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    QUEUED_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    LAYER_BYTES_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    spec: SessionSpec
    state: SessionState
    created_at: _timestamp_pb2.Timestamp
    last_run_at: _timestamp_pb2.Timestamp
    idle_remaining: _duration_pb2.Duration
    features: _containers.RepeatedScalarFieldContainer[str]
    running_run_id: str
    queued: int
    pid: int
    reason: str
    layer_bytes: int
    def __init__(self, session_id: _Optional[str] = ..., spec: _Optional[_Union[SessionSpec, _Mapping]] = ..., state: _Optional[_Union[SessionState, str]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_run_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., idle_remaining: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., features: _Optional[_Iterable[str]] = ..., running_run_id: _Optional[str] = ..., queued: _Optional[int] = ..., pid: _Optional[int] = ..., reason: _Optional[str] = ..., layer_bytes: _Optional[int] = ...) -> None: ...

class GetIsolationCapabilitiesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetIsolationCapabilitiesResponse(_message.Message):
    __slots__ = ("available", "message", "isolator", "profiles", "workspace_modes", "uid_modes", "features", "missing", "max_sessions", "allowed_roots")
    AVAILABLE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ISOLATOR_FIELD_NUMBER: _ClassVar[int]
    PROFILES_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_MODES_FIELD_NUMBER: _ClassVar[int]
    UID_MODES_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    MAX_SESSIONS_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_ROOTS_FIELD_NUMBER: _ClassVar[int]
    available: bool
    message: str
    isolator: str
    profiles: _containers.RepeatedScalarFieldContainer[SessionProfile]
    workspace_modes: _containers.RepeatedScalarFieldContainer[WorkspaceMode]
    uid_modes: _containers.RepeatedScalarFieldContainer[SessionUidMode]
    features: _containers.RepeatedScalarFieldContainer[str]
    missing: _containers.RepeatedScalarFieldContainer[str]
    max_sessions: int
    allowed_roots: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, available: _Optional[bool] = ..., message: _Optional[str] = ..., isolator: _Optional[str] = ..., profiles: _Optional[_Iterable[_Union[SessionProfile, str]]] = ..., workspace_modes: _Optional[_Iterable[_Union[WorkspaceMode, str]]] = ..., uid_modes: _Optional[_Iterable[_Union[SessionUidMode, str]]] = ..., features: _Optional[_Iterable[str]] = ..., missing: _Optional[_Iterable[str]] = ..., max_sessions: _Optional[int] = ..., allowed_roots: _Optional[_Iterable[bytes]] = ...) -> None: ...

class CreateSessionRequest(_message.Message):
    __slots__ = ("session_id", "spec")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    spec: SessionSpec
    def __init__(self, session_id: _Optional[str] = ..., spec: _Optional[_Union[SessionSpec, _Mapping]] = ...) -> None: ...

class CreateSessionResponse(_message.Message):
    __slots__ = ("session", "repeated_request")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_REQUEST_FIELD_NUMBER: _ClassVar[int]
    session: Session
    repeated_request: bool
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ..., repeated_request: _Optional[bool] = ...) -> None: ...

class GetSessionRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class GetSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class ListSessionsRequest(_message.Message):
    __slots__ = ("include_destroyed",)
    INCLUDE_DESTROYED_FIELD_NUMBER: _ClassVar[int]
    include_destroyed: bool
    def __init__(self, include_destroyed: _Optional[bool] = ...) -> None: ...

class ListSessionsResponse(_message.Message):
    __slots__ = ("sessions",)
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    sessions: _containers.RepeatedCompositeFieldContainer[Session]
    def __init__(self, sessions: _Optional[_Iterable[_Union[Session, _Mapping]]] = ...) -> None: ...

class DeleteSessionRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class DeleteSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class RunSpec(_message.Message):
    __slots__ = ("script", "env", "timeout", "cwd", "output", "on_disconnect")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    SCRIPT_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    ON_DISCONNECT_FIELD_NUMBER: _ClassVar[int]
    script: str
    env: _containers.ScalarMap[str, bytes]
    timeout: _duration_pb2.Duration
    cwd: bytes
    output: _exec_pb2.OutputPolicy
    on_disconnect: _exec_pb2.OnDisconnect
    def __init__(self, script: _Optional[str] = ..., env: _Optional[_Mapping[str, bytes]] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., cwd: _Optional[bytes] = ..., output: _Optional[_Union[_exec_pb2.OutputPolicy, _Mapping]] = ..., on_disconnect: _Optional[_Union[_exec_pb2.OnDisconnect, str]] = ...) -> None: ...

class RunInSessionRequest(_message.Message):
    __slots__ = ("session_id", "run_id", "spec", "heartbeat_interval")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    run_id: str
    spec: RunSpec
    heartbeat_interval: _duration_pb2.Duration
    def __init__(self, session_id: _Optional[str] = ..., run_id: _Optional[str] = ..., spec: _Optional[_Union[RunSpec, _Mapping]] = ..., heartbeat_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class RunInSessionResponse(_message.Message):
    __slots__ = ("frame",)
    FRAME_FIELD_NUMBER: _ClassVar[int]
    frame: RunFrame
    def __init__(self, frame: _Optional[_Union[RunFrame, _Mapping]] = ...) -> None: ...

class RunFrame(_message.Message):
    __slots__ = ("run", "output", "gap", "heartbeat", "ended")
    RUN_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    GAP_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    run: SessionRun
    output: _exec_pb2.OutputChunk
    gap: _exec_pb2.OutputGap
    heartbeat: _exec_pb2.Heartbeat
    ended: RunEnded
    def __init__(self, run: _Optional[_Union[SessionRun, _Mapping]] = ..., output: _Optional[_Union[_exec_pb2.OutputChunk, _Mapping]] = ..., gap: _Optional[_Union[_exec_pb2.OutputGap, _Mapping]] = ..., heartbeat: _Optional[_Union[_exec_pb2.Heartbeat, _Mapping]] = ..., ended: _Optional[_Union[RunEnded, _Mapping]] = ...) -> None: ...

class SessionRun(_message.Message):
    __slots__ = ("run_id", "session_id", "running", "background", "queue_position", "accepted_at", "started_at", "ended", "offsets", "retained_until")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    BACKGROUND_FIELD_NUMBER: _ClassVar[int]
    QUEUE_POSITION_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_AT_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    OFFSETS_FIELD_NUMBER: _ClassVar[int]
    RETAINED_UNTIL_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    session_id: str
    running: bool
    background: bool
    queue_position: int
    accepted_at: _timestamp_pb2.Timestamp
    started_at: _timestamp_pb2.Timestamp
    ended: RunEnded
    offsets: _containers.RepeatedCompositeFieldContainer[_exec_pb2.StreamOffset]
    retained_until: _timestamp_pb2.Timestamp
    def __init__(self, run_id: _Optional[str] = ..., session_id: _Optional[str] = ..., running: _Optional[bool] = ..., background: _Optional[bool] = ..., queue_position: _Optional[int] = ..., accepted_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended: _Optional[_Union[RunEnded, _Mapping]] = ..., offsets: _Optional[_Iterable[_Union[_exec_pb2.StreamOffset, _Mapping]]] = ..., retained_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RunEnded(_message.Message):
    __slots__ = ("exit_code", "cause", "ended_at", "final_offsets", "session_ended")
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    FINAL_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    SESSION_ENDED_FIELD_NUMBER: _ClassVar[int]
    exit_code: int
    cause: _exec_pb2.EndCause
    ended_at: _timestamp_pb2.Timestamp
    final_offsets: _containers.RepeatedCompositeFieldContainer[_exec_pb2.StreamOffset]
    session_ended: bool
    def __init__(self, exit_code: _Optional[int] = ..., cause: _Optional[_Union[_exec_pb2.EndCause, str]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., final_offsets: _Optional[_Iterable[_Union[_exec_pb2.StreamOffset, _Mapping]]] = ..., session_ended: _Optional[bool] = ...) -> None: ...

class StartRunRequest(_message.Message):
    __slots__ = ("session_id", "run_id", "spec")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    run_id: str
    spec: RunSpec
    def __init__(self, session_id: _Optional[str] = ..., run_id: _Optional[str] = ..., spec: _Optional[_Union[RunSpec, _Mapping]] = ...) -> None: ...

class StartRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: SessionRun
    def __init__(self, run: _Optional[_Union[SessionRun, _Mapping]] = ...) -> None: ...

class AttachRunRequest(_message.Message):
    __slots__ = ("run_id", "from_offsets", "heartbeat_interval", "no_follow")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    NO_FOLLOW_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    from_offsets: _containers.RepeatedCompositeFieldContainer[_exec_pb2.StreamOffset]
    heartbeat_interval: _duration_pb2.Duration
    no_follow: bool
    def __init__(self, run_id: _Optional[str] = ..., from_offsets: _Optional[_Iterable[_Union[_exec_pb2.StreamOffset, _Mapping]]] = ..., heartbeat_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., no_follow: _Optional[bool] = ...) -> None: ...

class AttachRunResponse(_message.Message):
    __slots__ = ("frame",)
    FRAME_FIELD_NUMBER: _ClassVar[int]
    frame: RunFrame
    def __init__(self, frame: _Optional[_Union[RunFrame, _Mapping]] = ...) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class GetRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: SessionRun
    def __init__(self, run: _Optional[_Union[SessionRun, _Mapping]] = ...) -> None: ...

class ListRunsRequest(_message.Message):
    __slots__ = ("session_id", "running_only")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    RUNNING_ONLY_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    running_only: bool
    def __init__(self, session_id: _Optional[str] = ..., running_only: _Optional[bool] = ...) -> None: ...

class ListRunsResponse(_message.Message):
    __slots__ = ("runs",)
    RUNS_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[SessionRun]
    def __init__(self, runs: _Optional[_Iterable[_Union[SessionRun, _Mapping]]] = ...) -> None: ...

class ReadRunLogRequest(_message.Message):
    __slots__ = ("run_id", "cursor", "limit_bytes")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    cursor: int
    limit_bytes: int
    def __init__(self, run_id: _Optional[str] = ..., cursor: _Optional[int] = ..., limit_bytes: _Optional[int] = ...) -> None: ...

class ReadRunLogResponse(_message.Message):
    __slots__ = ("data", "next_cursor", "lost_bytes", "at_end")
    DATA_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    LOST_BYTES_FIELD_NUMBER: _ClassVar[int]
    AT_END_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    next_cursor: int
    lost_bytes: int
    at_end: bool
    def __init__(self, data: _Optional[bytes] = ..., next_cursor: _Optional[int] = ..., lost_bytes: _Optional[int] = ..., at_end: _Optional[bool] = ...) -> None: ...

class InterruptRunRequest(_message.Message):
    __slots__ = ("run_id", "kill_grace")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    KILL_GRACE_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    kill_grace: _duration_pb2.Duration
    def __init__(self, run_id: _Optional[str] = ..., kill_grace: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class InterruptRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: SessionRun
    def __init__(self, run: _Optional[_Union[SessionRun, _Mapping]] = ...) -> None: ...

class DiffSessionRequest(_message.Message):
    __slots__ = ("session_id", "paths")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    paths: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, session_id: _Optional[str] = ..., paths: _Optional[_Iterable[bytes]] = ...) -> None: ...

class DiffSessionResponse(_message.Message):
    __slots__ = ("changes",)
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    changes: _containers.RepeatedCompositeFieldContainer[SessionChange]
    def __init__(self, changes: _Optional[_Iterable[_Union[SessionChange, _Mapping]]] = ...) -> None: ...

class SessionChange(_message.Message):
    __slots__ = ("path", "kind", "mode", "size_bytes", "conflict")
    PATH_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    CONFLICT_FIELD_NUMBER: _ClassVar[int]
    path: bytes
    kind: SessionChangeKind
    mode: int
    size_bytes: int
    conflict: bool
    def __init__(self, path: _Optional[bytes] = ..., kind: _Optional[_Union[SessionChangeKind, str]] = ..., mode: _Optional[int] = ..., size_bytes: _Optional[int] = ..., conflict: _Optional[bool] = ...) -> None: ...

class CommitSessionRequest(_message.Message):
    __slots__ = ("session_id", "paths", "dry_run")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    paths: _containers.RepeatedScalarFieldContainer[bytes]
    dry_run: bool
    def __init__(self, session_id: _Optional[str] = ..., paths: _Optional[_Iterable[bytes]] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class CommitSessionResponse(_message.Message):
    __slots__ = ("added", "changed", "deleted", "conflicts")
    ADDED_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    CONFLICTS_FIELD_NUMBER: _ClassVar[int]
    added: int
    changed: int
    deleted: int
    conflicts: _containers.RepeatedCompositeFieldContainer[SessionChange]
    def __init__(self, added: _Optional[int] = ..., changed: _Optional[int] = ..., deleted: _Optional[int] = ..., conflicts: _Optional[_Iterable[_Union[SessionChange, _Mapping]]] = ...) -> None: ...
