"""`arenero events`: what has happened, and what happens."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import betterproto2
import click

from arenero.cli.options import DURATION
from arenero.cli.output import json_text, message_dict, output_option, plain
from arenero.cli.running import asynchronous, client
from arenero.sdk.types import Event, EventFilter


@click.command()
@click.argument("sandbox_id", default="")
@click.option("-f", "--follow", is_flag=True, help="Go on with new events until Ctrl-C.")
@click.option("--since", type=DURATION, help="Only events of the last so long, for example 10m.")
@click.option(
    "--subject", "subjects", multiple=True, help="Subject without the tenant, for example 'sandbox.*.terminated'."
)
@click.option("--limit", type=int, default=0, help="Most events to print.  [default: no limit]")
@output_option
@asynchronous
async def events(
    sandbox_id: str, follow: bool, since: float | None, subjects: tuple[str, ...], limit: int, output: str
) -> None:
    """Print the events of a sandbox, or of all of this tenant's. With -o json one object per line."""
    wanted = EventFilter(sandbox_id=sandbox_id, subjects=[*subjects])
    start = datetime.now(UTC) - timedelta(seconds=since) if since is not None else None
    async with client() as connection:
        if follow and sandbox_id:
            await connection.get(sandbox_id)  # nothing would ever come of one that isn't there
        if follow:
            stream = connection.follow(wanted, from_time=start, from_beginning=start is None and bool(sandbox_id))
        else:
            stream = connection.replay(wanted, from_time=start, limit=limit)
        printed = 0
        async for event in stream:
            click.echo(json_text(message_dict(event)) if output == "json" else event_line(event))
            printed += 1
            if printed == limit:
                return
        if sandbox_id and not printed:
            await connection.get(sandbox_id)  # that nothing has happened is no answer about one that isn't there


def event_line(event: Event) -> str:
    """Write an event on one line: time, subject, and what is particular to it."""
    moment = event.time.astimezone(UTC).strftime("%H:%M:%S.%f")[:-3] if event.time else ""
    words = " ".join(f"{name}={_short(value)}" for name, value in fact_fields(event).items())
    return plain(f"{moment}  {event.subject}  {words}".rstrip())


def fact_fields(event: Event) -> dict[str, Any]:
    """Return the fields of an event's fact, without the record."""
    noun = event.sandbox or event.activity
    if noun is None:
        return {}
    _, fact = betterproto2.which_one_of(noun, "fact" if event.sandbox else "kind")
    return message_dict(fact) if isinstance(fact, betterproto2.Message) else {}


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json_text(value)
    return text if text and " " not in text else json_text(text)
