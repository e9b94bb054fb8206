"""The names of `arenero.sdk`, loaded when one of them is first used.

Who wants only a part, as `arenero env` wants the settings, doesn't wait for gRPC.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

_NAMES: Final = {
    "client": ("Client",),
    "commands": ("ExecOptions", "ExecResult", "Exit", "Gap", "Output", "Process"),
    "files": ("FileChange", "FileStat", "Files"),
    "sandbox": ("Sandbox",),
    "settings": ("Settings",),
    "terminal": ("Terminal",),
}
_MODULE_OF: Final = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a name of the package."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'arenero.sdk' has no attribute {name!r}")
    value = getattr(import_module(f"arenero.sdk.{_MODULE_OF[name]}"), name)
    setattr(import_module("arenero.sdk"), name, value)
    return value


def __dir__() -> list[str]:
    return sorted([*vars(import_module("arenero.sdk")), *_MODULE_OF])
