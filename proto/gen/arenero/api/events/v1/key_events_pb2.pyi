from arenero.api.gateway.v1 import key_pb2 as _key_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class KeyEvent(_message.Message):
    __slots__ = ("key", "secret_sha256", "created", "revoked", "nats_password_hash")
    KEY_FIELD_NUMBER: _ClassVar[int]
    SECRET_SHA256_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    REVOKED_FIELD_NUMBER: _ClassVar[int]
    NATS_PASSWORD_HASH_FIELD_NUMBER: _ClassVar[int]
    key: _key_pb2.Key
    secret_sha256: bytes
    created: KeyCreated
    revoked: KeyRevoked
    nats_password_hash: str
    def __init__(self, key: _Optional[_Union[_key_pb2.Key, _Mapping]] = ..., secret_sha256: _Optional[bytes] = ..., created: _Optional[_Union[KeyCreated, _Mapping]] = ..., revoked: _Optional[_Union[KeyRevoked, _Mapping]] = ..., nats_password_hash: _Optional[str] = ...) -> None: ...

class KeyCreated(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class KeyRevoked(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
