"""What a caller asks for: the specification of a sandbox, and the rules it must keep.

`check_spec` is the only place that knows the rules; it returns every fault with the path of its field, before anything
is created. Sizes are bytes of UTF-8, as in the API's comments. A None limit means the platform's default, which
lifecycle fills in: a stored spec is complete.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Final, TypeAlias

from arenero.model.fields import (
    FieldError,
    check_integer,
    check_number,
    check_size,
    check_span,
    check_text,
    join_path,
    span_text,
)
from arenero.model.ids import SnapshotId, VaultId, check_name
from arenero.model.policy import NetworkPolicy, check_policy, check_ports
from arenero.model.volumes import VolumeMount, check_path, check_volumes

KIB: Final = 1024
MIB: Final = 1024 * KIB
MAX_TTL_S: Final = 365 * 86_400.0
MAX_ENV: Final = 1024
MAX_ENV_BYTES: Final = 256 * KIB
MAX_METADATA: Final = 64
MAX_METADATA_KEY_BYTES: Final = 63
MAX_METADATA_VALUE_BYTES: Final = 256
MAX_EXTENSIONS: Final = 64
MAX_EXTENSIONS_BYTES: Final = 64 * KIB
MAX_PORTS: Final = 64
MAX_ARGV: Final = 1024
MAX_ARGV_BYTES: Final = 128 * KIB
MAX_REFERENCE_BYTES: Final = 512
MIN_IDLE_S: Final = 30.0

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_ENV_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_METADATA_KEY: Final = re.compile(r"[A-Za-z0-9._/-]{1,63}")
_USER: Final = re.compile(r"[a-z_][a-z0-9_-]{0,31}|[0-9]{1,10}(?::[0-9]{1,10})?")
_MAX_UID: Final = 2**32 - 2


def _nothing() -> Mapping[str, str]:
    """Return the one empty mapping: a record without labels should not own a dictionary."""
    return _NOTHING


class IsolationLevel(Enum):
    """How much isolation is demanded."""

    STANDARD = "standard"
    """Everything that the runtime promises, or a refusal."""
    BEST_EFFORT = "best-effort"
    """As much as the host gives; the record lists what is missing."""


class TimeoutAction(Enum):
    """What happens at the end of a lifetime."""

    DELETE = "delete"
    PAUSE = "pause"


class IdleAction(Enum):
    """What happens to a sandbox that nobody uses."""

    NOTHING = "nothing"
    PAUSE_FREEZE = "pause-freeze"
    PAUSE_RELEASE = "pause-release"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """A named immutable recipe."""

    name: str


@dataclass(frozen=True, slots=True)
class ImageSource:
    """An OCI image by reference. A password is taken at the edge and never becomes part of a spec."""

    reference: str


@dataclass(frozen=True, slots=True)
class RootfsSource:
    """An unpacked root file system on the runtime's host."""

    path: str


@dataclass(frozen=True, slots=True)
class OciLayoutSource:
    """An image in an OCI image layout on the runtime's host."""

    path: str
    reference: str = ""
    """The `org.opencontainers.image.ref.name`; empty: the only image there."""


@dataclass(frozen=True, slots=True)
class SnapshotSource:
    """A snapshot to restore."""

    snapshot_id: SnapshotId


Source: TypeAlias = TemplateSource | ImageSource | RootfsSource | OciLayoutSource | SnapshotSource


@dataclass(frozen=True, slots=True)
class Resources:
    """Limits of a whole sandbox; None means the platform's default."""

    cpus: float | None = None
    """Cores' worth of processor time, 0.01 to 1024."""
    memory_bytes: int | None = None
    """At least 32 MiB."""
    pids: int | None = None
    """Processes and threads, 16 to 4,194,304."""
    disk_bytes: int | None = None
    """Bytes written to its own layer, at least 16 MiB."""
    open_files: int | None = None
    """Per process, 64 to 1,048,576."""
    gpus: int = 0


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long a sandbox lives."""

    ttl_s: float | None = None
    """Seconds from the request on, more than 0 and at most 365 days. None: until deleted."""
    on_timeout: TimeoutAction = TimeoutAction.DELETE


@dataclass(frozen=True, slots=True)
class IdlePolicy:
    """What to do with a sandbox that nobody uses."""

    idle_timeout_s: float
    """Seconds without activity, at least 30."""
    on_idle: IdleAction = IdleAction.NOTHING
    wake_on_access: bool = False


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """What is wanted. Empty text means the platform's default."""

    name: str = ""
    runtime: str = ""
    isolation_level: IsolationLevel = IsolationLevel.STANDARD
    oci_runtime: str = ""
    source: Source | None = None
    resources: Resources = field(default_factory=Resources)
    lifetime: Lifetime = field(default_factory=Lifetime)
    network: NetworkPolicy | None = None
    """None: nowhere beyond loopback."""
    env: Mapping[str, str] = field(default_factory=_nothing)
    metadata: Mapping[str, str] = field(default_factory=_nothing)
    user: str = ""
    """A name, or `uid[:gid]`."""
    workdir: str = ""
    entrypoint: tuple[str, ...] = ()
    volumes: tuple[VolumeMount, ...] = ()
    ports: tuple[int, ...] = ()
    idle: IdlePolicy | None = None
    vault_id: VaultId | None = None
    extensions: Mapping[str, str] = field(default_factory=_nothing)


