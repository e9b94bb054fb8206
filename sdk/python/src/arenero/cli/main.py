"""The `arenero` command."""

from __future__ import annotations

from importlib import import_module

import click

from arenero.cli.entry import loading

_COMMANDS = {
    "up": ("arenero.cli.platform.commands:up", "Start the platform on this machine."),
    "down": ("arenero.cli.platform.commands:down", "Stop it and end its sandboxes."),
    "status": ("arenero.cli.platform.commands:status", "Show whether it runs, and its services."),
    "env": ("arenero.cli.platform.commands:env", "Print where it is, for other clients."),
    "doctor": ("arenero.cli.doctor:doctor", "Show which runtimes can be used, and how to fix the rest."),
    "run": ("arenero.cli.execs:run", "Run a command in a new sandbox."),
    "sandbox": ("arenero.cli.sandboxes:sandbox", "Create, list, look at, change and delete sandboxes."),
    "exec": ("arenero.cli.execs:exec_command", "Run a command in a sandbox."),
    "shell": ("arenero.cli.execs:shell", "Open a shell in a sandbox."),
    "ps": ("arenero.cli.execs:ps", "List the processes of a sandbox."),
    "cp": ("arenero.cli.copying:cp", "Copy files into, out of and between sandboxes."),
    "events": ("arenero.cli.events:events", "Print what has happened, and what happens."),
    "trace": ("arenero.cli.traces:trace", "Print what a request caused in all services."),
    "key": ("arenero.cli.keys:key", "Create, list and revoke keys."),
}
"""Where each command is, and what the list of commands says of it; imported only when it is used."""


class Commands(click.Group):
    """The commands, in the order in which a newcomer meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return their names."""
        return [*_COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one."""
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name][0].partition(":")
        with loading():
            command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list, without importing what it lists."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--address", envvar="ARENERO_ADDRESS", help="The platform's gRPC address.  [default: the one running here]"
)
@click.option("--api-key", envvar="ARENERO_API_KEY", help="Key that opens it.  [default: found in ARENERO_HOME]")
@click.option("-o", "--output", type=click.Choice(["table", "json"]), help="How commands print their results.")
@click.version_option(package_name="arenero", prog_name="arenero")
def main(address: str | None, api_key: str | None, output: str | None) -> None:
    """Arenero: sandboxes for untrusted code.

    Begin with `arenero up`, then `arenero run -- uname -a`.
    """


if __name__ == "__main__":
    from arenero.cli.entry import run

    run()
