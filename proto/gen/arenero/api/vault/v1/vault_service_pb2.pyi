from arenero.api.common.v1 import page_pb2 as _page_pb2
from arenero.api.vault.v1 import vault_pb2 as _vault_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TestOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TEST_OUTCOME_UNSPECIFIED: _ClassVar[TestOutcome]
    TEST_OUTCOME_INJECTED: _ClassVar[TestOutcome]
    TEST_OUTCOME_NO_BINDING: _ClassVar[TestOutcome]
    TEST_OUTCOME_REFUSED: _ClassVar[TestOutcome]
TEST_OUTCOME_UNSPECIFIED: TestOutcome
TEST_OUTCOME_INJECTED: TestOutcome
TEST_OUTCOME_NO_BINDING: TestOutcome
TEST_OUTCOME_REFUSED: TestOutcome

class VaultName(_message.Message):
    __slots__ = ("vault_id", "sandbox_id")
    VAULT_ID_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    vault_id: str
    sandbox_id: str
    def __init__(self, vault_id: _Optional[str] = ..., sandbox_id: _Optional[str] = ...) -> None: ...

class CreateRequest(_message.Message):
    __slots__ = ("request_id", "name", "metadata", "owner_sandbox_id", "credentials", "bindings")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    OWNER_SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    BINDINGS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    name: str
    metadata: _containers.ScalarMap[str, str]
    owner_sandbox_id: str
    credentials: _containers.RepeatedCompositeFieldContainer[_vault_pb2.CredentialInput]
    bindings: _containers.RepeatedCompositeFieldContainer[_vault_pb2.Binding]
    def __init__(self, request_id: _Optional[str] = ..., name: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ..., owner_sandbox_id: _Optional[str] = ..., credentials: _Optional[_Iterable[_Union[_vault_pb2.CredentialInput, _Mapping]]] = ..., bindings: _Optional[_Iterable[_Union[_vault_pb2.Binding, _Mapping]]] = ...) -> None: ...

class CreateResponse(_message.Message):
    __slots__ = ("vault", "repeated_request")
    VAULT_FIELD_NUMBER: _ClassVar[int]
    REPEATED_REQUEST_FIELD_NUMBER: _ClassVar[int]
    vault: _vault_pb2.Vault
    repeated_request: bool
    def __init__(self, vault: _Optional[_Union[_vault_pb2.Vault, _Mapping]] = ..., repeated_request: _Optional[bool] = ...) -> None: ...

class GetRequest(_message.Message):
    __slots__ = ("vault",)
    VAULT_FIELD_NUMBER: _ClassVar[int]
    vault: VaultName
    def __init__(self, vault: _Optional[_Union[VaultName, _Mapping]] = ...) -> None: ...

class GetResponse(_message.Message):
    __slots__ = ("vault",)
    VAULT_FIELD_NUMBER: _ClassVar[int]
    vault: _vault_pb2.Vault
    def __init__(self, vault: _Optional[_Union[_vault_pb2.Vault, _Mapping]] = ...) -> None: ...

