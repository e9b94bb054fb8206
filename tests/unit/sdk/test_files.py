"""Files of a sandbox over the wire."""

import hashlib
import io
import os
from datetime import UTC, datetime
from pathlib import Path

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from arenero.api.execd.v1 import file_pb2, file_service_pb2
from arenero.sdk import FileChange, FileStat
from arenero.sdk.errors import AlreadyExists, FailedPrecondition, NotFound, OutcomeUnknown
from arenero.sdk.files import ArchiveEnd
from tests.unit.sdk.wire import Refused, WirePair, detail

STAT = file_pb2.FileStat(
    path=b"/w/\xff",
    type=file_pb2.FILE_TYPE_SYMLINK,
    size_bytes=5,
    disk_bytes=4096,
    mode=0o644,
    uid=1000,
    gid=1001,
    owner="u",
    group="g",
    modified_at=Timestamp(seconds=1),
    link_target=b"/t",
)
MISSING = Refused(grpc.StatusCode.NOT_FOUND, "no such file", detail("FILE_NOT_FOUND"))


def part(data: bytes, *, end: bool = False) -> file_service_pb2.ReadResponse:
    return file_service_pb2.ReadResponse(data=data, end=end)


class Stored:
    """What a Write call brings, put together and checked as execd does."""

    def __init__(self) -> None:
        self.opening: file_service_pb2.WriteOpen | None = None
        self.content = bytearray()

    async def take(self, requests):
        async for request in requests:
            if request.HasField("open"):
                assert self.opening is None
                self.opening = request.open
            elif request.HasField("finish"):
                assert request.finish.size_bytes == len(self.content)
                assert request.finish.sha256 == hashlib.sha256(self.content).digest()
                return file_service_pb2.WriteResponse(stat=STAT)
            else:
                assert request.offset == len(self.content)
                assert len(request.data) <= 4 * 1024 * 1024
                self.content.extend(request.data)
        raise AssertionError("no finish")


async def test_read_puts_the_pieces_together(wires: WirePair) -> None:
    wires.execd.on("Read", [file_service_pb2.ReadResponse(stat=STAT), part(b"\xffab"), part(b"c", end=True)])
    async with wires.sandbox() as sandbox:
        assert await sandbox.files.read(b"/w/\xff", offset=1, length=4) == b"\xffabc"
    request = wires.execd.called("Read")[0].request
    assert (request.path, request.offset, request.length) == (b"/w/\xff", 1, 4)


async def test_read_that_breaks_off_is_no_file(wires: WirePair) -> None:
    wires.execd.on("Read", [part(b"half")])
    async with wires.sandbox() as sandbox:
        with pytest.raises(OutcomeUnknown, match="without its last message"):
            await sandbox.files.read("x")


async def test_read_is_not_begun_again_when_it_breaks_half_way(wires: WirePair) -> None:
    stopping = Refused(grpc.StatusCode.UNAVAILABLE, "stopping", detail("STOPPING"))
    wires.execd.on("Read", [part(b"half"), stopping])
    async with wires.sandbox() as sandbox:
        with pytest.raises(Exception, match="stopping"):
            await sandbox.files.read("x")
    assert not wires.gateway.called("Read")


async def test_read_text_refuses_what_is_no_text(wires: WirePair) -> None:
    wires.execd.on("Read", [part("ñ".encode(), end=True)], [part(b"\xff", end=True)])
    async with wires.sandbox() as sandbox:
        assert await sandbox.files.read_text("x") == "ñ"
        with pytest.raises(UnicodeDecodeError):
            await sandbox.files.read_text("x")


async def test_missing_file_is_not_found(wires: WirePair) -> None:
    wires.execd.on("Read", MISSING)
    wires.execd.on("Stat", MISSING, file_service_pb2.StatResponse(stat=STAT))
    async with wires.sandbox() as sandbox:
        with pytest.raises(NotFound, match="no such file"):
            await sandbox.files.read("x")
        assert not await sandbox.files.exists("x")
        assert await sandbox.files.exists("x")


