"""The `arenero` command."""

from __future__ import annotations

from importlib import import_module, metadata

import click

_COMMANDS = {
    "up": "arenero.cli.platform.commands:up",
    "down": "arenero.cli.platform.commands:down",
    "status": "arenero.cli.platform.commands:status",
    "env": "arenero.cli.platform.commands:env",
    "doctor": "arenero.cli.doctor:doctor",
    "run": "arenero.cli.execs:run",
    "sandbox": "arenero.cli.sandboxes:sandbox",
    "exec": "arenero.cli.execs:exec_command",
    "shell": "arenero.cli.execs:shell",
    "ps": "arenero.cli.execs:ps",
    "cp": "arenero.cli.copying:cp",
    "events": "arenero.cli.events:events",
    "trace": "arenero.cli.traces:trace",
    "key": "arenero.cli.keys:key",
}
"""Where each command is; imported when it is used, so that `arenero --help` is quick."""


class Commands(click.Group):
    """The commands, in the order in which a newcomer meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return their names."""
        return [*_COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one."""
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--address", envvar="ARENERO_ADDRESS", help="The platform's gRPC address.  [default: the one running here]"
)
@click.option("--api-key", envvar="ARENERO_API_KEY", help="Key that opens it.  [default: found in ARENERO_HOME]")
@click.version_option(metadata.version("arenero"), prog_name="arenero")
def main(address: str | None, api_key: str | None) -> None:
    """Arenero: sandboxes for untrusted code.

    Begin with `arenero up`, then `arenero run -- uname -a`.
    """


if __name__ == "__main__":
    main()
