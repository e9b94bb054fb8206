import datetime

from arenero.api.common.v1 import policy_pb2 as _policy_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class IsolationLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ISOLATION_LEVEL_UNSPECIFIED: _ClassVar[IsolationLevel]
    ISOLATION_LEVEL_STANDARD: _ClassVar[IsolationLevel]
    ISOLATION_LEVEL_BEST_EFFORT: _ClassVar[IsolationLevel]

class TimeoutAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIMEOUT_ACTION_UNSPECIFIED: _ClassVar[TimeoutAction]
    TIMEOUT_ACTION_DELETE: _ClassVar[TimeoutAction]
    TIMEOUT_ACTION_PAUSE: _ClassVar[TimeoutAction]

class IdleAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    IDLE_ACTION_UNSPECIFIED: _ClassVar[IdleAction]
    IDLE_ACTION_NOTHING: _ClassVar[IdleAction]
    IDLE_ACTION_PAUSE_FREEZE: _ClassVar[IdleAction]
    IDLE_ACTION_PAUSE_RELEASE: _ClassVar[IdleAction]
    IDLE_ACTION_DELETE: _ClassVar[IdleAction]

class SandboxState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SANDBOX_STATE_UNSPECIFIED: _ClassVar[SandboxState]
    SANDBOX_STATE_PENDING: _ClassVar[SandboxState]
    SANDBOX_STATE_RUNNING: _ClassVar[SandboxState]
    SANDBOX_STATE_PAUSING: _ClassVar[SandboxState]
    SANDBOX_STATE_PAUSED: _ClassVar[SandboxState]
    SANDBOX_STATE_RESUMING: _ClassVar[SandboxState]
    SANDBOX_STATE_STOPPING: _ClassVar[SandboxState]
    SANDBOX_STATE_TERMINATED: _ClassVar[SandboxState]
    SANDBOX_STATE_FAILED: _ClassVar[SandboxState]

class PauseMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PAUSE_MODE_UNSPECIFIED: _ClassVar[PauseMode]
    PAUSE_MODE_FREEZE: _ClassVar[PauseMode]
    PAUSE_MODE_CHECKPOINT: _ClassVar[PauseMode]
    PAUSE_MODE_RELEASE: _ClassVar[PauseMode]
ISOLATION_LEVEL_UNSPECIFIED: IsolationLevel
ISOLATION_LEVEL_STANDARD: IsolationLevel
ISOLATION_LEVEL_BEST_EFFORT: IsolationLevel
TIMEOUT_ACTION_UNSPECIFIED: TimeoutAction
TIMEOUT_ACTION_DELETE: TimeoutAction
TIMEOUT_ACTION_PAUSE: TimeoutAction
IDLE_ACTION_UNSPECIFIED: IdleAction
IDLE_ACTION_NOTHING: IdleAction
IDLE_ACTION_PAUSE_FREEZE: IdleAction
IDLE_ACTION_PAUSE_RELEASE: IdleAction
IDLE_ACTION_DELETE: IdleAction
SANDBOX_STATE_UNSPECIFIED: SandboxState
SANDBOX_STATE_PENDING: SandboxState
SANDBOX_STATE_RUNNING: SandboxState
SANDBOX_STATE_PAUSING: SandboxState
SANDBOX_STATE_PAUSED: SandboxState
SANDBOX_STATE_RESUMING: SandboxState
SANDBOX_STATE_STOPPING: SandboxState
SANDBOX_STATE_TERMINATED: SandboxState
SANDBOX_STATE_FAILED: SandboxState
PAUSE_MODE_UNSPECIFIED: PauseMode
PAUSE_MODE_FREEZE: PauseMode
PAUSE_MODE_CHECKPOINT: PauseMode
PAUSE_MODE_RELEASE: PauseMode

class Sandbox(_message.Message):
    __slots__ = ("id", "tenant", "spec", "state", "revision", "generation", "created_at", "updated_at", "started_at", "expires_at", "ended_at", "reason", "message", "isolation", "source", "progress", "pool_id", "origin_id", "pause")
    ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ISOLATION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    POOL_ID_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_ID_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    id: str
    tenant: str
    spec: SandboxSpec
    state: SandboxState
    revision: int
    generation: int
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    started_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    ended_at: _timestamp_pb2.Timestamp
    reason: str
    message: str
    isolation: Isolation
    source: ResolvedSource
    progress: SagaProgress
    pool_id: str
    origin_id: str
    pause: PauseReport
    def __init__(self, id: _Optional[str] = ..., tenant: _Optional[str] = ..., spec: _Optional[_Union[SandboxSpec, _Mapping]] = ..., state: _Optional[_Union[SandboxState, str]] = ..., revision: _Optional[int] = ..., generation: _Optional[int] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ..., isolation: _Optional[_Union[Isolation, _Mapping]] = ..., source: _Optional[_Union[ResolvedSource, _Mapping]] = ..., progress: _Optional[_Union[SagaProgress, _Mapping]] = ..., pool_id: _Optional[str] = ..., origin_id: _Optional[str] = ..., pause: _Optional[_Union[PauseReport, _Mapping]] = ...) -> None: ...

