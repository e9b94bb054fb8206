"""Fixtures of the command's tests."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arenero.cli.main import main
from tests.unit.sdk.wire import WirePair, wire_pair_elsewhere


@pytest.fixture
def wires() -> Iterator[WirePair]:
    """A gateway and an execd that say what a test tells them, on an event loop of their own."""
    with wire_pair_elsewhere() as pair:
        yield pair


@pytest.fixture
def environment(wires: WirePair, tmp_path: Path) -> dict[str, str]:
    """What a shell has after `eval "$(arenero env)"`."""
    return {
        "ARENERO_ADDRESS": wires.gateway.address,
        "ARENERO_API_KEY": "key-1",
        "ARENERO_HOME": str(tmp_path),
        "COLUMNS": "200",
    }


@pytest.fixture
def arenero(environment: dict[str, str]) -> Callable[..., Result]:
    """Run the command in this process."""

    def run(*args: str) -> Result:
        return CliRunner().invoke(main, args, env=environment)

    return run
