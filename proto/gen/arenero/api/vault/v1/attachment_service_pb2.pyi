import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PrepareDeliveryRequest(_message.Message):
    __slots__ = ("sandbox_id", "generation", "vault_id", "inherit_from_sandbox_id", "egress_uid")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    VAULT_ID_FIELD_NUMBER: _ClassVar[int]
    INHERIT_FROM_SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    EGRESS_UID_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    generation: int
    vault_id: str
    inherit_from_sandbox_id: str
    egress_uid: int
    def __init__(self, sandbox_id: _Optional[str] = ..., generation: _Optional[int] = ..., vault_id: _Optional[str] = ..., inherit_from_sandbox_id: _Optional[str] = ..., egress_uid: _Optional[int] = ...) -> None: ...

class PrepareDeliveryResponse(_message.Message):
    __slots__ = ("ticket", "has_bindings")
    TICKET_FIELD_NUMBER: _ClassVar[int]
    HAS_BINDINGS_FIELD_NUMBER: _ClassVar[int]
    ticket: bytes
    has_bindings: bool
    def __init__(self, ticket: _Optional[bytes] = ..., has_bindings: _Optional[bool] = ...) -> None: ...

class AwaitDeliveryRequest(_message.Message):
    __slots__ = ("sandbox_id", "generation", "timeout")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    generation: int
    timeout: _duration_pb2.Duration
    def __init__(self, sandbox_id: _Optional[str] = ..., generation: _Optional[int] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class AwaitDeliveryResponse(_message.Message):
    __slots__ = ("revision",)
    REVISION_FIELD_NUMBER: _ClassVar[int]
    revision: int
    def __init__(self, revision: _Optional[int] = ...) -> None: ...

class EndDeliveryRequest(_message.Message):
    __slots__ = ("sandbox_id", "paused")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    PAUSED_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    paused: bool
    def __init__(self, sandbox_id: _Optional[str] = ..., paused: _Optional[bool] = ...) -> None: ...

class EndDeliveryResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
