"""OCI images in an image layout on this host: found, checked, unpacked once, and known by their digests.

Every blob is verified against the digest that names it before it is used. What an image says about how to run it (user,
environment, working directory) is only a default.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import platform
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, cast

from arenero.errors import InvalidArgument, Unsupported
from arenero.runtime.local.unpack import Budget, Unpacker

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_INDEXES: Final = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_REF_NAME: Final = "org.opencontainers.image.ref.name"
_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
_MAX_JSON_BYTES: Final = 8 << 20
_CHUNK_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Image:
    """One image."""

    digest: str
    """Of its manifest."""
    layers: tuple[tuple[str, str], ...]
    """Media type and digest of each layer, lowest first."""
    env: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    workdir: str = ""


class Layout:
    """An image layout directory.

    Args:
        path: The directory, with `index.json` and `blobs`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def find(self, reference: str) -> Image:
        """Return the image of a reference, or the only one there is; of several platforms, this machine's.

        Raises:
            InvalidArgument: There is none, or it is damaged.
            Unsupported: It is for other machines.
        """
        index = _json(self._read_file("index.json"))
        found = [m for m in _list(index, "manifests") if reference in ("", m.get("annotations", {}).get(_REF_NAME))]
        if len(found) != 1:
            called = f" named {reference!r}" if reference else ""
            raise InvalidArgument(
                f"the layout has {len(found) or 'no'} images{called}; one is needed", reason="IMAGE_NOT_FOUND"
            )
        return self._image(self._descend(found[0]))

    def _descend(self, descriptor: Mapping[str, Any]) -> str:
        """Return the digest of the manifest for this machine."""
        for _ in range(4):
            digest = _digest(descriptor)
            if descriptor.get("mediaType") not in _INDEXES:
                return digest
            wanted = _ARCHITECTURES.get(platform.machine(), platform.machine())
            manifests = _list(_json(self._read_blob(digest)), "manifests")
            fitting = [m for m in manifests if m.get("platform", {}).get("architecture") == wanted]
            if not fitting:
                raise Unsupported(f"the image is not for {wanted}", reason="IMAGE_PLATFORM")
            descriptor = fitting[0]
        raise InvalidArgument("the image's indexes lead nowhere", reason="IMAGE_DAMAGED")

    def _image(self, digest: str) -> Image:
        manifest = _json(self._read_blob(digest))
        config = _json(self._read_blob(_digest(manifest.get("config", {})))).get("config") or {}
        layers = tuple((str(layer.get("mediaType", "")), _digest(layer)) for layer in _list(manifest, "layers"))
        pairs = (entry.partition("=") for entry in config.get("Env") or () if isinstance(entry, str))
        return Image(
            digest,
            layers,
            {name: value for name, _, value in pairs if name},
            str(config.get("User") or ""),
            str(config.get("WorkingDir") or ""),
        )

    def unpack(self, image: Image, parent: Path, budget: Budget, *, own_ids: bool, shift: int = 0) -> Path:
        """Return the directory of an image's files below `parent`; unpack it when it isn't there.

        It appears whole or not at all. Takes as long as the image is large: call it in a thread.

        Raises:
            InvalidArgument: The image is damaged or hostile.
            ResourceExhausted: It is larger than allowed.
            Unsupported: It is compressed in a way that isn't known here.
        """
        target = parent / f"{image.digest.removeprefix('sha256:')}{f'-{shift}' if shift else ''}"
        if target.is_dir():
            return target
        draft = Path(tempfile.mkdtemp(dir=parent, prefix=".draft-"))
        try:
            draft.chmod(0o755)
            unpacker = Unpacker(str(draft), budget, own_ids=own_ids, shift=shift)
            try:
                for media_type, digest in image.layers:
                    self._apply(unpacker, media_type, digest)
            finally:
                unpacker.close()
            draft.rename(target)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            if not target.is_dir():
                raise
        return target

    def _apply(self, unpacker: Unpacker, media_type: str, digest: str) -> None:
        path = self._blob(digest)
        _verify(path, digest)
        with path.open("rb") as blob:
            try:
                unpacker.apply(_decompressed(blob, media_type))
            except (OSError, lzma.LZMAError, gzip.BadGzipFile) as error:
                raise InvalidArgument(f"layer {digest}: {error}", reason="IMAGE_DAMAGED") from error

    def _blob(self, digest: str) -> Path:
        return self._path / "blobs" / "sha256" / digest.removeprefix("sha256:")

    def _read_blob(self, digest: str) -> bytes:
        content = self._read_file(str(self._blob(digest).relative_to(self._path)))
        if hashlib.sha256(content).hexdigest() != digest.removeprefix("sha256:"):
            raise InvalidArgument(f"the blob {digest} has other content than its name says", reason="IMAGE_DAMAGED")
        return content

    def _read_file(self, name: str) -> bytes:
        try:
            with (self._path / name).open("rb") as stream:
                content = stream.read(_MAX_JSON_BYTES + 1)
        except OSError as error:
            raise InvalidArgument(f"{name} of the image layout: {error.strerror}", reason="IMAGE_NOT_FOUND") from error
        if len(content) > _MAX_JSON_BYTES:
            raise InvalidArgument(f"{name} of the image layout is too long", reason="IMAGE_DAMAGED")
        return content


def _json(content: bytes) -> dict[str, Any]:
    try:
        values = json.loads(content)
    except ValueError as error:
        raise InvalidArgument("the image has a description that is no JSON", reason="IMAGE_DAMAGED") from error
    if not isinstance(values, dict):
        raise InvalidArgument("the image has a description of another form", reason="IMAGE_DAMAGED")
    return values


def _list(values: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    found = values.get(key)
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise InvalidArgument(f"the image's description has no list {key}", reason="IMAGE_DAMAGED")
    return found


def _digest(descriptor: Mapping[str, Any]) -> str:
    """Return a descriptor's digest, which becomes a part of a path."""
    digest = str(descriptor.get("digest", ""))
    if _DIGEST.fullmatch(digest) is None:
        raise InvalidArgument(f"the image names a blob {digest[:80]!r}", reason="IMAGE_DAMAGED")
    return digest


def _verify(path: Path, digest: str) -> None:
    checksum = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                checksum.update(chunk)
    except OSError as error:
        raise InvalidArgument(f"the blob {digest}: {error.strerror}", reason="IMAGE_NOT_FOUND") from error
    if checksum.hexdigest() != digest.removeprefix("sha256:"):
        raise InvalidArgument(f"the blob {digest} has other content than its name says", reason="IMAGE_DAMAGED")


def _decompressed(blob: IO[bytes], media_type: str) -> IO[bytes]:
    """Return the tar stream in a blob, by its first bytes: media types are often wrong about it."""
    magic = blob.read(6)
    blob.seek(0)
    if magic.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=blob))
    if magic.startswith(b"BZh"):
        return cast("IO[bytes]", bz2.BZ2File(blob))
    if magic.startswith(b"\xfd7zXZ"):
        return cast("IO[bytes]", lzma.LZMAFile(blob))
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        raise Unsupported(f"layers compressed by zstd ({media_type})", reason="IMAGE_COMPRESSION")
    return blob
