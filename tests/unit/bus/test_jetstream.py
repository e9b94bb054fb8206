"""What JetStream's answers mean."""

import json
from datetime import UTC, datetime

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from arenero.bus.jetstream import attempt_of, delivered_entry, direct_entry, parse_answer, parse_time, status_of
from arenero.errors import ArenError, Conflict, Internal, InvalidArgument, NotFound, Unavailable


def message(data: bytes = b"", *, reply: str = "", **headers: str) -> Msg:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Msg(_client=Client(), subject="sandbox.acme.one.started", reply=reply, data=data, headers=named or None)


def refusal(code: int, err_code: int) -> bytes:
    return json.dumps({"error": {"code": code, "err_code": err_code, "description": "words"}}).encode()


@pytest.mark.parametrize(
    ("code", "err_code", "kind"),
    [
        (400, 10071, Conflict),
        (404, 10059, NotFound),
        (400, 10054, InvalidArgument),
        (503, 10047, Unavailable),
        (500, 10077, Unavailable),
        (503, 10076, Unavailable),
        (400, 99999, Internal),
    ],
)
def test_error_codes_become_our_classes(code: int, err_code: int, kind: type[ArenError]) -> None:
    with pytest.raises(kind) as caught:
        parse_answer(message(refusal(code, err_code)))
    assert caught.value.metadata["jetstream_code"] == str(err_code)


def test_good_answer_is_returned() -> None:
    assert parse_answer(message(b'{"seq": 3}')) == {"seq": 3}


def test_nobody_listening_is_unavailable() -> None:
    with pytest.raises(Unavailable) as caught:
        parse_answer(message(Status="503"))
    assert caught.value.reason == "BUS_NO_RESPONDERS"
    assert status_of(message()) == ""


@pytest.mark.parametrize(
    "reply",
    [
        "$JS.ACK.SANDBOX.c1.3.17.5.1893456000123456789.2",
        "$JS.ACK.hub.ACCOUNT.SANDBOX.c1.3.17.5.1893456000123456789.2.xyz",
        "$JS.ACK._.ACCOUNT.SANDBOX.c1.3.17.5.1893456000123456789.2",
    ],
)
def test_position_is_read_from_both_forms_of_reply(reply: str) -> None:
    entry, number = delivered_entry(message(b"x", reply=reply, Nats_Msg_Id="m", Nats_Expected_Stream="S", Other="o"))
    assert (entry.sequence, number, attempt_of(message(reply=reply))) == (17, 5, 3)
    assert entry.time == datetime(2030, 1, 1, 0, 0, 0, 123456, UTC)
    assert entry.headers == {"Nats-Msg-Id": "m", "Other": "o"}


def test_direct_answer_is_an_entry() -> None:
    entry = direct_entry(
        message(
            b"x",
            Nats_Stream="SANDBOX",
            Nats_Subject="sandbox.acme.two.paused",
            Nats_Sequence="9",
            Nats_Time_Stamp="2030-01-01T00:00:00.1Z",
            Nats_Num_Pending="0",
            Nats_Msg_Id="m",
        )
    )
    assert (entry.subject, entry.sequence, entry.message_id) == ("sandbox.acme.two.paused", 9, "m")
    assert entry.headers == {"Nats-Msg-Id": "m"}
    assert entry.time == datetime(2030, 1, 1, 0, 0, 0, 100000, UTC)


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [("2030-01-01T00:00:00Z", 0), ("2030-01-01T00:00:00.5Z", 500_000), ("2030-01-01T00:00:00.123456789Z", 123_456)],
)
def test_time_has_any_number_of_digits(text: str, microseconds: int) -> None:
    assert parse_time(text) == datetime(2030, 1, 1, microsecond=microseconds, tzinfo=UTC)
