"""`arenero events`."""

import json
from datetime import UTC, datetime

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from arenero.api.events.v1 import event_pb2, event_service_pb2, sandbox_events_pb2
from arenero.cli.events import event_line, fact_fields
from arenero.sdk.types import ActivityEvent, Event, SandboxEvent, SandboxFailed
from tests.unit.sdk.wire import SANDBOX_ID, Refused, WirePair, detail


def started(sequence: int) -> event_pb2.Event:
    fact = sandbox_events_pb2.SandboxEvent(started=sandbox_events_pb2.SandboxStarted())
    return event_pb2.Event(
        id=f"evt_{sequence}",
        sequence=sequence,
        subject=f"sandbox.acme.{SANDBOX_ID}.started",
        time=Timestamp(seconds=3661, nanos=250_000_000),
        sandbox=fact,
    )


def test_past_events_are_lines(wires: WirePair, arenero) -> None:
    wires.gateway.on("Replay", [event_service_pb2.ReplayResponse(event=started(number)) for number in (1, 2)])
    result = arenero("events", SANDBOX_ID, "--since", "10m", "--subject", "sandbox.*.started", "--limit", "5")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 2
    assert result.stdout.startswith(f"01:01:01.250  sandbox.acme.{SANDBOX_ID}.started")
    request = wires.gateway.called("Replay")[0].request
    assert (request.filter.sandbox_id, [*request.filter.subjects]) == (SANDBOX_ID, ["sandbox.*.started"])
    age_s = datetime.now(UTC).timestamp() - request.time.seconds
    assert 590 < age_s < 660
    assert request.limit == 5


def test_new_events_are_followed_up_to_the_limit(wires: WirePair, arenero) -> None:
    wires.gateway.on("Follow", [event_service_pb2.FollowResponse(event=started(number)) for number in (1, 2, 3)])
    result = arenero("events", "-f", "--limit", "2", "-o", "json", SANDBOX_ID)
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["evt_1", "evt_2"]
    assert wires.gateway.called("Follow")[0].request.from_beginning


def test_following_everything_begins_now(wires: WirePair, arenero) -> None:
    wires.gateway.on("Follow", [event_service_pb2.FollowResponse(event=started(1))])
    assert arenero("events", "-f", "--limit", "1").exit_code == 0
    assert wires.gateway.called("Follow")[0].request.WhichOneof("start") is None


GONE = Refused(grpc.StatusCode.NOT_FOUND, "there is none", detail("SANDBOX_NOT_FOUND"))


@pytest.mark.parametrize("option", [(), ("--follow",)])
def test_events_of_a_sandbox_that_is_not_there_are_not_found(wires: WirePair, arenero, option: tuple[str, ...]) -> None:
    wires.gateway.on("Replay", [])
    wires.gateway.on("Get", GONE)
    result = arenero("events", SANDBOX_ID, *option)
    assert (result.exit_code, result.stdout, result.stderr) == (3, "", "arenero: there is none [SANDBOX_NOT_FOUND]\n")
    assert not wires.gateway.called("Follow")


def test_sandbox_to_which_nothing_has_happened_is_no_error(wires: WirePair, arenero) -> None:
    wires.gateway.on("Replay", [])
    result = arenero("events", SANDBOX_ID, "--since", "1m")
    assert (result.exit_code, result.output) == (0, "")


def test_events_of_a_sandbox_whose_record_is_gone_are_shown(wires: WirePair, arenero) -> None:
    wires.gateway.on("Replay", [event_service_pb2.ReplayResponse(event=started(1))])
    wires.gateway.on("Get", GONE)
    assert arenero("events", SANDBOX_ID).exit_code == 0


def test_line_shows_what_is_particular_to_the_event() -> None:
    event = Event(
        subject="sandbox.acme.sbx_a.failed",
        time=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        sandbox=SandboxEvent(failed=SandboxFailed(reason="NO_SPACE", message="disk is \x1b[31mfull")),
    )
    line = event_line(event)
    assert line.startswith("03:04:05.000  sandbox.acme.sbx_a.failed  ")
    assert "reason=NO_SPACE" in line
    assert 'message="disk is \\u001b[31mfull"' in line
    assert line.isprintable()


def test_text_without_a_space_can_not_change_the_screen_either() -> None:
    event = Event(subject="s", sandbox=SandboxEvent(failed=SandboxFailed(reason="a\x1b[31m")))
    assert event_line(event).isprintable()


def test_event_without_a_fact_that_is_known_has_no_fields() -> None:
    assert fact_fields(Event(subject="s")) == {}
    assert fact_fields(Event(subject="s", activity=ActivityEvent())) == {}
    assert event_line(Event(subject="s")) == "  s"
