"""React to the end of sandboxes with nothing of ours but the messages: nats-py, and the protobuf of arenero-api.

    arenero key create my-subscriber --events -o json > subscriber.json
    python examples/subscriber.py subscriber.json                     # goes on where it stopped
    python examples/subscriber.py subscriber.json --from-beginning    # all that ever happened, then what happens now

The key is a NATS user that reads its tenant's events and can do nothing else. Its consumer is durable: what was
acknowledged does not come again, what happened while nobody listened comes later.
"""

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext

from arenero.api.events.v1.event_pb2 import Event

STREAM = "SANDBOX"
BATCH = 100


async def main() -> None:
    options = parse_options()
    access = json.loads(options.key.read_text())["nats"]
    client = await nats.connect(access["url"], user=access["user"], password=access["password"])
    try:
        await follow(client, access, from_beginning=options.from_beginning, once=options.once)
    finally:
        await client.close()


async def follow(client: Client, access: dict[str, Any], *, from_beginning: bool, once: bool) -> None:
    """Handle every event of the tenant's sandboxes; with `once`, only those that there are now."""
    [consumer] = [one["name"] for one in access["consumers"] if one["stream"] == STREAM]
    if from_beginning:
        await client.request(f"{access['api_prefix']}.CONSUMER.RESET.{STREAM}.{consumer}", b'{"seq": 1}', timeout=5)
    stream = client.jetstream(prefix=access["api_prefix"])
    pull = await stream.pull_subscribe_bind(consumer, STREAM)
    while True:
        messages = await fetch(pull, wait_s=0.5 if once else 30.0)
        for message in messages:
            handle(message)
            await message.ack()
        if once and not messages:
            return await client.flush()


async def fetch(pull: JetStreamContext.PullSubscription, *, wait_s: float) -> list[Msg]:
    """Return the next messages, as soon as there is one; none after `wait_s`."""
    try:
        return await pull.fetch(BATCH, timeout=wait_s)
    except TimeoutError:  # NATS's own is one too, and nats-py raises now this one, now that
        return []


def handle(message: Msg) -> None:
    """Act on one event. The subject says what happened to which sandbox; the message has the whole record after it."""
    _, _tenant, sandbox_id, fact = message.subject.split(".")
    if fact == "terminated":
        event = Event.FromString(message.data)
        reason = event.sandbox.terminated.reason
        print(f"{event.time.ToJsonString()} {sandbox_id} terminated: {reason}", flush=True)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="React to the end of sandboxes.")
    parser.add_argument("key", type=Path, help="what `arenero key create --events -o json` printed")
    parser.add_argument("--from-beginning", action="store_true", help="begin with the first event that is kept")
    parser.add_argument("--once", action="store_true", help="end when all that happened so far is handled")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
