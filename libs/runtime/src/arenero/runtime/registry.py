"""Which drivers there are, by the runtime's name. Only this module imports them, and only those that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, cast

from arenero.errors import InvalidArgument, Unavailable
from arenero.runtime.driver import Driver


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a driver and its settings are defined, as `module:name`."""

    driver: str
    config: str


DRIVERS: Final[Mapping[str, Entry]] = {
    "fake": Entry("arenero.runtime.fake:FakeDriver", "arenero.runtime.fake:FakeConfig"),
    "local": Entry("arenero.runtime.local.driver:LocalDriver", "arenero.runtime.local.config:LocalConfig"),
}
"""Every driver that this version brings. Each is called with one argument, its configuration."""


def config_type(runtime: str) -> type[Any]:
    """Return the dataclass of a driver's settings, the table `[runtime.<name>]`.

    Raises:
        InvalidArgument: There is no such runtime.
        Unavailable: Its dependencies are not installed.
    """
    return cast("type[Any]", _import(runtime, _entry(runtime).config))


def make(runtime: str, config: object) -> Driver:
    """Return a driver that has not been opened yet.

    Raises:
        InvalidArgument: There is no such runtime.
        Unavailable: Its dependencies are not installed.
    """
    driver = cast("Callable[[object], Driver]", _import(runtime, _entry(runtime).driver))
    return driver(config)


def _entry(runtime: str) -> Entry:
    if runtime not in DRIVERS:
        known = ", ".join(sorted(DRIVERS))
        raise InvalidArgument(f"there is no runtime {runtime[:64]!r}; there are: {known}", reason="RUNTIME_UNKNOWN")
    return DRIVERS[runtime]


def _import(runtime: str, place: str) -> object:
    module, _, name = place.partition(":")
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"the {runtime} runtime needs the module {error.name}",
            reason="RUNTIME_NOT_INSTALLED",
            fix=f"install arenero-runtime[{runtime}]",
        ) from error
