"""One connection to NATS that outlives the server: whoever needs it again connects it again.

Requests are matched to answers here rather than by the client library, for three reasons: a request that was in flight
when the connection broke fails at once (and can be tried again) instead of waiting for its time-out; a denied publish,
which the server reports only as an asynchronous error, fails the request that caused it; and nothing waits in a
client's buffer while the server is away, so what was refused as unavailable is not stored a minute later. Reconnecting
is ours too: the library gives up for good when a user is refused, be it for a moment.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arenero.bus.nats_py import Client, MaxPayloadError, Msg, NatsError, Subscription
from arenero.errors import InvalidArgument, OutcomeUnknown, PermissionDenied, Unauthenticated, Unavailable

_log = logging.getLogger(__name__)
_DENIED: Final = re.compile(r'permissions violation for (publish|subscription) to "([^"]+)"', re.IGNORECASE)
_AUTH: Final = "authorization violation"


@dataclass(frozen=True, slots=True)
class BusConfig:
    """How to reach NATS."""

    url: str = "nats://127.0.0.1:4222"
    """Server, or several separated by commas."""
    user: str = ""
    """The service's own NATS user; empty where the server asks for none."""
    password_file: Path | None = None
    """File that holds the user's password."""
    connect_timeout_s: float = 5.0
    """How long start-up waits for a server; after that the service gives up and its supervisor decides."""
    reconnect_wait_s: float = 0.1
    """Pause between two tries to reconnect: short, since a local server is back in tens of milliseconds."""
    patience_s: float = 10.0
    """How long a call goes on trying before it raises Unavailable or OutcomeUnknown."""


class ConnectionLost(OutcomeUnknown):
    """The connection broke while a request was on its way: it may have arrived."""

    default_reason = "BUS_CONNECTION_LOST"


class _Client(Client):
    """nats-py's client, made to close in any case.

    On a broken connection the library tries to send what is pending, fails, and then neither tells anybody nor closes
    its socket. Nothing that is pending then is worth sending: whoever sent it has been told that it may be lost.
    """

    async def _close(self, status: int, do_cbs: bool = True) -> None:
        self._pending = []
        self._pending_data_size = 0
        await super()._close(status, do_cbs)


