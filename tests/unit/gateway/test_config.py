from pathlib import Path

import pytest

from arenero.config.loader import load
from arenero.errors import InvalidArgument
from arenero.gateway.config import GatewayConfig, ServicesConfig


def loaded(**environ: str) -> GatewayConfig:
    named = {f"ARENERO_GATEWAY__{name}": value for name, value in environ.items()}
    return load(GatewayConfig, "gateway", path=None, environ=named)


def test_listens_on_this_machine_only_unless_told_otherwise() -> None:
    assert loaded().grpc.startswith("127.0.0.1:")
    assert loaded().http.startswith("127.0.0.1:")


def test_absent_services_are_left_out() -> None:
    services = ServicesConfig(lifecycle="unix:/l", snapshot="", warmpool="unix:/w", vault="")
    assert services.present() == {"lifecycle": "unix:/l", "warmpool": "unix:/w"}


def test_there_is_no_gateway_without_lifecycle() -> None:
    with pytest.raises(InvalidArgument, match="lifecycle"):
        loaded(SERVICES__LIFECYCLE="")


def test_files_for_events_keys_belong_together() -> None:
    with pytest.raises(InvalidArgument, match="belong together"):
        loaded(EVENTS__ACCESS_DIR="/a")
    both = loaded(EVENTS__ACCESS_DIR="/a", EVENTS__NATS_PID_FILE="/p")
    assert both.events.access_dir == Path("/a")
