"""Arenero's Python SDK: sandboxes for untrusted code.

`Sandbox` is asynchronous; `arenero.sdk.sync` has the same names without `await`.
"""

from typing import TYPE_CHECKING

from arenero.sdk._exports import __dir__, __getattr__

if TYPE_CHECKING:
    from arenero.sdk.client import Client
    from arenero.sdk.commands import ExecOptions, ExecResult, Exit, Gap, Output, Process
    from arenero.sdk.files import FileChange, Files, FileStat
    from arenero.sdk.sandbox import Sandbox
    from arenero.sdk.settings import Settings
    from arenero.sdk.terminal import Terminal

__all__ = [
    "Client",
    "ExecOptions",
    "ExecResult",
    "Exit",
    "FileChange",
    "FileStat",
    "Files",
    "Gap",
    "Output",
    "Process",
    "Sandbox",
    "Settings",
    "Terminal",
    "__dir__",
    "__getattr__",
]