class Inbox:
    """Messages sent to one private subject. It ends with the connection: what was sent meanwhile is lost."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self._queue: asyncio.Queue[Msg | None] = asyncio.Queue()

    async def next(self, timeout_s: float) -> Msg:
        """Wait for the next message; cancelling the wait loses none.

        Raises:
            ConnectionLost: The connection broke, or nothing came for `timeout_s`.
        """
        try:
            async with asyncio.timeout(timeout_s if self._queue.empty() else None):
                message = await self._queue.get()
        except TimeoutError:
            raise ConnectionLost(f"NATS was silent for {timeout_s:g} s") from None
        if message is None:
            raise ConnectionLost("the connection to NATS broke")
        return message

    async def put(self, message: Msg) -> None:
        """Take a message in; called by the connection."""
        self._queue.put_nowait(message)

    def cut(self) -> None:
        """Note that the connection broke; called by the connection."""
        self._queue.put_nowait(None)


class BusConnection:
    """A connection that several logs, followers and consumers share. Made by `connect`, ended by `close`."""

    def __init__(self, config: BusConfig, *, name: str) -> None:
        self._config = config
        self._name = name
        self._client: Client = _Client()
        self._inbox = f"{inbox_prefix(config.user)}.{secrets.token_hex(11)}"
        self._tokens = itertools.count(1)
        self._waiting: dict[str, tuple[str, asyncio.Future[Msg]]] = {}
        self._inboxes: set[Inbox] = set()
        self._up = asyncio.Event()
        self._opening = asyncio.Lock()
        self._closed = False
        self._last_error = ""

    @property
    def patience_s(self) -> float:
        """How long one call may go on trying."""
        return self._config.patience_s

    @property
    def is_connected(self) -> bool:
        """Whether the server can be reached as far as is known."""
        return self._up.is_set()

    async def open(self) -> None:
        """Connect for the first time.

        Raises:
            Unavailable: No server answered within `connect_timeout_s`.
            Unauthenticated: The server refused the user.
        """
        try:
            async with asyncio.timeout(self._config.connect_timeout_s):
                while not await self._try_open():
                    if _AUTH in self._last_error.lower():
                        text = f"NATS refused the user {self._config.user!r}"
                        raise Unauthenticated(text, reason="BUS_USER_REFUSED")
                    await asyncio.sleep(self._config.reconnect_wait_s)
        except TimeoutError:
            text = f"NATS did not answer at {self._config.url}: {self._last_error or 'no connection'}"
            raise Unavailable(text, reason="BUS_UNREACHABLE") from None

    async def close(self) -> None:
        """Close for good; requests under way fail."""
        was_up, self._closed = self._up.is_set(), True
        self._up.clear()
        self._fail_waiting()
        if was_up and self._client.is_connected:
            try:
                await self._client.flush(timeout=1)  # Acknowledgements may be on their way.
            except NatsError as error:
                _log.debug("bus.flush_failed", extra={"error": str(error)})
        await self._client.close()

    async def request(
        self,
        subject: str,
        payload: bytes = b"",
        *,
        headers: Mapping[str, str] | None = None,
        timeout_s: float,
        connect_s: float | None = None,
    ) -> Msg:
        """Send a request and return the answer, whatever it says. Sends once; trying again is the caller's choice.

        Raises:
            Unavailable: Not sent: no connection within `connect_s` (`timeout_s` when omitted).
            ConnectionLost: Sent, and the connection broke before the answer.
            OutcomeUnknown: Sent, and no answer came within `timeout_s`.
            PermissionDenied: The user may not publish to that subject.
            InvalidArgument: The payload is larger than the server takes.
        """
        client = await self.ready(timeout_s if connect_s is None else connect_s)
        token = str(next(self._tokens))
        future: asyncio.Future[Msg] = asyncio.get_running_loop().create_future()
        self._waiting[token] = (subject, future)
        try:
            await client.publish(subject, payload, reply=f"{self._inbox}.{token}", headers=_plain(headers))
            async with asyncio.timeout(timeout_s):
                return await future
        except TimeoutError:
            raise OutcomeUnknown(f"NATS did not answer within {timeout_s:g} s", reason="BUS_NO_ANSWER") from None
        except MaxPayloadError:
            raise InvalidArgument(f"a message of {len(payload)} bytes is too large for the log") from None
        except NatsError as error:
            raise ConnectionLost(f"the connection to NATS failed: {error}") from error
        finally:
            self._waiting.pop(token, None)

    async def publish(self, subject: str, payload: bytes = b"", *, reply: str = "") -> None:
        """Send one message without waiting for anything; dropped when there is no connection."""
        if self._up.is_set():
            try:
                await self._client.publish(subject, payload, reply=reply)
            except NatsError as error:
                raise ConnectionLost(f"the connection to NATS failed: {error}") from error

    @asynccontextmanager
    async def inbox(self) -> AsyncIterator[Inbox]:
        """Receive messages on a new private subject for as long as the context lasts and the connection holds."""
        client = await self.ready(self._config.patience_s)
        inbox = Inbox(f"{self._inbox}.in.{next(self._tokens)}")
        subscription = await client.subscribe(inbox.subject, cb=inbox.put)
        self._inboxes.add(inbox)
        try:
            yield inbox
        finally:
            self._inboxes.discard(inbox)
            await _unsubscribe(client, subscription)

    async def ready(self, timeout_s: float) -> Client:
        """Return the connected client, waiting for it up to `timeout_s`.

        Raises:
            Unavailable: There was no connection in that time, or this object was closed.
        """
        if not self._client.is_connected:
            self._go_down()
            try:
                async with asyncio.timeout(timeout_s):
                    await self._wait_up()
            except TimeoutError:
                raise Unavailable(
                    f"NATS is away: {self._last_error or 'no connection'}", reason="BUS_AWAY", retry_after_s=1.0
                ) from None
        return self._client

    async def _wait_up(self) -> None:
        """Connect again, one caller at a time, until there is a connection."""
        while not self._up.is_set():
            if self._closed:
                raise Unavailable("the bus connection was closed", reason="BUS_CLOSED")
            async with self._opening:
                if self._up.is_set() or await self._try_open():
                    return
            await asyncio.sleep(self._config.reconnect_wait_s)

    async def _try_open(self) -> bool:
        """Make a new client and connect it; return whether that went well."""
        client = _Client()
        try:
            await self._connect(client)
        except (OSError, NatsError, TimeoutError) as error:
            self._last_error = str(error) or type(error).__name__
            await client.close()
            return False
        except BaseException:
            await client.close()
            raise
        self._client = client
        self._up.set()
        _log.info("bus.connected", extra={"url": self._config.url})
        return True

    async def _connect(self, client: Client) -> None:
        """Connect once. The client may not reconnect by itself: a new one leaves nothing of the old one's state."""

        async def on_down() -> None:
            if client is self._client:
                self._go_down()

        password = await asyncio.to_thread(_read_secret, self._config.password_file)
        await client.connect(
            servers=[server.strip() for server in self._config.url.split(",")],
            name=self._name,
            user=self._config.user or None,
            password=password or None,
            inbox_prefix=self._inbox,
            error_cb=self._on_error,
            closed_cb=on_down,
            connect_timeout=2,
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            ping_interval=10,
            max_outstanding_pings=2,
        )
        await client.subscribe(f"{self._inbox}.*", cb=self._on_answer)

    async def _on_answer(self, message: Msg) -> None:
        found = self._waiting.get(message.subject.rpartition(".")[2])
        if found and not found[1].done():
            found[1].set_result(message)

    def _go_down(self) -> None:
        if self._up.is_set() and not self._closed:
            _log.warning("bus.disconnected", extra={"error": self._last_error})
        self._up.clear()
        self._fail_waiting()

    async def _on_error(self, error: Exception) -> None:
        """Note an error of the client. Only a new one is worth a line: an outage repeats one ten times a second."""
        text = str(error) or type(error).__name__
        if denied := _DENIED.search(text):
            self._fail_denied(denied.group(2))
        if text != self._last_error:
            _log.warning("bus.error", extra={"error": text})
        self._last_error = text

    def _fail_waiting(self) -> None:
        for _, future in self._waiting.values():
            if not future.done():
                future.set_exception(ConnectionLost("the connection to NATS broke"))
        for inbox in self._inboxes:
            inbox.cut()

    def _fail_denied(self, subject: str) -> None:
        # The client hands errors on in lower case.
        for wanted, future in self._waiting.values():
            if wanted.lower() == subject.lower() and not future.done():
                text = f"the NATS user {self._config.user!r} may not publish to {subject}"
                future.set_exception(PermissionDenied(text, reason="BUS_PERMISSION"))


@asynccontextmanager
async def connect(config: BusConfig, *, name: str) -> AsyncIterator[BusConnection]:
    """Connect, and close at the end of the context. `name` is what the server's own monitoring shows."""
    connection = BusConnection(config, name=name)
    await connection.open()
    try:
        yield connection
    finally:
        await connection.close()


def inbox_prefix(user: str) -> str:
    """Return the prefix of all inboxes of a user: its permissions allow no other, so it can't read others' answers."""
    return f"_INBOX_{user}" if user else "_INBOX"


async def _unsubscribe(client: Client, subscription: Subscription) -> None:
    try:
        await subscription.unsubscribe()
    except NatsError:
        return  # Closed or reconnecting: the subscription is gone or goes with the connection.


def _plain(headers: Mapping[str, str] | None) -> dict[str, str] | None:
    return dict(headers) if headers else None


def _read_secret(path: Path | None) -> str:
    return path.read_text().strip() if path else ""