BIG = os.urandom(2_500_000)


async def pieces():
    for begin in range(0, len(BIG), 700_000):
        yield BIG[begin : begin + 700_000]


@pytest.mark.parametrize(
    ("content", "stored"),
    [
        (b"", b""),
        ("ñ", "ñ".encode()),
        (BIG, BIG),
        (bytearray(BIG), BIG),
        (memoryview(BIG), BIG),
        (io.BytesIO(BIG), BIG),
        (io.StringIO("text"), b"text"),
        ([BIG, b"", b"x"], BIG + b"x"),
        (pieces(), BIG),
    ],
    ids=["empty", "text", "bytes", "bytearray", "memoryview", "file", "text file", "iterable", "stream"],
)
async def test_write_stores_content_of_any_kind(wires: WirePair, content, stored: bytes) -> None:
    arrived = Stored()
    told: list[int] = []
    wires.execd.on("Write", arrived.take)
    async with wires.sandbox() as sandbox:
        stat = await sandbox.files.write("/w/x", content, mode=0o600, progress=told.append)
    assert bytes(arrived.content) == stored
    assert stat.size_bytes == 5
    assert arrived.opening is not None
    assert (arrived.opening.path, arrived.opening.mode, arrived.opening.checksum) == (b"/w/x", 0o600, True)
    assert told[-1:] == ([len(stored)] if stored else [])


@pytest.mark.parametrize(
    ("options", "how"),
    [({}, "REPLACE"), ({"append": True}, "APPEND"), ({"exclusive": True}, "CREATE")],
    ids=["replace", "append", "exclusive"],
)
async def test_write_says_what_to_do_with_what_is_there(wires: WirePair, options, how: str) -> None:
    arrived = Stored()
    wires.execd.on("Write", arrived.take)
    async with wires.sandbox() as sandbox:
        await sandbox.files.write("x", b"", owner="alice", group="5", make_parents=False, **options)
    assert arrived.opening is not None
    assert file_service_pb2.WriteMode.Name(arrived.opening.write_mode) == f"WRITE_MODE_{how}"
    assert (arrived.opening.ownership.owner, arrived.opening.ownership.group) == ("alice", "5")
    assert not arrived.opening.make_parents
    assert not arrived.opening.HasField("mode")


async def test_refused_upload_says_why_in_the_middle_of_it(wires: WirePair) -> None:
    async def refuse(requests):
        async for request in requests:
            if request.data:
                raise Refused(grpc.StatusCode.ALREADY_EXISTS, "it is there", detail("FILE_EXISTS"))
        raise AssertionError

    wires.execd.on("Write", refuse)
    async with wires.sandbox() as sandbox:
        with pytest.raises(AlreadyExists, match="it is there"):
            await sandbox.files.write("x", (bytes(1_000_000) for _ in range(200)))


async def test_error_of_the_source_comes_out_as_it_is(wires: WirePair) -> None:
    class SourceBroke(Exception):
        pass

    def source():
        yield b"begin"
        raise SourceBroke

    wires.execd.on("Write", Stored().take)
    async with wires.sandbox() as sandbox:
        with pytest.raises(SourceBroke):
            await sandbox.files.write("x", source())


async def test_upload_takes_the_permission_bits_along(wires: WirePair, tmp_path: Path) -> None:
    local = tmp_path / "tool"
    local.write_bytes(b"#!")
    local.chmod(0o4755)
    arrived = Stored()
    wires.execd.on("Write", arrived.take)
    async with wires.sandbox() as sandbox:
        await sandbox.files.upload(local, "tool")
    assert arrived.opening is not None
    assert (bytes(arrived.content), arrived.opening.mode) == (b"#!", 0o755)


