"""The checks that both logs share."""

import pytest

from arenero.bus.log import MAX_MESSAGE_BYTES, Entry, check_key, check_message, check_reading, lost_race
from arenero.errors import InvalidArgument
from arenero.model.time import EPOCH


def test_message_id_comes_from_the_headers() -> None:
    assert Entry("a.b", 1, EPOCH, b"", {"Nats-Msg-Id": "m"}).message_id == "m"
    assert Entry("a.b", 1, EPOCH, b"").message_id == ""


@pytest.mark.parametrize("subject", ["pool.a.b.c", "sandbox", "sandbox.*.b", "sandbox.a..b", ""])
def test_subject_must_be_one_of_the_stream(subject: str) -> None:
    with pytest.raises(InvalidArgument):
        check_message("sandbox.>", subject, b"")


def test_message_may_have_just_so_many_bytes() -> None:
    check_message("sandbox.>", "sandbox.a", bytes(MAX_MESSAGE_BYTES))
    with pytest.raises(InvalidArgument):
        check_message("sandbox.>", "sandbox.a", bytes(MAX_MESSAGE_BYTES + 1))


def test_key_must_hold_the_subject() -> None:
    check_key("sandbox.a.>", "sandbox.a.b")
    for key in ("sandbox.b.>", "sandbox.>.a", ">"):
        with pytest.raises(InvalidArgument):
            check_key(key, "sandbox.a.b")
    with pytest.raises(InvalidArgument):
        check_reading("sandbox.>.a")


def test_lost_race_names_the_newer_revision_when_it_is_known() -> None:
    assert lost_race("a.>", 1, 7).metadata == {"key": "a.>", "expected_revision": "1", "revision": "7"}
    assert "revision" not in lost_race("a.>", 1, None).metadata
