import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ActivityEvent(_message.Message):
    __slots__ = ("sandbox_id", "count", "first_at", "exec_started", "exec_ended", "file_written", "egress_allowed", "egress_denied", "credential_used", "endpoint_accessed", "streams_open", "hook_run")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    FIRST_AT_FIELD_NUMBER: _ClassVar[int]
    EXEC_STARTED_FIELD_NUMBER: _ClassVar[int]
    EXEC_ENDED_FIELD_NUMBER: _ClassVar[int]
    FILE_WRITTEN_FIELD_NUMBER: _ClassVar[int]
    EGRESS_ALLOWED_FIELD_NUMBER: _ClassVar[int]
    EGRESS_DENIED_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_USED_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_ACCESSED_FIELD_NUMBER: _ClassVar[int]
    STREAMS_OPEN_FIELD_NUMBER: _ClassVar[int]
    HOOK_RUN_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    count: int
    first_at: _timestamp_pb2.Timestamp
    exec_started: ExecStarted
    exec_ended: ExecEnded
    file_written: FileWritten
    egress_allowed: EgressAllowed
    egress_denied: EgressDenied
    credential_used: CredentialUsed
    endpoint_accessed: EndpointAccessed
    streams_open: StreamsOpen
    hook_run: HookRun
    def __init__(self, sandbox_id: _Optional[str] = ..., count: _Optional[int] = ..., first_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., exec_started: _Optional[_Union[ExecStarted, _Mapping]] = ..., exec_ended: _Optional[_Union[ExecEnded, _Mapping]] = ..., file_written: _Optional[_Union[FileWritten, _Mapping]] = ..., egress_allowed: _Optional[_Union[EgressAllowed, _Mapping]] = ..., egress_denied: _Optional[_Union[EgressDenied, _Mapping]] = ..., credential_used: _Optional[_Union[CredentialUsed, _Mapping]] = ..., endpoint_accessed: _Optional[_Union[EndpointAccessed, _Mapping]] = ..., streams_open: _Optional[_Union[StreamsOpen, _Mapping]] = ..., hook_run: _Optional[_Union[HookRun, _Mapping]] = ...) -> None: ...

class ExecStarted(_message.Message):
    __slots__ = ("exec_id", "program", "pty")
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    PTY_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    program: str
    pty: bool
    def __init__(self, exec_id: _Optional[str] = ..., program: _Optional[str] = ..., pty: _Optional[bool] = ...) -> None: ...

class ExecEnded(_message.Message):
    __slots__ = ("exec_id", "exit_code", "cause", "ran_for")
    EXEC_ID_FIELD_NUMBER: _ClassVar[int]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    RAN_FOR_FIELD_NUMBER: _ClassVar[int]
    exec_id: str
    exit_code: int
    cause: str
    ran_for: _duration_pb2.Duration
    def __init__(self, exec_id: _Optional[str] = ..., exit_code: _Optional[int] = ..., cause: _Optional[str] = ..., ran_for: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class FileWritten(_message.Message):
    __slots__ = ("path", "size_bytes")
    PATH_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    path: str
    size_bytes: int
    def __init__(self, path: _Optional[str] = ..., size_bytes: _Optional[int] = ...) -> None: ...

class EgressAllowed(_message.Message):
    __slots__ = ("host", "port", "rule")
    HOST_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    host: str
    port: int
    rule: str
    def __init__(self, host: _Optional[str] = ..., port: _Optional[int] = ..., rule: _Optional[str] = ...) -> None: ...

class EgressDenied(_message.Message):
    __slots__ = ("host", "port", "rule", "reason")
    HOST_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    host: str
    port: int
    rule: str
    reason: str
    def __init__(self, host: _Optional[str] = ..., port: _Optional[int] = ..., rule: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class CredentialUsed(_message.Message):
    __slots__ = ("binding", "host", "method")
    BINDING_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    binding: str
    host: str
    method: str
    def __init__(self, binding: _Optional[str] = ..., host: _Optional[str] = ..., method: _Optional[str] = ...) -> None: ...

class EndpointAccessed(_message.Message):
    __slots__ = ("port",)
    PORT_FIELD_NUMBER: _ClassVar[int]
    port: int
    def __init__(self, port: _Optional[int] = ...) -> None: ...

class StreamsOpen(_message.Message):
    __slots__ = ("open",)
    OPEN_FIELD_NUMBER: _ClassVar[int]
    open: int
    def __init__(self, open: _Optional[int] = ...) -> None: ...

class HookRun(_message.Message):
    __slots__ = ("name", "done")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    name: str
    done: bool
    def __init__(self, name: _Optional[str] = ..., done: _Optional[bool] = ...) -> None: ...
