import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class VaultStorage(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VAULT_STORAGE_UNSPECIFIED: _ClassVar[VaultStorage]
    VAULT_STORAGE_MEMORY: _ClassVar[VaultStorage]
    VAULT_STORAGE_SEALED: _ClassVar[VaultStorage]

class SubstitutionPlace(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUBSTITUTION_PLACE_UNSPECIFIED: _ClassVar[SubstitutionPlace]
    SUBSTITUTION_PLACE_PATH: _ClassVar[SubstitutionPlace]
    SUBSTITUTION_PLACE_QUERY: _ClassVar[SubstitutionPlace]
    SUBSTITUTION_PLACE_HEADER: _ClassVar[SubstitutionPlace]
    SUBSTITUTION_PLACE_BODY: _ClassVar[SubstitutionPlace]
VAULT_STORAGE_UNSPECIFIED: VaultStorage
VAULT_STORAGE_MEMORY: VaultStorage
VAULT_STORAGE_SEALED: VaultStorage
SUBSTITUTION_PLACE_UNSPECIFIED: SubstitutionPlace
SUBSTITUTION_PLACE_PATH: SubstitutionPlace
SUBSTITUTION_PLACE_QUERY: SubstitutionPlace
SUBSTITUTION_PLACE_HEADER: SubstitutionPlace
SUBSTITUTION_PLACE_BODY: SubstitutionPlace

class Vault(_message.Message):
    __slots__ = ("id", "tenant", "name", "metadata", "owner_sandbox_id", "revision", "credentials", "bindings", "attachments", "storage", "created_at", "updated_at", "deleted_at")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    OWNER_SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    BINDINGS_FIELD_NUMBER: _ClassVar[int]
    ATTACHMENTS_FIELD_NUMBER: _ClassVar[int]
    STORAGE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    DELETED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    tenant: str
    name: str
    metadata: _containers.ScalarMap[str, str]
    owner_sandbox_id: str
    revision: int
    credentials: _containers.RepeatedCompositeFieldContainer[Credential]
    bindings: _containers.RepeatedCompositeFieldContainer[Binding]
    attachments: _containers.RepeatedCompositeFieldContainer[VaultAttachment]
    storage: VaultStorage
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    deleted_at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., tenant: _Optional[str] = ..., name: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ..., owner_sandbox_id: _Optional[str] = ..., revision: _Optional[int] = ..., credentials: _Optional[_Iterable[_Union[Credential, _Mapping]]] = ..., bindings: _Optional[_Iterable[_Union[Binding, _Mapping]]] = ..., attachments: _Optional[_Iterable[_Union[VaultAttachment, _Mapping]]] = ..., storage: _Optional[_Union[VaultStorage, str]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., deleted_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Credential(_message.Message):
    __slots__ = ("name", "source_type", "source_location", "revision", "available", "reason", "read_at")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LOCATION_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    READ_AT_FIELD_NUMBER: _ClassVar[int]
    name: str
    source_type: str
    source_location: str
    revision: int
    available: bool
    reason: str
    read_at: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., source_type: _Optional[str] = ..., source_location: _Optional[str] = ..., revision: _Optional[int] = ..., available: _Optional[bool] = ..., reason: _Optional[str] = ..., read_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CredentialInput(_message.Message):
    __slots__ = ("name", "source")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    name: str
    source: CredentialSource
    def __init__(self, name: _Optional[str] = ..., source: _Optional[_Union[CredentialSource, _Mapping]] = ...) -> None: ...

class CredentialSource(_message.Message):
    __slots__ = ("inline", "file", "environment", "key_value", "kubernetes", "refresh_interval")
    INLINE_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    KEY_VALUE_FIELD_NUMBER: _ClassVar[int]
    KUBERNETES_FIELD_NUMBER: _ClassVar[int]
    REFRESH_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    inline: str
    file: str
    environment: str
    key_value: KeyValueSource
    kubernetes: KubernetesSource
    refresh_interval: _duration_pb2.Duration
    def __init__(self, inline: _Optional[str] = ..., file: _Optional[str] = ..., environment: _Optional[str] = ..., key_value: _Optional[_Union[KeyValueSource, _Mapping]] = ..., kubernetes: _Optional[_Union[KubernetesSource, _Mapping]] = ..., refresh_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class KeyValueSource(_message.Message):
    __slots__ = ("store", "mount", "path", "key", "version")
    STORE_FIELD_NUMBER: _ClassVar[int]
    MOUNT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    store: str
    mount: str
    path: str
    key: str
    version: int
    def __init__(self, store: _Optional[str] = ..., mount: _Optional[str] = ..., path: _Optional[str] = ..., key: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class KubernetesSource(_message.Message):
    __slots__ = ("namespace", "name", "key")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    name: str
    key: str
    def __init__(self, namespace: _Optional[str] = ..., name: _Optional[str] = ..., key: _Optional[str] = ...) -> None: ...

class Binding(_message.Message):
    __slots__ = ("name", "match", "auth", "substitutions", "revision")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MATCH_FIELD_NUMBER: _ClassVar[int]
    AUTH_FIELD_NUMBER: _ClassVar[int]
    SUBSTITUTIONS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    name: str
    match: BindingMatch
    auth: BindingAuth
    substitutions: _containers.RepeatedCompositeFieldContainer[Substitution]
    revision: int
    def __init__(self, name: _Optional[str] = ..., match: _Optional[_Union[BindingMatch, _Mapping]] = ..., auth: _Optional[_Union[BindingAuth, _Mapping]] = ..., substitutions: _Optional[_Iterable[_Union[Substitution, _Mapping]]] = ..., revision: _Optional[int] = ...) -> None: ...

class BindingMatch(_message.Message):
    __slots__ = ("hosts", "schemes", "methods", "paths", "ports")
    HOSTS_FIELD_NUMBER: _ClassVar[int]
    SCHEMES_FIELD_NUMBER: _ClassVar[int]
    METHODS_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    PORTS_FIELD_NUMBER: _ClassVar[int]
    hosts: _containers.RepeatedScalarFieldContainer[str]
    schemes: _containers.RepeatedScalarFieldContainer[str]
    methods: _containers.RepeatedScalarFieldContainer[str]
    paths: _containers.RepeatedScalarFieldContainer[str]
    ports: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, hosts: _Optional[_Iterable[str]] = ..., schemes: _Optional[_Iterable[str]] = ..., methods: _Optional[_Iterable[str]] = ..., paths: _Optional[_Iterable[str]] = ..., ports: _Optional[_Iterable[int]] = ...) -> None: ...

class BindingAuth(_message.Message):
    __slots__ = ("bearer", "basic", "api_key", "custom_headers", "passthrough", "exchange")
    BEARER_FIELD_NUMBER: _ClassVar[int]
    BASIC_FIELD_NUMBER: _ClassVar[int]
    API_KEY_FIELD_NUMBER: _ClassVar[int]
    CUSTOM_HEADERS_FIELD_NUMBER: _ClassVar[int]
    PASSTHROUGH_FIELD_NUMBER: _ClassVar[int]
    EXCHANGE_FIELD_NUMBER: _ClassVar[int]
    bearer: BearerAuth
    basic: BasicAuth
    api_key: ApiKeyAuth
    custom_headers: CustomHeadersAuth
    passthrough: PassthroughAuth
    exchange: ExchangeAuth
    def __init__(self, bearer: _Optional[_Union[BearerAuth, _Mapping]] = ..., basic: _Optional[_Union[BasicAuth, _Mapping]] = ..., api_key: _Optional[_Union[ApiKeyAuth, _Mapping]] = ..., custom_headers: _Optional[_Union[CustomHeadersAuth, _Mapping]] = ..., passthrough: _Optional[_Union[PassthroughAuth, _Mapping]] = ..., exchange: _Optional[_Union[ExchangeAuth, _Mapping]] = ...) -> None: ...

class BearerAuth(_message.Message):
    __slots__ = ("credential",)
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    credential: str
    def __init__(self, credential: _Optional[str] = ...) -> None: ...

class BasicAuth(_message.Message):
    __slots__ = ("credential", "username")
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    USERNAME_FIELD_NUMBER: _ClassVar[int]
    credential: str
    username: str
    def __init__(self, credential: _Optional[str] = ..., username: _Optional[str] = ...) -> None: ...

class ApiKeyAuth(_message.Message):
    __slots__ = ("header", "credential")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    header: str
    credential: str
    def __init__(self, header: _Optional[str] = ..., credential: _Optional[str] = ...) -> None: ...

class CustomHeadersAuth(_message.Message):
    __slots__ = ("headers",)
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    headers: _containers.RepeatedCompositeFieldContainer[ApiKeyAuth]
    def __init__(self, headers: _Optional[_Iterable[_Union[ApiKeyAuth, _Mapping]]] = ...) -> None: ...

class PassthroughAuth(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ExchangeAuth(_message.Message):
    __slots__ = ("unix_socket", "url", "credentials", "cache_for", "timeout", "headers", "facts")
    UNIX_SOCKET_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    CACHE_FOR_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    unix_socket: str
    url: str
    credentials: _containers.RepeatedScalarFieldContainer[str]
    cache_for: _duration_pb2.Duration
    timeout: _duration_pb2.Duration
    headers: _containers.RepeatedScalarFieldContainer[str]
    facts: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, unix_socket: _Optional[str] = ..., url: _Optional[str] = ..., credentials: _Optional[_Iterable[str]] = ..., cache_for: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., headers: _Optional[_Iterable[str]] = ..., facts: _Optional[_Iterable[str]] = ...) -> None: ...

class Substitution(_message.Message):
    __slots__ = ("credential", "placeholder", "places")
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    PLACEHOLDER_FIELD_NUMBER: _ClassVar[int]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    credential: str
    placeholder: str
    places: _containers.RepeatedScalarFieldContainer[SubstitutionPlace]
    def __init__(self, credential: _Optional[str] = ..., placeholder: _Optional[str] = ..., places: _Optional[_Iterable[_Union[SubstitutionPlace, str]]] = ...) -> None: ...

class VaultAttachment(_message.Message):
    __slots__ = ("sandbox_id", "delivered_revision", "delivered_at", "reason")
    SANDBOX_ID_FIELD_NUMBER: _ClassVar[int]
    DELIVERED_REVISION_FIELD_NUMBER: _ClassVar[int]
    DELIVERED_AT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    sandbox_id: str
    delivered_revision: int
    delivered_at: _timestamp_pb2.Timestamp
    reason: str
    def __init__(self, sandbox_id: _Optional[str] = ..., delivered_revision: _Optional[int] = ..., delivered_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reason: _Optional[str] = ...) -> None: ...
