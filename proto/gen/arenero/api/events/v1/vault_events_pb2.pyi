import datetime

from arenero.api.vault.v1 import vault_pb2 as _vault_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class VaultEvent(_message.Message):
    __slots__ = ("vault", "created", "patched", "credential_rotated", "credential_unavailable", "attached", "delivered", "detached", "deleted")
    VAULT_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    PATCHED_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_ROTATED_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_UNAVAILABLE_FIELD_NUMBER: _ClassVar[int]
    ATTACHED_FIELD_NUMBER: _ClassVar[int]
    DELIVERED_FIELD_NUMBER: _ClassVar[int]
    DETACHED_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    vault: _vault_pb2.Vault
    created: VaultCreated
    patched: VaultPatched
    credential_rotated: VaultCredentialRotated
    credential_unavailable: VaultCredentialUnavailable
    attached: VaultAttached
    delivered: VaultDelivered
    detached: VaultDetached
    deleted: VaultDeleted
    def __init__(self, vault: _Optional[_Union[_vault_pb2.Vault, _Mapping]] = ..., created: _Optional[_Union[VaultCreated, _Mapping]] = ..., patched: _Optional[_Union[VaultPatched, _Mapping]] = ..., credential_rotated: _Optional[_Union[VaultCredentialRotated, _Mapping]] = ..., credential_unavailable: _Optional[_Union[VaultCredentialUnavailable, _Mapping]] = ..., attached: _Optional[_Union[VaultAttached, _Mapping]] = ..., delivered: _Optional[_Union[VaultDelivered, _Mapping]] = ..., detached: _Optional[_Union[VaultDetached, _Mapping]] = ..., deleted: _Optional[_Union[VaultDeleted, _Mapping]] = ...) -> None: ...

class VaultCreated(_message.Message):
    __slots__ = ("request_id",)
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    def __init__(self, request_id: _Optional[str] = ...) -> None: ...

class VaultPatched(_message.Message):
    __slots__ = ("credentials_added", "credentials_replaced", "credentials_removed", "bindings_added", "bindings_replaced", "bindings_removed")
    CREDENTIALS_ADDED_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_REPLACED_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_REMOVED_FIELD_NUMBER: _ClassVar[int]
    BINDINGS_ADDED_FIELD_NUMBER: _ClassVar[int]
    BINDINGS_REPLACED_FIELD_NUMBER: _ClassVar[int]
    BINDINGS_REMOVED_FIELD_NUMBER: _ClassVar[int]
    credentials_added: _containers.RepeatedScalarFieldContainer[str]
    credentials_replaced: _containers.RepeatedScalarFieldContainer[str]
    credentials_removed: _containers.RepeatedScalarFieldContainer[str]
    bindings_added: _containers.RepeatedScalarFieldContainer[str]
    bindings_replaced: _containers.RepeatedScalarFieldContainer[str]
    bindings_removed: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, credentials_added: _Optional[_Iterable[str]] = ..., credentials_replaced: _Optional[_Iterable[str]] = ..., credentials_removed: _Optional[_Iterable[str]] = ..., bindings_added: _Optional[_Iterable[str]] = ..., bindings_replaced: _Optional[_Iterable[str]] = ..., bindings_removed: _Optional[_Iterable[str]] = ...) -> None: ...

class VaultCredentialRotated(_message.Message):
    __slots__ = ("credential",)
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    credential: str
    def __init__(self, credential: _Optional[str] = ...) -> None: ...

class VaultCredentialUnavailable(_message.Message):
    __slots__ = ("credential", "reason")
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    credential: str
    reason: str
    def __init__(self, credential: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class VaultAttached(_message.Message):
    __slots__ = ("sandbox_id",)
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    def __init__(self, sandbox_id: _Optional[str] = ...) -> None: ...

class VaultDelivered(_message.Message):
    __slots__ = ("sandbox_id", "delivered_revision", "took")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    DELIVERED_REVISION_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    delivered_revision: int
    took: _duration_pb2.Duration
    def __init__(self, sandbox_id: _Optional[str] = ..., delivered_revision: _Optional[int] = ..., took: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class VaultDetached(_message.Message):
    __slots__ = ("sandbox_id", "reason")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    reason: str
    def __init__(self, sandbox_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class VaultDeleted(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
