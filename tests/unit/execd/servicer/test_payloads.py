"""Messages written and read by hand are the ones that the protobuf runtime writes and reads."""

from __future__ import annotations

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from arenero.api.execd.v1 import exec_pb2, file_service_pb2
from arenero.api.execd.v1 import exec_service_pb2 as api
from arenero.execd import reading
from arenero.execd.output import Chunk, Stream
from arenero.execd.servicer.payloads import Part, content, output_frame, parse_write

NUMBERS = st.integers(0, 2**64 - 1)
SIZES = st.sampled_from([0, 1, 127, 128, 400, 600, 16_383, 16_384, 70_000])


@given(st.sampled_from(Stream), NUMBERS, NUMBERS, SIZES)
def test_output_is_written_as_the_runtime_writes_it(stream: Stream, offset: int, seq: int, size: int) -> None:
    data = b"\xfe" * size
    output = exec_pb2.OutputChunk(stream=int(stream), offset=offset, seq=seq, data=data)  # type: ignore[arg-type]
    chunk = Chunk(stream, offset, seq, data)
    assert output_frame(2, chunk) == api.RunResponse(output=output).SerializeToString() or not size
    assert output_frame(3, chunk) == api.InteractResponse(output=output).SerializeToString() or not size
    assert api.RunResponse.FromString(output_frame(2, chunk)).output == output


@given(NUMBERS, SIZES)
def test_content_is_read_as_the_runtime_reads_it(offset: int, size: int) -> None:
    sent = file_service_pb2.ReadResponse(offset=offset, data=b"\x1a" * size)
    assert file_service_pb2.ReadResponse.FromString(content(reading.Chunk(offset, sent.data))) == sent


@given(NUMBERS, SIZES)
def test_part_of_a_file_is_what_was_sent(offset: int, size: int) -> None:
    sent = file_service_pb2.WriteRequest(offset=offset, data=b"\x1a\x22" * size)
    parsed = parse_write(sent.SerializeToString())
    assert (parsed.offset, bytes(parsed.data)) == (sent.offset, sent.data)
    assert isinstance(parsed, Part) == (len(sent.data) > 511)


def test_message_that_says_more_is_read_by_the_runtime() -> None:
    for more in (
        file_service_pb2.WriteRequest(open=file_service_pb2.WriteOpen(path=b"x"), data=bytes(1000)),
        file_service_pb2.WriteRequest(finish=file_service_pb2.WriteFinish(size_bytes=1), data=bytes(1000)),
        file_service_pb2.WriteRequest(open=file_service_pb2.WriteOpen(path=bytes(1000))),
    ):
        assert parse_write(more.SerializeToString()) == more


def test_every_way_to_write_a_message_is_understood() -> None:
    data = bytes(range(256)) * 4
    for raw in (
        b"\x1a\x80\x08" + data + b"\x10\x07",  # the number behind the payload
        b"\x10\x07\x1a\x80\x88\x00" + data,  # a length with more digits than it takes
        b"\x10\x05\x10\x07\x1a\x80\x08" + data,  # a number twice: the last one counts
        b"\x1a\x01x\x10\x07\x1a\x80\x08" + data,  # a payload twice
        b"\x10\x07\xf8\x07\x01\x1a\x80\x08" + data,  # a number from the future
    ):
        parsed = parse_write(raw)
        assert (parsed.offset, bytes(parsed.data)) == (7, data), raw[:8]


@given(st.binary(max_size=40), SIZES)
def test_what_is_no_message_is_refused_as_by_the_runtime(head: bytes, size: int) -> None:
    raw = head + bytes(size)
    try:
        expected = file_service_pb2.WriteRequest.FromString(raw)
    except DecodeError:
        with pytest.raises(DecodeError):
            parse_write(raw)
    else:
        parsed = parse_write(raw)
        assert (parsed.offset, bytes(parsed.data)) == (expected.offset, expected.data)
