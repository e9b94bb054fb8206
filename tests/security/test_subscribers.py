"""A subscriber with read-only NATS credentials reads its tenant's events, old and new, and can do nothing else.

The attacker here speaks NATS directly and knows all names: subjects, streams, consumers, key ids.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

import nats.errors
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import NoRespondersError

from arenero.bus import jetstream
from arenero.bus.accounts import API_PREFIX, SUBSCRIBED, Subscriber, consumer_name
from arenero.bus.connection import BusConnection
from arenero.bus.nats import NatsEventLog
from arenero.bus.streams import STREAMS
from arenero.bus.subjects import Kind
from tests.fixtures.guarded_nats import GuardedNats, guarded_nats

TENANTS = ("acme", "beta")
SANDBOX = "sbx_aaaaaaaaaaaaaaaaaaaa"
QUIET_S = 0.3
"""How long to look for an effect that must not come. A message is delivered within milliseconds here."""


FORBIDDEN = [
    "INFO", "META.LEADER.STEPDOWN", "ACCOUNT.PURGE.PLATFORM",
    "STREAM.NAMES", "STREAM.LIST", "STREAM.INFO.{s}", "STREAM.CREATE.{s}", "STREAM.UPDATE.{s}", "STREAM.DELETE.{s}",
    "STREAM.PURGE.{s}",
    "STREAM.MSG.GET.{s}", "STREAM.MSG.DELETE.{s}", "STREAM.SNAPSHOT.{s}", "STREAM.RESTORE.{s}",
    "DIRECT.GET.{s}", "DIRECT.GET.{s}.sandbox.beta.x.started",
    "CONSUMER.NAMES.{s}", "CONSUMER.LIST.{s}", "CONSUMER.CREATE.{s}", "CONSUMER.CREATE.{s}.x",
    "CONSUMER.DURABLE.CREATE.{s}.x",
    "CONSUMER.CREATE.{s}.{own}", "CONSUMER.CREATE.{s}.{own}.sandbox.beta.>", "CONSUMER.DELETE.{s}.{own}",
    "CONSUMER.PAUSE.{s}.{own}", "CONSUMER.UNPIN.{s}.{own}", "CONSUMER.LEADER.STEPDOWN.{s}.{own}",
    "CONSUMER.INFO.{s}.{other}", "CONSUMER.MSG.NEXT.{s}.{other}", "CONSUMER.RESET.{s}.{other}",
    "CONSUMER.DELETE.{s}.{other}",
]  # fmt: skip
"""Requests to JetStream that are not about reading with the attacker's own consumers."""
FOREIGN_SUBJECTS = [
    ">", "*.*.>", "*.beta.>", "sandbox.>", "sandbox.beta.>", "sandbox.*.*.started", "activity.beta.>", "key.>",
    "key.acme.>", "vault.acme.>",
    "_INBOX_lifecycle.>", "_INBOX_gateway.>", "_R_.>", "$JS.>", "$JS.API.>", "$JS.EVENT.>", "$SYS.>", "$KV.>",
]  # fmt: skip
WHERE_ANSWERS_WOULD_HURT = [
    "sandbox.beta.x.started", "sandbox.acme.x.started", "activity.beta.x.started", "key.acme.x.created",
    "$JS.API.STREAM.PURGE.SANDBOX", "$JS.API.STREAM.DELETE.SANDBOX", "$JS.API.CONSUMER.DELETE.SANDBOX.{other}",
    "$JS.ACK.SANDBOX.{other}.1.1.1.1.0", "_INBOX_lifecycle.x", "_R_.x",
]  # fmt: skip


