"""`SandboxSpec` between the API and the model. Reading checks the form only; `model.spec.check_spec` has the rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from arenero.api.lifecycle.v1 import sandbox_pb2 as pb
from arenero.lifecycle.codec.policy import decode_policy, encode_policy
from arenero.lifecycle.codec.scalars import EnumCodec, from_duration, to_duration
from arenero.model.fields import FieldError
from arenero.model.ids import VaultId, parse_snapshot_id, parse_vault_id
from arenero.model.spec import (
    IdleAction,
    IdlePolicy,
    ImageSource,
    IsolationLevel,
    Lifetime,
    OciLayoutSource,
    Resources,
    RootfsSource,
    SandboxSpec,
    SnapshotSource,
    Source,
    TemplateSource,
    TimeoutAction,
)
from arenero.model.volumes import Bucket, HostPath, NamedVolume, VolumeBackend, VolumeMount

ISOLATION_LEVELS: Final = EnumCodec(
    {
        IsolationLevel.STANDARD: pb.ISOLATION_LEVEL_STANDARD,
        IsolationLevel.BEST_EFFORT: pb.ISOLATION_LEVEL_BEST_EFFORT,
    },
    IsolationLevel.STANDARD,
)
TIMEOUT_ACTIONS: Final = EnumCodec(
    {TimeoutAction.DELETE: pb.TIMEOUT_ACTION_DELETE, TimeoutAction.PAUSE: pb.TIMEOUT_ACTION_PAUSE},
    TimeoutAction.DELETE,
)
IDLE_ACTIONS: Final = EnumCodec(
    {
        IdleAction.NOTHING: pb.IDLE_ACTION_NOTHING,
        IdleAction.PAUSE_FREEZE: pb.IDLE_ACTION_PAUSE_FREEZE,
        IdleAction.PAUSE_RELEASE: pb.IDLE_ACTION_PAUSE_RELEASE,
        IdleAction.DELETE: pb.IDLE_ACTION_DELETE,
    },
    IdleAction.NOTHING,
)


@dataclass(frozen=True, slots=True)
class _At:
    """A place in a request: names fields and collects what is wrong with them."""

    path: str
    faults: list[FieldError]

    def below(self, child: str) -> _At:
        return _At(f"{self.path}.{child}", self.faults)

    def fault(self, message: str) -> None:
        self.faults.append(FieldError(self.path, message))


def encode_spec(spec: SandboxSpec) -> pb.SandboxSpec:
    """Return a spec in the API's form."""
    return pb.SandboxSpec(
        name=spec.name,
        runtime=spec.runtime,
        isolation_level=ISOLATION_LEVELS.encode(spec.isolation_level),
        oci_runtime=spec.oci_runtime,
        source=_encode_source(spec.source),
        resources=_encode_resources(spec.resources),
        lifetime=pb.Lifetime(
            ttl=to_duration(spec.lifetime.ttl_s), on_timeout=TIMEOUT_ACTIONS.encode(spec.lifetime.on_timeout)
        ),
        network=encode_policy(spec.network) if spec.network else None,
        env=spec.env,
        metadata=spec.metadata,
        user=spec.user,
        workdir=spec.workdir,
        entrypoint=spec.entrypoint,
        volumes=[_encode_volume(volume) for volume in spec.volumes],
        ports=spec.ports,
        idle=_encode_idle(spec.idle),
        vault_id=spec.vault_id or "",
        extensions=spec.extensions,
    )


def decode_spec(message: pb.SandboxSpec, faults: list[FieldError], *, path: str = "spec") -> SandboxSpec:
    """Return a spec from the API's form and note what can't be read."""
    at = _At(path, faults)
    return SandboxSpec(
        name=message.name,
        runtime=message.runtime,
        isolation_level=ISOLATION_LEVELS.decode(message.isolation_level, f"{path}.isolation_level", faults),
        oci_runtime=message.oci_runtime,
        source=_decode_source(message.source, at.below("source")) if message.HasField("source") else None,
        resources=_decode_resources(message.resources),
        lifetime=_decode_lifetime(message.lifetime, at.below("lifetime")),
        network=decode_policy(message.network, f"{path}.network", faults) if message.HasField("network") else None,
        env=dict(message.env),
        metadata=dict(message.metadata),
        user=message.user,
        workdir=message.workdir,
        entrypoint=tuple(message.entrypoint),
        volumes=tuple(_decode_volumes(message.volumes, at)),
        ports=tuple(message.ports),
        idle=_decode_idle(message.idle, at.below("idle")) if message.HasField("idle") else None,
        vault_id=_decode_vault_id(message.vault_id, at.below("vault_id")),
        extensions=dict(message.extensions),
    )


