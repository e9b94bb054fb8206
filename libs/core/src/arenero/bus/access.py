"""The files that let NATS know its users, and the way to make a change of them valid at once.

All of it lies in one directory of mode 0700, `<nats home>/access`:

- `passwords/<service>`: a service's password, for that service alone;
- `services.json`, `subscribers.json`: what is in force, with bcrypt hashes only;
- `access.conf`: made of these two by `accounts.render`; nats-server's configuration includes it.

The supervisor calls `install` before it starts nats-server. After that only the gateway writes, with `put_in_force`,
since it is the one that knows events keys. A change counts when nats-server accepts the probe's new password, which is
in the same file.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from arenero.bus import accounts
from arenero.bus.accounts import PROBE, Subscriber
from arenero.errors import FailedPrecondition, Unavailable
from arenero.model.ids import parse_key_id, parse_tenant_id

_POLL_S: Final = 0.015
_RELOAD_TIMEOUT_S: Final = 10.0
_COMMAND: Final = "nats-server"


@dataclass(frozen=True, slots=True)
class AccessFiles:
    """Where they are."""

    directory: Path

    @property
    def config(self) -> Path:
        """What nats-server includes."""
        return self.directory / "access.conf"

    def password(self, service: str) -> Path:
        """Return the file that holds a service's password."""
        return self.directory / "passwords" / service

    @property
    def _services(self) -> Path:
        return self.directory / "services.json"

    @property
    def _subscribers(self) -> Path:
        return self.directory / "subscribers.json"

    def install(self, services: Iterable[str] = tuple(accounts.GRANTS)) -> None:
        """Make passwords for services that have none, and the configuration; keep the subscribers of the last run."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.directory.joinpath("passwords").mkdir(mode=0o700, exist_ok=True)
        hashes = {service: accounts.hash_password(self._ensure_password(service)) for service in services}
        _write(self._services, json.dumps(hashes, indent=1))
        self._render(self.subscribers(), probe_password=accounts.new_password())

    def subscribers(self) -> list[Subscriber]:
        """Return the subscribers that the configuration has now."""
        if not self._subscribers.exists():
            return []
        found = json.loads(self._subscribers.read_text())
        return [
            Subscriber(parse_key_id(one["key_id"]), parse_tenant_id(one["tenant"]), one["password_hash"])
            for one in found
        ]

    def write_subscribers(self, subscribers: Iterable[Subscriber]) -> str:
        """Write a new set of subscribers; return the probe's password, by which this version is known."""
        ordered = list(subscribers)
        probe_password = accounts.new_password()
        _write(self._subscribers, json.dumps([asdict(one) for one in ordered], indent=1))
        self._render(ordered, probe_password=probe_password)
        return probe_password

    def _ensure_password(self, service: str) -> str:
        path = self.password(service)
        if not path.exists():
            _write(path, accounts.new_password())
        return path.read_text().strip()

    def _render(self, subscribers: Iterable[Subscriber], *, probe_password: str) -> None:
        if not self._services.exists():
            raise FailedPrecondition(f"{self._services} is missing: nats-server was not started with these files")
        services: Mapping[str, str] = json.loads(self._services.read_text())
        probe_hash = accounts.hash_password(probe_password)
        _write(self.config, json.dumps(accounts.render(services, subscribers, probe_hash=probe_hash), indent=1))


async def put_in_force(files: AccessFiles, server: NatsHandle, subscribers: Iterable[Subscriber]) -> None:
    """Let exactly these subscribers in, and cut off all others, before this returns. May be repeated.

    nats-server 2.15.1 activates what a *new* account imports only when it reads the configuration once more, so that
    is done when there is a new one.

    Raises:
        Unavailable: nats-server is not running, or did not take the configuration within ten seconds.
    """
    wanted = sorted(subscribers, key=lambda one: one.key_id)
    has_new = not {one.key_id for one in wanted} <= {one.key_id for one in files.subscribers()}
    for _ in range(2 if has_new else 1):
        probe_password = files.write_subscribers(wanted)
        server.reload()
        await _wait_in_force(server.url, probe_password)


@dataclass(frozen=True, slots=True)
class NatsHandle:
    """A running nats-server that another process started."""

    url: str
    pid_path: Path

    def reload(self) -> None:
        """Tell it to read its configuration again.

        Raises:
            Unavailable: It is not running.
        """
        try:
            pid = int(self.pid_path.read_text())
            if Path(f"/proc/{pid}/comm").read_text().strip() != _COMMAND:
                raise ProcessLookupError
            os.kill(pid, signal.SIGHUP)
        except (OSError, ValueError):
            raise Unavailable("nats-server is not running", reason="NATS_AWAY", retry_after_s=1.0) from None


async def _wait_in_force(url: str, probe_password: str) -> None:
    try:
        async with asyncio.timeout(_RELOAD_TIMEOUT_S):
            await _poll_until_admitted(url, probe_password)
    except TimeoutError:
        text = "nats-server did not take the new users"
        raise Unavailable(text, reason="NATS_NOT_RELOADED", retry_after_s=5.0) from None


async def _poll_until_admitted(url: str, probe_password: str) -> None:
    while True:
        await asyncio.sleep(_POLL_S)
        if await _is_admitted(url, PROBE, probe_password):
            return


async def _is_admitted(url: str, user: str, password: str) -> bool:
    """Log in by hand and leave: the client library would log each refusal as an error of ours."""
    parts = urlsplit(url)
    try:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    except OSError:
        return False
    try:
        options = {"user": user, "pass": password, "verbose": False, "pedantic": False, "lang": "probe", "version": "1"}
        await reader.readline()
        writer.write(f"CONNECT {json.dumps(options)}\r\nPING\r\n".encode())
        return (await reader.readline()).startswith(b"PONG")
    except OSError:
        return False
    finally:
        writer.close()


def _parse_subscriber(key_id: str, tenant: str, password_hash: str) -> Subscriber:
    return Subscriber(parse_key_id(key_id), parse_tenant_id(tenant), password_hash)


def _write(path: Path, content: str) -> None:
    """Write a file of mode 0600 so that a reader sees the old or the new content."""
    scratch = path.with_suffix(".new")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(content)
    scratch.replace(path)