async def test_download_is_complete_or_not_at_all(wires: WirePair, tmp_path: Path) -> None:
    local = tmp_path / "result"
    local.write_bytes(b"old")
    wires.execd.on("Read", [part(b"new, cut off")], [part(b"new"), part(b"!", end=True)])
    async with wires.sandbox() as sandbox:
        with pytest.raises(OutcomeUnknown):
            await sandbox.files.download("x", local)
        assert (local.read_bytes(), [*tmp_path.iterdir()]) == (b"old", [local])
        assert await sandbox.files.download("x", local) == 4
    assert (local.read_bytes(), [*tmp_path.iterdir()]) == (b"new!", [local])


async def test_stat_tells_all(wires: WirePair) -> None:
    wires.execd.on("Stat", file_service_pb2.StatResponse(stat=STAT))
    async with wires.sandbox() as sandbox:
        found = await sandbox.files.stat("x", follow=True)
    assert found == FileStat(
        raw_path=b"/w/\xff",
        type="symlink",
        size_bytes=5,
        disk_bytes=4096,
        mode=0o644,
        uid=1000,
        gid=1001,
        owner="u",
        group="g",
        modified_at=datetime.fromtimestamp(1, UTC),
        link_target=b"/t",
    )
    assert (found.path, found.is_dir) == ("/w/\udcff", False)
    assert wires.execd.called("Stat")[0].request.follow


async def test_list_has_all_pages(wires: WirePair) -> None:
    page = file_service_pb2.ListDirectoryResponse(entries=[STAT, STAT])
    wires.execd.on("ListDirectory", [page, page])
    async with wires.sandbox() as sandbox:
        assert len(await sandbox.files.list("d", depth=2)) == 4
    assert wires.execd.called("ListDirectory")[0].request.depth == 2


async def test_calls_within_a_root_say_so(wires: WirePair) -> None:
    wires.execd.on("Remove", file_service_pb2.RemoveResponse(removed=3))
    async with wires.sandbox() as sandbox:
        assert await sandbox.files.within("/srv", as_user="bob").remove("../x", recursive=True) == 3
    request = wires.execd.called("Remove")[0].request
    assert (request.root.root, request.root.as_user, request.path, request.recursive) == (b"/srv", "bob", b"../x", True)


async def test_changes_of_one_entry(wires: WirePair) -> None:
    wires.execd.on("Move", file_service_pb2.MoveResponse(stat=STAT))
    wires.execd.on("MakeDirectory", file_service_pb2.MakeDirectoryResponse(stat=STAT))
    wires.execd.on("Chmod", file_service_pb2.ChmodResponse(changed=2))
    wires.execd.on("Chown", file_service_pb2.ChownResponse(changed=4))
    wires.execd.on("Symlink", file_service_pb2.SymlinkResponse(stat=STAT))
    async with wires.sandbox() as sandbox:
        await sandbox.files.move("a", "b", overwrite=True)
        await sandbox.files.make_directory("d", mode=0o700)
        assert await sandbox.files.chmod("a", 0o600, recursive=True) == 2
        assert await sandbox.files.chown("a", "alice", "users") == 4
        await sandbox.files.symlink("/target", "link")
    asked = {call.method: call.request for call in wires.execd.calls}
    assert (asked["Move"].source, asked["Move"].destination, asked["Move"].overwrite) == (b"a", b"b", True)
    assert (asked["MakeDirectory"].mode, asked["MakeDirectory"].make_parents) == (0o700, True)
    assert (asked["Chmod"].mode, asked["Chmod"].recursive) == (0o600, True)
    assert asked["Chown"].ownership == file_pb2.Ownership(owner="alice", group="users")
    assert (asked["Symlink"].target, asked["Symlink"].path) == (b"/target", b"link")


async def test_search_gives_entries_and_lines(wires: WirePair) -> None:
    match = file_service_pb2.SearchMatch(stat=STAT, line=3, text=b"\xff")
    wires.execd.on("Search", [file_service_pb2.SearchResponse(matches=[match])])
    async with wires.sandbox() as sandbox:
        [(stat, line, text)] = await sandbox.files.search("d", "*.py", content="x")
    assert (stat.raw_path, line, text) == (b"/w/\xff", 3, b"\xff")


