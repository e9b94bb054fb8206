"""Read a configuration: defaults < TOML file < environment. Once, at start-up; any fault stops it and is named.

An unknown key is a fault, in the file and in the environment alike: a misspelt limit that is silently ignored is worse
than a service that does not start. The variable of `bus.url` of lifecycle is `ARENERO_LIFECYCLE__BUS__URL`.
"""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from arenero.config.fields import from_env, from_toml, is_table, optional_of
from arenero.errors import InvalidArgument

PREFIX: Final = "ARENERO"
_SEPARATOR: Final = "__"
_Config = TypeVar("_Config")
_Values = dict[str, Any]


def load(kind: type[_Config], service: str, *, path: Path | None, environ: Mapping[str, str]) -> _Config:
    """Return the configuration of a service.

    Args:
        kind: Its dataclass; nested dataclasses are tables.
        service: Its name, which is part of the variables' names.
        path: The TOML file; None reads none.
        environ: The environment.

    Raises:
        InvalidArgument: A fault; `field` is the key or the variable.
    """
    values: _Values = {}
    if path is not None:
        _merge_table(kind, _read(path), values, "")
    _merge_environment(kind, service, environ, values)
    return build(kind, values)


def build(kind: type[_Config], values: Mapping[str, Any], path: str = "", default: object = None) -> _Config:
    """Make the dataclass out of nested values; what is left out keeps its default.

    Args:
        kind: The dataclass.
        values: Values of its fields; a mapping for a nested dataclass.
        path: Prefix for the names in errors.
        default: Gives the values that are left out, instead of the dataclass's own defaults.

    Raises:
        InvalidArgument: A required value is missing, or the dataclass's own check refuses one.
    """
    arguments: _Values = {}
    for name, field_kind, has_default in _fields(kind):
        if name in values:
            arguments[name] = values[name]
            if is_table(field_kind):
                inherited = getattr(default, name) if default is not None else _default_of(kind, name)
                arguments[name] = build(optional_of(field_kind)[0], values[name], f"{path}{name}.", inherited)
        elif default is not None:
            arguments[name] = getattr(default, name)
        elif not has_default:
            if not is_table(field_kind):
                raise InvalidArgument("is required and has no default", reason="CONFIG", field=f"{path}{name}")
            arguments[name] = build(optional_of(field_kind)[0], {}, f"{path}{name}.")
    try:
        return kind(**arguments)
    except ValueError as error:
        raise InvalidArgument(str(error), reason="CONFIG", field=path.rstrip(".")) from None


def _read(path: Path) -> _Values:
    try:
        return tomllib.loads(path.read_text())
    except OSError as error:
        raise InvalidArgument(f"can't read {path}: {error.strerror}", reason="CONFIG") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"{path} is not TOML: {error}", reason="CONFIG") from error


def _merge_table(kind: type, table: Mapping[str, Any], values: _Values, path: str) -> None:
    known = {name: field_kind for name, field_kind, _ in _fields(kind)}
    for name, value in table.items():
        at = f"{path}{name}"
        if name not in known:
            raise _unknown(at, [f"{path}{other}" for other in known])
        if is_table(known[name]):
            if not isinstance(value, dict):
                raise InvalidArgument("must be a table", reason="CONFIG", field=at)
            _merge_table(optional_of(known[name])[0], value, values.setdefault(name, {}), f"{at}.")
        else:
            values[name] = _converted(at, from_toml, known[name], value)


def _merge_environment(kind: type, service: str, environ: Mapping[str, str], values: _Values) -> None:
    start = f"{PREFIX}_{service.upper().replace('-', '_')}{_SEPARATOR}"
    leaves = dict(_leaves(kind, ()))
    variables = {start + _SEPARATOR.join(path).upper(): path for path in leaves}
    for variable in sorted(name for name in environ if name.startswith(start)):
        if variable not in variables:
            raise _unknown(variable, list(variables))
        *parents, name = variables[variable]
        target = values
        for parent in parents:
            target = target.setdefault(parent, {})
        leaf = leaves[variables[variable]]
        target[name] = _converted(variable, from_env, leaf, environ[variable])


def _leaves(kind: type, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path and type of every value that is not a table."""
    for name, field_kind, _ in _fields(kind):
        if is_table(field_kind):
            yield from _leaves(optional_of(field_kind)[0], (*path, name))
        else:
            yield (*path, name), field_kind


def _fields(kind: type) -> Iterator[tuple[str, Any, bool]]:
    """Yield name, type and whether there is a default, of the fields that can be set."""
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if field.init:
            missing = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            yield field.name, hints[field.name], not missing


def _default_of(kind: type, name: str) -> object:
    """Return a field's default, None when it has none."""
    [field] = [field for field in dataclasses.fields(kind) if field.name == name]
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def _converted(at: str, convert: Callable[[Any, Any], object], kind: Any, value: object) -> object:
    try:
        return convert(kind, value)
    except ValueError as error:
        raise InvalidArgument(str(error), reason="CONFIG", field=at) from None


def _unknown(name: str, known: list[str]) -> InvalidArgument:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    fix = f"did you mean {near[0]}?" if near else f"known here: {', '.join(sorted(known))}"
    return InvalidArgument(f"is not a known key; {fix}", reason="CONFIG_KEY", field=name, fix=fix)
