"""Settings of snapshot: a TOML file, then `ARENERO_SNAPSHOT__…`. Its own come with what it is to do."""

from __future__ import annotations

from dataclasses import dataclass, field

from arenero.host.config import HostConfig
from arenero.rpc.server import RpcServerConfig


@dataclass(frozen=True, slots=True)
class SnapshotConfig:
    """Settings of the service."""

    server: RpcServerConfig = field(default_factory=lambda: RpcServerConfig("unix:/run/arenero/snapshot.sock"))
    """Where the platform's own parts reach it. A socket in a directory that only they can open: whoever reaches it may
    say for whom they speak."""
    host: HostConfig = field(default_factory=HostConfig)
