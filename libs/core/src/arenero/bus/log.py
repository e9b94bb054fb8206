"""The log: an append-only stream of facts that is also the database.

An `EventLog` is one stream. Every resource has a *key*, the subject space below which all its facts lie, such as
`sandbox.acme.sbx_….>`; the last message under the key is its current state, and that message's sequence is its
*revision*. A change is one append guarded by the revision it was decided on, so state and event can't disagree.

What every implementation promises (`arenero.testing.bus_suite` checks it):

- A guarded append is stored and acknowledged, or raises; of N writers that expect the same revision exactly one wins.
- An acknowledged append is there after the server was killed and started again.
- Repeating an append with the same `message_id` and expected revision stores nothing and returns the first sequence
  with `duplicate=True`, whatever was appended since. Unguarded, ids are remembered for `DUPLICATE_WINDOW_S`.
- `follow` yields every matching message once, in order, over reconnects and restarts of the server, until cancelled.

What it does not do: know what a message means (`envelope`), build subjects (`subjects`), or decide (services do).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Final, Protocol, Self

from arenero.bus.subjects import check_filter, check_subject, matches
from arenero.errors import Conflict, InvalidArgument

DUPLICATE_WINDOW_S: Final = 120.0
"""How long the log remembers message ids."""
HEADER_MESSAGE_ID: Final = "Nats-Msg-Id"
MAX_MESSAGE_BYTES: Final = 1000 * 1024
"""Largest payload: NATS takes 1 MiB including headers, and closes the connection of who sends more."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored message."""

    subject: str
    sequence: int
    """Position in the stream; for the last entry of a key, the key's revision."""
    time: datetime
    """When the server stored it, in UTC."""
    data: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def message_id(self) -> str:
        """The id by which repeats are known; empty when it was stored without one."""
        return self.headers.get(HEADER_MESSAGE_ID, "")


@dataclass(frozen=True, slots=True)
class Appended:
    """The receipt of an append."""

    sequence: int
    duplicate: bool = False
    """The message was there already, by an earlier try with the same message id."""


class Following(Protocol):
    """An open follow: an async iterator of entries that must be closed, best by `async with`."""

    def __aiter__(self) -> AsyncIterator[Entry]:
        """Return itself."""

    async def __anext__(self) -> Entry:
        """Wait for the next entry. Never ends by itself; cancelling the wait loses nothing."""

    async def close(self) -> None:
        """Stop; safe to call twice. A waiting `__anext__` ends with StopAsyncIteration."""

    async def __aenter__(self) -> Self:
        """Return itself."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""


class EventLog(Protocol):
    """One stream of facts. Filters are subjects in which `*` stands for one token and a final `>` for the rest."""

    async def append(
        self,
        subject: str,
        data: bytes,
        *,
        key_filter: str,
        expected_revision: int,
        message_id: str,
        headers: Mapping[str, str] | None = None,
    ) -> Appended:
        """Store one message if the last sequence under `key_filter` still is `expected_revision` (0: nothing there).

        Tries again by itself when the acknowledgement is lost, with the same message id, so it may be repeated by the
        caller too. If cancelled, the message may have been stored.

        Raises:
            Conflict: The key moved on: re-read and decide again. `metadata["revision"]` has the newer one when known.
            Unavailable: Not stored: the server is away, or can't store (disk full).
            OutcomeUnknown: It was sent, no answer came within the log's patience, and the log can't be read either.
            PermissionDenied: This connection's user may not write that subject.
            InvalidArgument: The message is larger than the log takes, or the subject is not one of this log.
        """

    async def publish(
        self, subject: str, data: bytes, *, message_id: str, headers: Mapping[str, str] | None = None
    ) -> Appended:
        """Store one message without a guard: for activity, which is not state. Errors as in `append`."""

    async def last(self, key_filter: str) -> Entry | None:
        """Return the last message that matches, or None. It reads its own writes.

        Raises:
            Unavailable: The server can't be asked.
        """

    async def history(
        self,
        subject_filter: str,
        *,
        from_sequence: int | None = None,
        from_time: datetime | None = None,
        limit: int = 1000,
    ) -> list[Entry]:
        """Return up to `limit` messages that are stored now, oldest first; go on from the last sequence + 1.

        A list shorter than `limit` means that the end was reached.

        Raises:
            Unavailable: The server can't be asked.
        """

    async def follow(
        self, subject_filter: str, *, from_sequence: int | None = None, from_time: datetime | None = None
    ) -> Following:
        """Begin to follow; without a start point, with the first message stored after this call has returned.

        Raises:
            Unavailable: The server can't be asked, so the starting point could not be fixed.
        """

    def latest(self, subject_filter: str) -> AsyncIterator[Entry]:
        """Stream the last message of every *subject* that matches, by ascending sequence, as of now.

        A key has several subjects (one per fact), so of one key the highest sequence counts.
        """

    async def head(self) -> int:
        """Return the last sequence of the stream, 0 when nothing was ever stored."""

    async def purge(self, key_filter: str) -> int:
        """Delete every message that matches and return how many; for records whose retention is over."""


def check_message(stream_filter: str, subject: str, data: bytes) -> None:
    """Check that a stream takes a message.

    Raises:
        InvalidArgument: The subject is malformed or another stream's, or the payload is too large.
    """
    try:
        check_subject(subject)
    except ValueError as error:
        raise InvalidArgument(str(error)) from None
    if not matches(stream_filter, subject):
        raise InvalidArgument(f"the subject {subject} is not one of this log ({stream_filter})")
    if len(data) > MAX_MESSAGE_BYTES:
        raise InvalidArgument(f"a message of {len(data)} bytes is too large; the log takes {MAX_MESSAGE_BYTES}")


def check_key(key_filter: str, subject: str) -> None:
    """Check that a subject lies below the key that guards it.

    Raises:
        InvalidArgument: It does not, or the key is malformed.
    """
    check_reading(key_filter)
    if not matches(key_filter, subject):
        raise InvalidArgument(f"the subject {subject} is not below the key {key_filter}")


def check_reading(subject_filter: str) -> None:
    """Check a filter.

    Raises:
        InvalidArgument: It is malformed.
    """
    try:
        check_filter(subject_filter)
    except ValueError as error:
        raise InvalidArgument(str(error)) from None


def lost_race(key_filter: str, expected: int, found: int | None) -> Conflict:
    """Return the error of a guarded append that came too late."""
    metadata = {"key": key_filter, "expected_revision": str(expected)}
    if found is not None:
        metadata["revision"] = str(found)
    return Conflict("the record changed since it was read", reason="REVISION_CHANGED", metadata=metadata)
