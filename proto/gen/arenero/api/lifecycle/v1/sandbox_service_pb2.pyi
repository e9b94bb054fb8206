import datetime

from arenero.api.common.v1 import page_pb2 as _page_pb2
from arenero.api.lifecycle.v1 import sandbox_pb2 as _sandbox_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateWait(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CREATE_WAIT_UNSPECIFIED: _ClassVar[CreateWait]
    CREATE_WAIT_RUNNING: _ClassVar[CreateWait]
    CREATE_WAIT_ACCEPTED: _ClassVar[CreateWait]
CREATE_WAIT_UNSPECIFIED: CreateWait
CREATE_WAIT_RUNNING: CreateWait
CREATE_WAIT_ACCEPTED: CreateWait

class CreateRequest(_message.Message):
    __slots__ = ("request_id", "spec", "wait", "start_timeout")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    START_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    spec: _sandbox_pb2.SandboxSpec
    wait: CreateWait
    start_timeout: _duration_pb2.Duration
    def __init__(self, request_id: _Optional[str] = ..., spec: _Optional[_Union[_sandbox_pb2.SandboxSpec, _Mapping]] = ..., wait: _Optional[_Union[CreateWait, str]] = ..., start_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class CreateResponse(_message.Message):
    __slots__ = ("sandbox", "execd", "repeated_request")
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    EXECD_FIELD_NUMBER: _ClassVar[int]
    REPEATED_REQUEST_FIELD_NUMBER: _ClassVar[int]
    sandbox: _sandbox_pb2.Sandbox
    execd: Endpoint
    repeated_request: bool
    def __init__(self, sandbox: _Optional[_Union[_sandbox_pb2.Sandbox, _Mapping]] = ..., execd: _Optional[_Union[Endpoint, _Mapping]] = ..., repeated_request: _Optional[bool] = ...) -> None: ...

class GetRequest(_message.Message):
    __slots__ = ("sandbox_id",)
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    def __init__(self, sandbox_id: _Optional[str] = ...) -> None: ...

class GetResponse(_message.Message):
    __slots__ = ("sandbox",)
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    sandbox: _sandbox_pb2.Sandbox
    def __init__(self, sandbox: _Optional[_Union[_sandbox_pb2.Sandbox, _Mapping]] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("filter", "page")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    filter: SandboxFilter
    page: _page_pb2.PageRequest
    def __init__(self, filter: _Optional[_Union[SandboxFilter, _Mapping]] = ..., page: _Optional[_Union[_page_pb2.PageRequest, _Mapping]] = ...) -> None: ...

class SandboxFilter(_message.Message):
    __slots__ = ("states", "include_ended", "metadata", "name", "runtime")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    STATES_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_ENDED_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RUNTIME_FIELD_NUMBER: _ClassVar[int]
    states: _containers.RepeatedScalarFieldContainer[_sandbox_pb2.SandboxState]
    include_ended: bool
    metadata: _containers.ScalarMap[str, str]
    name: str
    runtime: str
    def __init__(self, states: _Optional[_Iterable[_Union[_sandbox_pb2.SandboxState, str]]] = ..., include_ended: _Optional[bool] = ..., metadata: _Optional[_Mapping[str, str]] = ..., name: _Optional[str] = ..., runtime: _Optional[str] = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("sandboxes", "page")
    SANDBOXES_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    sandboxes: _containers.RepeatedCompositeFieldContainer[_sandbox_pb2.Sandbox]
    page: _page_pb2.PageResult
    def __init__(self, sandboxes: _Optional[_Iterable[_Union[_sandbox_pb2.Sandbox, _Mapping]]] = ..., page: _Optional[_Union[_page_pb2.PageResult, _Mapping]] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("sandbox_id", "filter")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    filter: SandboxFilter
    def __init__(self, sandbox_id: _Optional[str] = ..., filter: _Optional[_Union[SandboxFilter, _Mapping]] = ...) -> None: ...

class WatchResponse(_message.Message):
    __slots__ = ("sandbox", "fact")
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    FACT_FIELD_NUMBER: _ClassVar[int]
    sandbox: _sandbox_pb2.Sandbox
    fact: str
    def __init__(self, sandbox: _Optional[_Union[_sandbox_pb2.Sandbox, _Mapping]] = ..., fact: _Optional[str] = ...) -> None: ...

class DeleteRequest(_message.Message):
    __slots__ = ("sandbox_id", "expected_revision", "no_wait")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    NO_WAIT_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    expected_revision: int
    no_wait: bool
    def __init__(self, sandbox_id: _Optional[str] = ..., expected_revision: _Optional[int] = ..., no_wait: _Optional[bool] = ...) -> None: ...

class DeleteResponse(_message.Message):
    __slots__ = ("sandbox",)
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    sandbox: _sandbox_pb2.Sandbox
    def __init__(self, sandbox: _Optional[_Union[_sandbox_pb2.Sandbox, _Mapping]] = ...) -> None: ...

class RenewRequest(_message.Message):
    __slots__ = ("sandbox_id", "ttl", "expires_at", "extend_only")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    EXTEND_ONLY_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    ttl: _duration_pb2.Duration
    expires_at: _timestamp_pb2.Timestamp
    extend_only: bool
    def __init__(self, sandbox_id: _Optional[str] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., extend_only: _Optional[bool] = ...) -> None: ...

class RenewResponse(_message.Message):
    __slots__ = ("sandbox",)
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    sandbox: _sandbox_pb2.Sandbox
    def __init__(self, sandbox: _Optional[_Union[_sandbox_pb2.Sandbox, _Mapping]] = ...) -> None: ...

class UpdateMetadataRequest(_message.Message):
    __slots__ = ("sandbox_id", "set", "remove", "expected_revision")
    class SetEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    SET_FIELD_NUMBER: _ClassVar[int]
    REMOVE_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    set: _containers.ScalarMap[str, str]
    remove: _containers.RepeatedScalarFieldContainer[str]
    expected_revision: int
    def __init__(self, sandbox_id: _Optional[str] = ..., set: _Optional[_Mapping[str, str]] = ..., remove: _Optional[_Iterable[str]] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class UpdateMetadataResponse(_message.Message):
    __slots__ = ("sandbox",)
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    sandbox: _sandbox_pb2.Sandbox
    def __init__(self, sandbox: _Optional[_Union[_sandbox_pb2.Sandbox, _Mapping]] = ...) -> None: ...

class GetEndpointRequest(_message.Message):
    __slots__ = ("sandbox_id", "port", "token_ttl")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_TTL_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    port: int
    token_ttl: _duration_pb2.Duration
    def __init__(self, sandbox_id: _Optional[str] = ..., port: _Optional[int] = ..., token_ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class GetEndpointResponse(_message.Message):
    __slots__ = ("endpoint",)
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    endpoint: Endpoint
    def __init__(self, endpoint: _Optional[_Union[Endpoint, _Mapping]] = ...) -> None: ...

class Endpoint(_message.Message):
    __slots__ = ("address", "token", "token_expires_at", "generation", "headers")
    class HeadersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOKEN_EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    address: str
    token: str
    token_expires_at: _timestamp_pb2.Timestamp
    generation: int
    headers: _containers.ScalarMap[str, str]
    def __init__(self, address: _Optional[str] = ..., token: _Optional[str] = ..., token_expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., generation: _Optional[int] = ..., headers: _Optional[_Mapping[str, str]] = ...) -> None: ...

class PauseRequest(_message.Message):
    __slots__ = ("sandbox_id", "mode", "allow_memory_loss")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    ALLOW_MEMORY_LOSS_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    mode: _sandbox_pb2.PauseMode
    allow_memory_loss: bool
    def __init__(self, sandbox_id: _Optional[str] = ..., mode: _Optional[_Union[_sandbox_pb2.PauseMode, str]] = ..., allow_memory_loss: _Optional[bool] = ...) -> None: ...

class PauseResponse(_message.Message):
    __slots__ = ("sandbox",)
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    sandbox: _sandbox_pb2.Sandbox
    def __init__(self, sandbox: _Optional[_Union[_sandbox_pb2.Sandbox, _Mapping]] = ...) -> None: ...

class ResumeRequest(_message.Message):
    __slots__ = ("sandbox_id",)
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    def __init__(self, sandbox_id: _Optional[str] = ...) -> None: ...

class ResumeResponse(_message.Message):
    __slots__ = ("sandbox", "execd")
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    EXECD_FIELD_NUMBER: _ClassVar[int]
    sandbox: _sandbox_pb2.Sandbox
    execd: Endpoint
    def __init__(self, sandbox: _Optional[_Union[_sandbox_pb2.Sandbox, _Mapping]] = ..., execd: _Optional[_Union[Endpoint, _Mapping]] = ...) -> None: ...

class ForkRequest(_message.Message):
    __slots__ = ("sandbox_id", "count", "request_id", "all_or_nothing", "memory", "inherit_bindings")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ALL_OR_NOTHING_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    INHERIT_BINDINGS_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    count: int
    request_id: str
    all_or_nothing: bool
    memory: bool
    inherit_bindings: bool
    def __init__(self, sandbox_id: _Optional[str] = ..., count: _Optional[int] = ..., request_id: _Optional[str] = ..., all_or_nothing: _Optional[bool] = ..., memory: _Optional[bool] = ..., inherit_bindings: _Optional[bool] = ...) -> None: ...

class ForkResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[ForkResult]
    def __init__(self, results: _Optional[_Iterable[_Union[ForkResult, _Mapping]]] = ...) -> None: ...

class ForkResult(_message.Message):
    __slots__ = ("sandbox", "reason", "message")
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    sandbox: _sandbox_pb2.Sandbox
    reason: str
    message: str
    def __init__(self, sandbox: _Optional[_Union[_sandbox_pb2.Sandbox, _Mapping]] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class GetStatsRequest(_message.Message):
    __slots__ = ("sandbox_id",)
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    def __init__(self, sandbox_id: _Optional[str] = ...) -> None: ...

class GetStatsResponse(_message.Message):
    __slots__ = ("measured_at", "cpu_time", "memory_bytes", "memory_peak_bytes", "pids", "disk_bytes", "oom_kills")
    MEASURED_AT_FIELD_NUMBER: _ClassVar[int]
    CPU_TIME_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_PEAK_BYTES_FIELD_NUMBER: _ClassVar[int]
    PIDS_FIELD_NUMBER: _ClassVar[int]
    DISK_BYTES_FIELD_NUMBER: _ClassVar[int]
    OOM_KILLS_FIELD_NUMBER: _ClassVar[int]
    measured_at: _timestamp_pb2.Timestamp
    cpu_time: _duration_pb2.Duration
    memory_bytes: int
    memory_peak_bytes: int
    pids: int
    disk_bytes: int
    oom_kills: int
    def __init__(self, measured_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., cpu_time: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., memory_bytes: _Optional[int] = ..., memory_peak_bytes: _Optional[int] = ..., pids: _Optional[int] = ..., disk_bytes: _Optional[int] = ..., oom_kills: _Optional[int] = ...) -> None: ...

class ListRuntimesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListRuntimesResponse(_message.Message):
    __slots__ = ("runtimes",)
    RUNTIMES_FIELD_NUMBER: _ClassVar[int]
    runtimes: _containers.RepeatedCompositeFieldContainer[Runtime]
    def __init__(self, runtimes: _Optional[_Iterable[_Union[Runtime, _Mapping]]] = ...) -> None: ...

class Runtime(_message.Message):
    __slots__ = ("name", "usable", "is_default", "reason", "fix", "capabilities", "checks")
    NAME_FIELD_NUMBER: _ClassVar[int]
    USABLE_FIELD_NUMBER: _ClassVar[int]
    IS_DEFAULT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    FIX_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    CHECKS_FIELD_NUMBER: _ClassVar[int]
    name: str
    usable: bool
    is_default: bool
    reason: str
    fix: str
    capabilities: _containers.RepeatedScalarFieldContainer[str]
    checks: _containers.RepeatedCompositeFieldContainer[RuntimeCheck]
    def __init__(self, name: _Optional[str] = ..., usable: _Optional[bool] = ..., is_default: _Optional[bool] = ..., reason: _Optional[str] = ..., fix: _Optional[str] = ..., capabilities: _Optional[_Iterable[str]] = ..., checks: _Optional[_Iterable[_Union[RuntimeCheck, _Mapping]]] = ...) -> None: ...

class RuntimeCheck(_message.Message):
    __slots__ = ("name", "ok", "message", "fix")
    NAME_FIELD_NUMBER: _ClassVar[int]
    OK_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FIX_FIELD_NUMBER: _ClassVar[int]
    name: str
    ok: bool
    message: str
    fix: str
    def __init__(self, name: _Optional[str] = ..., ok: _Optional[bool] = ..., message: _Optional[str] = ..., fix: _Optional[str] = ...) -> None: ...

class ListTemplatesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListTemplatesResponse(_message.Message):
    __slots__ = ("templates",)
    TEMPLATES_FIELD_NUMBER: _ClassVar[int]
    templates: _containers.RepeatedCompositeFieldContainer[Template]
    def __init__(self, templates: _Optional[_Iterable[_Union[Template, _Mapping]]] = ...) -> None: ...

class Template(_message.Message):
    __slots__ = ("name", "description", "runtimes", "digest")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    RUNTIMES_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    runtimes: _containers.RepeatedScalarFieldContainer[str]
    digest: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., runtimes: _Optional[_Iterable[str]] = ..., digest: _Optional[str] = ...) -> None: ...
