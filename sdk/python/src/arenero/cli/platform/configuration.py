"""What each process of an embedded instance is told: its configuration file, its socket, its place on disk."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arenero.bus.access import AccessFiles
from arenero.bus.server import NatsServer, NatsServerConfig
from arenero.cli.platform.children import ServiceSpec
from arenero.cli.platform.instance import Instance, write_private
from arenero.config.render import table_to_toml

_PLAIN: Final = ("snapshot", "warmpool", "vault")
SERVICES: Final = ("lifecycle", *_PLAIN, "gateway")
_FIRST_ID: Final = 524_288
_IDS_PER_INSTANCE: Final = 4_096 * 65_536
_ID_RANGES: Final = 15
"""As many as there are below 2^32, beyond those that hosts use themselves."""
ADMIN_KEY_FILE: Final = "admin.key"


@dataclass(frozen=True, slots=True)
class UpOptions:
    """What `arenero up` was asked for."""

    grpc: str
    """Address of the gateway's gRPC; port 0: any free one."""
    http: str
    """Address of the gateway's HTTP; port 0: any free one."""
    sync_always: bool = False
    """Flush the log to disk before every acknowledgement."""


def access_files(instance: Instance) -> AccessFiles:
    """Return the files that let NATS know its users."""
    return AccessFiles(instance.nats / "access")


def nats_config(instance: Instance, options: UpOptions) -> NatsServerConfig:
    """Return how nats-server runs."""
    return NatsServerConfig(
        home=instance.nats, sync_always=options.sync_always, access_file=access_files(instance).config
    )


def service_specs(instance: Instance, options: UpOptions, nats: NatsServer) -> list[ServiceSpec]:
    """Write the services' configuration files and return how to run them."""
    settings = _settings(instance, options, nats)
    specs = []
    for name in SERVICES:
        config_file = instance.home / "config" / f"{name}.toml"
        config_file.parent.mkdir(mode=0o700, exist_ok=True)
        write_private(config_file, table_to_toml(settings[name]))
        specs.append(ServiceSpec(name, config_file, _ready_file(instance, name)))
    return specs


def drain_command(instance: Instance) -> list[str]:
    """Return the command that ends all sandboxes while no lifecycle runs."""
    config_file = instance.home / "config" / "lifecycle.toml"
    return [sys.executable, "-P", "-m", "arenero.lifecycle", "--config", str(config_file), "--drain"]


def client_settings(instance: Instance, ready: Mapping[str, Any]) -> str:
    """Return what clients on this machine need to know, as JSON."""
    key = (instance.home / ADMIN_KEY_FILE).read_text().strip()
    return json.dumps({"version": 1, "grpc": ready["grpc"], "http": ready["http"], "api_key": key})


def _settings(instance: Instance, options: UpOptions, nats: NatsServer) -> dict[str, dict[str, Any]]:
    return {
        "lifecycle": {
            "address": instance.socket("lifecycle"),
            "instance": instance.name,
            "secrets_dir": str(instance.home / "lifecycle"),
            "host": _host(instance, "lifecycle"),
            "bus": _bus(instance, "lifecycle", nats),
            "runtime": {"local": {"state_dir": str(instance.sandboxes), "first_id": _first_id(instance)}},
        },
        "gateway": {
            "grpc": options.grpc,
            "http": options.http,
            "otlp": instance.socket("otlp"),
            "services": {name: instance.socket(name) for name in ("lifecycle", *_PLAIN)},
            "bootstrap": {"file": str(instance.home / ADMIN_KEY_FILE)},
            "events": {
                "access_dir": str(access_files(instance).directory),
                "nats_pid_file": str(instance.nats / "nats-server.pid"),
            },
            "host": _host(instance, "gateway"),
            "bus": _bus(instance, "gateway", nats),
        },
        **{name: {"server": {"address": instance.socket(name)}, "host": _host(instance, name)} for name in _PLAIN},
    }


def _host(instance: Instance, name: str) -> dict[str, Any]:
    return {"ready_file": str(_ready_file(instance, name)), "telemetry": {"otlp_address": instance.socket("otlp")}}


def _bus(instance: Instance, name: str, nats: NatsServer) -> dict[str, Any]:
    return {"url": nats.url, "user": name, "password_file": str(access_files(instance).password(name))}


def _first_id(instance: Instance) -> int:
    """Return where the instance's ids of the host begin: instances side by side are unlikely to share any."""
    return _FIRST_ID + int(instance.name, 16) % _ID_RANGES * _IDS_PER_INSTANCE


def _ready_file(instance: Instance, name: str) -> Path:
    return instance.run / f"{name}.ready"
