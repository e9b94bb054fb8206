"""The list of commands."""

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from arenero.api.events.v1 import event_pb2, event_service_pb2
from arenero.api.lifecycle.v1 import sandbox_service_pb2
from arenero.cli.main import _COMMANDS, Commands, main
from tests.unit.sdk.wire import WirePair, record


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_can_be_used_and_has_help(name: str) -> None:
    shown = CliRunner().invoke(main, [name, "--help"])
    assert shown.exit_code == 0, shown.output
    assert f"main {name}" in shown.output
    assert len(shown.output.splitlines()) > 4


def test_list_is_in_the_order_in_which_a_newcomer_meets_them() -> None:
    shown = CliRunner().invoke(main, ["--help"]).output
    places = [shown.index(f"\n  {name} ") for name in _COMMANDS]
    assert places == sorted(places)
    assert all(summary in shown for _, summary in _COMMANDS.values())


@pytest.mark.parametrize("command", [["--help"], ["--version"]])
def test_list_loads_no_command(command: list[str]) -> None:
    code = f"""
import sys
from arenero.cli.main import main
try:
    main({command!r})
except SystemExit:
    pass
print([name for name in sys.modules if name == "grpc" or name.startswith(("arenero.sdk", "arenero.cli."))])
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-1] == "['arenero.cli.entry', 'arenero.cli.main']"


def test_commands_of_the_platform_load_no_grpc() -> None:
    code = "import arenero.cli.platform.commands, sys; print('grpc' in sys.modules, 'betterproto2' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "False False\n"


def test_unknown_command_is_wrong_usage() -> None:
    shown = CliRunner().invoke(main, ["nope"])
    assert shown.exit_code == 2
    assert "No such command 'nope'" in shown.output
    assert Commands("x").get_command(click.Context(main), "nope") is None


@pytest.mark.parametrize(
    ("before", "after", "is_json"),
    [
        ((), (), False),
        (("-o", "json"), (), True),
        (("--output", "json"), ("-o", "table"), False),
        ((), ("-o", "json"), True),
    ],
)
def test_output_can_be_chosen_before_and_after_the_command(
    wires: WirePair, arenero, before: tuple[str, ...], after: tuple[str, ...], is_json: bool
) -> None:
    wires.gateway.on("List", sandbox_service_pb2.ListResponse(sandboxes=[record()]))
    wires.gateway.on("Replay", [event_service_pb2.ReplayResponse(event=event_pb2.Event(id="evt_1"))])
    shown = arenero(*before, "sandbox", "list", *after)
    assert shown.exit_code == 0, shown.output
    assert (shown.stdout.startswith("["), shown.stdout.startswith("ID ")) == (is_json, not is_json)
    assert arenero(*before, "events", *after).stdout.startswith("{") == is_json
