"""The durable consumers of subscribers: made for them, since they may not make any themselves.

A consumer begins with the first message that its stream still has, filtered to the tenant's subjects, and waits for
acknowledgements. Its owner fetches, acknowledges, and resets it (to read everything again, or from a sequence on); see
`accounts` for what keeps everybody else away from it. All calls may be repeated.
"""

from __future__ import annotations

from typing import Final

from arenero.bus import jetstream
from arenero.bus.accounts import SUBSCRIBED, Subscriber, consumer_name, tenant_subjects
from arenero.bus.connection import BusConnection
from arenero.bus.subjects import Kind
from arenero.errors import NotFound
from arenero.model.ids import KeyId, parse_key_id

_NS_PER_S: Final = 1_000_000_000
_ACK_WAIT_S: Final = 30.0
_MAX_UNACKNOWLEDGED: Final = 1000
_MAX_WAITING: Final = 64
_PREFIX: Final = "ev_"


async def provision(connection: BusConnection, subscriber: Subscriber) -> None:
    """Make the subscriber's consumers, or leave them as they are.

    Raises:
        NotFound: A stream does not exist yet.
        Unavailable: The server is away.
    """
    for kind in SUBSCRIBED:
        name, subjects = consumer_name(subscriber.key_id, kind), tenant_subjects(kind, subscriber.tenant)
        config = {
            "name": name,
            "durable_name": name,
            "description": f"events key of {subscriber.tenant}",
            "filter_subject": subjects,
            "deliver_policy": "all",
            "ack_policy": "explicit",
            "ack_wait": int(_ACK_WAIT_S * _NS_PER_S),
            "max_ack_pending": _MAX_UNACKNOWLEDGED,
            "max_waiting": _MAX_WAITING,
            "max_deliver": -1,
        }
        # Without an action: an equal consumer is left alone, with its place in the stream.
        operation = f"CONSUMER.CREATE.{kind.stream}.{name}.{subjects}"
        await jetstream.read(connection, operation, {"stream_name": kind.stream, "config": config})


async def withdraw(connection: BusConnection, key_id: KeyId) -> None:
    """Delete the consumers of a key; those that are gone are no error.

    Raises:
        Unavailable: The server is away.
    """
    for kind in SUBSCRIBED:
        try:
            await jetstream.read(connection, f"CONSUMER.DELETE.{kind.stream}.{consumer_name(key_id, kind)}")
        except NotFound:
            continue


async def provisioned(connection: BusConnection) -> set[KeyId]:
    """Return the keys that have consumers.

    Raises:
        Unavailable: The server is away.
    """
    names = [name for kind in SUBSCRIBED for name in await _names(connection, kind)]
    return {parse_key_id(name.removeprefix(_PREFIX).rpartition("_")[0]) for name in names if name.startswith(_PREFIX)}


async def _names(connection: BusConnection, kind: Kind) -> list[str]:
    found: list[str] = []
    while True:
        try:
            page = await jetstream.read(connection, f"CONSUMER.NAMES.{kind.stream}", {"offset": len(found)})
        except NotFound:
            return found
        found += page["consumers"] or []
        if not page["consumers"] or len(found) >= page["total"]:
            return found
