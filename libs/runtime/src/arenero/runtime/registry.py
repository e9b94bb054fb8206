"""Which drivers there are, by the runtime's name. Only this module imports them, and only those that are asked for.

Their settings are plain dataclasses, so those of all drivers are known here: a service puts `RuntimeTables` into its
own configuration, and each driver has its table, such as `[runtime.local]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Final, cast

from arenero.errors import InvalidArgument, Unavailable
from arenero.runtime.driver import Driver
from arenero.runtime.fake import FakeConfig
from arenero.runtime.local.config import LocalConfig

DRIVERS: Final[Mapping[str, str]] = {
    "fake": "arenero.runtime.fake:FakeDriver",
    "local": "arenero.runtime.local.driver:LocalDriver",
}
"""Where each driver is, as `module:class`. The class is called with one argument, its settings."""


@dataclass(frozen=True, slots=True)
class RuntimeTables:
    """The settings of every driver, by the runtime's name."""

    fake: FakeConfig = field(default_factory=FakeConfig)
    local: LocalConfig = field(default_factory=LocalConfig)


def make(runtime: str, tables: RuntimeTables) -> Driver:
    """Return a driver that has not been opened yet.

    Raises:
        InvalidArgument: There is no such runtime.
        Unavailable: Its dependencies are not installed.
    """
    if runtime not in DRIVERS:
        known = ", ".join(sorted(DRIVERS))
        raise InvalidArgument(f"there is no runtime {runtime[:64]!r}; there are: {known}", reason="RUNTIME_UNKNOWN")
    module, _, name = DRIVERS[runtime].partition(":")
    try:
        driver = cast("Callable[[object], Driver]", getattr(import_module(module), name))
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"the {runtime} runtime needs the module {error.name}",
            reason="RUNTIME_NOT_INSTALLED",
            fix=f"install arenero-runtime[{runtime}]",
        ) from error
    return driver(getattr(tables, runtime))
