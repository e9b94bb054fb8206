"""Keeps NATS in step with the events keys: each good key has a user and its consumers, no other has either.

It compares what is wanted, from the keyring, with what is found, on NATS and in the access files, and mends the
difference: at the start, after each change of a key, and on a timer. So it does not matter where a crash came between.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arenero.bus import access, provisioning
from arenero.bus.access import AccessFiles, NatsHandle
from arenero.bus.accounts import Subscriber
from arenero.bus.connection import BusConnection
from arenero.errors import ArenError, Unsupported
from arenero.gateway.keys.keyring import Keyring
from arenero.gateway.keys.record import KeyRecord
from arenero.model.ids import KeyId

_log = logging.getLogger(__name__)
_RETRY_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class EventsConfig:
    """Events keys: NATS users of tenants."""

    access_dir: Path | None = None
    """Directory of the files that nats-server's configuration includes. None: there can be no events keys."""
    nats_pid_file: Path | None = None
    """File with the pid of nats-server, which has to run on this machine to be told of a new user."""
    public_url: str = ""
    """Where subscribers connect; empty: where the gateway does."""
    sweep_s: float = 60.0
    """Pause between two looks at everything: keys that have expired, leftovers of a crash."""


@dataclass(frozen=True, slots=True)
class NatsUsers:
    """The ways to change who may connect to NATS."""

    files: AccessFiles
    server: NatsHandle


class Subscribers:
    """Grants and withdraws; run it as a named task.

    Args:
        keyring: What is wanted.
        connection: To NATS, as the gateway.
        users: None where the platform can't change NATS's users.
        sweep_s: Pause between two looks.
    """

    def __init__(self, keyring: Keyring, connection: BusConnection, users: NatsUsers | None, *, sweep_s: float) -> None:
        self._keyring = keyring
        self._connection = connection
        self._users = users
        self._sweep_s = sweep_s
        self._lock = asyncio.Lock()
        self._changed = asyncio.Event()

    def check_possible(self) -> None:
        """Check that events keys can be made here.

        Raises:
            Unsupported: They can't.
        """
        if self._users is None:
            raise Unsupported(
                "this platform does not manage the users of its NATS, so there are no events keys",
                reason="EVENTS_KEYS_UNSUPPORTED",
                fix="give the gateway events.access_dir and events.nats_pid_file",
            )

    def wake(self) -> None:
        """Look soon: a key has changed."""
        self._changed.set()

    async def settle(self) -> None:
        """Mend every difference. When this returns, exactly the good keys have access.

        Raises:
            Unavailable: NATS is away; it will be tried again by itself.
        """
        if self._users is None:
            return
        async with self._lock:
            wanted = {key.id: _subscriber(key) for key in self._keyring.good_events_keys()}
            granted = {one.key_id: one for one in self._users.files.subscribers()}
            for key_id in wanted.keys() - granted.keys():
                await provisioning.provision(self._connection, wanted[key_id])
            if wanted != granted:
                await access.put_in_force(self._users.files, self._users.server, wanted.values())
                _log.info("subscribers.changed", extra={"count": len(wanted)})
            if granted.keys() - wanted.keys():
                await self._withdraw(granted.keys() - wanted.keys())

    async def run(self) -> None:
        """Settle after each change and on the timer, until cancelled."""
        pause_s = 0.0
        while True:
            try:
                async with asyncio.timeout(pause_s):
                    await self._changed.wait()
            except TimeoutError:
                pass
            self._changed.clear()
            pause_s = await self._try_to_settle()

    async def _try_to_settle(self) -> float:
        try:
            await self.settle()
            await self._sweep()
        except (ArenError, OSError) as error:
            _log.warning("subscribers.unsettled", extra={"error": str(error)})
            return _RETRY_S
        return self._sweep_s

    async def _sweep(self) -> None:
        """Mend what a crash or somebody else left on NATS: consumers without a key, keys without consumers."""
        if self._users is None:
            return
        async with self._lock:
            wanted = {key.id: key for key in self._keyring.good_events_keys()}
            found = await provisioning.provisioned(self._connection)
            for key_id in wanted.keys() - found:
                await provisioning.provision(self._connection, _subscriber(wanted[key_id]))
            await self._withdraw(found - wanted.keys())

    async def _withdraw(self, key_ids: set[KeyId]) -> None:
        for key_id in key_ids:
            await provisioning.withdraw(self._connection, key_id)


def _subscriber(key: KeyRecord) -> Subscriber:
    return Subscriber(key.id, key.tenant, key.nats_password_hash)
