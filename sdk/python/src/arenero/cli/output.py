"""What the command prints: tables for people, JSON for programs, progress on the error stream.

Standard output carries results only, so that it can be piped; everything else goes to standard error, and progress is
shown only on a terminal.
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import click

if TYPE_CHECKING:
    import betterproto2

Row = Mapping[str, Any]

_UNPRINTABLE: Final = re.compile("[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]")
"""What JSON lets through and a terminal, or an encoder, should not get: control characters, invisible ones, halves."""


FORMATS: Final = click.Choice(["table", "json"])


def output_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `-o table|json`; the same option before the command's name counts where this one isn't given."""
    text = "How to print the result.  [default: table]"
    return click.option("-o", "--output", "output", type=FORMATS, callback=_chosen, help=text)(command)


def _chosen(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
    return value or ctx.find_root().params.get("output") or "table"


def print_rows(rows: Iterable[Row], columns: Sequence[str], output: str) -> None:
    """Print rows as an aligned table of some columns, or as a JSON array with all of them."""
    listed = list(rows)
    if output == "json":
        print_json(listed)
        return
    cells = [
        [column.upper() for column in columns],
        *([_cell(row.get(column)) for column in columns] for row in listed),
    ]
    widths = [max(len(line[index]) for line in cells) for index in range(len(columns))]
    for line in cells:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def print_record(record: Row, output: str) -> None:
    """Print one record as lines of name and value, or as a JSON object."""
    if output == "json":
        print_json(record)
        return
    shown = {name: value for name, value in record.items() if value not in (None, "", [], {})}
    width = max((len(name) for name in shown), default=0)
    for name, value in shown.items():
        click.echo(f"{plain(name).ljust(width)}  {_cell(value)}")


def print_json(value: Any) -> None:
    """Print JSON, indented on a terminal and on one line elsewhere."""
    click.echo(json_text(value, indent=2 if sys.stdout.isatty() else None))


def json_text(value: Any, *, indent: int | None = None) -> str:
    """Write JSON that is safe to show: what could change the screen is escaped."""
    text = json.dumps(value, indent=indent, default=_jsonable, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def plain(text: str) -> str:
    """Return text that can't move the cursor or colour the screen, whoever wrote it."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def note(text: str) -> None:
    """Tell the person something that is not a result."""
    click.echo("\n".join(map(plain, text.split("\n"))), err=True)


def message_dict(message: betterproto2.Message) -> dict[str, Any]:
    """Turn a message into what JSON shows.

    Field names are those of the proto, times RFC 3339, durations seconds as `1.5s`, numbers numbers, bytes base64, and
    values of enums one word in lower case. What has its default value is left out.
    """
    import betterproto2

    shown: dict[str, Any] = _simple(
        message.to_dict(casing=betterproto2.Casing.SNAKE, output_format=betterproto2.OutputFormat.PYTHON)
    )
    return shown


def enum_word(value: betterproto2.Enum) -> str:
    """Return what an enum's value is called; a number when this version doesn't know it."""
    return value.name.lower() if value.name else str(int(value))


def _simple(value: Any) -> Any:
    import betterproto2

    if isinstance(value, Mapping):
        return {name: _simple(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_simple(item) for item in value]
    if isinstance(value, betterproto2.Enum):
        return enum_word(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return f"{value.total_seconds():.6f}".rstrip("0").rstrip(".") + "s"
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value


def age(moment: datetime | None) -> str:
    """Say how long ago something was, as `3m12s`."""
    return duration_text(datetime.now(UTC) - moment) if moment is not None else ""


def until(moment: datetime | None) -> str:
    """Say how far away something is; empty for never."""
    return duration_text(moment - datetime.now(UTC)) if moment is not None else ""


def duration_text(span: timedelta) -> str:
    """Write a duration with its two largest units."""
    seconds = max(0, int(span.total_seconds()))
    for unit_s, unit, rest_s, rest in ((86400, "d", 3600, "h"), (3600, "h", 60, "m"), (60, "m", 1, "s")):
        if seconds >= unit_s:
            return f"{seconds // unit_s}{unit}{seconds % unit_s // rest_s}{rest}"
    return f"{seconds}s"


def size_text(size_bytes: int) -> str:
    """Write a size with a binary unit."""
    size = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError("unreachable")


class Progress:
    """A line on a terminal that says what goes on; nothing elsewhere, and nothing for work that is over at once."""

    def __init__(self, text: str, *, total_bytes: int = 0, after_s: float = 0.5) -> None:
        self._text = text
        self._total_bytes = total_bytes
        self._after_s = after_s
        self._started_s = time.monotonic()
        self._shown_s = 0.0
        self._width = 0
        self._is_on = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def update(self, done_bytes: int) -> None:
        """Show how much is done."""
        now_s = time.monotonic()
        if not self._is_on or now_s - self._started_s < self._after_s or now_s - self._shown_s < 0.1:
            return
        self._shown_s = now_s
        rate = size_text(int(done_bytes / (now_s - self._started_s)))
        share = f" of {size_text(self._total_bytes)}" if self._total_bytes else ""
        self._write(f"{self._text} {size_text(done_bytes)}{share}, {rate}/s")

    def step(self, text: str) -> None:
        """Show what is being done."""
        if self._is_on:
            self._write(f"{self._text} {text} ({time.monotonic() - self._started_s:.1f} s)")

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wipe the line."""
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()

    def _write(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = max(self._width, len(line))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ",".join(f"{_cell(key)}={_cell(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_cell(item) for item in value)
    return plain(str(value))


def _jsonable(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return str(value)
