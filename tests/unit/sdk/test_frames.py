"""Frames as the SDK shows them."""

from datetime import UTC, datetime
from typing import Any, cast

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from arenero.api.execd.v1 import exec_pb2
from arenero.sdk import Exit, Gap, Output
from arenero.sdk._frames import Cursor, exit_of, start_failed
from tests.unit.sdk.wire import STDERR, chunk, ended, gap, places, places_of


def test_cursor_gives_new_bytes_only() -> None:
    cursor = Cursor()
    assert [*cursor.output(chunk(0, b"abc"))] == [Output("stdout", b"abc", 0)]
    assert [*cursor.output(chunk(1, b"bcde"))] == [Output("stdout", b"de", 3)]
    assert [*cursor.output(chunk(0, b"abcde"))] == []
    assert places_of(cursor.offsets()) == {"stdout": 5}


def test_cursor_begins_anywhere_when_its_place_is_unknown() -> None:
    cursor = Cursor()
    assert [*cursor.output(chunk(500, b"x"))] == [Output("stdout", b"x", 500)]
    assert [*cursor.output(chunk(40, b"y", STDERR))] == [Output("stderr", b"y", 40)]


def test_cursor_keeps_its_place_when_told_where_to_begin() -> None:
    cursor = Cursor()
    [*cursor.output(chunk(10, b"x"))]
    cursor.begin({"stdout": 3, "stderr": 4})
    assert places_of(cursor.offsets()) == {"stdout": 11, "stderr": 4}


def test_cursor_joins_a_gap_that_is_told_with_what_went_missing_before_it() -> None:
    cursor = Cursor()
    [*cursor.output(chunk(0, b"abc"))]
    assert [*cursor.gap(gap(5, 9))] == [Gap("stdout", 3, 9)]
    assert [*cursor.gap(gap(5, 9))] == []


def test_cursor_tells_of_a_missing_end() -> None:
    cursor = Cursor()
    cursor.begin({"stdout": 0})
    assert [*cursor.end(ended(stdout=5, stderr=5))] == [Gap("stdout", 0, 5)]
    assert [*cursor.end(ended(stdout=5))] == []


def test_exit_has_all_that_the_end_frame_tells() -> None:
    told = exec_pb2.ExecEnded(
        signal=9,
        core_dumped=True,
        cause=exec_pb2.END_CAUSE_OUT_OF_MEMORY,
        final_offsets=places(stdout=4),
        dropped=places(stdout=2),
        usage=exec_pb2.ResourceUsage(
            user_time=Duration(seconds=1), system_time=Duration(nanos=500_000_000), max_rss_bytes=1024
        ),
        started_at=Timestamp(seconds=10),
        stdio_held_open=True,
        escapees_possible=True,
    )
    assert exit_of(told) == Exit(
        exit_code=None,
        signal=9,
        cause="OUT_OF_MEMORY",
        started_at=datetime.fromtimestamp(10, UTC),
        ended_at=None,
        stdio_held_open=True,
        escapees_possible=True,
        core_dumped=True,
        cpu_time_s=1.5,
        max_rss_bytes=1024,
        final_offsets={"stdout": 4},
        dropped_bytes={"stdout": 2},
    )


def test_exit_knows_no_memory_where_execd_knows_none() -> None:
    usage = exec_pb2.ResourceUsage(user_time=Duration(seconds=1))
    assert exit_of(exec_pb2.ExecEnded(exit_code=0, usage=usage)).max_rss_bytes is None


def test_exit_knows_no_usage_when_none_is_told() -> None:
    found = exit_of(exec_pb2.ExecEnded(exit_code=0))
    assert (found.cpu_time_s, found.max_rss_bytes, found.exit_code) == (None, None, 0)


def test_cause_of_a_newer_execd_has_a_name() -> None:
    assert exit_of(exec_pb2.ExecEnded(exit_code=1, cause=cast(Any, 99))).cause == "UNKNOWN_99"
    assert start_failed(exec_pb2.StartFailure(kind=cast(Any, 77), message="new")).kind == "UNKNOWN_77"


def test_only_its_own_exit_with_code_0_is_ok() -> None:
    assert Exit(0, None, "OWN_EXIT").ok
    assert not Exit(0, None, "DEADLINE").ok
    assert not Exit(1, None, "OWN_EXIT").ok
    assert not Exit(None, 9, "OWN_EXIT").ok


def test_code_as_a_shell_reports_it() -> None:
    assert Exit(3, None, "OWN_EXIT").shell_code == 3
    assert Exit(None, 9, "CANCELLED").shell_code == 137
