"""Volumes: file systems mounted into a sandbox, and the rules for paths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from arenero.model.fields import FieldError
from arenero.model.ids import check_name

MAX_VOLUMES: Final = 32
MAX_PATH_BYTES: Final = 4095


@dataclass(frozen=True, slots=True)
class HostPath:
    """A path on the runtime's host, below one that the operator allows."""

    path: str


@dataclass(frozen=True, slots=True)
class NamedVolume:
    """A named volume; made when missing."""

    name: str


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket of an S3-compatible store."""

    bucket: str
    endpoint: str
    credential: str = ""
    """Name of the vault credential that opens it; empty: public."""


VolumeBackend: TypeAlias = HostPath | NamedVolume | Bucket


@dataclass(frozen=True, slots=True)
class VolumeMount:
    """One mount."""

    name: str
    mount_path: str
    backend: VolumeBackend
    read_only: bool = False
    sub_path: str = ""
    """Relative path below the volume's root, mounted instead of the root."""


def check_volumes(path: str, volumes: tuple[VolumeMount, ...]) -> Iterable[FieldError]:
    """Check mounts: at most 32, no name and no mount path twice."""
    if len(volumes) > MAX_VOLUMES:
        yield FieldError(path, f"has {len(volumes)} mounts; at most {MAX_VOLUMES} are allowed")
        return
    seen: set[tuple[str, str]] = set()
    for index, volume in enumerate(volumes):
        at = f"{path}[{index}]"
        yield from check_name(f"{at}.name", volume.name)
        yield from check_path(f"{at}.mount_path", volume.mount_path)
        yield from _check_sub_path(f"{at}.sub_path", volume.sub_path)
        yield from _check_backend(at, volume.backend)
        for field, value in (("name", volume.name), ("mount_path", volume.mount_path)):
            if (field, value) in seen:
                yield FieldError(f"{at}.{field}", f"{value[:64]!r} is used by an earlier mount")
            seen.add((field, value))


def check_path(field: str, path: str) -> Iterable[FieldError]:
    """Check an absolute path: canonical, no NUL, no `..`, at most 4095 bytes."""
    if not path.startswith("/"):
        yield FieldError(field, "is not an absolute path")
    elif "\0" in path:
        yield FieldError(field, "holds NUL")
    elif len(path.encode(errors="surrogatepass")) > MAX_PATH_BYTES:
        yield FieldError(field, f"is longer than {MAX_PATH_BYTES} bytes")
    elif ".." in path.split("/"):
        yield FieldError(field, "holds '..'")


def _check_sub_path(field: str, path: str) -> Iterable[FieldError]:
    if path.startswith("/") or ".." in path.split("/") or "\0" in path:
        yield FieldError(field, "must be a relative path without '..' and NUL")


def _check_backend(at: str, backend: VolumeBackend) -> Iterable[FieldError]:
    if isinstance(backend, HostPath):
        yield from check_path(f"{at}.host_path", backend.path)
    elif isinstance(backend, NamedVolume):
        yield from check_name(f"{at}.named_volume", backend.name)
    elif not backend.bucket:
        yield FieldError(f"{at}.bucket.bucket", "is empty")
