"""What a creation asks for, made complete and checked before anything is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from arenero.errors import InvalidArgument, Unsupported
from arenero.lifecycle.config import ResourceDefaults
from arenero.lifecycle.drivers import Drivers
from arenero.model.fields import FieldError, check_span
from arenero.model.ids import check_request_id
from arenero.model.spec import (
    IdleAction,
    Resources,
    SandboxSpec,
    SnapshotSource,
    TemplateSource,
    TimeoutAction,
    check_spec,
)
from arenero.runtime.powers import check_powers

MAX_START_TIMEOUT_S: Final = 3600.0
MIN_START_TIMEOUT_S: Final = 0.001


@dataclass(frozen=True, slots=True)
class CreateRequest:
    """A creation as it was asked for."""

    spec: SandboxSpec
    request_id: str = ""
    start_timeout_s: float | None = None
    digest: str = ""
    """SHA-256 of the request as it came, to tell a repeat from another request with the same id."""
    wait: bool = True
    """Answer when it runs, rather than when it is recorded."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What stands in for what a request leaves out."""

    template: str
    resources: ResourceDefaults
    start_timeout_s: float


def check_create(request: CreateRequest, faults: list[FieldError]) -> None:
    """Check a creation's form; `faults` are those that reading it found.

    Raises:
        InvalidArgument: Something is wrong; the first fault leads, the others are in the metadata.
    """
    found = [*faults, *check_spec(request.spec), *_check_frame(request)]
    if found:
        raise InvalidArgument.from_fields(found)


def complete(spec: SandboxSpec, drivers: Drivers, defaults: Defaults) -> SandboxSpec:
    """Return a spec with the platform's defaults filled in, once it is clear that its runtime can do all of it.

    Raises:
        InvalidArgument: There is no such runtime.
        Unsupported: The runtime can't be used here, or can't do what is demanded.
    """
    runtime = spec.runtime or drivers.default
    driver = drivers.choose(runtime)
    full = replace(
        spec,
        runtime=runtime,
        source=spec.source or TemplateSource(defaults.template),
        resources=fill(spec.resources, defaults.resources, most_disk_bytes=driver.capabilities.most_disk_bytes),
    )
    for field, reason, message in _not_yet(full):
        raise Unsupported(message, reason=reason, field=f"spec.{field}")
    check_powers(runtime, driver.capabilities, full)
    return full


def fill(resources: Resources, defaults: ResourceDefaults, *, most_disk_bytes: int | None = None) -> Resources:
    """Return limits without a gap. A disk of which nothing was said is not larger than the runtime can give."""
    usual_bytes = defaults.disk_bytes
    return Resources(
        cpus=resources.cpus or defaults.cpus,
        memory_bytes=resources.memory_bytes or defaults.memory_bytes,
        pids=resources.pids or defaults.pids,
        disk_bytes=resources.disk_bytes or min(usual_bytes, most_disk_bytes or usual_bytes),
        open_files=resources.open_files or defaults.open_files,
        gpus=resources.gpus,
    )


def _check_frame(request: CreateRequest) -> Iterator[FieldError]:
    if request.request_id:
        yield from check_request_id("request_id", request.request_id)
    if request.start_timeout_s is not None:
        low, high = MIN_START_TIMEOUT_S, MAX_START_TIMEOUT_S
        yield from check_span("start_timeout", request.start_timeout_s, low_s=low, high_s=high)


def _not_yet(spec: SandboxSpec) -> Iterator[tuple[str, str, str]]:
    """Yield what the API has and this version of lifecycle doesn't do: field, reason, message."""
    if spec.lifetime.on_timeout is TimeoutAction.PAUSE:
        yield "lifetime.on_timeout", "PAUSE_ON_TIMEOUT_UNSUPPORTED", "pausing at the end of a lifetime isn't there yet"
    if spec.idle is not None and spec.idle.on_idle is not IdleAction.NOTHING:
        yield "idle.on_idle", "IDLE_POLICY_UNSUPPORTED", "acting on idle sandboxes isn't there yet"
    if spec.vault_id is not None:
        yield "vault_id", "VAULT_UNSUPPORTED", "vaults aren't there yet"
    if isinstance(spec.source, SnapshotSource):
        yield "source.snapshot_id", "SNAPSHOT_UNSUPPORTED", "starting from a snapshot isn't there yet"