def check_spec(spec: SandboxSpec, *, path: str = "spec") -> list[FieldError]:
    """Return every fault of a spec; an empty list means that it may be created."""
    at = _Path(path)
    return [
        *_check_optional_label(at("name"), spec.name),
        *_check_optional_label(at("runtime"), spec.runtime),
        *_check_optional_label(at("oci_runtime"), spec.oci_runtime),
        *_check_source(at("source"), spec.source),
        *check_resources(at("resources"), spec.resources),
        *check_lifetime(at("lifetime"), spec.lifetime),
        *(check_policy(at("network"), spec.network) if spec.network else ()),
        *check_env(at("env"), spec.env),
        *check_metadata(at("metadata"), spec.metadata),
        *check_user(at("user"), spec.user),
        *(check_path(at("workdir"), spec.workdir) if spec.workdir else ()),
        *check_argv(at("entrypoint"), spec.entrypoint),
        *check_volumes(at("volumes"), spec.volumes),
        *_check_spec_ports(at("ports"), spec.ports),
        *_check_idle(at("idle"), spec.idle),
        *_check_extensions(at("extensions"), spec.extensions),
    ]


class _Path:
    """Paths of the fields below one parent."""

    def __init__(self, parent: str) -> None:
        self._parent = parent

    def __call__(self, child: str) -> str:
        return join_path(self._parent, child)


def check_ttl(path: str, ttl_s: float) -> Iterable[FieldError]:
    """Check a time to live: more than 0 and at most 365 days."""
    if not 0 < ttl_s <= MAX_TTL_S:  # true for NaN too
        yield FieldError(path, f"is {span_text(ttl_s)}; it must be more than 0 s and at most {span_text(MAX_TTL_S)}")


def check_lifetime(path: str, lifetime: Lifetime) -> Iterable[FieldError]:
    """Check a lifetime."""
    if lifetime.ttl_s is not None:
        yield from check_ttl(f"{path}.ttl", lifetime.ttl_s)
    elif lifetime.on_timeout is not TimeoutAction.DELETE:
        yield FieldError(f"{path}.on_timeout", "needs a ttl: without one the lifetime never ends")


def check_resources(path: str, resources: Resources) -> Iterable[FieldError]:
    """Check the limits that are given."""
    if resources.cpus is not None:
        yield from check_number(f"{path}.cpus", resources.cpus, low=0.01, high=1024, unit="cores")
    for name, low_bytes, high_bytes in (("memory_bytes", 32 * MIB, 2**50), ("disk_bytes", 16 * MIB, 2**60)):
        if (size_bytes := getattr(resources, name)) is not None:
            yield from check_size(f"{path}.{name}", size_bytes, low_bytes=low_bytes, high_bytes=high_bytes)
    for name, low, high in (("pids", 16, 4_194_304), ("open_files", 64, 1_048_576)):
        if (value := getattr(resources, name)) is not None:
            yield from check_integer(f"{path}.{name}", value, low=low, high=high)
    yield from check_integer(f"{path}.gpus", resources.gpus, low=0, high=64)


def check_env(path: str, env: Mapping[str, str]) -> Iterable[FieldError]:
    """Check environment variables: at most 1024, 256 KiB in all, no NUL."""
    if len(env) > MAX_ENV:
        yield FieldError(path, f"has {len(env)} variables; at most {MAX_ENV} are allowed")
    for name, value in env.items():
        if _ENV_NAME.fullmatch(name) is None:
            yield FieldError(path, f"{name[:64]!r} is not a variable name; use letters, digits and underscore")
        elif "\0" in value:
            yield FieldError(f"{path}[{name}]", "holds NUL")
    yield from _check_total(path, env, MAX_ENV_BYTES)


