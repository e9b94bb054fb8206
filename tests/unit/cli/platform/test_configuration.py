"""What services are told: TOML that says what was meant, nothing secret in it."""

import json
import tomllib
from pathlib import Path

import pytest

from arenero.bus.server import NatsServer
from arenero.cli.platform.configuration import (
    ADMIN_KEY_FILE,
    SERVICES,
    UpOptions,
    _settings,
    access_files,
    client_settings,
    drain_command,
    nats_config,
    service_specs,
)
from arenero.cli.platform.instance import Instance


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    made = Instance(tmp_path / "home")
    made.prepare()
    access_files(made).install()
    return made


def test_every_service_has_its_own_socket_log_user_and_ready_file(instance: Instance) -> None:
    options = UpOptions(grpc="127.0.0.1:0", http="127.0.0.1:0")
    specs = service_specs(instance, options, NatsServer(nats_config(instance, options)))
    assert [spec.name for spec in specs] == [*SERVICES]
    assert len({spec.ready_file for spec in specs}) == len(SERVICES)
    for spec in specs:
        assert spec.config_file.stat().st_mode & 0o777 == 0o600
        settings = tomllib.loads(spec.config_file.read_text())
        assert settings["host"]["ready_file"] == str(spec.ready_file)
        if "bus" in settings:
            assert settings["bus"]["user"] == spec.name
            assert Path(settings["bus"]["password_file"]).read_text() not in spec.config_file.read_text()


def test_client_settings_hold_the_key_and_the_addresses(instance: Instance) -> None:
    (instance.home / ADMIN_KEY_FILE).write_text("ark_secret\n")
    settings = json.loads(client_settings(instance, {"grpc": "127.0.0.1:1", "http": "http://127.0.0.1:2", "pid": 3}))
    assert settings == {"version": 1, "grpc": "127.0.0.1:1", "http": "http://127.0.0.1:2", "api_key": "ark_secret"}


def test_draining_uses_the_configuration_of_lifecycle(instance: Instance) -> None:
    assert drain_command(instance)[-3:] == ["--config", str(instance.home / "config/lifecycle.toml"), "--drain"]


def test_flushing_is_asked_of_nats(instance: Instance) -> None:
    assert nats_config(instance, UpOptions("", "", sync_always=True)).sync_always


def test_ids_of_the_host_are_above_its_own_and_below_the_end(tmp_path: Path) -> None:
    for number in range(200):
        made = Instance(tmp_path / str(number))
        settings = _settings(made, UpOptions("", ""), NatsServer(nats_config(made, UpOptions("", ""))))
        first = settings["lifecycle"]["runtime"]["local"]["first_id"]
        assert 65_536 <= first < first + 4_096 * 65_536 <= 2**32
