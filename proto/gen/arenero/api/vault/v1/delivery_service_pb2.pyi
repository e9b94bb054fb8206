import datetime

from arenero.api.vault.v1 import vault_pb2 as _vault_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DeliverRequest(_message.Message):
    __slots__ = ("open", "confirm")
    OPEN_FIELD_NUMBER: _ClassVar[int]
    CONFIRM_FIELD_NUMBER: _ClassVar[int]
    open: DeliveryOpen
    confirm: DeliveryConfirm
    def __init__(self, open: _Optional[_Union[DeliveryOpen, _Mapping]] = ..., confirm: _Optional[_Union[DeliveryConfirm, _Mapping]] = ...) -> None: ...

class DeliveryOpen(_message.Message):
    __slots__ = ("sandbox_id", "generation", "ticket")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    TICKET_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    generation: int
    ticket: bytes
    def __init__(self, sandbox_id: _Optional[str] = ..., generation: _Optional[int] = ..., ticket: _Optional[bytes] = ...) -> None: ...

class DeliveryConfirm(_message.Message):
    __slots__ = ("revision", "refused")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    revision: int
    refused: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, revision: _Optional[int] = ..., refused: _Optional[_Iterable[str]] = ...) -> None: ...

class DeliverResponse(_message.Message):
    __slots__ = ("bindings", "revoked")
    BINDINGS_FIELD_NUMBER: _ClassVar[int]
    REVOKED_FIELD_NUMBER: _ClassVar[int]
    bindings: DeliveredBindings
    revoked: DeliveryRevoked
    def __init__(self, bindings: _Optional[_Union[DeliveredBindings, _Mapping]] = ..., revoked: _Optional[_Union[DeliveryRevoked, _Mapping]] = ...) -> None: ...

class DeliveredBindings(_message.Message):
    __slots__ = ("revision", "bindings", "values", "next_ticket")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    BINDINGS_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    NEXT_TICKET_FIELD_NUMBER: _ClassVar[int]
    revision: int
    bindings: _containers.RepeatedCompositeFieldContainer[_vault_pb2.Binding]
    values: _containers.RepeatedCompositeFieldContainer[CredentialValue]
    next_ticket: bytes
    def __init__(self, revision: _Optional[int] = ..., bindings: _Optional[_Iterable[_Union[_vault_pb2.Binding, _Mapping]]] = ..., values: _Optional[_Iterable[_Union[CredentialValue, _Mapping]]] = ..., next_ticket: _Optional[bytes] = ...) -> None: ...

class CredentialValue(_message.Message):
    __slots__ = ("name", "value", "expires_at", "unavailable")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    UNAVAILABLE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: bytes
    expires_at: _timestamp_pb2.Timestamp
    unavailable: bool
    def __init__(self, name: _Optional[str] = ..., value: _Optional[bytes] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., unavailable: _Optional[bool] = ...) -> None: ...

class DeliveryRevoked(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...
