"""`arenero trace`: what a request caused in all services."""

from __future__ import annotations

import click

from arenero.cli.output import message_dict, output_option, print_json
from arenero.cli.running import asynchronous, client
from arenero.sdk.traces import tree

_TRACE_ID_DIGITS = 32


@click.command()
@click.argument("trace_or_sandbox_id", metavar="ID")
@click.option("--root", "root_name", default="", help="With a sandbox's id: only traces that began with this span.")
@output_option
@asynchronous
async def trace(trace_or_sandbox_id: str, root_name: str, output: str) -> None:
    """Print a trace as a tree of spans: the one with this id, or the one that created this sandbox."""
    is_trace = len(trace_or_sandbox_id) == _TRACE_ID_DIGITS
    async with client() as connection:
        if is_trace:
            found = await connection.trace(trace_or_sandbox_id)
        else:
            found = await connection.trace(
                sandbox_id=trace_or_sandbox_id, root_name=root_name or "gateway.sandbox.Create"
            )
    if output == "json":
        print_json(message_dict(found))
        return
    click.echo(f"trace {found.trace_id}, {found.duration_ns / 1e6:.1f} ms, {found.span_count} spans")
    for line in tree(found):
        click.echo(line)