def check_metadata(path: str, metadata: Mapping[str, str]) -> Iterable[FieldError]:
    """Check labels: at most 64; keys of [A-Za-z0-9._/-], values without control characters."""
    if len(metadata) > MAX_METADATA:
        yield FieldError(path, f"has {len(metadata)} labels; at most {MAX_METADATA} are allowed")
    for key, value in metadata.items():
        if _METADATA_KEY.fullmatch(key) is None:
            message = f"{key[:80]!r} is not a label; use 1 to {MAX_METADATA_KEY_BYTES} of letters, digits and . _ / -"
            yield FieldError(path, message)
            continue
        yield from check_text(f"{path}[{key}]", value, min_bytes=0, max_bytes=MAX_METADATA_VALUE_BYTES)


def check_user(path: str, user: str) -> Iterable[FieldError]:
    """Check a user: empty, a name, `uid` or `uid:gid`."""
    if user and _USER.fullmatch(user) is None:
        yield FieldError(path, f"{user[:64]!r} is not a user; give a name, a uid, or uid:gid")
    elif user[:1].isdigit() and any(int(number) > _MAX_UID for number in user.split(":")):
        yield FieldError(path, f"{user} is out of range; the highest id is {_MAX_UID}")


def check_argv(path: str, argv: tuple[str, ...]) -> Iterable[FieldError]:
    """Check a command as argv; empty means none."""
    if len(argv) > MAX_ARGV:
        yield FieldError(path, f"has {len(argv)} words; at most {MAX_ARGV} are allowed")
    if argv and not argv[0]:
        yield FieldError(f"{path}[0]", "is empty; the first word names the program")
    for index, word in enumerate(argv):
        if "\0" in word:
            yield FieldError(f"{path}[{index}]", "holds NUL")
    total_bytes = sum(_utf8_size(word) for word in argv)
    if total_bytes > MAX_ARGV_BYTES:
        yield FieldError(path, f"has {total_bytes} bytes; at most {MAX_ARGV_BYTES} are allowed")


def hostname_of(name: str, sandbox_id: str) -> str:
    """Return the host name inside a sandbox: its name, or its id made into a valid host name of at most 63 bytes."""
    wanted = name or sandbox_id
    cleaned = "".join(char if char.isascii() and char.isalnum() else "-" for char in wanted.lower())
    return cleaned[:63].strip("-") or "sandbox"


def _check_source(path: str, source: Source | None) -> Iterable[FieldError]:
    if isinstance(source, TemplateSource):
        yield from check_name(f"{path}.template", source.name)
    elif isinstance(source, ImageSource):
        yield from _check_reference(f"{path}.image.reference", source.reference)
    elif isinstance(source, RootfsSource):
        yield from check_path(f"{path}.rootfs_directory", source.path)
    elif isinstance(source, OciLayoutSource):
        yield from check_path(f"{path}.oci_layout.path", source.path)
        if source.reference:
            yield from _check_reference(f"{path}.oci_layout.reference", source.reference)


def _check_reference(path: str, reference: str) -> Iterable[FieldError]:
    yield from check_text(path, reference, min_bytes=1, max_bytes=MAX_REFERENCE_BYTES)
    if any(char.isspace() for char in reference) or reference.startswith("-"):
        yield FieldError(path, "is not an image reference: it holds a space or starts with a hyphen")


def _check_optional_label(path: str, value: str) -> Iterable[FieldError]:
    return check_name(path, value) if value else ()


def _check_spec_ports(path: str, ports: tuple[int, ...]) -> Iterable[FieldError]:
    if len(ports) > MAX_PORTS:
        yield FieldError(path, f"has {len(ports)} ports; at most {MAX_PORTS} are allowed")
    yield from check_ports(path, ports)


def _check_idle(path: str, idle: IdlePolicy | None) -> Iterable[FieldError]:
    if idle is not None:
        yield from check_span(f"{path}.idle_timeout", idle.idle_timeout_s, low_s=MIN_IDLE_S, high_s=MAX_TTL_S)


def _check_extensions(path: str, extensions: Mapping[str, str]) -> Iterable[FieldError]:
    if len(extensions) > MAX_EXTENSIONS:
        yield FieldError(path, f"has {len(extensions)} settings; at most {MAX_EXTENSIONS} are allowed")
    for key in extensions:
        yield from check_text(f"{path}[{key[:64]!r}]", key, min_bytes=1, max_bytes=MAX_REFERENCE_BYTES)
    yield from _check_total(path, extensions, MAX_EXTENSIONS_BYTES)


def _check_total(path: str, mapping: Mapping[str, str], max_bytes: int) -> Iterable[FieldError]:
    total_bytes = sum(_utf8_size(key) + _utf8_size(value) for key, value in mapping.items())
    if total_bytes > max_bytes:
        yield FieldError(path, f"has {total_bytes} bytes; at most {max_bytes} are allowed")


def _utf8_size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))