class VaultFilter(_message.Message):
    __slots__ = ("name", "metadata", "include_owned", "include_deleted")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_OWNED_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_DELETED_FIELD_NUMBER: _ClassVar[int]
    name: str
    metadata: _containers.ScalarMap[str, str]
    include_owned: bool
    include_deleted: bool
    def __init__(self, name: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ..., include_owned: _Optional[bool] = ..., include_deleted: _Optional[bool] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("filter", "page")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    filter: VaultFilter
    page: _page_pb2.PageRequest
    def __init__(self, filter: _Optional[_Union[VaultFilter, _Mapping]] = ..., page: _Optional[_Union[_page_pb2.PageRequest, _Mapping]] = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("vaults", "page")
    VAULTS_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    vaults: _containers.RepeatedCompositeFieldContainer[_vault_pb2.Vault]
    page: _page_pb2.PageResult
    def __init__(self, vaults: _Optional[_Iterable[_Union[_vault_pb2.Vault, _Mapping]]] = ..., page: _Optional[_Union[_page_pb2.PageResult, _Mapping]] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("vault", "filter")
    VAULT_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    vault: VaultName
    filter: VaultFilter
    def __init__(self, vault: _Optional[_Union[VaultName, _Mapping]] = ..., filter: _Optional[_Union[VaultFilter, _Mapping]] = ...) -> None: ...

class WatchResponse(_message.Message):
    __slots__ = ("vault", "fact")
    VAULT_FIELD_NUMBER: _ClassVar[int]
    FACT_FIELD_NUMBER: _ClassVar[int]
    vault: _vault_pb2.Vault
    fact: str
    def __init__(self, vault: _Optional[_Union[_vault_pb2.Vault, _Mapping]] = ..., fact: _Optional[str] = ...) -> None: ...

class CredentialChanges(_message.Message):
    __slots__ = ("add", "replace", "remove")
    ADD_FIELD_NUMBER: _ClassVar[int]
    REPLACE_FIELD_NUMBER: _ClassVar[int]
    REMOVE_FIELD_NUMBER: _ClassVar[int]
    add: _containers.RepeatedCompositeFieldContainer[_vault_pb2.CredentialInput]
    replace: _containers.RepeatedCompositeFieldContainer[_vault_pb2.CredentialInput]
    remove: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, add: _Optional[_Iterable[_Union[_vault_pb2.CredentialInput, _Mapping]]] = ..., replace: _Optional[_Iterable[_Union[_vault_pb2.CredentialInput, _Mapping]]] = ..., remove: _Optional[_Iterable[str]] = ...) -> None: ...

class BindingChanges(_message.Message):
    __slots__ = ("add", "replace", "remove")
    ADD_FIELD_NUMBER: _ClassVar[int]
    REPLACE_FIELD_NUMBER: _ClassVar[int]
    REMOVE_FIELD_NUMBER: _ClassVar[int]
    add: _containers.RepeatedCompositeFieldContainer[_vault_pb2.Binding]
    replace: _containers.RepeatedCompositeFieldContainer[_vault_pb2.Binding]
    remove: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, add: _Optional[_Iterable[_Union[_vault_pb2.Binding, _Mapping]]] = ..., replace: _Optional[_Iterable[_Union[_vault_pb2.Binding, _Mapping]]] = ..., remove: _Optional[_Iterable[str]] = ...) -> None: ...

class PatchRequest(_message.Message):
    __slots__ = ("vault", "expected_revision", "credentials", "bindings", "set_metadata", "remove_metadata", "wait_delivered")
    class SetMetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    VAULT_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    BINDINGS_FIELD_NUMBER: _ClassVar[int]
    SET_METADATA_FIELD_NUMBER: _ClassVar[int]
    REMOVE_METADATA_FIELD_NUMBER: _ClassVar[int]
    WAIT_DELIVERED_FIELD_NUMBER: _ClassVar[int]
    vault: VaultName
    expected_revision: int
    credentials: CredentialChanges
    bindings: BindingChanges
    set_metadata: _containers.ScalarMap[str, str]
    remove_metadata: _containers.RepeatedScalarFieldContainer[str]
    wait_delivered: bool
    def __init__(self, vault: _Optional[_Union[VaultName, _Mapping]] = ..., expected_revision: _Optional[int] = ..., credentials: _Optional[_Union[CredentialChanges, _Mapping]] = ..., bindings: _Optional[_Union[BindingChanges, _Mapping]] = ..., set_metadata: _Optional[_Mapping[str, str]] = ..., remove_metadata: _Optional[_Iterable[str]] = ..., wait_delivered: _Optional[bool] = ...) -> None: ...

class PatchResponse(_message.Message):
    __slots__ = ("vault",)
    VAULT_FIELD_NUMBER: _ClassVar[int]
    vault: _vault_pb2.Vault
    def __init__(self, vault: _Optional[_Union[_vault_pb2.Vault, _Mapping]] = ...) -> None: ...

class ReplaceRequest(_message.Message):
    __slots__ = ("vault", "expected_revision", "credentials", "bindings")
    VAULT_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    BINDINGS_FIELD_NUMBER: _ClassVar[int]
    vault: VaultName
    expected_revision: int
    credentials: _containers.RepeatedCompositeFieldContainer[_vault_pb2.CredentialInput]
    bindings: _containers.RepeatedCompositeFieldContainer[_vault_pb2.Binding]
    def __init__(self, vault: _Optional[_Union[VaultName, _Mapping]] = ..., expected_revision: _Optional[int] = ..., credentials: _Optional[_Iterable[_Union[_vault_pb2.CredentialInput, _Mapping]]] = ..., bindings: _Optional[_Iterable[_Union[_vault_pb2.Binding, _Mapping]]] = ...) -> None: ...

class ReplaceResponse(_message.Message):
    __slots__ = ("vault",)
    VAULT_FIELD_NUMBER: _ClassVar[int]
    vault: _vault_pb2.Vault
    def __init__(self, vault: _Optional[_Union[_vault_pb2.Vault, _Mapping]] = ...) -> None: ...

class DeleteRequest(_message.Message):
    __slots__ = ("vault", "expected_revision")
    VAULT_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    vault: VaultName
    expected_revision: int
    def __init__(self, vault: _Optional[_Union[VaultName, _Mapping]] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class DeleteResponse(_message.Message):
    __slots__ = ("vault",)
    VAULT_FIELD_NUMBER: _ClassVar[int]
    vault: _vault_pb2.Vault
    def __init__(self, vault: _Optional[_Union[_vault_pb2.Vault, _Mapping]] = ...) -> None: ...

class AttachRequest(_message.Message):
    __slots__ = ("vault_id", "sandbox_id")
    VAULT_ID_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    vault_id: str
    sandbox_id: str
    def __init__(self, vault_id: _Optional[str] = ..., sandbox_id: _Optional[str] = ...) -> None: ...

class AttachResponse(_message.Message):
    __slots__ = ("vault",)
    VAULT_FIELD_NUMBER: _ClassVar[int]
    vault: _vault_pb2.Vault
    def __init__(self, vault: _Optional[_Union[_vault_pb2.Vault, _Mapping]] = ...) -> None: ...

class DetachRequest(_message.Message):
    __slots__ = ("vault_id", "sandbox_id")
    VAULT_ID_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    vault_id: str
    sandbox_id: str
    def __init__(self, vault_id: _Optional[str] = ..., sandbox_id: _Optional[str] = ...) -> None: ...

class DetachResponse(_message.Message):
    __slots__ = ("vault",)
    VAULT_FIELD_NUMBER: _ClassVar[int]
    vault: _vault_pb2.Vault
    def __init__(self, vault: _Optional[_Union[_vault_pb2.Vault, _Mapping]] = ...) -> None: ...

class TestRequest(_message.Message):
    __slots__ = ("vault", "url", "method")
    VAULT_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    vault: VaultName
    url: str
    method: str
    def __init__(self, vault: _Optional[_Union[VaultName, _Mapping]] = ..., url: _Optional[str] = ..., method: _Optional[str] = ...) -> None: ...

class TestResponse(_message.Message):
    __slots__ = ("outcome", "binding", "credentials", "headers", "matched_url", "message", "considered")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    MATCHED_URL_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CONSIDERED_FIELD_NUMBER: _ClassVar[int]
    outcome: TestOutcome
    binding: str
    credentials: _containers.RepeatedScalarFieldContainer[str]
    headers: _containers.RepeatedScalarFieldContainer[str]
    matched_url: str
    message: str
    considered: _containers.RepeatedCompositeFieldContainer[BindingVerdict]
    def __init__(self, outcome: _Optional[_Union[TestOutcome, str]] = ..., binding: _Optional[str] = ..., credentials: _Optional[_Iterable[str]] = ..., headers: _Optional[_Iterable[str]] = ..., matched_url: _Optional[str] = ..., message: _Optional[str] = ..., considered: _Optional[_Iterable[_Union[BindingVerdict, _Mapping]]] = ...) -> None: ...

class BindingVerdict(_message.Message):
    __slots__ = ("binding", "applies", "failed_on")
    BINDING_FIELD_NUMBER: _ClassVar[int]
    APPLIES_FIELD_NUMBER: _ClassVar[int]
    FAILED_ON_FIELD_NUMBER: _ClassVar[int]
    binding: str
    applies: bool
    failed_on: str
    def __init__(self, binding: _Optional[str] = ..., applies: _Optional[bool] = ..., failed_on: _Optional[str] = ...) -> None: ...
