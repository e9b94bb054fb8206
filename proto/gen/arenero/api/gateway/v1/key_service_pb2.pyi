import datetime

from arenero.api.common.v1 import page_pb2 as _page_pb2
from arenero.api.gateway.v1 import key_pb2 as _key_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateRequest(_message.Message):
    __slots__ = ("tenant", "name", "kind", "scopes", "ttl")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    name: str
    kind: _key_pb2.KeyKind
    scopes: _containers.RepeatedScalarFieldContainer[_key_pb2.KeyScope]
    ttl: _duration_pb2.Duration
    def __init__(self, tenant: _Optional[str] = ..., name: _Optional[str] = ..., kind: _Optional[_Union[_key_pb2.KeyKind, str]] = ..., scopes: _Optional[_Iterable[_Union[_key_pb2.KeyScope, str]]] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class CreateResponse(_message.Message):
    __slots__ = ("key", "secret", "nats")
    KEY_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    NATS_FIELD_NUMBER: _ClassVar[int]
    key: _key_pb2.Key
    secret: str
    nats: NatsAccess
    def __init__(self, key: _Optional[_Union[_key_pb2.Key, _Mapping]] = ..., secret: _Optional[str] = ..., nats: _Optional[_Union[NatsAccess, _Mapping]] = ...) -> None: ...

class NatsAccess(_message.Message):
    __slots__ = ("url", "user", "password", "inbox_prefix", "subjects", "consumers", "api_prefix")
    URL_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    PASSWORD_FIELD_NUMBER: _ClassVar[int]
    INBOX_PREFIX_FIELD_NUMBER: _ClassVar[int]
    SUBJECTS_FIELD_NUMBER: _ClassVar[int]
    CONSUMERS_FIELD_NUMBER: _ClassVar[int]
    API_PREFIX_FIELD_NUMBER: _ClassVar[int]
    url: str
    user: str
    password: str
    inbox_prefix: str
    subjects: _containers.RepeatedScalarFieldContainer[str]
    consumers: _containers.RepeatedCompositeFieldContainer[NatsConsumer]
    api_prefix: str
    def __init__(self, url: _Optional[str] = ..., user: _Optional[str] = ..., password: _Optional[str] = ..., inbox_prefix: _Optional[str] = ..., subjects: _Optional[_Iterable[str]] = ..., consumers: _Optional[_Iterable[_Union[NatsConsumer, _Mapping]]] = ..., api_prefix: _Optional[str] = ...) -> None: ...

class NatsConsumer(_message.Message):
    __slots__ = ("stream", "name", "filter")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    stream: str
    name: str
    filter: str
    def __init__(self, stream: _Optional[str] = ..., name: _Optional[str] = ..., filter: _Optional[str] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("tenant", "include_ended", "page")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_ENDED_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    include_ended: bool
    page: _page_pb2.PageRequest
    def __init__(self, tenant: _Optional[str] = ..., include_ended: _Optional[bool] = ..., page: _Optional[_Union[_page_pb2.PageRequest, _Mapping]] = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("keys", "page")
    KEYS_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    keys: _containers.RepeatedCompositeFieldContainer[_key_pb2.Key]
    page: _page_pb2.PageResult
    def __init__(self, keys: _Optional[_Iterable[_Union[_key_pb2.Key, _Mapping]]] = ..., page: _Optional[_Union[_page_pb2.PageResult, _Mapping]] = ...) -> None: ...

class RevokeRequest(_message.Message):
    __slots__ = ("key_id",)
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    key_id: str
    def __init__(self, key_id: _Optional[str] = ...) -> None: ...

class RevokeResponse(_message.Message):
    __slots__ = ("key",)
    KEY_FIELD_NUMBER: _ClassVar[int]
    key: _key_pb2.Key
    def __init__(self, key: _Optional[_Union[_key_pb2.Key, _Mapping]] = ...) -> None: ...

class WhoAmIRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WhoAmIResponse(_message.Message):
    __slots__ = ("key",)
    KEY_FIELD_NUMBER: _ClassVar[int]
    key: _key_pb2.Key
    def __init__(self, key: _Optional[_Union[_key_pb2.Key, _Mapping]] = ...) -> None: ...
