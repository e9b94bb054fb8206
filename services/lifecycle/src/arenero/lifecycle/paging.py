"""Page tokens: where a list goes on, for one filter. They hold no secret, and a forged one only moves the start."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Final

from arenero.errors import InvalidArgument
from arenero.lifecycle.index import Position, SandboxFilter
from arenero.model.ids import parse_sandbox_id

DEFAULT_SIZE: Final = 50
MAX_SIZE: Final = 1000
_NUMBER: Final = re.compile(r"[0-9]{1,18}")


def page_size(asked: int) -> int:
    """Return how many records a page holds; 0 means the default.

    Raises:
        InvalidArgument: More than a page may hold.
    """
    if asked > MAX_SIZE:
        raise InvalidArgument(f"is {asked}; at most {MAX_SIZE} are allowed", field="page.page_size")
    return asked or DEFAULT_SIZE


def encode_token(position: Position | None, wanted: SandboxFilter) -> str:
    """Return the token of the page behind a position; empty when there is none."""
    if position is None:
        return ""
    text = f"{position.created_us}.{position.id}.{_mark(wanted)}"
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode("ascii")


def decode_token(token: str, wanted: SandboxFilter) -> Position | None:
    """Return the position that a token stands for; None for the first page.

    Raises:
        InvalidArgument: It is no token of ours, or one of a list with another filter.
    """
    if not token:
        return None
    try:
        text = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True).decode("ascii")
        created_us, sandbox_id, mark = text.split(".")
        position = Position(int(_checked(created_us)), parse_sandbox_id(sandbox_id))
    except (binascii.Error, ValueError):
        raise InvalidArgument("is not a page token", reason="BAD_PAGE_TOKEN", field="page.page_token") from None
    if mark != _mark(wanted):
        message = "belongs to a list with another filter"
        raise InvalidArgument(message, reason="BAD_PAGE_TOKEN", field="page.page_token")
    return position


def _checked(number: str) -> str:
    if _NUMBER.fullmatch(number) is None:
        raise ValueError("no number")
    return number


def _mark(wanted: SandboxFilter) -> str:
    """Return a short mark of a filter, the same in every process."""
    states = sorted(state.value for state in wanted.states)
    parts = [states, sorted(wanted.metadata.items()), wanted.name, wanted.runtime]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]
