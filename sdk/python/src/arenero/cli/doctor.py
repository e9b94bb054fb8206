"""`arenero doctor`: which runtimes can be used on the platform's host, why not, and how to fix it."""

from __future__ import annotations

import click

from arenero.cli.output import message_dict, output_option, print_json
from arenero.cli.running import EXIT_FAILED, asynchronous, client
from arenero.sdk.types import Runtime, RuntimeCheck


@click.command()
@click.option("--runtime", "name", default="", help="Only this runtime.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; only exit with 1 when one can't be used.")
@output_option
@asynchronous
async def doctor(name: str, quiet: bool, output: str) -> int:
    """Show per runtime whether it can be used here, what was tried, and how to fix what failed.

    Exits with 1 when the named runtime, or every one, can't be used.
    """
    async with client() as connection:
        runtimes = [found for found in await connection.runtimes() if name in ("", found.name)]
    if not runtimes:
        raise click.UsageError(f"there is no runtime {name!r}")
    if not quiet and output == "json":
        print_json([message_dict(found) for found in runtimes])
    elif not quiet:
        for found in runtimes:
            _print(found)
    return 0 if any(found.usable for found in runtimes) else EXIT_FAILED


def _print(found: Runtime) -> None:
    default = " (default)" if found.is_default else ""
    click.echo(f"{found.name}{default}: {'usable' if found.usable else 'NOT usable: ' + found.reason}")
    if found.fix:
        click.echo(f"  fix: {found.fix}")
    for check in found.checks:
        click.echo(f"  {_word(found, check)} {check.name}: {check.message}".rstrip(": "))
        if check.fix and not check.ok:
            click.echo(f"       fix: {check.fix}")
    if found.capabilities:
        click.echo(f"  can: {', '.join(found.capabilities)}")


def _word(found: Runtime, check: RuntimeCheck) -> str:
    """Say how a check went; of a runtime that can be used none has failed, but more may be had."""
    if check.ok:
        return "ok  "
    return "warn" if found.usable else "FAIL"
