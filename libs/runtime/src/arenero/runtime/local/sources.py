"""From what a spec asks for to layers on this host: templates, root file systems, images."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from arenero.errors import ArenError, InvalidArgument, Unsupported
from arenero.isolation.plan import Bind
from arenero.model.record import ResolvedSource
from arenero.model.spec import OciLayoutSource, RootfsSource, Source, TemplateSource
from arenero.runtime.local import host_template
from arenero.runtime.local.config import LocalConfig
from arenero.runtime.local.image import Layout
from arenero.runtime.local.unpack import Budget

HOST: Final = "host"
ROOT_LOGIN: Final[Mapping[str, Any]] = {
    "uid": 0,
    "gid": 0,
    "name": "root",
    "home": "/root",
    "cwd": "/",
    "shell": "/bin/sh",
}


@dataclass(frozen=True, slots=True)
class Base:
    """What a sandbox's own layer lies on."""

    resolved: ResolvedSource
    lower: tuple[str, ...]
    binds: tuple[Bind, ...] = ()
    login: Mapping[str, Any] = field(default_factory=dict)
    """Whom execs run as unless told otherwise; see execd's `Login`. Empty: its own default."""
    env: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    """A user that the image names; execd looks it up inside."""


class Sources:
    """Finds bases.

    Args:
        config: The driver's settings.
        own_ids: Whether files can be given to other users.
        shift: Added to the owners of files, where mounts can't map them.
    """

    def __init__(self, config: LocalConfig, *, own_ids: bool, shift: int = 0) -> None:
        self._config = config
        self._own_ids = own_ids
        self._shift = shift
        self._templates_dir = config.state_dir / "templates"
        self._images_dir = config.state_dir / "images"
        self._allowed = (config.state_dir / "sources", *config.allowed_sources)
        self._host: Base | None = None
        self._unpacking = asyncio.Lock()

    def open(self) -> None:
        """Make the directories and the template `host`."""
        for directory in (self._templates_dir, self._images_dir, self._config.state_dir / "sources"):
            directory.mkdir(mode=0o700, exist_ok=True)
        layer = host_template.make_layer(
            self._templates_dir, self._config.etc_copies, own_ids=self._own_ids, shift=self._shift
        )
        resolved = ResolvedSource(HOST, f"template:{HOST}", layer.name.removeprefix("host-"))
        self._host = Base(resolved, (str(layer),), host_template.host_binds())

    async def find(self, source: Source | None) -> Base:
        """Return the base for a source; unpacks an image that is new here.

        Raises:
            InvalidArgument: There is no such source; `field` says which.
            Unsupported: The source is of a kind, or in a form, that isn't known here.
        """
        try:
            if isinstance(source, RootfsSource):
                return self._find_rootfs(source)
            if isinstance(source, OciLayoutSource):
                return await self._find_image(source)
        except ArenError as error:
            error.field = error.field or f"spec.source.{_field_of(source)}"
            raise
        if source is None or isinstance(source, TemplateSource):
            return self._find_template(source)
        raise Unsupported(f"the local runtime can't start from a {type(source).__name__}", field="spec.source")

    def _find_template(self, source: TemplateSource | None) -> Base:
        if (source is not None and source.name != HOST) or self._host is None:
            name = source.name if source else HOST
            raise InvalidArgument(f"there is no template {name!r}", field="spec.source.template")
        return self._host

    def _find_rootfs(self, source: RootfsSource) -> Base:
        path = self._allowed_directory(source.path)
        return Base(ResolvedSource(source.path, f"rootfs:{path}"), (str(path),), login=ROOT_LOGIN)

    async def _find_image(self, source: OciLayoutSource) -> Base:
        layout = Layout(self._allowed_directory(source.path))
        image = layout.find(source.reference)
        async with self._unpacking:
            root = await asyncio.to_thread(
                layout.unpack,
                image,
                self._images_dir,
                Budget(self._config.image_bytes, self._config.image_files),
                own_ids=self._own_ids,
                shift=self._shift,
            )
        login = {**ROOT_LOGIN, "cwd": image.workdir or "/"}
        resolved = ResolvedSource(source.reference or source.path, f"oci:{image.digest}", image.digest)
        return Base(resolved, (str(root),), login=login, env=image.env, user=image.user)

    def _allowed_directory(self, path: str) -> Path:
        """Return a directory without links in its path.

        Raises:
            InvalidArgument: It isn't there, or not below a directory that may be used.
        """
        real = Path(os.path.realpath(path))
        if not any(real.is_relative_to(os.path.realpath(allowed)) for allowed in self._allowed):
            shown: Sequence[str] = [str(allowed) for allowed in self._allowed]
            raise InvalidArgument(
                f"{path} is not below a directory that sources may come from",
                reason="SOURCE_NOT_ALLOWED",
                fix=f"move it below {shown[0]}, or name its parent in runtime.local.allowed_sources",
            )
        if not real.is_dir():
            raise InvalidArgument(f"{path} is not a directory on the runtime's host", reason="SOURCE_NOT_FOUND")
        return real


def _field_of(source: Source | None) -> str:
    if isinstance(source, OciLayoutSource):
        return "oci_layout.path"
    return "rootfs_directory"