@dataclass
class Attacker:
    """One connected subscriber."""

    client: Client
    key: Subscriber
    refused: asyncio.Event = field(default_factory=asyncio.Event)
    lost: asyncio.Event = field(default_factory=asyncio.Event)

    async def was_refused(self, act: Callable[[], Awaitable[object]]) -> bool:
        """Do something; tell whether the server called it a violation."""
        self.refused.clear()
        await act()
        await self.client.flush()
        try:
            await asyncio.wait_for(self.refused.wait(), QUIET_S)
        except TimeoutError:
            return False
        return True

    async def ask(self, subject: str, body: bytes = b"") -> Msg | None:
        try:
            return await self.client.request(subject, body, timeout=QUIET_S)
        except (nats.errors.TimeoutError, NoRespondersError):
            return None

    def own(self, kind: Kind, verb: str) -> str:
        return f"{API_PREFIX}.CONSUMER.{verb}.{kind.stream}.{consumer_name(self.key.key_id, kind)}"


@dataclass(frozen=True)
class Stage:
    """A server with events of two tenants, and a subscriber of each: `mine` attacks, `theirs` must not notice."""

    nats: GuardedNats
    platform: BusConnection
    """Lifecycle's connection."""
    mine: Attacker
    theirs: Attacker

    def log(self, kind: Kind) -> NatsEventLog:
        return NatsEventLog(self.platform, STREAMS[kind])

    async def publish(self, tenant: str, fact: str, kind: Kind = Kind.SANDBOX) -> str:
        subject = f"{kind.value}.{tenant}.{SANDBOX}.{fact}"
        await self.log(kind).publish(subject, fact.encode(), message_id=f"{subject}{next(MESSAGE_NUMBERS)}")
        return subject

    async def contents(self) -> dict[Kind, list[tuple[str, bytes]]]:
        return {
            kind: [(entry.subject, entry.data) for entry in await self.log(kind).history(f"{kind.value}.>")]
            for kind in SUBSCRIBED
        }


def message_numbers() -> Iterator[int]:
    number = 0
    while True:
        yield (number := number + 1)


MESSAGE_NUMBERS = message_numbers()


@asynccontextmanager
async def logged_in(stage_nats: GuardedNats, key: Subscriber, password: str) -> AsyncIterator[Attacker]:
    attacker = Attacker(Client(), key)

    async def on_error(error: Exception) -> None:
        if "permissions violation" in str(error):
            attacker.refused.set()

    async def on_lost() -> None:
        attacker.lost.set()

    await attacker.client.connect(
        stage_nats.url,
        user=key.key_id,
        password=password,
        error_cb=on_error,
        disconnected_cb=on_lost,
        allow_reconnect=False,
    )
    try:
        yield attacker
    finally:
        await attacker.client.close()


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with guarded_nats(tmp_path) as server, server.connected("lifecycle") as platform:
        [mine, theirs] = await server.admit(TENANTS)
        async with logged_in(server, *mine) as attacker, logged_in(server, *theirs) as victim:
            stage = Stage(server, platform, attacker, victim)
            for tenant, fact in product(TENANTS, ("requested", "started", "terminated")):
                await stage.publish(tenant, fact)
            await stage.publish("acme", "exec_started", Kind.ACTIVITY)
            yield stage


# --- what it may do ---------------------------------------------------------------------------------------------------


async def test_reads_its_tenants_events_from_the_beginning(stage: Stage) -> None:
    assert await fetch_all(stage.mine) == [
        f"sandbox.acme.{SANDBOX}.{f}" for f in ("requested", "started", "terminated")
    ]
    assert await fetch_all(stage.mine, Kind.ACTIVITY) == [f"activity.acme.{SANDBOX}.exec_started"]


async def test_place_in_the_stream_survives_its_absence(stage: Stage) -> None:
    await fetch_all(stage.mine)
    await stage.publish("acme", "renewed")
    assert await fetch_all(stage.mine) == [f"sandbox.acme.{SANDBOX}.renewed"]


async def test_begins_anew_after_a_reset(stage: Stage) -> None:
    first = await fetch_all(stage.mine)
    answer = await stage.mine.ask(stage.mine.own(Kind.SANDBOX, "RESET"), b'{"seq": 1}')
    assert answer is not None
    assert b"error" not in answer.data
    assert await fetch_all(stage.mine) == first


