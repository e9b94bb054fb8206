"""Everything that a sandbox's own processes will ever import, loaded ahead of time.

A process that has moved into a sandbox's root file system can't import any more: the interpreter's files are not there,
and what is there isn't to be trusted. Libraries that import on first use are listed by name.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from typing import Final

LAZY: Final = (
    "asyncio.base_subprocess",
    "concurrent.futures.thread",
    "encodings.ascii",
    "encodings.idna",
    "encodings.latin_1",
    "encodings.utf_8",
    "google.protobuf.any_pb2",
    "google.protobuf.descriptor_pb2",
    "google.protobuf.duration_pb2",
    "google.protobuf.empty_pb2",
    "google.protobuf.field_mask_pb2",
    "google.protobuf.internal.python_message",
    "google.protobuf.json_format",
    "google.protobuf.struct_pb2",
    "google.protobuf.timestamp_pb2",
    "google.protobuf.wrappers_pb2",
    "grpc._interceptor",
    "grpc._server",
    "grpc._utilities",
    "grpc.aio",
    "linecache",
    "stringprep",
    "tokenize",
    "traceback",
    "tracemalloc",
    "unicodedata",
    "warnings",
)
_EXECUTABLE: Final = "__main__"


def load() -> None:
    """Import the lazily imported modules and all of execd and isolation."""
    for name in (*LAZY, *_modules_of("arenero.execd"), *_modules_of("arenero.isolation")):
        importlib.import_module(name)


def _modules_of(package: str) -> Iterable[str]:
    """Return every module of a package except its command line."""
    path = importlib.import_module(package).__path__
    found = pkgutil.walk_packages(path, prefix=f"{package}.")
    return sorted(module.name for module in found if module.name.rpartition(".")[2] != _EXECUTABLE)
