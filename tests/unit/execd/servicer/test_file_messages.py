"""Requests and answers of the file service, to and from what its modules take."""

from typing import Any

import pytest

from arenero.api.execd.v1 import file_pb2
from arenero.api.execd.v1 import file_service_pb2 as api
from arenero.errors import InvalidArgument
from arenero.execd.changes import Change, ChangeKind
from arenero.execd.entries import Entry, Kind
from arenero.execd.filecalls import Status
from arenero.execd.reading import DEFAULT_CHUNK_BYTES, ReadRange
from arenero.execd.search import DEFAULT_LIMIT
from arenero.execd.servicer.file_messages import (
    change_message,
    pace_of,
    range_of,
    search_spec_of,
    stat_message,
    unpack_spec_of,
    watch_spec_of,
    write_spec_of,
)
from arenero.execd.unpacking import DEFAULT_MOST_ENTRIES
from arenero.execd.uploads import WriteMode, WriteSpec
from arenero.execd.walking import DEEPEST
from arenero.execd.watches import Pace, WatchSpec


def test_kinds_have_the_numbers_of_the_api():
    for kind in Kind:
        name = "UNSPECIFIED" if kind is Kind.UNKNOWN else kind.name
        assert file_pb2.FileType.Value(f"FILE_TYPE_{name}") == kind.value
    for change in ChangeKind:
        assert api.FileChangeKind.Value(f"FILE_CHANGE_KIND_{change.name}") == change.value


def entry(**status: int | None) -> Entry:
    values: dict[str, int | None] = {
        "mode": 0o106755, "links": 2, "uid": 1, "gid": 2, "inode": 3, "device": 4, "size_bytes": 5, "disk_bytes": 6,
        "accessed_ns": 1_000_000_007, "modified_ns": -1, "changed_ns": 3, "created_ns": None,
    }  # fmt: skip
    return Entry(b"\xff", Kind.REGULAR, Status(**(values | status)), "o", "g", b"t")  # type: ignore[arg-type]


def test_entry_is_told_with_times_before_1970_too():
    message = stat_message(entry())
    assert (message.path, message.mode, message.owner, message.link_target) == (b"\xff", 0o6755, "o", b"t")
    assert (message.accessed_at.seconds, message.accessed_at.nanos) == (1, 7)
    assert (message.modified_at.seconds, message.modified_at.nanos) == (-1, 999_999_999)
    assert not message.HasField("created_at")
    assert stat_message(entry(created_ns=5)).created_at.nanos == 5


def test_change_is_told():
    message = change_message(Change(ChangeKind.MOVED, b"b", b"a", is_directory=True))
    assert (message.kind, message.path, message.moved_from, message.is_directory) == (4, b"b", b"a", True)


def test_defaults_stand_for_what_is_unset():
    assert range_of(api.ReadRequest()) == ReadRange(chunk_bytes=DEFAULT_CHUNK_BYTES)
    assert write_spec_of(api.WriteOpen(path=b"f")) == WriteSpec(b"f")
    search = search_spec_of(api.SearchRequest())
    assert (search.limit, search.depth, search.kinds) == (DEFAULT_LIMIT, DEEPEST, frozenset())
    assert unpack_spec_of(api.UploadArchiveOpen()).most_entries == DEFAULT_MOST_ENTRIES
    assert pace_of(api.WatchDirectoryRequest()) == Pace()


def test_mode_0_is_not_unset():
    assert write_spec_of(api.WriteOpen(mode=0)).mode == 0


def test_every_write_mode_has_its_meaning():
    for mode in WriteMode:
        number: Any = api.WriteMode.Value(f"WRITE_MODE_{mode.name}")
        assert write_spec_of(api.WriteOpen(write_mode=number)).write_mode is mode


def test_unknown_kind_of_a_newer_client_matches_nothing():
    types: Any = [1, 99]
    request = api.SearchRequest(types=types)
    assert search_spec_of(request).kinds == {Kind.REGULAR, Kind.UNKNOWN}


def test_watch_is_described_with_its_root():
    request = api.WatchDirectoryRequest(root=file_pb2.FileRoot(root=b"/r"), path=b"p", recursive=True, ignore=["x"])
    request.coalesce.FromMilliseconds(250)
    request.heartbeat.FromSeconds(3)
    assert watch_spec_of(request) == WatchSpec(b"/r", b"p", True, ("x",))
    assert pace_of(request) == Pace(0.25, 3.0)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: write_spec_of(api.WriteOpen(mode=0o10000)), "open.mode"),
        (lambda: search_spec_of(api.SearchRequest(depth=DEEPEST + 1)), "depth"),
        (
            lambda: unpack_spec_of(api.UploadArchiveOpen(keep_owners=True, ownership=file_pb2.Ownership(owner="a"))),
            "open.keep_owners",
        ),
        (lambda: pace_of(_watch(coalesce=11)), "coalesce"),
        (lambda: pace_of(_watch(heartbeat=0)), "heartbeat"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_field(make, field: str):
    with pytest.raises(InvalidArgument) as error:
        make()
    assert error.value.field == field


def _watch(**seconds: int) -> api.WatchDirectoryRequest:
    request = api.WatchDirectoryRequest()
    for name, value in seconds.items():
        getattr(request, name).FromSeconds(value)
    return request
