import datetime

from arenero.api.common.v1 import page_pb2 as _page_pb2
from arenero.api.snapshot.v1 import snapshot_service_pb2 as _snapshot_service_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Image(_message.Message):
    __slots__ = ("references", "digest", "imported_at", "stored_bytes", "unpacked_bytes", "platform", "used_by_sandboxes")
    REFERENCES_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    IMPORTED_AT_FIELD_NUMBER: _ClassVar[int]
    STORED_BYTES_FIELD_NUMBER: _ClassVar[int]
    UNPACKED_BYTES_FIELD_NUMBER: _ClassVar[int]
    PLATFORM_FIELD_NUMBER: _ClassVar[int]
    USED_BY_SANDBOXES_FIELD_NUMBER: _ClassVar[int]
    references: _containers.RepeatedScalarFieldContainer[str]
    digest: str
    imported_at: _timestamp_pb2.Timestamp
    stored_bytes: int
    unpacked_bytes: int
    platform: str
    used_by_sandboxes: int
    def __init__(self, references: _Optional[_Iterable[str]] = ..., digest: _Optional[str] = ..., imported_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., stored_bytes: _Optional[int] = ..., unpacked_bytes: _Optional[int] = ..., platform: _Optional[str] = ..., used_by_sandboxes: _Optional[int] = ...) -> None: ...

class ImportImageRequest(_message.Message):
    __slots__ = ("registry_reference", "docker_reference", "oci_layout_path", "archive_path", "reference", "access", "platform")
    REGISTRY_REFERENCE_FIELD_NUMBER: _ClassVar[int]
    DOCKER_REFERENCE_FIELD_NUMBER: _ClassVar[int]
    OCI_LAYOUT_PATH_FIELD_NUMBER: _ClassVar[int]
    ARCHIVE_PATH_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    ACCESS_FIELD_NUMBER: _ClassVar[int]
    PLATFORM_FIELD_NUMBER: _ClassVar[int]
    registry_reference: str
    docker_reference: str
    oci_layout_path: str
    archive_path: str
    reference: str
    access: _snapshot_service_pb2.RegistryAccess
    platform: str
    def __init__(self, registry_reference: _Optional[str] = ..., docker_reference: _Optional[str] = ..., oci_layout_path: _Optional[str] = ..., archive_path: _Optional[str] = ..., reference: _Optional[str] = ..., access: _Optional[_Union[_snapshot_service_pb2.RegistryAccess, _Mapping]] = ..., platform: _Optional[str] = ...) -> None: ...

class ImportImageResponse(_message.Message):
    __slots__ = ("progress", "image")
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    progress: _snapshot_service_pb2.TransferProgress
    image: Image
    def __init__(self, progress: _Optional[_Union[_snapshot_service_pb2.TransferProgress, _Mapping]] = ..., image: _Optional[_Union[Image, _Mapping]] = ...) -> None: ...

class UploadImageRequest(_message.Message):
    __slots__ = ("reference", "data")
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    reference: str
    data: bytes
    def __init__(self, reference: _Optional[str] = ..., data: _Optional[bytes] = ...) -> None: ...

class UploadImageResponse(_message.Message):
    __slots__ = ("image",)
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    image: Image
    def __init__(self, image: _Optional[_Union[Image, _Mapping]] = ...) -> None: ...

class ListImagesRequest(_message.Message):
    __slots__ = ("prefix", "page")
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    prefix: str
    page: _page_pb2.PageRequest
    def __init__(self, prefix: _Optional[str] = ..., page: _Optional[_Union[_page_pb2.PageRequest, _Mapping]] = ...) -> None: ...

class ListImagesResponse(_message.Message):
    __slots__ = ("images", "page")
    IMAGES_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    images: _containers.RepeatedCompositeFieldContainer[Image]
    page: _page_pb2.PageResult
    def __init__(self, images: _Optional[_Iterable[_Union[Image, _Mapping]]] = ..., page: _Optional[_Union[_page_pb2.PageResult, _Mapping]] = ...) -> None: ...

class InspectImageRequest(_message.Message):
    __slots__ = ("reference",)
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    reference: str
    def __init__(self, reference: _Optional[str] = ...) -> None: ...

class InspectImageResponse(_message.Message):
    __slots__ = ("image", "config_json", "manifest_json")
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    CONFIG_JSON_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_JSON_FIELD_NUMBER: _ClassVar[int]
    image: Image
    config_json: str
    manifest_json: str
    def __init__(self, image: _Optional[_Union[Image, _Mapping]] = ..., config_json: _Optional[str] = ..., manifest_json: _Optional[str] = ...) -> None: ...

class RemoveImageRequest(_message.Message):
    __slots__ = ("reference",)
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    reference: str
    def __init__(self, reference: _Optional[str] = ...) -> None: ...

class RemoveImageResponse(_message.Message):
    __slots__ = ("freed_bytes",)
    FREED_BYTES_FIELD_NUMBER: _ClassVar[int]
    freed_bytes: int
    def __init__(self, freed_bytes: _Optional[int] = ...) -> None: ...