async def test_replace_counts_places_and_raises_when_it_was_refused(wires: WirePair) -> None:
    def answer(**result) -> file_service_pb2.ReplaceResponse:
        return file_service_pb2.ReplaceResponse(results=[file_service_pb2.ReplaceResult(**result)])

    wires.execd.on("Replace", answer(replaced=2), answer(reason="COUNT_DIFFERS", message="found 3"))
    async with wires.sandbox() as sandbox:
        assert await sandbox.files.replace("f", "old", b"new") == 2
        with pytest.raises(FailedPrecondition, match="found 3") as raised:
            await sandbox.files.replace("f", "old", "new", expected_count=1)
    assert raised.value.reason == "COUNT_DIFFERS"


async def test_archive_down_and_up(wires: WirePair) -> None:
    wires.execd.on(
        "DownloadArchive",
        [
            file_service_pb2.DownloadArchiveResponse(data=b"ta"),
            file_service_pb2.DownloadArchiveResponse(data=b"r", end=True),
        ],
    )
    taken = bytearray()

    async def take(requests):
        async for request in requests:
            taken.extend(request.data)
        return file_service_pb2.UploadArchiveResponse(entries=7)

    wires.execd.on("UploadArchive", take)
    async with wires.sandbox() as sandbox:
        stream = sandbox.files.download_archive("d", ["a", b"b"], gzip=True)
        assert await sandbox.files.upload_archive(stream, "e") == 7
    assert bytes(taken) == b"tar"
    request = wires.execd.called("DownloadArchive")[0].request
    assert ([*request.paths], request.compression) == ([b"a", b"b"], file_service_pb2.ARCHIVE_COMPRESSION_GZIP)


async def test_archive_tells_at_its_end_what_is_not_in_it(wires: WirePair) -> None:
    end = file_service_pb2.DownloadArchiveResponse(
        data=b"tar", end=True, entries=3, skipped=[b"deep", b"\xff"], skipped_count=1002
    )
    wires.execd.on("DownloadArchive", [end])
    told: list[ArchiveEnd] = []
    async with wires.sandbox() as sandbox:
        assert [piece async for piece in sandbox.files.download_archive("d", on_end=told.append)] == [b"tar"]
    assert told == [ArchiveEnd(3, (b"deep", b"\xff"), 1002)]


async def test_archive_that_breaks_off_is_none(wires: WirePair) -> None:
    wires.execd.on("DownloadArchive", [file_service_pb2.DownloadArchiveResponse(data=b"ta")])
    async with wires.sandbox() as sandbox:
        with pytest.raises(OutcomeUnknown):
            [piece async for piece in sandbox.files.download_archive("d")]


async def test_watch_gives_changes_and_says_when_some_were_lost(wires: WirePair) -> None:
    changes = [
        file_service_pb2.FileChange(kind=file_service_pb2.FILE_CHANGE_KIND_CREATED, path=b"a", is_directory=True),
        file_service_pb2.FileChange(kind=file_service_pb2.FILE_CHANGE_KIND_MOVED, path=b"b", moved_from=b"c"),
    ]
    wires.execd.on(
        "WatchDirectory",
        [
            file_service_pb2.WatchDirectoryResponse(watch_id="w"),
            file_service_pb2.WatchDirectoryResponse(changes=changes),
            file_service_pb2.WatchDirectoryResponse(overflow=True),
        ],
    )
    async with wires.sandbox() as sandbox:
        seen = [change async for change in sandbox.files.watch("d", ignore=["*.o"], coalesce_s=0.5)]
    assert seen == [
        FileChange("created", "a", "", is_directory=True),
        FileChange("moved", "b", "c"),
        FileChange("overflow"),
    ]
