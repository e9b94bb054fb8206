"""Settings of the gateway: a TOML file, then `ARENERO_GATEWAY__…`."""

from __future__ import annotations

from dataclasses import dataclass, field

from arenero.bus.connection import BusConfig
from arenero.gateway.keys.bootstrap import BootstrapConfig
from arenero.gateway.proxy.pool import PoolConfig
from arenero.gateway.subscribers import EventsConfig
from arenero.host.config import HostConfig
from arenero.rpc.server import MAX_MESSAGE_BYTES


@dataclass(frozen=True, slots=True)
class ServicesConfig:
    """Where the services behind the gateway listen, each a gRPC target. Empty: the platform runs without it."""

    lifecycle: str = "unix:/run/arenero/lifecycle.sock"
    snapshot: str = "unix:/run/arenero/snapshot.sock"
    warmpool: str = "unix:/run/arenero/warmpool.sock"
    vault: str = "unix:/run/arenero/vault.sock"

    def present(self) -> dict[str, str]:
        """Return the addresses of the services that there are, by name."""
        named = {
            "lifecycle": self.lifecycle,
            "snapshot": self.snapshot,
            "warmpool": self.warmpool,
            "vault": self.vault,
        }
        return {name: address for name, address in named.items() if address}


@dataclass(frozen=True, slots=True)
class ActivityConfig:
    """How use of sandboxes is reported."""

    window_s: float = 5.0
    """Calls within so long are one event. Idle times are minutes, so nobody needs it finer."""
    interval_s: float = 10.0
    """How often a sandbox with open calls is reported; a third of the shortest idle time that a sandbox may have."""


@dataclass(frozen=True, slots=True)
class GatewayConfig:
    """Everything that the gateway can be told."""

    grpc: str = "127.0.0.1:8480"
    """Where clients reach gRPC; port 0: any free one. Without TLS: beyond this machine, put a proxy that has it in
    front."""
    http: str = "127.0.0.1:8481"
    """Where clients reach HTTP; port 0: any free one."""
    otlp: str = ""
    """Socket on which the spans of all parts are taken in and kept, `unix:/path`. Empty: nothing is kept here."""
    kept_spans: int = 20_000
    """Spans kept in memory, about 1 KiB each: the last hundreds of requests."""
    max_streams: int = 4096
    """Calls at once on one client's connection."""
    max_message_bytes: int = MAX_MESSAGE_BYTES
    """Largest message that is passed on. Streams are cut into smaller ones, so only a mistake is larger."""
    services: ServicesConfig = field(default_factory=ServicesConfig)
    pool: PoolConfig = field(default_factory=PoolConfig)
    bootstrap: BootstrapConfig = field(default_factory=BootstrapConfig)
    events: EventsConfig = field(default_factory=EventsConfig)
    activity: ActivityConfig = field(default_factory=ActivityConfig)
    bus: BusConfig = field(default_factory=BusConfig)
    host: HostConfig = field(default_factory=HostConfig)

    def __post_init__(self) -> None:
        if not self.services.lifecycle:
            raise ValueError("services.lifecycle must be set: there is no platform without it")
        if bool(self.events.access_dir) != bool(self.events.nats_pid_file):
            raise ValueError("events.access_dir and events.nats_pid_file belong together")
