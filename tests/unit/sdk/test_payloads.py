"""Messages written and read by hand are the ones that the protobuf runtime writes and reads."""

import subprocess
import sys

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2, file_service_pb2
from arenero.sdk._payloads import FilePart, OutputPart, frame_parser, parse_read, serialized, write_request

NUMBERS = st.integers(0, 2**64 - 1)
SIZES = st.sampled_from([0, 1, 127, 128, 400, 600, 16_383, 16_384, 70_000])
parse_run = frame_parser(exec_service_pb2.RunResponse)


@given(st.sampled_from([0, 1, 2, 3]), NUMBERS, NUMBERS, SIZES)
def test_output_is_read_as_the_runtime_reads_it(stream: int, offset: int, seq: int, size: int) -> None:
    sent = exec_pb2.OutputChunk(stream=stream, offset=offset, seq=seq, data=b"\x22\x01" * size)  # type: ignore[arg-type]
    for message in (exec_service_pb2.RunResponse, exec_service_pb2.AttachResponse):
        parsed = frame_parser(message)(message(output=sent).SerializeToString())
        got = parsed if isinstance(parsed, OutputPart) else parsed.output
        assert (got.stream, got.offset, got.data) == (stream, offset, sent.data)
        assert isinstance(parsed, OutputPart) == (len(sent.data) > 511)


def test_other_frames_are_messages() -> None:
    sent = exec_service_pb2.RunResponse(ended=exec_pb2.ExecEnded(exit_code=3))
    assert parse_run(sent.SerializeToString()) == sent
    failed = exec_service_pb2.RunResponse(
        ended=exec_pb2.ExecEnded(start_failure=exec_pb2.StartFailure(message="x" * 1000))
    )
    assert parse_run(failed.SerializeToString()) == failed


def test_output_with_something_of_the_future_is_left_to_the_runtime() -> None:
    data = bytes(1000)
    inner = b"\x08\x01\x10\x07\x18\x01\x22\xe8\x07" + data + b"\x2a\x02hi"
    parsed = parse_run(b"\x12" + bytes([len(inner) & 127 | 128, len(inner) >> 7]) + inner)
    assert (parsed.output.offset, parsed.output.data) == (7, data)


@given(NUMBERS, SIZES)
def test_content_is_read_as_the_runtime_reads_it(offset: int, size: int) -> None:
    sent = file_service_pb2.ReadResponse(offset=offset, data=b"\x1a" * size)
    parsed = parse_read(sent.SerializeToString())
    assert (parsed.offset, parsed.data, parsed.end) == (offset, sent.data, False)
    assert isinstance(parsed, FilePart) == (len(sent.data) > 511)


def test_content_with_more_than_that_is_a_message() -> None:
    for sent in (
        file_service_pb2.ReadResponse(offset=1, data=bytes(1000), end=True),
        file_service_pb2.ReadResponse(stat={"path": b"x"}, data=bytes(1000)),
    ):
        assert parse_read(sent.SerializeToString()) == sent


@given(st.binary(max_size=40), SIZES)
def test_what_is_no_message_is_refused_as_by_the_runtime(head: bytes, size: int) -> None:
    raw = head + bytes(size)
    try:
        expected = file_service_pb2.ReadResponse.FromString(raw)
    except DecodeError:
        with pytest.raises(DecodeError):
            parse_read(raw)
    else:
        parsed = parse_read(raw)
        assert (parsed.offset, parsed.data, parsed.end) == (expected.offset, expected.data, expected.end)


@given(NUMBERS, SIZES)
def test_part_of_a_file_is_written_as_the_runtime_writes_it(offset: int, size: int) -> None:
    sent = file_service_pb2.WriteRequest(offset=offset, data=b"\x00" * size)
    written = serialized(write_request(offset, sent.data))
    assert written == serialized(sent) or not size
    assert file_service_pb2.WriteRequest.FromString(written) == sent


CHURN = """
import resource, sys
from arenero.sdk._payloads import reuse_memory
reuse_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    blocks = [bytearray(1024 * 1024) for _ in range(4)]
    del blocks
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def test_memory_of_large_messages_is_used_again() -> None:
    """A hundred times four blocks of a megabyte take the pages of a few blocks, 256 each, not of all four hundred."""
    done = subprocess.run([sys.executable, "-c", CHURN], capture_output=True, text=True, check=True, timeout=60)
    assert int(done.stdout) < 20 * 256
