"""The settings that every service has: put `host: HostConfig` into the service's own dataclass."""

from __future__ import annotations

from dataclasses import dataclass, field

from arenero.telemetry.config import TelemetryConfig


@dataclass(frozen=True, slots=True)
class HostConfig:
    """How a process runs."""

    grace_s: float = 10.0
    """How long calls under way may take when the process is told to stop; supervisors kill after 15 to 30 s."""
    ready_file: str = ""
    """Written when calls are taken: JSON with `pid`, `addresses` and what the service itself announces. Empty: none."""
    telemetry: TelemetryConfig = field(default_factory=TelemetryConfig)

    def __post_init__(self) -> None:
        if not 0 <= self.grace_s <= 3600:
            raise ValueError("grace_s must be from 0 to 3600")
