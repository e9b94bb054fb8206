"""The settings of lifecycle."""

from pathlib import Path

import pytest

from arenero.config.loader import load
from arenero.config.render import to_toml
from arenero.errors import InvalidArgument
from arenero.lifecycle.config import LifecycleConfig


def read(tmp_path: Path, text: str = "", **environ: str) -> LifecycleConfig:
    path = tmp_path / "lifecycle.toml"
    path.write_text(text)
    return load(LifecycleConfig, "lifecycle", path=path, environ=environ)


def test_file_and_environment_reach_every_table(tmp_path: Path) -> None:
    text = """
    runtimes = ["fake"]
    [admission]
    tenant_limits = { acme = 3 }
    [runtime.fake]
    start_s = 0.5
    """
    config = read(
        tmp_path, text, ARENERO_LIFECYCLE__RUNTIME__FAKE__STATE_DIR="/x", ARENERO_LIFECYCLE__BUS__URL="nats://n"
    )
    assert config.admission.tenant_limits == {"acme": 3}
    assert (config.runtime.fake.start_s, config.runtime.fake.state_dir, config.bus.url) == (0.5, "/x", "nats://n")


def test_what_is_printed_can_be_read(tmp_path: Path) -> None:
    config = read(tmp_path, 'runtimes = ["fake", "local"]')
    assert read(tmp_path, to_toml(config)) == config


@pytest.mark.parametrize(
    "text",
    [
        "runtimes = []",
        'default_runtime = "docker"',
        "[work]\nsweep_s = 0.0",
        "[work]\nmin_backoff_s = -1.0",
        "[work]\nconcurrent_recoveries = 0",
        "[admission]\nconcurrent_creates = 0",
        "[admission]\nsandboxes_per_tenant = -1",
        "[lifetime]\nstart_timeout_s = 0.0",
        "[lifetime]\nhistory_s = -1.0",
        "[resources]\ncpus = 0.0",
        "[resources]\nmemory_bytes = 1",
        'default_template = "Not A Name"',
        "nonsense = 1",
    ],
)
def test_a_setting_that_cannot_work_stops_the_start(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidArgument):
        read(tmp_path, text)
