import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FileType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FILE_TYPE_UNSPECIFIED: _ClassVar[FileType]
    FILE_TYPE_REGULAR: _ClassVar[FileType]
    FILE_TYPE_DIRECTORY: _ClassVar[FileType]
    FILE_TYPE_SYMLINK: _ClassVar[FileType]
    FILE_TYPE_FIFO: _ClassVar[FileType]
    FILE_TYPE_SOCKET: _ClassVar[FileType]
    FILE_TYPE_CHARACTER_DEVICE: _ClassVar[FileType]
    FILE_TYPE_BLOCK_DEVICE: _ClassVar[FileType]
FILE_TYPE_UNSPECIFIED: FileType
FILE_TYPE_REGULAR: FileType
FILE_TYPE_DIRECTORY: FileType
FILE_TYPE_SYMLINK: FileType
FILE_TYPE_FIFO: FileType
FILE_TYPE_SOCKET: FileType
FILE_TYPE_CHARACTER_DEVICE: FileType
FILE_TYPE_BLOCK_DEVICE: FileType

class FileRoot(_message.Message):
    __slots__ = ("root", "as_user", "isolation_session_id")
    ROOT_FIELD_NUMBER: _ClassVar[int]
    AS_USER_FIELD_NUMBER: _ClassVar[int]
    ISOLATION_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    root: bytes
    as_user: str
    isolation_session_id: str
    def __init__(self, root: _Optional[bytes] = ..., as_user: _Optional[str] = ..., isolation_session_id: _Optional[str] = ...) -> None: ...

class FileStat(_message.Message):
    __slots__ = ("path", "type", "size_bytes", "disk_bytes", "mode", "uid", "gid", "owner", "group", "modified_at", "changed_at", "accessed_at", "created_at", "link_target", "links", "inode")
    PATH_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    DISK_BYTES_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    UID_FIELD_NUMBER: _ClassVar[int]
    GID_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    MODIFIED_AT_FIELD_NUMBER: _ClassVar[int]
    CHANGED_AT_FIELD_NUMBER: _ClassVar[int]
    ACCESSED_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    LINK_TARGET_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    INODE_FIELD_NUMBER: _ClassVar[int]
    path: bytes
    type: FileType
    size_bytes: int
    disk_bytes: int
    mode: int
    uid: int
    gid: int
    owner: str
    group: str
    modified_at: _timestamp_pb2.Timestamp
    changed_at: _timestamp_pb2.Timestamp
    accessed_at: _timestamp_pb2.Timestamp
    created_at: _timestamp_pb2.Timestamp
    link_target: bytes
    links: int
    inode: int
    def __init__(self, path: _Optional[bytes] = ..., type: _Optional[_Union[FileType, str]] = ..., size_bytes: _Optional[int] = ..., disk_bytes: _Optional[int] = ..., mode: _Optional[int] = ..., uid: _Optional[int] = ..., gid: _Optional[int] = ..., owner: _Optional[str] = ..., group: _Optional[str] = ..., modified_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., changed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., accessed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., link_target: _Optional[bytes] = ..., links: _Optional[int] = ..., inode: _Optional[int] = ...) -> None: ...

class Ownership(_message.Message):
    __slots__ = ("owner", "group")
    OWNER_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    owner: str
    group: str
    def __init__(self, owner: _Optional[str] = ..., group: _Optional[str] = ...) -> None: ...
