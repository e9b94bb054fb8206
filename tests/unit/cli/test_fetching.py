"""Directories out of a sandbox, and what it leaves out of them."""

import grpc

from arenero.api.execd.v1 import file_pb2, file_service_pb2
from arenero.cli.fetching import Fetching
from arenero.cli.left_out import LeftOut
from tests.unit.sdk.wire import Refused, WirePair, detail


def found(kind: file_pb2.FileType) -> file_service_pb2.StatResponse:
    return file_service_pb2.StatResponse(stat=file_pb2.FileStat(type=kind))


def archive(skipped: list[bytes], *, unnamed: int = 0) -> list[file_service_pb2.DownloadArchiveResponse]:
    count = len(skipped) + unnamed
    end = file_service_pb2.DownloadArchiveResponse(data=b"r", end=True, skipped=skipped, skipped_count=count)
    return [file_service_pb2.DownloadArchiveResponse(data=b"ta"), end]


async def fetch(wires: WirePair, base: str) -> LeftOut:
    async with wires.sandbox() as sandbox:
        fetching = Fetching(sandbox, base)
        assert b"".join([piece async for piece in fetching.pieces()]) == b"tar"
        return await fetching.left_out()


async def test_nothing_is_asked_where_nothing_is_left_out(wires: WirePair) -> None:
    wires.execd.on("DownloadArchive", archive([]))
    assert await fetch(wires, "d") == LeftOut()
    assert not wires.execd.called("Stat")


async def test_what_never_has_content_is_no_failure(wires: WirePair) -> None:
    wires.execd.on("DownloadArchive", archive([b"socket", b"gone", b"zero"]))
    wires.execd.on(
        "Stat",
        found(file_pb2.FILE_TYPE_SOCKET),
        Refused(grpc.StatusCode.NOT_FOUND, "there is none", detail("NOT_FOUND")),
        found(file_pb2.FILE_TYPE_CHARACTER_DEVICE),
    )
    assert await fetch(wires, "d") == LeftOut(["d/socket: it is a socket", "d/zero: it is a character-device"])
    assert [call.request.path for call in wires.execd.called("Stat")] == [b"d/socket", b"d/gone", b"d/zero"]


async def test_missing_content_is_a_failure(wires: WirePair) -> None:
    wires.execd.on("DownloadArchive", archive([b"deep", b"\xff"]))
    wires.execd.on("Stat", found(file_pb2.FILE_TYPE_DIRECTORY), found(file_pb2.FILE_TYPE_REGULAR))
    left_out = await fetch(wires, "/d")
    assert left_out.has_failed
    assert [reason.partition(":")[0] for reason in left_out.reasons] == ["/d/deep", "/d/\udcff"]


async def test_what_has_no_name_in_the_answer_may_have_had_content(wires: WirePair) -> None:
    wires.execd.on("DownloadArchive", archive([], unnamed=3))
    assert await fetch(wires, "d") == LeftOut(["3 more of d"], has_failed=True)
