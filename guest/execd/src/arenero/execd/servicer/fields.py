"""Reading fields of requests: checked, converted, and named in the error when they are wrong."""

from __future__ import annotations

import re
import signal
import uuid
from collections.abc import Iterable, Mapping
from typing import Final

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from arenero.api.execd.v1 import exec_pb2
from arenero.errors import InvalidArgument
from arenero.execd.output import Stream
from arenero.model.ids import parse_exec_id

MAX_DURATION_S: Final = 10 * 365 * 86_400.0
MIN_HEARTBEAT_S: Final = 0.1
MAX_HEARTBEAT_S: Final = 3_600.0
_TRACEPARENT: Final = re.compile(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")


def invalid(field: str, message: str) -> InvalidArgument:
    """Return the error for a field."""
    return InvalidArgument(message, field=field)


def exec_id_of(text: str, field: str = "exec_id") -> str:
    """Return an exec id in its one form.

    Raises:
        InvalidArgument: It is none.
    """
    if not text:
        raise invalid(field, "is empty")
    try:
        return parse_exec_id(text)
    except ValueError as error:
        raise invalid(field, str(error)) from None


def new_exec_id_of(text: str, field: str = "exec_id") -> str:
    """Return the client's exec id, or a new one when it left the choice to execd."""
    return exec_id_of(text, field) if text else str(uuid.uuid4())


def seconds_of(message: Message, name: str, *, low_s: float = 0.0, high_s: float = MAX_DURATION_S) -> float | None:
    """Return a duration field in seconds, None when it is unset.

    Raises:
        InvalidArgument: It is not within [low_s, high_s].
    """
    if not message.HasField(name):
        return None
    duration: Duration = getattr(message, name)
    value_s = duration.seconds + duration.nanos / 1e9
    if not low_s <= value_s <= high_s:
        raise invalid(name, f"is {value_s:g} s; it must be from {low_s:g} to {high_s:g} s")
    return value_s


def heartbeat_of(message: Message) -> float | None:
    """Return the wanted interval of heartbeats in seconds, None when none are wanted."""
    return seconds_of(message, "heartbeat_interval", low_s=MIN_HEARTBEAT_S, high_s=MAX_HEARTBEAT_S)


def at_most(field: str, value: int, high: int, low: int = 0) -> int:
    """Return the value.

    Raises:
        InvalidArgument: It is not within [low, high].
    """
    if not low <= value <= high:
        raise invalid(field, f"is {value}; it must be from {low} to {high}")
    return value


def traceparent_of(metadata: Mapping[str, str]) -> str:
    """Return the caller's W3C trace context; empty when it sent none that makes sense."""
    value = metadata.get("traceparent", "")
    return value if _TRACEPARENT.fullmatch(value) else ""


def signal_named(name: str, field: str) -> int:
    """Return the number of a signal by its name, with or without `SIG`.

    Raises:
        InvalidArgument: There is no such signal.
    """
    try:
        return int(signal.Signals[f"SIG{name.upper().removeprefix('SIG')}"])
    except KeyError:
        raise invalid(field, f"is {name[:32]!r}, which is no signal") from None


def offsets_of(messages: Iterable[exec_pb2.StreamOffset], field: str) -> Mapping[Stream, int]:
    """Return places by stream.

    Raises:
        InvalidArgument: One names no stream.
    """
    return {stream_of(message.stream, field): message.offset for message in messages}


def stream_of(number: int, field: str) -> Stream:
    """Return an output stream by the API's number.

    Raises:
        InvalidArgument: There is no such stream.
    """
    try:
        return Stream(number)
    except ValueError:
        raise invalid(field, f"names the stream {number}, which this execd doesn't know") from None
