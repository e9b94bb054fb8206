"""`arenero sandbox …`: create, list, look at, change and delete sandboxes."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Callable
from typing import Any

import click

from arenero.cli.options import DURATION, MIB, PAIR, Size
from arenero.cli.output import (
    Progress,
    age,
    enum_word,
    message_dict,
    note,
    output_option,
    print_record,
    print_rows,
    size_text,
    until,
)
from arenero.cli.running import asynchronous, client
from arenero.sdk import Client, Sandbox
from arenero.sdk._alongside import alongside
from arenero.sdk.types import Sandbox as SandboxRecord
from arenero.sdk.types import SandboxState

SOURCES = ("template", "image", "rootfs", "oci_layout")
COLUMNS = ("id", "name", "state", "runtime", "source", "age", "expires", "reason")


def creation_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that describe a new sandbox; it gets them as `creation`, for `Sandbox.create`."""
    options = [
        click.option("--template", default="", help="Template to make it from.  [default: host]"),
        click.option("--image", default="", help="OCI image to make it from; no runtime of this version takes one."),
        click.option("--rootfs", default="", metavar="DIR", help="Unpacked root file system on the platform's host."),
        click.option("--oci-layout", default="", metavar="DIR", help="OCI image layout on the platform's host."),
        click.option("--runtime", default="", help="Kind of isolation; this version has local.  [default: local]"),
        click.option("--name", default="", help="Display name."),
        click.option("--ttl", type=DURATION, help="Time to live, for example 15m.  [default: until deleted]"),
        click.option(
            "--cpus", type=click.FloatRange(0.01, 1024), help="Cores, for example 0.5.  [platform's default: 2]"
        ),
        click.option(
            "--memory", type=Size(32 * MIB), help="Memory, for example 512M; at least 32M.  [platform's default: 2G]"
        ),
        click.option(
            "--pids", type=click.IntRange(16, 4_194_304), help="Processes and threads.  [platform's default: 1024]"
        ),
        click.option(
            "--disk", type=Size(16 * MIB), help="What it may write to disk; at least 16M.  [platform's default: 10G]"
        ),
        click.option("-e", "--env", type=PAIR, multiple=True, help="Variable for all of its processes. Repeatable."),
        click.option("-l", "--label", type=PAIR, multiple=True, help="Label for finding it. Repeatable."),
        click.option("--user", default="", help="Default user of its processes."),
        click.option("--workdir", default="", help="Default working directory."),
        click.option(
            "--best-effort",
            is_flag=True,
            default=lambda: os.environ.get("ARENERO_BEST_EFFORT") == "1",
            help="Accept less isolation than the standard where the host can't give it.",
        ),
        click.option("--start-timeout", type=DURATION, help="How long it may take to run.  [default: 60s]"),
    ]

    @functools.wraps(command)
    def gather(**given: Any) -> Any:
        sources = [f"--{name.replace('_', '-')}" for name in SOURCES if given[name]]
        if len(sources) > 1:
            raise click.UsageError(f"{' and '.join(sources)} each name what to make it from; give one of them")
        creation = {
            "template": given.pop("template"),
            "image": given.pop("image"),
            "rootfs_directory": given.pop("rootfs"),
            "oci_layout": given.pop("oci_layout"),
            "runtime": given.pop("runtime"),
            "name": given.pop("name"),
            "ttl_s": given.pop("ttl"),
            "cpus": given.pop("cpus"),
            "memory_bytes": given.pop("memory"),
            "pids": given.pop("pids"),
            "disk_bytes": given.pop("disk"),
            "env": dict(given.pop("env")),
            "metadata": dict(given.pop("label")),
            "user": given.pop("user"),
            "workdir": given.pop("workdir"),
            "best_effort": given.pop("best_effort"),
            "start_timeout_s": given.pop("start_timeout"),
        }
        return command(creation=creation, **given)

    for option in reversed(options):
        gather = option(gather)
    return gather


async def create(connection: Client, creation: dict[str, Any]) -> Sandbox:
    """Create a sandbox, showing progress when it takes long, and say what its isolation lacks."""
    with Progress("creating") as progress:
        sandbox = await alongside(_created(connection, creation), _tick(progress))
    if sandbox.record.isolation and sandbox.record.isolation.missing:
        note("warning: this sandbox runs with less than the standard isolation; missing:")
        for missing in sandbox.record.isolation.missing:
            note(f"  {missing}")
    return sandbox


async def _created(connection: Client, creation: dict[str, Any]) -> Sandbox:
    return await Sandbox.create(client=connection, **creation)


async def _tick(progress: Progress) -> None:
    while True:
        await asyncio.sleep(0.5)
        progress.step("…")


@click.group()
def sandbox() -> None:
    """Create, list, look at, change and delete sandboxes."""


@sandbox.command("create")
@creation_options
@output_option
@asynchronous
async def create_command(creation: dict[str, Any], output: str) -> None:
    """Create a sandbox and print its id."""
    async with client() as connection:
        made = await create(connection, creation)
        if output == "json":
            print_record(message_dict(made.record), output)
        else:
            click.echo(made.id)
        await made.close()


