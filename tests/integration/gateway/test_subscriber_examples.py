"""The examples for subscribers do what they say, with nothing but NATS."""

import asyncio
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format

from arenero.api.events.v1.event_pb2 import Event
from arenero.api.gateway.v1 import key_pb2
from arenero.bus.envelope import new_event, pack
from arenero.bus.nats import NatsEventLog
from arenero.bus.streams import STREAMS
from arenero.bus.subjects import Kind, Subject
from arenero.model.ids import SandboxId, TenantId, new_event_id, new_sandbox_id
from tests.integration.gateway.conftest import Stage

EXAMPLES = Path(__file__).parents[3] / "examples"
COMMANDS = {
    "python": [sys.executable, str(EXAMPLES / "subscriber.py")],
    "bash": [str(EXAMPLES / "subscriber.sh")],
}


@pytest.fixture(params=COMMANDS)
async def command(request: pytest.FixtureRequest, stage: Stage, tmp_path: Path) -> list[str]:
    made = await stage.new_key("acme", kind=key_pb2.KEY_KIND_EVENTS)
    key_file = tmp_path / "subscriber.json"
    key_file.write_text(json.dumps(json_format.MessageToDict(made, preserving_proto_field_name=True)))
    return [*COMMANDS[request.param], str(key_file)]


async def happen(stage: Stage, tenant: str, fact: str, sandbox_id: SandboxId | None = None) -> SandboxId:
    """Let something happen to a sandbox: its event goes to the log."""
    sandbox_id = sandbox_id or new_sandbox_id()
    subject = Subject(Kind.SANDBOX, TenantId(tenant), sandbox_id, fact)
    event = new_event(new_event_id(), subject, datetime.now(UTC), actor="key:key_x", source="lifecycle/test")
    _tell(event, fact)
    data, headers = pack(event)
    log = NatsEventLog(stage.platform, STREAMS[Kind.SANDBOX])
    await log.publish(str(subject), data, message_id=event.id, headers=headers)
    return sandbox_id


def _tell(event: Event, fact: str) -> None:
    about: Any = getattr(event.sandbox, fact)
    about.SetInParent()
    if fact == "terminated":
        about.reason = "DELETED"


async def run(command: list[str], *options: str) -> list[str]:
    process = await asyncio.create_subprocess_exec(*command, *options, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 0, err.decode()
    return out.decode().splitlines()


def mentions(lines: list[str], sandbox_ids: list[SandboxId]) -> bool:
    return len(lines) == len(sandbox_ids) and all(one in line for one, line in zip(sandbox_ids, lines, strict=True))


async def test_reacts_to_every_end_and_goes_on_where_it_stopped(stage: Stage, command: list[str]) -> None:
    ended = []
    for _ in range(3):
        sandbox_id = await happen(stage, "acme", "started")
        ended.append(await happen(stage, "acme", "terminated", sandbox_id))
        await happen(stage, "beta", "terminated")
    assert mentions(await run(command, "--once"), ended)
    later = await happen(stage, "acme", "terminated")
    assert mentions(await run(command, "--once"), [later])
    assert await run(command, "--once") == []
    assert mentions(await run(command, "--once", "--from-beginning"), [*ended, later])


async def test_hears_of_an_end_while_it_runs(stage: Stage, command: list[str]) -> None:
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        ended = await happen(stage, "acme", "terminated")
        assert ended in (await asyncio.wait_for(process.stdout.readline(), 10)).decode()
        ended = await happen(stage, "acme", "terminated")
        assert ended in (await asyncio.wait_for(process.stdout.readline(), 10)).decode()
    finally:
        process.terminate()
        await process.wait()