async def test_hears_new_events_of_its_tenant_live(stage: Stage) -> None:
    heard = await listen(stage.mine, "sandbox.acme.*.terminated")
    await stage.publish("acme", "renewed")
    subject = await stage.publish("acme", "terminated")
    assert (await asyncio.wait_for(heard.get(), 5)).subject == subject


# --- what it may not --------------------------------------------------------------------------------------------------


async def test_can_not_publish(stage: Stage) -> None:
    heard = await listen(stage.theirs, "sandbox.beta.>")
    before = await stage.contents()
    for kind, tenant in product(Kind, TENANTS):
        subject = f"{kind.value}.{tenant}.{SANDBOX}.started"
        assert await stage.mine.was_refused(partial(stage.mine.client.publish, subject, b"forged")), subject
    await asyncio.sleep(QUIET_S)
    assert await stage.contents() == before
    assert heard.empty()


async def test_can_not_listen_to_others(stage: Stage) -> None:
    for subject in FOREIGN_SUBJECTS:
        assert await stage.mine.was_refused(partial(stage.mine.client.subscribe, subject)), subject


async def test_hears_nothing_of_others_in_what_it_may_listen_to(stage: Stage) -> None:
    heard = [await listen(stage.mine, subject) for subject in ("sandbox.acme.>", "activity.acme.>", "_INBOX.>")]
    await stage.publish("beta", "started")
    await stage.publish("beta", "exec_started", Kind.ACTIVITY)
    await asyncio.sleep(QUIET_S)
    assert all(queue.empty() for queue in heard)


@pytest.mark.parametrize("prefix", ["$JS.API", API_PREFIX])
async def test_can_not_ask_jetstream_for_more(stage: Stage, prefix: str) -> None:
    for operation, kind in product(FORBIDDEN, (*SUBSCRIBED, Kind.KEY)):
        own, other = (consumer_name(one.key.key_id, kind) for one in (stage.mine, stage.theirs))
        subject = f"{prefix}.{operation.format(s=kind.stream, own=own, other=other)}"
        assert await stage.mine.was_refused(partial(stage.mine.client.publish, subject, b"{}")), subject


async def test_can_not_acknowledge_for_another(stage: Stage) -> None:
    [message] = await fetch(stage.theirs, Kind.SANDBOX, 1, acknowledge=False)
    assert await stage.mine.was_refused(lambda: stage.mine.client.publish(message.reply, b"+ACK"))
    assert (await consumer(stage, stage.theirs))["num_ack_pending"] == 1


@pytest.mark.parametrize("answer_to", WHERE_ANSWERS_WOULD_HURT)
async def test_can_not_let_the_server_publish_for_it(stage: Stage, answer_to: str) -> None:
    """The server does not ask whether whoever names a subject for an answer could publish there."""
    reply = answer_to.format(other=consumer_name(stage.theirs.key.key_id, Kind.SANDBOX))
    heard = [await listen(stage.theirs, subject) for subject in ("sandbox.beta.>", "activity.beta.>")]
    keys_before = await key_log_head(stage)
    before, place = await stage.contents(), await consumer(stage, stage.theirs)
    [message] = await fetch(stage.mine, Kind.SANDBOX, 1, acknowledge=False)
    for kind, (verb, body) in product(SUBSCRIBED, (("INFO", b""), ("MSG.NEXT", b"2"), ("RESET", b'{"seq": 1}'))):
        await stage.mine.client.publish(stage.mine.own(kind, verb), body, reply=reply)
    for acknowledgement in (b"+ACK", b"-NAK", b"+WPI", b"+NXT", b"+TERM"):
        await stage.mine.client.publish(message.reply, acknowledgement, reply=reply)
    await stage.mine.client.flush()
    await asyncio.sleep(QUIET_S)
    assert await stage.contents() == before
    assert await key_log_head(stage) == keys_before
    assert await consumer(stage, stage.theirs) == place
    assert all(queue.empty() for queue in heard)


