import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetTraceRequest(_message.Message):
    __slots__ = ("trace_id", "sandbox_id", "root_name")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    ROOT_NAME_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    sandbox_id: str
    root_name: str
    def __init__(self, trace_id: _Optional[str] = ..., sandbox_id: _Optional[str] = ..., root_name: _Optional[str] = ...) -> None: ...

class GetTraceResponse(_message.Message):
    __slots__ = ("trace",)
    TRACE_FIELD_NUMBER: _ClassVar[int]
    trace: Trace
    def __init__(self, trace: _Optional[_Union[Trace, _Mapping]] = ...) -> None: ...

class ListTracesRequest(_message.Message):
    __slots__ = ("sandbox_id", "limit")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    limit: int
    def __init__(self, sandbox_id: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class ListTracesResponse(_message.Message):
    __slots__ = ("traces",)
    TRACES_FIELD_NUMBER: _ClassVar[int]
    traces: _containers.RepeatedCompositeFieldContainer[Trace]
    def __init__(self, traces: _Optional[_Iterable[_Union[Trace, _Mapping]]] = ...) -> None: ...

class Trace(_message.Message):
    __slots__ = ("trace_id", "tenant", "root_name", "started_at", "duration_ns", "span_count", "spans")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    ROOT_NAME_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    DURATION_NS_FIELD_NUMBER: _ClassVar[int]
    SPAN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    tenant: str
    root_name: str
    started_at: _timestamp_pb2.Timestamp
    duration_ns: int
    span_count: int
    spans: _containers.RepeatedCompositeFieldContainer[Span]
    def __init__(self, trace_id: _Optional[str] = ..., tenant: _Optional[str] = ..., root_name: _Optional[str] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., duration_ns: _Optional[int] = ..., span_count: _Optional[int] = ..., spans: _Optional[_Iterable[_Union[Span, _Mapping]]] = ...) -> None: ...

class Span(_message.Message):
    __slots__ = ("span_id", "parent_span_id", "depth", "name", "service", "start_unix_ns", "end_unix_ns", "attributes", "error")
    class AttributesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    START_UNIX_NS_FIELD_NUMBER: _ClassVar[int]
    END_UNIX_NS_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    span_id: str
    parent_span_id: str
    depth: int
    name: str
    service: str
    start_unix_ns: int
    end_unix_ns: int
    attributes: _containers.ScalarMap[str, str]
    error: str
    def __init__(self, span_id: _Optional[str] = ..., parent_span_id: _Optional[str] = ..., depth: _Optional[int] = ..., name: _Optional[str] = ..., service: _Optional[str] = ..., start_unix_ns: _Optional[int] = ..., end_unix_ns: _Optional[int] = ..., attributes: _Optional[_Mapping[str, str]] = ..., error: _Optional[str] = ...) -> None: ...
