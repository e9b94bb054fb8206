import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arenero.isolation import frames

MESSAGES = st.lists(st.dictionaries(st.text(max_size=20), st.one_of(st.integers(), st.text(), st.none())), max_size=5)


@given(messages=MESSAGES, cut=st.integers(1, 50))
def test_messages_survive_however_they_are_cut(messages: list[dict[str, Any]], cut: int) -> None:
    stream = b"".join(map(frames.encode, messages))
    decoder = frames.Decoder()
    pieces = [stream[at : at + cut] for at in range(0, len(stream), cut)]
    assert [message for piece in pieces for message in decoder.feed(piece)] == messages


def test_a_message_is_given_once_it_is_whole() -> None:
    decoder = frames.Decoder()
    whole = frames.encode({"a": 1})
    assert list(decoder.feed(whole[:-1])) == []
    assert list(decoder.feed(whole[-1:])) == [{"a": 1}]


def test_an_announced_length_has_a_limit() -> None:
    with pytest.raises(frames.FrameTooLong):
        list(frames.Decoder().feed(struct.pack("<I", frames.MAX_FRAME_BYTES + 1)))
