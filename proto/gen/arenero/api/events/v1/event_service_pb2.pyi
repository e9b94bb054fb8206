import datetime

from arenero.api.events.v1 import event_pb2 as _event_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EventLog(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_LOG_UNSPECIFIED: _ClassVar[EventLog]
    EVENT_LOG_STATE: _ClassVar[EventLog]
    EVENT_LOG_ACTIVITY: _ClassVar[EventLog]
EVENT_LOG_UNSPECIFIED: EventLog
EVENT_LOG_STATE: EventLog
EVENT_LOG_ACTIVITY: EventLog

class EventFilter(_message.Message):
    __slots__ = ("subjects", "sandbox_id", "log")
    SUBJECTS_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    subjects: _containers.RepeatedScalarFieldContainer[str]
    sandbox_id: str
    log: EventLog
    def __init__(self, subjects: _Optional[_Iterable[str]] = ..., sandbox_id: _Optional[str] = ..., log: _Optional[_Union[EventLog, str]] = ...) -> None: ...

class ReplayRequest(_message.Message):
    __slots__ = ("filter", "sequence", "time", "limit")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    filter: EventFilter
    sequence: int
    time: _timestamp_pb2.Timestamp
    limit: int
    def __init__(self, filter: _Optional[_Union[EventFilter, _Mapping]] = ..., sequence: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class ReplayResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: _event_pb2.Event
    def __init__(self, event: _Optional[_Union[_event_pb2.Event, _Mapping]] = ...) -> None: ...

class FollowRequest(_message.Message):
    __slots__ = ("filter", "sequence", "time", "from_beginning")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    FROM_BEGINNING_FIELD_NUMBER: _ClassVar[int]
    filter: EventFilter
    sequence: int
    time: _timestamp_pb2.Timestamp
    from_beginning: bool
    def __init__(self, filter: _Optional[_Union[EventFilter, _Mapping]] = ..., sequence: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., from_beginning: _Optional[bool] = ...) -> None: ...

class FollowResponse(_message.Message):
    __slots__ = ("event", "heartbeat_sequence")
    EVENT_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    event: _event_pb2.Event
    heartbeat_sequence: int
    def __init__(self, event: _Optional[_Union[_event_pb2.Event, _Mapping]] = ..., heartbeat_sequence: _Optional[int] = ...) -> None: ...
