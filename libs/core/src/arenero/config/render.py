"""Print a configuration as TOML that can be loaded again.

Secrets are configured as file paths, so there should be none to hide; a field that nevertheless holds one is marked
with `metadata=SECRET` and printed as a comment.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

SECRET: Final[Mapping[str, object]] = MappingProxyType({"secret": True})
"""Metadata of a dataclass field whose value is not printed."""


def to_toml(config: Any) -> str:
    """Return the configuration as TOML: plain values first, then one table per nested dataclass."""
    return "\n".join(_lines(config, ())).strip() + "\n"


def table_to_toml(table: Mapping[str, object]) -> str:
    """Return nested tables of strings, numbers, truth values and lists as TOML, one line per key of the outermost."""
    return "".join(f"{_text(name)} = {_value(value)}\n" for name, value in table.items())


def _lines(config: Any, path: tuple[str, ...]) -> Iterator[str]:
    tables: list[tuple[str, Any]] = []
    if path:
        yield f"\n[{'.'.join(path)}]"
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if dataclasses.is_dataclass(value):
            tables.append((field.name, value))
        elif field.metadata.get("secret"):
            yield f"# {field.name} = (secret)"
        elif value is None:
            yield f"# {field.name} is not set"
        else:
            yield f"{field.name} = {_value(value)}"
    for name, value in tables:
        yield from _lines(value, (*path, name))


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float) and not isinstance(value, Enum):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"[{', '.join(_value(item) for item in value)}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_text(str(key))} = {_value(item)}' for key, item in value.items())} }}"
    if isinstance(value, Enum):
        return _value(value.value)
    if isinstance(value, str | Path):
        return _text(str(value))
    raise TypeError(f"{type(value).__name__} can't be printed as TOML")


def _text(text: str) -> str:
    """Quote a text: TOML's basic strings escape as JSON does, plus DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
