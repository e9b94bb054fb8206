import datetime

from arenero.api.execd.v1 import exec_pb2 as _exec_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SignalTarget(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SIGNAL_TARGET_UNSPECIFIED: _ClassVar[SignalTarget]
    SIGNAL_TARGET_GROUP: _ClassVar[SignalTarget]
    SIGNAL_TARGET_LEADER: _ClassVar[SignalTarget]
    SIGNAL_TARGET_ALL: _ClassVar[SignalTarget]
    SIGNAL_TARGET_FOREGROUND: _ClassVar[SignalTarget]

class AttachRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ATTACH_ROLE_UNSPECIFIED: _ClassVar[AttachRole]
    ATTACH_ROLE_WRITER: _ClassVar[AttachRole]
    ATTACH_ROLE_VIEWER: _ClassVar[AttachRole]
SIGNAL_TARGET_UNSPECIFIED: SignalTarget
SIGNAL_TARGET_GROUP: SignalTarget
SIGNAL_TARGET_LEADER: SignalTarget
SIGNAL_TARGET_ALL: SignalTarget
SIGNAL_TARGET_FOREGROUND: SignalTarget
ATTACH_ROLE_UNSPECIFIED: AttachRole
ATTACH_ROLE_WRITER: AttachRole
ATTACH_ROLE_VIEWER: AttachRole

class HelloRequest(_message.Message):
    __slots__ = ("protocol_generation", "client")
    PROTOCOL_GENERATION_FIELD_NUMBER: _ClassVar[int]
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    protocol_generation: int
    client: str
    def __init__(self, protocol_generation: _Optional[int] = ..., client: _Optional[str] = ...) -> None: ...

class HelloResponse(_message.Message):
    __slots__ = ("protocol_generation", "version", "sandbox_id", "generation", "capabilities", "boot_spans", "default_user", "default_cwd")
    PROTOCOL_GENERATION_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    BOOT_SPANS_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_USER_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_CWD_FIELD_NUMBER: _ClassVar[int]
    protocol_generation: int
    version: str
    sandbox_id: str
    generation: int
    capabilities: _containers.RepeatedScalarFieldContainer[str]
    boot_spans: _containers.RepeatedCompositeFieldContainer[BootSpan]
    default_user: str
    default_cwd: bytes
    def __init__(self, protocol_generation: _Optional[int] = ..., version: _Optional[str] = ..., sandbox_id: _Optional[str] = ..., generation: _Optional[int] = ..., capabilities: _Optional[_Iterable[str]] = ..., boot_spans: _Optional[_Iterable[_Union[BootSpan, _Mapping]]] = ..., default_user: _Optional[str] = ..., default_cwd: _Optional[bytes] = ...) -> None: ...

class BootSpan(_message.Message):
    __slots__ = ("name", "start_unix_ns", "end_unix_ns")
    NAME_FIELD_NUMBER: _ClassVar[int]
    START_UNIX_NS_FIELD_NUMBER: _ClassVar[int]
    END_UNIX_NS_FIELD_NUMBER: _ClassVar[int]
    name: str
    start_unix_ns: int
    end_unix_ns: int
    def __init__(self, name: _Optional[str] = ..., start_unix_ns: _Optional[int] = ..., end_unix_ns: _Optional[int] = ...) -> None: ...

class StartRequest(_message.Message):
    __slots__ = ("exec_id", "spec")
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    spec: _exec_pb2.ExecSpec
    def __init__(self, exec_id: _Optional[str] = ..., spec: _Optional[_Union[_exec_pb2.ExecSpec, _Mapping]] = ...) -> None: ...

class StartResponse(_message.Message):
    __slots__ = ("started", "failure")
    STARTED_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    started: _exec_pb2.ExecStarted
    failure: _exec_pb2.StartFailure
    def __init__(self, started: _Optional[_Union[_exec_pb2.ExecStarted, _Mapping]] = ..., failure: _Optional[_Union[_exec_pb2.StartFailure, _Mapping]] = ...) -> None: ...

class RunRequest(_message.Message):
    __slots__ = ("exec_id", "spec", "heartbeat_interval", "from_offsets")
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    FROM_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    spec: _exec_pb2.ExecSpec
    heartbeat_interval: _duration_pb2.Duration
    from_offsets: _containers.RepeatedCompositeFieldContainer[_exec_pb2.StreamOffset]
    def __init__(self, exec_id: _Optional[str] = ..., spec: _Optional[_Union[_exec_pb2.ExecSpec, _Mapping]] = ..., heartbeat_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., from_offsets: _Optional[_Iterable[_Union[_exec_pb2.StreamOffset, _Mapping]]] = ...) -> None: ...

class RunResponse(_message.Message):
    __slots__ = ("started", "output", "gap", "heartbeat", "ended")
    STARTED_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    GAP_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    started: _exec_pb2.ExecStarted
    output: _exec_pb2.OutputChunk
    gap: _exec_pb2.OutputGap
    heartbeat: _exec_pb2.Heartbeat
    ended: _exec_pb2.ExecEnded
    def __init__(self, started: _Optional[_Union[_exec_pb2.ExecStarted, _Mapping]] = ..., output: _Optional[_Union[_exec_pb2.OutputChunk, _Mapping]] = ..., gap: _Optional[_Union[_exec_pb2.OutputGap, _Mapping]] = ..., heartbeat: _Optional[_Union[_exec_pb2.Heartbeat, _Mapping]] = ..., ended: _Optional[_Union[_exec_pb2.ExecEnded, _Mapping]] = ...) -> None: ...

class AttachRequest(_message.Message):
    __slots__ = ("exec_id", "offsets", "last_bytes", "now", "heartbeat_interval", "streams", "no_follow")
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    OFFSETS_FIELD_NUMBER: _ClassVar[int]
    LAST_BYTES_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    NO_FOLLOW_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    offsets: Offsets
    last_bytes: int
    now: bool
    heartbeat_interval: _duration_pb2.Duration
    streams: _containers.RepeatedScalarFieldContainer[_exec_pb2.OutputStream]
    no_follow: bool
    def __init__(self, exec_id: _Optional[str] = ..., offsets: _Optional[_Union[Offsets, _Mapping]] = ..., last_bytes: _Optional[int] = ..., now: _Optional[bool] = ..., heartbeat_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., streams: _Optional[_Iterable[_Union[_exec_pb2.OutputStream, str]]] = ..., no_follow: _Optional[bool] = ...) -> None: ...

class Offsets(_message.Message):
    __slots__ = ("offsets",)
    OFFSETS_FIELD_NUMBER: _ClassVar[int]
    offsets: _containers.RepeatedCompositeFieldContainer[_exec_pb2.StreamOffset]
    def __init__(self, offsets: _Optional[_Iterable[_Union[_exec_pb2.StreamOffset, _Mapping]]] = ...) -> None: ...

class AttachResponse(_message.Message):
    __slots__ = ("exec", "output", "gap", "heartbeat", "ended")
    EXEC_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    GAP_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    exec: _exec_pb2.Exec
    output: _exec_pb2.OutputChunk
    gap: _exec_pb2.OutputGap
    heartbeat: _exec_pb2.Heartbeat
    ended: _exec_pb2.ExecEnded
    def __init__(self, exec: _Optional[_Union[_exec_pb2.Exec, _Mapping]] = ..., output: _Optional[_Union[_exec_pb2.OutputChunk, _Mapping]] = ..., gap: _Optional[_Union[_exec_pb2.OutputGap, _Mapping]] = ..., heartbeat: _Optional[_Union[_exec_pb2.Heartbeat, _Mapping]] = ..., ended: _Optional[_Union[_exec_pb2.ExecEnded, _Mapping]] = ...) -> None: ...

class WaitRequest(_message.Message):
    __slots__ = ("exec_id",)
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    def __init__(self, exec_id: _Optional[str] = ...) -> None: ...

class WaitResponse(_message.Message):
    __slots__ = ("ended",)
    ENDED_FIELD_NUMBER: _ClassVar[int]
    ended: _exec_pb2.ExecEnded
    def __init__(self, ended: _Optional[_Union[_exec_pb2.ExecEnded, _Mapping]] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("running_only", "labels", "limit")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    RUNNING_ONLY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    running_only: bool
    labels: _containers.ScalarMap[str, str]
    limit: int
    def __init__(self, running_only: _Optional[bool] = ..., labels: _Optional[_Mapping[str, str]] = ..., limit: _Optional[int] = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("execs",)
    EXECS_FIELD_NUMBER: _ClassVar[int]
    execs: _containers.RepeatedCompositeFieldContainer[_exec_pb2.Exec]
    def __init__(self, execs: _Optional[_Iterable[_Union[_exec_pb2.Exec, _Mapping]]] = ...) -> None: ...

class GetRequest(_message.Message):
    __slots__ = ("exec_id",)
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    def __init__(self, exec_id: _Optional[str] = ...) -> None: ...

class GetResponse(_message.Message):
    __slots__ = ("exec",)
    EXEC_FIELD_NUMBER: _ClassVar[int]
    exec: _exec_pb2.Exec
    def __init__(self, exec: _Optional[_Union[_exec_pb2.Exec, _Mapping]] = ...) -> None: ...

class SignalRequest(_message.Message):
    __slots__ = ("exec_id", "name", "number", "target")
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    name: str
    number: int
    target: SignalTarget
    def __init__(self, exec_id: _Optional[str] = ..., name: _Optional[str] = ..., number: _Optional[int] = ..., target: _Optional[_Union[SignalTarget, str]] = ...) -> None: ...

class SignalResponse(_message.Message):
    __slots__ = ("delivered",)
    DELIVERED_FIELD_NUMBER: _ClassVar[int]
    delivered: int
    def __init__(self, delivered: _Optional[int] = ...) -> None: ...

class KillRequest(_message.Message):
    __slots__ = ("exec_id", "grace")
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    GRACE_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    grace: _duration_pb2.Duration
    def __init__(self, exec_id: _Optional[str] = ..., grace: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class KillResponse(_message.Message):
    __slots__ = ("ended",)
    ENDED_FIELD_NUMBER: _ClassVar[int]
    ended: _exec_pb2.ExecEnded
    def __init__(self, ended: _Optional[_Union[_exec_pb2.ExecEnded, _Mapping]] = ...) -> None: ...

class ResizeRequest(_message.Message):
    __slots__ = ("exec_id", "size")
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    size: _exec_pb2.Pty
    def __init__(self, exec_id: _Optional[str] = ..., size: _Optional[_Union[_exec_pb2.Pty, _Mapping]] = ...) -> None: ...

class ResizeResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WriteStdinRequest(_message.Message):
    __slots__ = ("exec_id", "offset", "data", "end_of_file")
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    END_OF_FILE_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    offset: int
    data: bytes
    end_of_file: bool
    def __init__(self, exec_id: _Optional[str] = ..., offset: _Optional[int] = ..., data: _Optional[bytes] = ..., end_of_file: _Optional[bool] = ...) -> None: ...

class WriteStdinResponse(_message.Message):
    __slots__ = ("acknowledged_offset", "broken_pipe", "closed")
    ACKNOWLEDGED_OFFSET_FIELD_NUMBER: _ClassVar[int]
    BROKEN_PIPE_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    acknowledged_offset: int
    broken_pipe: bool
    closed: bool
    def __init__(self, acknowledged_offset: _Optional[int] = ..., broken_pipe: _Optional[bool] = ..., closed: _Optional[bool] = ...) -> None: ...

class CloseStdinRequest(_message.Message):
    __slots__ = ("exec_id",)
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    def __init__(self, exec_id: _Optional[str] = ...) -> None: ...

class CloseStdinResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class InteractRequest(_message.Message):
    __slots__ = ("start", "attach", "stdin", "stdin_end", "resize", "signal", "detach", "hangup")
    START_FIELD_NUMBER: _ClassVar[int]
    ATTACH_FIELD_NUMBER: _ClassVar[int]
    STDIN_FIELD_NUMBER: _ClassVar[int]
    STDIN_END_FIELD_NUMBER: _ClassVar[int]
    RESIZE_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    DETACH_FIELD_NUMBER: _ClassVar[int]
    HANGUP_FIELD_NUMBER: _ClassVar[int]
    start: InteractStart
    attach: InteractAttach
    stdin: bytes
    stdin_end: bool
    resize: _exec_pb2.Pty
    signal: str
    detach: bool
    hangup: bool
    def __init__(self, start: _Optional[_Union[InteractStart, _Mapping]] = ..., attach: _Optional[_Union[InteractAttach, _Mapping]] = ..., stdin: _Optional[bytes] = ..., stdin_end: _Optional[bool] = ..., resize: _Optional[_Union[_exec_pb2.Pty, _Mapping]] = ..., signal: _Optional[str] = ..., detach: _Optional[bool] = ..., hangup: _Optional[bool] = ...) -> None: ...

class InteractStart(_message.Message):
    __slots__ = ("exec_id", "spec", "heartbeat_interval")
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    spec: _exec_pb2.ExecSpec
    heartbeat_interval: _duration_pb2.Duration
    def __init__(self, exec_id: _Optional[str] = ..., spec: _Optional[_Union[_exec_pb2.ExecSpec, _Mapping]] = ..., heartbeat_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class InteractAttach(_message.Message):
    __slots__ = ("exec_id", "role", "from_offsets", "takeover", "heartbeat_interval")
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    FROM_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    TAKEOVER_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    role: AttachRole
    from_offsets: _containers.RepeatedCompositeFieldContainer[_exec_pb2.StreamOffset]
    takeover: bool
    heartbeat_interval: _duration_pb2.Duration
    def __init__(self, exec_id: _Optional[str] = ..., role: _Optional[_Union[AttachRole, str]] = ..., from_offsets: _Optional[_Iterable[_Union[_exec_pb2.StreamOffset, _Mapping]]] = ..., takeover: _Optional[bool] = ..., heartbeat_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class InteractResponse(_message.Message):
    __slots__ = ("started", "exec", "output", "gap", "heartbeat", "stdin_broken", "taken_over", "ended")
    STARTED_FIELD_NUMBER: _ClassVar[int]
    EXEC_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    GAP_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    STDIN_BROKEN_FIELD_NUMBER: _ClassVar[int]
    TAKEN_OVER_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    started: _exec_pb2.ExecStarted
    exec: _exec_pb2.Exec
    output: _exec_pb2.OutputChunk
    gap: _exec_pb2.OutputGap
    heartbeat: _exec_pb2.Heartbeat
    stdin_broken: bool
    taken_over: bool
    ended: _exec_pb2.ExecEnded
    def __init__(self, started: _Optional[_Union[_exec_pb2.ExecStarted, _Mapping]] = ..., exec: _Optional[_Union[_exec_pb2.Exec, _Mapping]] = ..., output: _Optional[_Union[_exec_pb2.OutputChunk, _Mapping]] = ..., gap: _Optional[_Union[_exec_pb2.OutputGap, _Mapping]] = ..., heartbeat: _Optional[_Union[_exec_pb2.Heartbeat, _Mapping]] = ..., stdin_broken: _Optional[bool] = ..., taken_over: _Optional[bool] = ..., ended: _Optional[_Union[_exec_pb2.ExecEnded, _Mapping]] = ...) -> None: ...

class ForgetRequest(_message.Message):
    __slots__ = ("exec_id",)
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    def __init__(self, exec_id: _Optional[str] = ...) -> None: ...

class ForgetResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListProcessesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListProcessesResponse(_message.Message):
    __slots__ = ("processes",)
    PROCESSES_FIELD_NUMBER: _ClassVar[int]
    processes: _containers.RepeatedCompositeFieldContainer[Process]
    def __init__(self, processes: _Optional[_Iterable[_Union[Process, _Mapping]]] = ...) -> None: ...

class Process(_message.Message):
    __slots__ = ("pid", "parent_pid", "uid", "state", "name", "args", "rss_bytes", "cpu_time", "exec_id")
    PID_FIELD_NUMBER: _ClassVar[int]
    PARENT_PID_FIELD_NUMBER: _ClassVar[int]
    UID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    RSS_BYTES_FIELD_NUMBER: _ClassVar[int]
    CPU_TIME_FIELD_NUMBER: _ClassVar[int]
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    pid: int
    parent_pid: int
    uid: int
    state: str
    name: str
    args: _containers.RepeatedScalarFieldContainer[bytes]
    rss_bytes: int
    cpu_time: _duration_pb2.Duration
    exec_id: str
    def __init__(self, pid: _Optional[int] = ..., parent_pid: _Optional[int] = ..., uid: _Optional[int] = ..., state: _Optional[str] = ..., name: _Optional[str] = ..., args: _Optional[_Iterable[bytes]] = ..., rss_bytes: _Optional[int] = ..., cpu_time: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., exec_id: _Optional[str] = ...) -> None: ...

class ListPortsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListPortsResponse(_message.Message):
    __slots__ = ("ports",)
    PORTS_FIELD_NUMBER: _ClassVar[int]
    ports: _containers.RepeatedCompositeFieldContainer[ListeningPort]
    def __init__(self, ports: _Optional[_Iterable[_Union[ListeningPort, _Mapping]]] = ...) -> None: ...

class ListeningPort(_message.Message):
    __slots__ = ("protocol", "address", "port", "pid")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    protocol: str
    address: str
    port: int
    pid: int
    def __init__(self, protocol: _Optional[str] = ..., address: _Optional[str] = ..., port: _Optional[int] = ..., pid: _Optional[int] = ...) -> None: ...
