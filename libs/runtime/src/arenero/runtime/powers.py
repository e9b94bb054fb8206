"""Whether a driver's powers suffice for a spec: asked by lifecycle before it records anything, and by drivers again.

Both ask the same function, so a driver that is called by somebody else can't be talked into what its capabilities deny.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from arenero.errors import Unsupported
from arenero.model.policy import NetworkAction, NetworkPolicy
from arenero.model.spec import (
    ImageSource,
    OciLayoutSource,
    RootfsSource,
    SandboxSpec,
    SnapshotSource,
    Source,
    TemplateSource,
)
from arenero.runtime.capabilities import Capabilities

SOURCE_KINDS: Final[dict[type, str]] = {
    TemplateSource: "template",
    ImageSource: "image",
    RootfsSource: "rootfs_directory",
    OciLayoutSource: "oci_layout",
    SnapshotSource: "snapshot",
}
"""The word that `Capabilities.sources` and the API use for each kind of source."""

_Lack: TypeAlias = tuple[str, str, str]
"""Path of the field, reason, message."""


def check_powers(runtime: str, capabilities: Capabilities, spec: SandboxSpec, *, path: str = "spec") -> None:
    """Check that a runtime can do what a spec demands.

    Raises:
        Unsupported: It can't; `field` names the demand, `reason` the power that is missing.
    """
    for field, reason, message in _lacks(runtime, capabilities, spec):
        raise Unsupported(message, reason=reason, field=f"{path}.{field}", metadata={"runtime": runtime})


def source_kind(source: Source) -> str:
    """Return the API's word for a kind of source, for example `rootfs_directory`."""
    return SOURCE_KINDS[type(source)]


def needs_network(policy: NetworkPolicy | None) -> bool:
    """Whether a policy lets anything out, so that the sandbox needs more than its own loopback."""
    if policy is None:
        return False
    return policy.default_action is NetworkAction.ALLOW or any(r.action is NetworkAction.ALLOW for r in policy.rules)


def _lacks(runtime: str, can: Capabilities, spec: SandboxSpec) -> Iterator[_Lack]:
    yield from _source_lacks(runtime, can, spec.source)
    if spec.oci_runtime and spec.oci_runtime not in can.oci_runtimes:
        known = ", ".join(sorted(can.oci_runtimes)) or "none"
        yield "oci_runtime", "OCI_RUNTIME_UNSUPPORTED", f"{runtime} has no {spec.oci_runtime}; it has: {known}"
    if needs_network(spec.network) and not can.network_policy:
        yield "network", "NETWORK_UNSUPPORTED", f"{runtime} can't give a sandbox a guarded network here"
    if spec.volumes and not can.volumes:
        yield "volumes", "VOLUMES_UNSUPPORTED", f"{runtime} can't mount volumes"
    if spec.resources.gpus and not can.gpus:
        yield "resources.gpus", "GPUS_UNSUPPORTED", f"{runtime} has no graphics processors"
    if can.most_disk_bytes is not None and (spec.resources.disk_bytes or 0) > can.most_disk_bytes:
        message = f"{runtime} can't give a disk larger than its own, which has {can.most_disk_bytes} bytes"
        yield "resources.disk_bytes", "DISK_TOO_LARGE", message


def _source_lacks(runtime: str, can: Capabilities, source: Source | None) -> Iterator[_Lack]:
    if source is None:
        return
    kind = source_kind(source)
    if kind not in can.sources:
        known = ", ".join(sorted(can.sources)) or "none"
        yield f"source.{kind}", "SOURCE_UNSUPPORTED", f"{runtime} can't start from a {kind}; it can from: {known}"
    elif isinstance(source, TemplateSource) and can.templates and source.name not in can.templates:
        known = ", ".join(sorted(can.templates))
        yield "source.template", "TEMPLATE_UNKNOWN", f"{runtime} has no template {source.name}; it has: {known}"