async def test_another_key_of_the_same_tenant_can_not_be_lied_to(stage: Stage) -> None:
    [(colleague_key, password)] = await stage.nats.admit(["acme"])
    async with logged_in(stage.nats, colleague_key, password) as colleague:
        heard = await listen(colleague, "sandbox.acme.>")
        forged = f"sandbox.acme.{SANDBOX}.terminated"
        await stage.mine.client.publish(stage.mine.own(Kind.SANDBOX, "INFO"), b"", reply=forged)
        await stage.mine.client.flush()
        await asyncio.sleep(QUIET_S)
        assert heard.empty()


async def test_can_not_send_much(stage: Stage) -> None:
    """Its requests are small, so it gets no room to fill the server's memory with."""
    await stage.mine.client.publish(stage.mine.own(Kind.SANDBOX, "INFO"), bytes(8192))
    await asyncio.wait_for(stage.mine.lost.wait(), 5)


async def test_nobody_gets_in_without_the_password(stage: Stage) -> None:
    """The hashes are in the configuration; knowing one must not help."""
    users = ["", "lifecycle", "gateway", "probe", "admin", "sys", stage.mine.key.key_id, stage.theirs.key.key_id]
    for user, password in product(users, ["", "guess", stage.mine.key.password_hash]):
        answer = await log_in(stage.nats.url, user, password)
        assert answer.startswith(b"-ERR 'Authorization Violation'"), user


async def test_revoked_subscriber_is_cut_off_and_others_stay(stage: Stage) -> None:
    await stage.nats.put_in_force([stage.theirs.key])
    await asyncio.wait_for(stage.mine.lost.wait(), 5)
    assert stage.theirs.client.is_connected
    heard = await listen(stage.theirs, "sandbox.beta.>")
    subject = await stage.publish("beta", "renewed")
    assert (await asyncio.wait_for(heard.get(), 5)).subject == subject


# --- tools ------------------------------------------------------------------------------------------------------------


async def listen(subscriber: Attacker, subject: str) -> asyncio.Queue[Msg]:
    queue: asyncio.Queue[Msg] = asyncio.Queue()

    async def put(message: Msg) -> None:
        await queue.put(message)

    await subscriber.client.subscribe(subject, cb=put)
    await subscriber.client.flush()
    return queue


async def fetch(subscriber: Attacker, kind: Kind, count: int, *, acknowledge: bool = True) -> list[Msg]:
    pull = await subscriber.client.jetstream(prefix=API_PREFIX).pull_subscribe_bind(
        consumer_name(subscriber.key.key_id, kind), kind.stream
    )
    try:
        messages = await pull.fetch(count, timeout=QUIET_S)
    except nats.errors.TimeoutError:
        messages = []
    for message in messages if acknowledge else ():
        await message.ack_sync()
    await pull.unsubscribe()
    return messages


async def fetch_all(subscriber: Attacker, kind: Kind = Kind.SANDBOX) -> list[str]:
    return [message.subject for message in await fetch(subscriber, kind, 100)]


async def consumer(stage: Stage, subscriber: Attacker) -> dict[str, object]:
    name = consumer_name(subscriber.key.key_id, Kind.SANDBOX)
    found = await jetstream.read(stage.platform, f"CONSUMER.INFO.SANDBOX.{name}")
    return {
        what: found[what] for what in ("created", "config", "delivered", "ack_floor", "num_ack_pending", "num_pending")
    }


async def key_log_head(stage: Stage) -> int:
    async with stage.nats.connected("gateway") as connection:
        return await NatsEventLog(connection, STREAMS[Kind.KEY]).head()


async def log_in(url: str, user: str, password: str) -> bytes:
    """Log in by hand; return the server's first line after that."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    await reader.readline()
    writer.write(b"CONNECT %s\r\nPING\r\n" % json.dumps({"user": user, "pass": password}).encode())
    answer = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return answer
