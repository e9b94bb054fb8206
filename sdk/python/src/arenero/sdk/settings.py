"""Where the platform is and which key opens it.

In this order: what the caller passes; `ARENERO_ADDRESS` and `ARENERO_API_KEY`; the file that `arenero up` leaves in its
state directory (`ARENERO_HOME`, else the usual place), which only its owner can read.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

CLIENT_FILE = "client.json"


@dataclass(frozen=True, slots=True)
class Settings:
    """How to reach the platform."""

    address: str
    """Of the gateway's gRPC, `host:port` or `unix:…`."""
    api_key: str = field(repr=False)
    http_url: str = ""
    """Of the gateway's HTTP; empty when unknown."""
    prefer_direct: bool = True
    """Talk to a sandbox's execd directly where its socket can be reached, past the gateway."""
    answer_s: float = 30.0
    """How long to wait for the answer to a control call; what takes long by itself, as a creation, gets it on top."""
    reconnect_s: float = 15.0
    """How long to try to go on after a connection broke: longer than a service that crashed takes to be back."""


def default_home() -> Path:
    """Return the state directory: `ARENERO_HOME`, else /var/lib/arenero for root, ~/.local/state/arenero for others."""
    if home := os.environ.get("ARENERO_HOME"):
        return Path(home).absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/arenero")
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local/state") / "arenero"


def load(address: str | None = None, api_key: str | None = None) -> Settings:
    """Find the address and the key.

    Raises:
        Unavailable: No platform is known here.
        Unauthenticated: A platform is known, but no key for it.
    """
    # Loaded here, since who only wants to know the state directory shouldn't wait for gRPC.
    from arenero.sdk.errors import Unauthenticated, Unavailable

    direct = os.environ.get("ARENERO_DIRECT", "1") not in ("0", "false", "no")
    address = address or os.environ.get("ARENERO_ADDRESS", "")
    api_key = api_key or os.environ.get("ARENERO_API_KEY", "")
    if address and api_key:
        return Settings(address=address, api_key=api_key, http_url=_http_from_environment(), prefer_direct=direct)
    local = read_client_file(default_home())
    if local is None:
        if address:
            raise Unauthenticated("no API key", reason="NO_API_KEY", fix="set ARENERO_API_KEY, or pass api_key")
        raise Unavailable(
            "no platform is running here and ARENERO_ADDRESS is not set",
            reason="NO_ADDRESS",
            fix="start one with `arenero up`, or set ARENERO_ADDRESS and ARENERO_API_KEY",
        )
    if address and address != local["grpc"]:
        raise Unauthenticated("no API key for this address", reason="NO_API_KEY", fix="set ARENERO_API_KEY")
    return Settings(
        address=address or local["grpc"],
        api_key=api_key or local["api_key"],
        http_url=local.get("http", ""),
        prefer_direct=direct,
    )


def read_client_file(home: Path) -> dict[str, str] | None:
    """Read what `arenero up` left for clients on this machine; None when there is nothing to read."""
    try:
        content = json.loads((home / CLIENT_FILE).read_text())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and {"grpc", "api_key"} <= content.keys() else None


def _http_from_environment() -> str:
    domain = os.environ.get("OPEN_SANDBOX_DOMAIN", "")
    return domain if "://" in domain or not domain else f"http://{domain}"