@sandbox.command("list")
@click.option("-a", "--all", "include_ended", is_flag=True, help="Ended sandboxes too.")
@click.option(
    "--state", "states", multiple=True, type=click.Choice([state.name.lower() for state in SandboxState if state])
)
@click.option("-l", "--label", type=PAIR, multiple=True, help="Only those with this label. Repeatable.")
@click.option("--name", default="", help="Only those of this name.")
@click.option("-q", "--quiet", is_flag=True, help="Print ids only.")
@output_option
@asynchronous
async def list_command(
    include_ended: bool,
    states: tuple[str, ...],
    label: tuple[tuple[str, str], ...],
    name: str,
    quiet: bool,
    output: str,
) -> None:
    """List sandboxes, newest first."""
    wanted = tuple(SandboxState[state.upper()] for state in states)
    async with client() as connection:
        found = connection.sandboxes(states=wanted, metadata=dict(label), name=name, include_ended=include_ended)
        records = [record async for record in found]
    if quiet:
        for record in records:
            click.echo(record.id)
        return
    rows = [message_dict(record) if output == "json" else _row(record) for record in records]
    print_rows(rows, COLUMNS, output)


@sandbox.command("get")
@click.argument("sandbox_id")
@output_option
@asynchronous
async def get_command(sandbox_id: str, output: str) -> None:
    """Show one sandbox."""
    async with client() as connection:
        record = await connection.get(sandbox_id)
    print_record(message_dict(record) if output == "json" else _details(record), output)


@sandbox.command("delete")
@click.argument("sandbox_ids", nargs=-1)
@click.option("--all", "every", is_flag=True, help="All sandboxes of this tenant.")
@asynchronous
async def delete_command(sandbox_ids: tuple[str, ...], every: bool) -> None:
    """Delete sandboxes, and print the id of each that is gone."""
    if not sandbox_ids and not every:
        raise click.UsageError("name at least one sandbox, or give --all")
    async with client() as connection:
        if every:
            sandbox_ids = tuple([record.id async for record in connection.sandboxes()])
        for sandbox_id in sandbox_ids:
            await connection.delete(sandbox_id)
            click.echo(sandbox_id)


@sandbox.command("renew")
@click.argument("sandbox_id")
@click.argument("ttl", type=DURATION)
@click.option("--extend-only", is_flag=True, help="Never shorten its life.")
@asynchronous
async def renew_command(sandbox_id: str, ttl: float, extend_only: bool) -> None:
    """Let a sandbox live for TTL from now, for example 30m."""
    async with client() as connection:
        found = await Sandbox.connect(sandbox_id, client=connection)
        record = await found.renew(ttl, extend_only=extend_only)
        click.echo(f"expires in {until(record.expires_at)}")


@sandbox.command("label")
@click.argument("sandbox_id")
@click.argument("pairs", nargs=-1, type=PAIR)
@click.option("--remove", multiple=True, metavar="KEY", help="Label to remove. Repeatable.")
@asynchronous
async def label_command(sandbox_id: str, pairs: tuple[tuple[str, str], ...], remove: tuple[str, ...]) -> None:
    """Set and remove labels."""
    async with client() as connection:
        found = await Sandbox.connect(sandbox_id, client=connection)
        await found.update_metadata(dict(pairs), remove)


@sandbox.command("stats")
@click.argument("sandbox_id")
@output_option
@asynchronous
async def stats_command(sandbox_id: str, output: str) -> None:
    """Show what a sandbox uses, measured from outside."""
    async with client() as connection:
        found = await Sandbox.connect(sandbox_id, client=connection)
        print_record(message_dict(await found.stats()), output)


def _row(record: SandboxRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "name": record.spec.name if record.spec else "",
        "state": enum_word(record.state),
        "runtime": record.isolation.runtime if record.isolation else (record.spec.runtime if record.spec else ""),
        "source": record.source.resolved if record.source else "",
        "age": age(record.created_at),
        "expires": until(record.expires_at) if not record.ended_at else "",
        "reason": record.reason,
    }


def _limits(record: SandboxRecord) -> dict[str, Any]:
    """Return what it may use, the platform's defaults included."""
    limits = record.spec.resources if record.spec else None
    if limits is None:
        return {}
    return {
        "cpus": f"{limits.cpus:g}",
        "memory": size_text(limits.memory_bytes),
        "pids": limits.pids,
        "disk": size_text(limits.disk_bytes),
        "open files": limits.open_files,
    }


def _details(record: SandboxRecord) -> dict[str, Any]:
    row = _row(record)
    row |= {
        "expires": until(record.expires_at) or ("" if record.ended_at else "never"),
        "message": record.message,
        "generation": record.generation,
        "labels": record.spec.metadata if record.spec else {},
        **_limits(record),
    }
    if record.isolation:
        row |= {"isolated by": record.isolation.features, "not in force": record.isolation.missing}
    if record.progress:
        row |= {"doing": f"{record.progress.saga}: {record.progress.step}"}
    return row
