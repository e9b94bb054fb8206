import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StdinMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STDIN_MODE_UNSPECIFIED: _ClassVar[StdinMode]
    STDIN_MODE_NONE: _ClassVar[StdinMode]
    STDIN_MODE_STREAM: _ClassVar[StdinMode]

class OnDisconnect(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_DISCONNECT_UNSPECIFIED: _ClassVar[OnDisconnect]
    ON_DISCONNECT_DETACH: _ClassVar[OnDisconnect]
    ON_DISCONNECT_KILL: _ClassVar[OnDisconnect]

class OnExit(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_EXIT_UNSPECIFIED: _ClassVar[OnExit]
    ON_EXIT_REAP: _ClassVar[OnExit]
    ON_EXIT_LEAVE: _ClassVar[OnExit]

class Retention(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RETENTION_UNSPECIFIED: _ClassVar[Retention]
    RETENTION_KEEP: _ClassVar[Retention]
    RETENTION_RING: _ClassVar[Retention]
    RETENTION_DISCARD: _ClassVar[Retention]
    RETENTION_BLOCK: _ClassVar[Retention]

class OutputStream(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTPUT_STREAM_UNSPECIFIED: _ClassVar[OutputStream]
    OUTPUT_STREAM_STDOUT: _ClassVar[OutputStream]
    OUTPUT_STREAM_STDERR: _ClassVar[OutputStream]
    OUTPUT_STREAM_PTY: _ClassVar[OutputStream]

class EndCause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    END_CAUSE_UNSPECIFIED: _ClassVar[EndCause]
    END_CAUSE_OWN_EXIT: _ClassVar[EndCause]
    END_CAUSE_DEADLINE: _ClassVar[EndCause]
    END_CAUSE_IDLE_OUTPUT_DEADLINE: _ClassVar[EndCause]
    END_CAUSE_CANCELLED: _ClassVar[EndCause]
    END_CAUSE_OUT_OF_MEMORY: _ClassVar[EndCause]
    END_CAUSE_SANDBOX_STOPPED: _ClassVar[EndCause]
    END_CAUSE_DAEMON_LOST: _ClassVar[EndCause]
    END_CAUSE_START_FAILED: _ClassVar[EndCause]

class StartFailureKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    START_FAILURE_KIND_UNSPECIFIED: _ClassVar[StartFailureKind]
    START_FAILURE_KIND_NOT_FOUND: _ClassVar[StartFailureKind]
    START_FAILURE_KIND_NOT_EXECUTABLE: _ClassVar[StartFailureKind]
    START_FAILURE_KIND_BAD_INTERPRETER: _ClassVar[StartFailureKind]
    START_FAILURE_KIND_BAD_CWD: _ClassVar[StartFailureKind]
    START_FAILURE_KIND_PERMISSION: _ClassVar[StartFailureKind]
    START_FAILURE_KIND_ARGUMENT_LIST_TOO_LONG: _ClassVar[StartFailureKind]
    START_FAILURE_KIND_LIMIT: _ClassVar[StartFailureKind]
    START_FAILURE_KIND_BAD_USER: _ClassVar[StartFailureKind]
STDIN_MODE_UNSPECIFIED: StdinMode
STDIN_MODE_NONE: StdinMode
STDIN_MODE_STREAM: StdinMode
ON_DISCONNECT_UNSPECIFIED: OnDisconnect
ON_DISCONNECT_DETACH: OnDisconnect
ON_DISCONNECT_KILL: OnDisconnect
ON_EXIT_UNSPECIFIED: OnExit
ON_EXIT_REAP: OnExit
ON_EXIT_LEAVE: OnExit
RETENTION_UNSPECIFIED: Retention
RETENTION_KEEP: Retention
RETENTION_RING: Retention
RETENTION_DISCARD: Retention
RETENTION_BLOCK: Retention
OUTPUT_STREAM_UNSPECIFIED: OutputStream
OUTPUT_STREAM_STDOUT: OutputStream
OUTPUT_STREAM_STDERR: OutputStream
OUTPUT_STREAM_PTY: OutputStream
END_CAUSE_UNSPECIFIED: EndCause
END_CAUSE_OWN_EXIT: EndCause
END_CAUSE_DEADLINE: EndCause
END_CAUSE_IDLE_OUTPUT_DEADLINE: EndCause
END_CAUSE_CANCELLED: EndCause
END_CAUSE_OUT_OF_MEMORY: EndCause
END_CAUSE_SANDBOX_STOPPED: EndCause
END_CAUSE_DAEMON_LOST: EndCause
END_CAUSE_START_FAILED: EndCause
START_FAILURE_KIND_UNSPECIFIED: StartFailureKind
START_FAILURE_KIND_NOT_FOUND: StartFailureKind
START_FAILURE_KIND_NOT_EXECUTABLE: StartFailureKind
START_FAILURE_KIND_BAD_INTERPRETER: StartFailureKind
START_FAILURE_KIND_BAD_CWD: StartFailureKind
START_FAILURE_KIND_PERMISSION: StartFailureKind
START_FAILURE_KIND_ARGUMENT_LIST_TOO_LONG: StartFailureKind
START_FAILURE_KIND_LIMIT: StartFailureKind
START_FAILURE_KIND_BAD_USER: StartFailureKind

class ExecSpec(_message.Message):
    __slots__ = ("argv", "shell", "env", "clear_env", "cwd", "user", "umask", "rlimits", "nice", "cgroup", "pty", "stdin", "timeout", "idle_output_timeout", "kill_grace", "on_disconnect", "on_exit", "output", "drain_timeout", "labels", "checkpoint", "isolation_session_id")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ARGV_FIELD_NUMBER: _ClassVar[int]
    SHELL_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    CLEAR_ENV_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    UMASK_FIELD_NUMBER: _ClassVar[int]
    RLIMITS_FIELD_NUMBER: _ClassVar[int]
    NICE_FIELD_NUMBER: _ClassVar[int]
    CGROUP_FIELD_NUMBER: _ClassVar[int]
    PTY_FIELD_NUMBER: _ClassVar[int]
    STDIN_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    IDLE_OUTPUT_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    KILL_GRACE_FIELD_NUMBER: _ClassVar[int]
    ON_DISCONNECT_FIELD_NUMBER: _ClassVar[int]
    ON_EXIT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    DRAIN_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    ISOLATION_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    argv: Argv
    shell: str
    env: _containers.ScalarMap[str, bytes]
    clear_env: bool
    cwd: bytes
    user: User
    umask: int
    rlimits: _containers.RepeatedCompositeFieldContainer[Rlimit]
    nice: int
    cgroup: CgroupLimits
    pty: Pty
    stdin: StdinMode
    timeout: _duration_pb2.Duration
    idle_output_timeout: _duration_pb2.Duration
    kill_grace: _duration_pb2.Duration
    on_disconnect: OnDisconnect
    on_exit: OnExit
    output: OutputPolicy
    drain_timeout: _duration_pb2.Duration
    labels: _containers.ScalarMap[str, str]
    checkpoint: bool
    isolation_session_id: str
    def __init__(self, argv: _Optional[_Union[Argv, _Mapping]] = ..., shell: _Optional[str] = ..., env: _Optional[_Mapping[str, bytes]] = ..., clear_env: _Optional[bool] = ..., cwd: _Optional[bytes] = ..., user: _Optional[_Union[User, _Mapping]] = ..., umask: _Optional[int] = ..., rlimits: _Optional[_Iterable[_Union[Rlimit, _Mapping]]] = ..., nice: _Optional[int] = ..., cgroup: _Optional[_Union[CgroupLimits, _Mapping]] = ..., pty: _Optional[_Union[Pty, _Mapping]] = ..., stdin: _Optional[_Union[StdinMode, str]] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., idle_output_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., kill_grace: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., on_disconnect: _Optional[_Union[OnDisconnect, str]] = ..., on_exit: _Optional[_Union[OnExit, str]] = ..., output: _Optional[_Union[OutputPolicy, _Mapping]] = ..., drain_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., labels: _Optional[_Mapping[str, str]] = ..., checkpoint: _Optional[bool] = ..., isolation_session_id: _Optional[str] = ...) -> None: ...

class Argv(_message.Message):
    __slots__ = ("args",)
    ARGS_FIELD_NUMBER: _ClassVar[int]
    args: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, args: _Optional[_Iterable[bytes]] = ...) -> None: ...

class User(_message.Message):
    __slots__ = ("name", "ids")
    NAME_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    name: str
    ids: UserIds
    def __init__(self, name: _Optional[str] = ..., ids: _Optional[_Union[UserIds, _Mapping]] = ...) -> None: ...

class UserIds(_message.Message):
    __slots__ = ("uid", "gid", "groups")
    UID_FIELD_NUMBER: _ClassVar[int]
    GID_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    uid: int
    gid: int
    groups: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, uid: _Optional[int] = ..., gid: _Optional[int] = ..., groups: _Optional[_Iterable[int]] = ...) -> None: ...

class Rlimit(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: int
    def __init__(self, name: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...

class CgroupLimits(_message.Message):
    __slots__ = ("cpus", "memory_bytes", "pids")
    CPUS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    PIDS_FIELD_NUMBER: _ClassVar[int]
    cpus: float
    memory_bytes: int
    pids: int
    def __init__(self, cpus: _Optional[float] = ..., memory_bytes: _Optional[int] = ..., pids: _Optional[int] = ...) -> None: ...

class Pty(_message.Message):
    __slots__ = ("rows", "columns", "width_px", "height_px", "term")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    WIDTH_PX_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_PX_FIELD_NUMBER: _ClassVar[int]
    TERM_FIELD_NUMBER: _ClassVar[int]
    rows: int
    columns: int
    width_px: int
    height_px: int
    term: str
    def __init__(self, rows: _Optional[int] = ..., columns: _Optional[int] = ..., width_px: _Optional[int] = ..., height_px: _Optional[int] = ..., term: _Optional[str] = ...) -> None: ...

class OutputPolicy(_message.Message):
    __slots__ = ("retention", "limit_bytes", "retain_for")
    RETENTION_FIELD_NUMBER: _ClassVar[int]
    LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    RETAIN_FOR_FIELD_NUMBER: _ClassVar[int]
    retention: Retention
    limit_bytes: int
    retain_for: _duration_pb2.Duration
    def __init__(self, retention: _Optional[_Union[Retention, str]] = ..., limit_bytes: _Optional[int] = ..., retain_for: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class OutputChunk(_message.Message):
    __slots__ = ("stream", "offset", "seq", "data")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    stream: OutputStream
    offset: int
    seq: int
    data: bytes
    def __init__(self, stream: _Optional[_Union[OutputStream, str]] = ..., offset: _Optional[int] = ..., seq: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...

class OutputGap(_message.Message):
    __slots__ = ("stream", "from_offset", "to_offset")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    FROM_OFFSET_FIELD_NUMBER: _ClassVar[int]
    TO_OFFSET_FIELD_NUMBER: _ClassVar[int]
    stream: OutputStream
    from_offset: int
    to_offset: int
    def __init__(self, stream: _Optional[_Union[OutputStream, str]] = ..., from_offset: _Optional[int] = ..., to_offset: _Optional[int] = ...) -> None: ...

class Heartbeat(_message.Message):
    __slots__ = ("time", "offsets", "running")
    TIME_FIELD_NUMBER: _ClassVar[int]
    OFFSETS_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    time: _timestamp_pb2.Timestamp
    offsets: _containers.RepeatedCompositeFieldContainer[StreamOffset]
    running: bool
    def __init__(self, time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., offsets: _Optional[_Iterable[_Union[StreamOffset, _Mapping]]] = ..., running: _Optional[bool] = ...) -> None: ...

class StreamOffset(_message.Message):
    __slots__ = ("stream", "offset")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    stream: OutputStream
    offset: int
    def __init__(self, stream: _Optional[_Union[OutputStream, str]] = ..., offset: _Optional[int] = ...) -> None: ...

class ExecStarted(_message.Message):
    __slots__ = ("exec", "repeated_start")
    EXEC_FIELD_NUMBER: _ClassVar[int]
    REPEATED_START_FIELD_NUMBER: _ClassVar[int]
    exec: Exec
    repeated_start: bool
    def __init__(self, exec: _Optional[_Union[Exec, _Mapping]] = ..., repeated_start: _Optional[bool] = ...) -> None: ...

class ExecEnded(_message.Message):
    __slots__ = ("exit_code", "signal", "start_failure", "core_dumped", "cause", "final_offsets", "usage", "started_at", "ended_at", "stdio_held_open", "escapees_possible", "dropped")
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    START_FAILURE_FIELD_NUMBER: _ClassVar[int]
    CORE_DUMPED_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    FINAL_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    STDIO_HELD_OPEN_FIELD_NUMBER: _ClassVar[int]
    ESCAPEES_POSSIBLE_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    exit_code: int
    signal: int
    start_failure: StartFailure
    core_dumped: bool
    cause: EndCause
    final_offsets: _containers.RepeatedCompositeFieldContainer[StreamOffset]
    usage: ResourceUsage
    started_at: _timestamp_pb2.Timestamp
    ended_at: _timestamp_pb2.Timestamp
    stdio_held_open: bool
    escapees_possible: bool
    dropped: _containers.RepeatedCompositeFieldContainer[StreamOffset]
    def __init__(self, exit_code: _Optional[int] = ..., signal: _Optional[int] = ..., start_failure: _Optional[_Union[StartFailure, _Mapping]] = ..., core_dumped: _Optional[bool] = ..., cause: _Optional[_Union[EndCause, str]] = ..., final_offsets: _Optional[_Iterable[_Union[StreamOffset, _Mapping]]] = ..., usage: _Optional[_Union[ResourceUsage, _Mapping]] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., stdio_held_open: _Optional[bool] = ..., escapees_possible: _Optional[bool] = ..., dropped: _Optional[_Iterable[_Union[StreamOffset, _Mapping]]] = ...) -> None: ...

class StartFailure(_message.Message):
    __slots__ = ("kind", "errno_name", "stage", "message")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ERRNO_NAME_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    kind: StartFailureKind
    errno_name: str
    stage: str
    message: str
    def __init__(self, kind: _Optional[_Union[StartFailureKind, str]] = ..., errno_name: _Optional[str] = ..., stage: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class ResourceUsage(_message.Message):
    __slots__ = ("user_time", "system_time", "max_rss_bytes", "major_faults", "voluntary_switches", "involuntary_switches")
    USER_TIME_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_TIME_FIELD_NUMBER: _ClassVar[int]
    MAX_RSS_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAJOR_FAULTS_FIELD_NUMBER: _ClassVar[int]
    VOLUNTARY_SWITCHES_FIELD_NUMBER: _ClassVar[int]
    INVOLUNTARY_SWITCHES_FIELD_NUMBER: _ClassVar[int]
    user_time: _duration_pb2.Duration
    system_time: _duration_pb2.Duration
    max_rss_bytes: int
    major_faults: int
    voluntary_switches: int
    involuntary_switches: int
    def __init__(self, user_time: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., system_time: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., max_rss_bytes: _Optional[int] = ..., major_faults: _Optional[int] = ..., voluntary_switches: _Optional[int] = ..., involuntary_switches: _Optional[int] = ...) -> None: ...

class Exec(_message.Message):
    __slots__ = ("exec_id", "pid", "spec", "running", "started_at", "ended", "offsets", "first_kept", "attached", "has_writer", "retained_until")
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    OFFSETS_FIELD_NUMBER: _ClassVar[int]
    FIRST_KEPT_FIELD_NUMBER: _ClassVar[int]
    ATTACHED_FIELD_NUMBER: _ClassVar[int]
    HAS_WRITER_FIELD_NUMBER: _ClassVar[int]
    RETAINED_UNTIL_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    pid: int
    spec: ExecSpec
    running: bool
    started_at: _timestamp_pb2.Timestamp
    ended: ExecEnded
    offsets: _containers.RepeatedCompositeFieldContainer[StreamOffset]
    first_kept: _containers.RepeatedCompositeFieldContainer[StreamOffset]
    attached: int
    has_writer: bool
    retained_until: _timestamp_pb2.Timestamp
    def __init__(self, exec_id: _Optional[str] = ..., pid: _Optional[int] = ..., spec: _Optional[_Union[ExecSpec, _Mapping]] = ..., running: _Optional[bool] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended: _Optional[_Union[ExecEnded, _Mapping]] = ..., offsets: _Optional[_Iterable[_Union[StreamOffset, _Mapping]]] = ..., first_kept: _Optional[_Iterable[_Union[StreamOffset, _Mapping]]] = ..., attached: _Optional[int] = ..., has_writer: _Optional[bool] = ..., retained_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
