from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NetworkAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NETWORK_ACTION_UNSPECIFIED: _ClassVar[NetworkAction]
    NETWORK_ACTION_ALLOW: _ClassVar[NetworkAction]
    NETWORK_ACTION_DENY: _ClassVar[NetworkAction]
NETWORK_ACTION_UNSPECIFIED: NetworkAction
NETWORK_ACTION_ALLOW: NetworkAction
NETWORK_ACTION_DENY: NetworkAction

class NetworkPolicy(_message.Message):
    __slots__ = ("default_action", "rules")
    DEFAULT_ACTION_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    default_action: NetworkAction
    rules: _containers.RepeatedCompositeFieldContainer[NetworkRule]
    def __init__(self, default_action: _Optional[_Union[NetworkAction, str]] = ..., rules: _Optional[_Iterable[_Union[NetworkRule, _Mapping]]] = ...) -> None: ...

class NetworkRule(_message.Message):
    __slots__ = ("action", "target", "ports", "inspect")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    PORTS_FIELD_NUMBER: _ClassVar[int]
    INSPECT_FIELD_NUMBER: _ClassVar[int]
    action: NetworkAction
    target: str
    ports: _containers.RepeatedScalarFieldContainer[int]
    inspect: bool
    def __init__(self, action: _Optional[_Union[NetworkAction, str]] = ..., target: _Optional[str] = ..., ports: _Optional[_Iterable[int]] = ..., inspect: _Optional[bool] = ...) -> None: ...
