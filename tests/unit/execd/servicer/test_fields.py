"""Fields of requests: converted, and named when they are wrong."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from arenero.errors import InvalidArgument
from arenero.execd.output import Stream
from arenero.execd.servicer import fields


def fault(call: Any) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as caught:
        call()
    return caught.value


def test_exec_id_has_one_form() -> None:
    made = uuid.uuid4()
    assert fields.exec_id_of(str(made).upper()) == str(made)
    assert uuid.UUID(fields.new_exec_id_of("")).version == 4
    assert fields.new_exec_id_of(str(made)) == str(made)


@pytest.mark.parametrize("bad", ["", "x", "{12345678-1234-1234-1234-123456789abc}", "12345678123412341234123456789abc"])
def test_bad_exec_id_is_named(bad: str) -> None:
    assert fault(lambda: fields.exec_id_of(bad, "attach.exec_id")).field == "attach.exec_id"


def test_duration_is_seconds_within_its_bounds() -> None:
    spec = exec_pb2.ExecSpec()
    assert fields.seconds_of(spec, "timeout") is None
    spec.timeout.FromMilliseconds(1500)
    assert fields.seconds_of(spec, "timeout") == 1.5
    assert fault(lambda: fields.seconds_of(spec, "timeout", high_s=1.0)).field == "timeout"
    spec.timeout.FromSeconds(-1)
    assert "must be from 0" in fault(lambda: fields.seconds_of(spec, "timeout")).message


@pytest.mark.parametrize(("milliseconds", "fine"), [(100, True), (99, False), (3_600_000, True), (3_600_001, False)])
def test_heartbeats_are_neither_a_flood_nor_a_silence(milliseconds: int, fine: bool) -> None:
    request = exec_service_pb2.RunRequest()
    assert fields.heartbeat_of(request) is None
    request.heartbeat_interval.FromMilliseconds(milliseconds)
    if fine:
        assert fields.heartbeat_of(request) == milliseconds / 1000
    else:
        assert fault(lambda: fields.heartbeat_of(request)).field == "heartbeat_interval"


@pytest.mark.parametrize(
    ("name", "number"), [("TERM", 15), ("SIGTERM", 15), ("term", 15), ("sigkill", 9), ("USR1", 10)]
)
def test_signal_has_a_number(name: str, number: int) -> None:
    assert fields.signal_named(name, "name") == number


@pytest.mark.parametrize("name", ["", "SIG", "NOPE", "_DFL", "TERM\n", "15"])
def test_what_is_no_signal_is_named(name: str) -> None:
    assert fault(lambda: fields.signal_named(name, "signal")).field == "signal"


def test_streams_of_the_api_are_ours() -> None:
    for stream in Stream:
        assert exec_pb2.OutputStream.Name(stream.value) == f"OUTPUT_STREAM_{stream.name}"
        assert fields.stream_of(stream.value, "streams") is stream
    for number in (0, 4, 99):
        assert fault(lambda number=number: fields.stream_of(number, "streams")).field == "streams"


def test_trace_context_of_strangers_is_checked() -> None:
    good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    assert fields.traceparent_of({"traceparent": good}) == good
    for bad in ("", "x", good + "\n", good.upper(), good + "\0"):
        assert fields.traceparent_of({"traceparent": bad}) == ""