def _encode_source(source: Source | None) -> pb.Source | None:
    match source:
        case None:
            return None
        case TemplateSource(name):
            return pb.Source(template=name)
        case ImageSource(reference):
            return pb.Source(image=pb.ImageSource(reference=reference))
        case RootfsSource(path):
            return pb.Source(rootfs_directory=path)
        case OciLayoutSource(path, reference):
            return pb.Source(oci_layout=pb.OciLayoutSource(path=path, reference=reference))
        case SnapshotSource(snapshot_id):
            return pb.Source(snapshot_id=snapshot_id)


def _decode_source(message: pb.Source, at: _At) -> Source | None:
    match message.WhichOneof("kind"):
        case "template":
            return TemplateSource(message.template)
        case "image":
            return _decode_image(message.image, at.below("image"))
        case "rootfs_directory":
            return RootfsSource(message.rootfs_directory)
        case "oci_layout":
            return OciLayoutSource(message.oci_layout.path, message.oci_layout.reference)
        case "snapshot_id":
            return _decode_snapshot(message.snapshot_id, at.below("snapshot_id"))
        case _:
            return None


def _decode_image(message: pb.ImageSource, at: _At) -> ImageSource:
    """The password stops here: it must not get into a record, and nothing fetches private images yet."""
    if message.username or message.password:
        at.below("password" if message.password else "username").fault("private registries are not supported yet")
    return ImageSource(message.reference)


def _decode_snapshot(text: str, at: _At) -> SnapshotSource | None:
    try:
        return SnapshotSource(parse_snapshot_id(text))
    except ValueError as error:
        at.fault(str(error))
        return None


def _decode_vault_id(text: str, at: _At) -> VaultId | None:
    try:
        return parse_vault_id(text) if text else None
    except ValueError as error:
        at.fault(str(error))
        return None


def _encode_resources(resources: Resources) -> pb.Resources:
    return pb.Resources(
        cpus=resources.cpus or 0.0,
        memory_bytes=resources.memory_bytes or 0,
        pids=resources.pids or 0,
        disk_bytes=resources.disk_bytes or 0,
        open_files=resources.open_files or 0,
        gpus=resources.gpus,
    )


def _decode_resources(message: pb.Resources) -> Resources:
    """Zero is "not stated" on the wire and None in the model."""
    return Resources(
        cpus=message.cpus or None,
        memory_bytes=message.memory_bytes or None,
        pids=message.pids or None,
        disk_bytes=message.disk_bytes or None,
        open_files=message.open_files or None,
        gpus=message.gpus,
    )


def _decode_lifetime(message: pb.Lifetime, at: _At) -> Lifetime:
    return Lifetime(
        ttl_s=from_duration(message.ttl) if message.HasField("ttl") else None,
        on_timeout=TIMEOUT_ACTIONS.decode(message.on_timeout, f"{at.path}.on_timeout", at.faults),
    )


def _encode_idle(idle: IdlePolicy | None) -> pb.IdlePolicy | None:
    if idle is None:
        return None
    return pb.IdlePolicy(
        idle_timeout=to_duration(idle.idle_timeout_s),
        on_idle=IDLE_ACTIONS.encode(idle.on_idle),
        wake_on_access=idle.wake_on_access,
    )


def _decode_idle(message: pb.IdlePolicy, at: _At) -> IdlePolicy | None:
    """An idle policy without a time is none, whatever else it says."""
    on_idle = IDLE_ACTIONS.decode(message.on_idle, f"{at.path}.on_idle", at.faults)
    if not message.HasField("idle_timeout"):
        if on_idle is not IdleAction.NOTHING:
            at.below("idle_timeout").fault("is not set, so on_idle would never happen")
        return None
    return IdlePolicy(from_duration(message.idle_timeout), on_idle, message.wake_on_access)


def _encode_volume(volume: VolumeMount) -> pb.VolumeMount:
    message = pb.VolumeMount(
        name=volume.name, mount_path=volume.mount_path, read_only=volume.read_only, sub_path=volume.sub_path
    )
    match volume.backend:
        case HostPath(path):
            message.host_path = path
        case NamedVolume(name):
            message.named_volume = name
        case Bucket(bucket, endpoint, credential):
            message.bucket.CopyFrom(pb.BucketVolume(bucket=bucket, endpoint=endpoint, credential=credential))
    return message


def _decode_volumes(messages: Iterable[pb.VolumeMount], at: _At) -> Iterable[VolumeMount]:
    for index, message in enumerate(messages):
        backend = _decode_backend(message)
        if backend is None:
            at.below(f"volumes[{index}]").fault("names no backend: set host_path, named_volume or bucket")
            continue
        yield VolumeMount(message.name, message.mount_path, backend, message.read_only, message.sub_path)


def _decode_backend(message: pb.VolumeMount) -> VolumeBackend | None:
    match message.WhichOneof("backend"):
        case "host_path":
            return HostPath(message.host_path)
        case "named_volume":
            return NamedVolume(message.named_volume)
        case "bucket":
            return Bucket(message.bucket.bucket, message.bucket.endpoint, message.bucket.credential)
        case _:
            return None