class SandboxSpec(_message.Message):
    __slots__ = ("name", "runtime", "isolation_level", "oci_runtime", "source", "resources", "lifetime", "network", "env", "metadata", "user", "workdir", "entrypoint", "volumes", "ports", "idle", "vault_id", "extensions")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class ExtensionsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    RUNTIME_FIELD_NUMBER: _ClassVar[int]
    ISOLATION_LEVEL_FIELD_NUMBER: _ClassVar[int]
    OCI_RUNTIME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    LIFETIME_FIELD_NUMBER: _ClassVar[int]
    NETWORK_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    WORKDIR_FIELD_NUMBER: _ClassVar[int]
    ENTRYPOINT_FIELD_NUMBER: _ClassVar[int]
    VOLUMES_FIELD_NUMBER: _ClassVar[int]
    PORTS_FIELD_NUMBER: _ClassVar[int]
    IDLE_FIELD_NUMBER: _ClassVar[int]
    VAULT_ID_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    name: str
    runtime: str
    isolation_level: IsolationLevel
    oci_runtime: str
    source: Source
    resources: Resources
    lifetime: Lifetime
    network: _policy_pb2.NetworkPolicy
    env: _containers.ScalarMap[str, str]
    metadata: _containers.ScalarMap[str, str]
    user: str
    workdir: str
    entrypoint: _containers.RepeatedScalarFieldContainer[str]
    volumes: _containers.RepeatedCompositeFieldContainer[VolumeMount]
    ports: _containers.RepeatedScalarFieldContainer[int]
    idle: IdlePolicy
    vault_id: str
    extensions: _containers.ScalarMap[str, str]
    def __init__(self, name: _Optional[str] = ..., runtime: _Optional[str] = ..., isolation_level: _Optional[_Union[IsolationLevel, str]] = ..., oci_runtime: _Optional[str] = ..., source: _Optional[_Union[Source, _Mapping]] = ..., resources: _Optional[_Union[Resources, _Mapping]] = ..., lifetime: _Optional[_Union[Lifetime, _Mapping]] = ..., network: _Optional[_Union[_policy_pb2.NetworkPolicy, _Mapping]] = ..., env: _Optional[_Mapping[str, str]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., user: _Optional[str] = ..., workdir: _Optional[str] = ..., entrypoint: _Optional[_Iterable[str]] = ..., volumes: _Optional[_Iterable[_Union[VolumeMount, _Mapping]]] = ..., ports: _Optional[_Iterable[int]] = ..., idle: _Optional[_Union[IdlePolicy, _Mapping]] = ..., vault_id: _Optional[str] = ..., extensions: _Optional[_Mapping[str, str]] = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ("template", "image", "rootfs_directory", "oci_layout", "snapshot_id")
    TEMPLATE_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    ROOTFS_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    OCI_LAYOUT_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    template: str
    image: ImageSource
    rootfs_directory: str
    oci_layout: OciLayoutSource
    snapshot_id: str
    def __init__(self, template: _Optional[str] = ..., image: _Optional[_Union[ImageSource, _Mapping]] = ..., rootfs_directory: _Optional[str] = ..., oci_layout: _Optional[_Union[OciLayoutSource, _Mapping]] = ..., snapshot_id: _Optional[str] = ...) -> None: ...

class ImageSource(_message.Message):
    __slots__ = ("reference", "username", "password")
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    USERNAME_FIELD_NUMBER: _ClassVar[int]
    PASSWORD_FIELD_NUMBER: _ClassVar[int]
    reference: str
    username: str
    password: str
    def __init__(self, reference: _Optional[str] = ..., username: _Optional[str] = ..., password: _Optional[str] = ...) -> None: ...

class OciLayoutSource(_message.Message):
    __slots__ = ("path", "reference")
    PATH_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    path: str
    reference: str
    def __init__(self, path: _Optional[str] = ..., reference: _Optional[str] = ...) -> None: ...

class ResolvedSource(_message.Message):
    __slots__ = ("requested", "resolved", "digest")
    REQUESTED_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    requested: str
    resolved: str
    digest: str
    def __init__(self, requested: _Optional[str] = ..., resolved: _Optional[str] = ..., digest: _Optional[str] = ...) -> None: ...

class Isolation(_message.Message):
    __slots__ = ("runtime", "features", "missing")
    RUNTIME_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    runtime: str
    features: _containers.RepeatedScalarFieldContainer[str]
    missing: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, runtime: _Optional[str] = ..., features: _Optional[_Iterable[str]] = ..., missing: _Optional[_Iterable[str]] = ...) -> None: ...

class Resources(_message.Message):
    __slots__ = ("cpus", "memory_bytes", "pids", "disk_bytes", "open_files", "gpus")
    CPUS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    PIDS_FIELD_NUMBER: _ClassVar[int]
    DISK_BYTES_FIELD_NUMBER: _ClassVar[int]
    OPEN_FILES_FIELD_NUMBER: _ClassVar[int]
    GPUS_FIELD_NUMBER: _ClassVar[int]
    cpus: float
    memory_bytes: int
    pids: int
    disk_bytes: int
    open_files: int
    gpus: int
    def __init__(self, cpus: _Optional[float] = ..., memory_bytes: _Optional[int] = ..., pids: _Optional[int] = ..., disk_bytes: _Optional[int] = ..., open_files: _Optional[int] = ..., gpus: _Optional[int] = ...) -> None: ...

class Lifetime(_message.Message):
    __slots__ = ("ttl", "on_timeout")
    TTL_FIELD_NUMBER: _ClassVar[int]
    ON_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    ttl: _duration_pb2.Duration
    on_timeout: TimeoutAction
    def __init__(self, ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., on_timeout: _Optional[_Union[TimeoutAction, str]] = ...) -> None: ...

class IdlePolicy(_message.Message):
    __slots__ = ("idle_timeout", "on_idle", "wake_on_access")
    IDLE_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    ON_IDLE_FIELD_NUMBER: _ClassVar[int]
    WAKE_ON_ACCESS_FIELD_NUMBER: _ClassVar[int]
    idle_timeout: _duration_pb2.Duration
    on_idle: IdleAction
    wake_on_access: bool
    def __init__(self, idle_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., on_idle: _Optional[_Union[IdleAction, str]] = ..., wake_on_access: _Optional[bool] = ...) -> None: ...

class VolumeMount(_message.Message):
    __slots__ = ("name", "mount_path", "read_only", "sub_path", "host_path", "named_volume", "bucket")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MOUNT_PATH_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    SUB_PATH_FIELD_NUMBER: _ClassVar[int]
    HOST_PATH_FIELD_NUMBER: _ClassVar[int]
    NAMED_VOLUME_FIELD_NUMBER: _ClassVar[int]
    BUCKET_FIELD_NUMBER: _ClassVar[int]
    name: str
    mount_path: str
    read_only: bool
    sub_path: str
    host_path: str
    named_volume: str
    bucket: BucketVolume
    def __init__(self, name: _Optional[str] = ..., mount_path: _Optional[str] = ..., read_only: _Optional[bool] = ..., sub_path: _Optional[str] = ..., host_path: _Optional[str] = ..., named_volume: _Optional[str] = ..., bucket: _Optional[_Union[BucketVolume, _Mapping]] = ...) -> None: ...

class BucketVolume(_message.Message):
    __slots__ = ("bucket", "endpoint", "credential")
    BUCKET_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    bucket: str
    endpoint: str
    credential: str
    def __init__(self, bucket: _Optional[str] = ..., endpoint: _Optional[str] = ..., credential: _Optional[str] = ...) -> None: ...

class SagaProgress(_message.Message):
    __slots__ = ("saga", "done", "step", "attempt", "queue_position")
    SAGA_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    QUEUE_POSITION_FIELD_NUMBER: _ClassVar[int]
    saga: str
    done: _containers.RepeatedScalarFieldContainer[str]
    step: str
    attempt: int
    queue_position: int
    def __init__(self, saga: _Optional[str] = ..., done: _Optional[_Iterable[str]] = ..., step: _Optional[str] = ..., attempt: _Optional[int] = ..., queue_position: _Optional[int] = ...) -> None: ...

class PauseReport(_message.Message):
    __slots__ = ("mode", "kept", "lost", "frozen_for", "hooks")
    MODE_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    FROZEN_FOR_FIELD_NUMBER: _ClassVar[int]
    HOOKS_FIELD_NUMBER: _ClassVar[int]
    mode: PauseMode
    kept: _containers.RepeatedScalarFieldContainer[str]
    lost: _containers.RepeatedScalarFieldContainer[str]
    frozen_for: _duration_pb2.Duration
    hooks: _containers.RepeatedCompositeFieldContainer[HookResult]
    def __init__(self, mode: _Optional[_Union[PauseMode, str]] = ..., kept: _Optional[_Iterable[str]] = ..., lost: _Optional[_Iterable[str]] = ..., frozen_for: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., hooks: _Optional[_Iterable[_Union[HookResult, _Mapping]]] = ...) -> None: ...

class HookResult(_message.Message):
    __slots__ = ("name", "done", "message")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    name: str
    done: bool
    message: str
    def __init__(self, name: _Optional[str] = ..., done: _Optional[bool] = ..., message: _Optional[str] = ...) -> None: ...
