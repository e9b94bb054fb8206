import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class KeyKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    KEY_KIND_UNSPECIFIED: _ClassVar[KeyKind]
    KEY_KIND_API: _ClassVar[KeyKind]
    KEY_KIND_EVENTS: _ClassVar[KeyKind]

class KeyScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    KEY_SCOPE_UNSPECIFIED: _ClassVar[KeyScope]
    KEY_SCOPE_TENANT: _ClassVar[KeyScope]
    KEY_SCOPE_READ: _ClassVar[KeyScope]
    KEY_SCOPE_ADMIN: _ClassVar[KeyScope]
KEY_KIND_UNSPECIFIED: KeyKind
KEY_KIND_API: KeyKind
KEY_KIND_EVENTS: KeyKind
KEY_SCOPE_UNSPECIFIED: KeyScope
KEY_SCOPE_TENANT: KeyScope
KEY_SCOPE_READ: KeyScope
KEY_SCOPE_ADMIN: KeyScope

class Key(_message.Message):
    __slots__ = ("id", "tenant", "name", "kind", "scopes", "created_at", "expires_at", "revoked_at", "hint")
    ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    REVOKED_AT_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    id: str
    tenant: str
    name: str
    kind: KeyKind
    scopes: _containers.RepeatedScalarFieldContainer[KeyScope]
    created_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    revoked_at: _timestamp_pb2.Timestamp
    hint: str
    def __init__(self, id: _Optional[str] = ..., tenant: _Optional[str] = ..., name: _Optional[str] = ..., kind: _Optional[_Union[KeyKind, str]] = ..., scopes: _Optional[_Iterable[_Union[KeyScope, str]]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., revoked_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., hint: _Optional[str] = ...) -> None: ...
