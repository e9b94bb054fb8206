"""`arenero key …`: who may use the platform."""

from __future__ import annotations

from typing import Any

import click

from arenero.cli.options import DURATION
from arenero.cli.output import age, enum_word, message_dict, note, output_option, print_record, print_rows, until
from arenero.cli.running import asynchronous, client
from arenero.sdk.types import Key, KeyKind, KeyScope

COLUMNS = ("id", "tenant", "name", "kind", "scopes", "hint", "age", "expires", "state")


@click.group()
def key() -> None:
    """Create, list and revoke the keys that open the platform. Needs a key with the admin scope."""


@key.command("create")
@click.argument("name", default="")
@click.option("--tenant", default="", help="Tenant that it opens.  [default: that of the key in use]")
@click.option("--events", "is_events", is_flag=True, help="Read-only NATS credentials for the tenant's events instead.")
@click.option(
    "--scope", "scopes", multiple=True, type=click.Choice(["tenant", "read", "admin"]), help="What it may do."
)
@click.option("--ttl", type=DURATION, help="How long it is good for.  [default: until revoked]")
@output_option
@asynchronous
async def create(
    name: str, tenant: str, is_events: bool, scopes: tuple[str, ...], ttl: float | None, output: str
) -> None:
    """Create a key and print its secret, which is shown only now."""
    kind = KeyKind.EVENTS if is_events else KeyKind.API
    async with client() as connection:
        answer = await connection.create_key(
            name, tenant=tenant, kind=kind, scopes=tuple(KeyScope[scope.upper()] for scope in scopes), ttl_s=ttl
        )
    if output == "json":
        print_record(message_dict(answer), output)
    elif answer.nats is not None:
        _print_nats(message_dict(answer.nats))
    else:
        click.echo(answer.secret)
        note("this is the only time that it is shown")


def _print_nats(nats: dict[str, Any]) -> None:
    consumers = nats.pop("consumers", [])
    print_record(nats, "table")
    for consumer in consumers:
        click.echo(f"consumer  {consumer['stream']}/{consumer['name']} ({consumer['filter']})")
    note("this is the only time that the password is shown")


@key.command("list")
@click.option("--tenant", default="", help="Only those of this tenant.")
@click.option("-a", "--all", "include_ended", is_flag=True, help="Revoked and expired keys too.")
@output_option
@asynchronous
async def list_command(tenant: str, include_ended: bool, output: str) -> None:
    """List keys, newest first, without their secrets."""
    async with client() as connection:
        keys = [found async for found in connection.list_keys(tenant=tenant, include_ended=include_ended)]
    print_rows([message_dict(found) if output == "json" else _row(found) for found in keys], COLUMNS, output)


@key.command("revoke")
@click.argument("key_ids", nargs=-1, required=True)
@asynchronous
async def revoke(key_ids: tuple[str, ...]) -> None:
    """End keys at once, and print the id of each."""
    async with client() as connection:
        for key_id in key_ids:
            await connection.revoke_key(key_id)
            click.echo(key_id)


@key.command("whoami")
@output_option
@asynchronous
async def whoami(output: str) -> None:
    """Show the key in use."""
    async with client() as connection:
        found = await connection.who_am_i()
    print_record(message_dict(found) if output == "json" else _row(found), output)


def _row(found: Key) -> dict[str, Any]:
    return {
        "id": found.id,
        "tenant": found.tenant,
        "name": found.name,
        "kind": enum_word(found.kind),
        "scopes": [enum_word(scope) for scope in found.scopes],
        "hint": found.hint,
        "age": age(found.created_at),
        "expires": until(found.expires_at),
        "state": "revoked" if found.revoked_at else "active",
    }
