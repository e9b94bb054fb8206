"""One configuration value: from TOML or from the environment to the type of its field.

The types allowed are few: str, bool, int, float, Path, enums by value, tuples and mappings of those, nested
dataclasses, and any of them or None. In TOML a value must have the field's type: no text becomes a number by accident.
The environment has only text, so there a number is parsed, a tuple is separated by commas, and empty means None.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final

_TRUE: Final = frozenset({"true", "1", "yes", "on"})
_FALSE: Final = frozenset({"false", "0", "no", "off"})


def optional_of(kind: Any) -> tuple[Any, bool]:
    """Return a type without None, and whether None was allowed."""
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        [inner] = [arg for arg in typing.get_args(kind) if arg is not type(None)]
        return inner, True
    return kind, False


def is_table(kind: Any) -> bool:
    """Whether a field's type is a nested dataclass: a table of its own."""
    return dataclasses.is_dataclass(optional_of(kind)[0])


def from_toml(kind: Any, value: object) -> object:
    """Return a TOML value as the type of its field.

    Raises:
        ValueError: It is of another type; the message says which was expected.
    """
    inner, _ = optional_of(kind)
    origin = typing.get_origin(inner)
    if origin is tuple:
        if not isinstance(value, list):
            raise ValueError(f"must be a list, not {_named(value)}")
        return tuple(from_toml(typing.get_args(inner)[0], item) for item in value)
    if origin in (dict, Mapping):
        return _from_table(inner, value)
    if inner is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if inner in (str, bool, int, float):
        if type(value) is not inner:
            raise ValueError(f"must be {_PLAIN[inner]}, not {_named(value)}")
        return _finite(value)
    if not isinstance(value, str):
        raise ValueError(f"must be text, not {_named(value)}")
    return _from_text(inner, value)


def from_env(kind: Any, text: str) -> object:
    """Return the text of an environment variable as the type of its field.

    Raises:
        ValueError: It can't be; the message says what was expected.
    """
    inner, optional = optional_of(kind)
    if optional and not text:
        return None
    if typing.get_origin(inner) is tuple:
        item_kind = typing.get_args(inner)[0]
        return tuple(from_env(item_kind, item.strip()) for item in text.split(",") if item.strip())
    if typing.get_origin(inner) in (dict, Mapping):
        raise ValueError("is a table; it can be set in the TOML file only")
    return _from_text(inner, text)


def _from_text(kind: Any, text: str) -> object:
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(text)
        except ValueError:
            raise ValueError(f"must be one of {', '.join(str(member.value) for member in kind)}") from None
    try:
        return _finite(_PARSERS[kind](text))
    except KeyError:
        raise TypeError(f"the type {kind} can't be configured") from None


def _from_table(kind: Any, value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"must be a table, not {_named(value)}")
    return {str(key): from_toml(typing.get_args(kind)[1], item) for key, item in value.items()}


def _parse_bool(text: str) -> bool:
    lowered = text.lower()
    if lowered not in _TRUE | _FALSE:
        raise ValueError("must be true or false")
    return lowered in _TRUE


def _parse_int(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("must be a whole number") from None


def _parse_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("must be a number") from None


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


def _named(value: object) -> str:
    return next((name for kind, name in _NAMES if isinstance(value, kind)), type(value).__name__)


_PARSERS: Final[Mapping[Any, Callable[[str], object]]] = {
    str: str,
    bool: _parse_bool,
    int: _parse_int,
    float: _parse_float,
    Path: Path,
}
_PLAIN: Final[Mapping[Any, str]] = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}
_NAMES: Final = (
    (bool, "true or false"),
    (int, "a whole number"),
    (float, "a number"),
    (str, "text"),
    (list, "a list"),
    (dict, "a table"),
)
