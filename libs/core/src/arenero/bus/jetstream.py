"""JetStream's request API: one call, one table from its error codes to our classes.

Written on plain requests rather than on the client library's own JetStream layer, which hides the error codes that
tell a lost race from a full disk, and which has no batched direct get.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from arenero.bus.connection import BusConnection
from arenero.bus.log import HEADER_MESSAGE_ID, Entry
from arenero.bus.nats_py import Msg
from arenero.errors import (
    ArenError,
    Conflict,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    NotFound,
    OutcomeUnknown,
    Unavailable,
)
from arenero.model.time import from_unix_ns

API: Final = "$JS.API"
STATUS: Final = "Status"
DESCRIPTION: Final = "Description"
_CLIENT_FAULTS: Final[Mapping[int, type[ArenError]]] = {
    10014: NotFound,  # consumer not found
    10037: NotFound,  # no message found
    10054: InvalidArgument,  # message size exceeds the stream's maximum
    10059: NotFound,  # stream not found
    10071: Conflict,  # wrong last sequence
    10164: Conflict,  # wrong last sequence, while another write of the same key is in flight in a cluster
    10012: FailedPrecondition,  # a consumer can't be made or changed so
    10148: FailedPrecondition,  # consumer already exists
    10058: FailedPrecondition,  # stream name already in use
}
_KEPT: Final = frozenset({HEADER_MESSAGE_ID})
_NOT_ENABLED: Final = frozenset({10035, 10039, 10076})


async def call(
    connection: BusConnection, operation: str, body: Mapping[str, object] | None = None, *, timeout_s: float = 5.0
) -> dict[str, Any]:
    """Ask the JetStream API, such as `STREAM.INFO.SANDBOX`, and return its answer.

    For reads and idempotent requests only: a request whose answer was lost may be sent again by the caller.

    Raises:
        NotFound: No such stream, consumer or message.
        Unavailable: The server is away, JetStream is off, or it can't store.
        OutcomeUnknown: Sent and not answered.
    """
    payload = json.dumps(body).encode() if body is not None else b""
    message = await connection.request(f"{API}.{operation}", payload, timeout_s=timeout_s)
    return parse_answer(message)


async def read(connection: BusConnection, operation: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Ask for something that changes nothing: a lost answer is asked for once more, then reported as Unavailable."""
    try:
        return await call(connection, operation, body, timeout_s=connection.patience_s / 2)
    except OutcomeUnknown:
        pass
    try:
        return await call(connection, operation, body, timeout_s=connection.patience_s / 2)
    except OutcomeUnknown as error:
        raise Unavailable(error.message, reason=error.reason, retry_after_s=1.0) from error


def parse_answer(message: Msg) -> dict[str, Any]:
    """Return the JSON of an answer, or raise what its error means."""
    if status_of(message) == "503":
        raise Unavailable("JetStream is not ready", reason="BUS_NO_RESPONDERS", retry_after_s=0.2)
    answer: dict[str, Any] = json.loads(message.data)
    error = answer.get("error")
    if error:
        raise _to_error(error)
    return answer


def _to_error(error: Mapping[str, Any]) -> ArenError:
    code, text = int(error.get("err_code", 0)), str(error.get("description", ""))
    metadata = {"jetstream_code": str(code)}
    if kind := _CLIENT_FAULTS.get(code):
        return kind(text, metadata=metadata)
    if code in _NOT_ENABLED:
        return Unavailable(f"JetStream is off: {text}", reason="BUS_NO_JETSTREAM", metadata=metadata)
    if int(error.get("code", 0)) >= 500 or error.get("code") == 503:
        return Unavailable(f"the log can't store: {text}", reason="BUS_STORE", retry_after_s=1.0, metadata=metadata)
    return Internal(f"JetStream refused: {text}", reason="BUS_REFUSED", metadata=metadata)


def status_of(message: Msg) -> str:
    """Return the status code of a control message, empty for a message with content."""
    return (message.headers or {}).get(STATUS, "")


def direct_entry(message: Msg) -> Entry:
    """Make an entry of an answer to a direct get: the facts are in its headers."""
    facts = message.headers or {}
    time = parse_time(facts["Nats-Time-Stamp"])
    return Entry(facts["Nats-Subject"], int(facts["Nats-Sequence"]), time, message.data, _own_headers(facts))


def delivered_entry(message: Msg) -> tuple[Entry, int]:
    """Make an entry of a delivered message; also return its number in the consumer.

    The facts are in the reply subject: `$JS.ACK[.domain.account].stream.consumer.tries.sequence.number.time.pending`.
    """
    tokens = message.reply.split(".")
    facts = tokens[7:10] if len(tokens) >= 11 else tokens[5:8]
    sequence, number, time_ns = (int(token) for token in facts)
    headers = _own_headers(message.headers or {})
    return Entry(message.subject, sequence, from_unix_ns(time_ns), message.data, headers), number


def attempt_of(message: Msg) -> int:
    """Return how often a delivered message has been delivered, 1 for the first time."""
    tokens = message.reply.split(".")
    return int(tokens[6] if len(tokens) >= 11 else tokens[4])


def _own_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Drop what the server and the guard added: a reader sees what the writer gave."""
    return {name: value for name, value in headers.items() if name in _KEPT or not name.startswith("Nats-")}


def parse_time(text: str) -> datetime:
    """Parse RFC 3339 with up to nine digits of a second; a datetime holds six."""
    head, _, fraction = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(f"{head}.{fraction[:6]:0<6}+00:00")
