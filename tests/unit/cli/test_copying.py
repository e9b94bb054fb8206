"""`arenero cp`."""

import io
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import grpc
import pytest

from arenero.api.execd.v1 import file_pb2, file_service_pb2
from arenero.cli.copying import Place
from tests.unit.sdk.test_files import MISSING, Stored, part
from tests.unit.sdk.wire import Refused, WirePair, detail


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("sbx_1:/w/x", Place("sbx_1", "/w/x")),
        ("sbx_1:x:y", Place("sbx_1", "x:y")),
        ("sbx_1:", Place("sbx_1", ".")),
        ("name", Place("", "name")),
        ("-", Place("", "-")),
        ("/abs/a:b", Place("", "/abs/a:b")),
        ("./a:b", Place("", "./a:b")),
        ("d/a:b", Place("", "d/a:b")),
        (":x", Place("", ":x")),
    ],
)
def test_place_is_in_a_sandbox_or_here(text: str, place: Place) -> None:
    assert Place.parse(text) == place


def stat_of(kind: Any, **about) -> file_service_pb2.StatResponse:
    return file_service_pb2.StatResponse(stat=file_pb2.FileStat(type=kind, mode=0o750, **about))


A_FILE = stat_of(file_pb2.FILE_TYPE_REGULAR, size_bytes=4)
A_DIRECTORY = stat_of(file_pb2.FILE_TYPE_DIRECTORY)


def test_two_places_here_are_wrong_usage(arenero) -> None:
    assert arenero("cp", "a", "b").exit_code == 2


def test_missing_local_file_is_wrong_usage(arenero, tmp_path: Path) -> None:
    result = arenero("cp", str(tmp_path / "nope"), "sbx_1:x")
    assert (result.exit_code, "no such file" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("found", "destination", "target"),
    [
        (MISSING, "sbx_1:/w/new", b"/w/new"),
        (A_FILE, "sbx_1:/w/old", b"/w/old"),
        (A_DIRECTORY, "sbx_1:/w", b"/w/local"),
        (MISSING, "sbx_1:/w/", b"/w/local"),
        (A_DIRECTORY, "sbx_1:", b"./local"),
    ],
    ids=["new", "existing", "directory", "slash", "home"],
)
def test_file_goes_where_cp_would_put_it(wires: WirePair, arenero, tmp_path: Path, found, destination, target) -> None:
    (tmp_path / "local").write_bytes(b"content")
    (tmp_path / "local").chmod(0o755)
    stored = Stored()
    wires.execd.on("Stat", found)
    wires.execd.on("Write", stored.take)
    result = arenero("cp", str(tmp_path / "local"), destination)
    assert (result.exit_code, result.output) == (0, "")
    assert stored.opening is not None
    assert (stored.opening.path, bytes(stored.content), stored.opening.mode) == (target, b"content", 0o755)


def test_directory_goes_up_as_an_archive(wires: WirePair, arenero, tmp_path: Path) -> None:
    (tmp_path / "d/sub").mkdir(parents=True)
    (tmp_path / "d/sub/x").write_bytes(b"x")
    arrived = bytearray()

    async def take(requests):
        async for request in requests:
            arrived.extend(request.data)
        return file_service_pb2.UploadArchiveResponse(entries=2)

    wires.execd.on("UploadArchive", take)
    assert arenero("cp", str(tmp_path / "d"), "sbx_1:/w").exit_code == 0
    with tarfile.open(fileobj=io.BytesIO(arrived)) as archive:
        assert archive.getnames() == ["sub", "sub/x"]


def test_file_comes_down_to_a_name_or_into_a_directory(wires: WirePair, arenero, tmp_path: Path) -> None:
    wires.execd.on("Stat", A_FILE)
    wires.execd.on("Read", [part(b"down", end=True)])
    assert arenero("cp", "sbx_1:/w/result", str(tmp_path / "name")).exit_code == 0
    assert arenero("cp", "sbx_1:/w/result", str(tmp_path)).exit_code == 0
    assert (tmp_path / "name").read_bytes() == (tmp_path / "result").read_bytes() == b"down"


def test_name_from_the_command_line_is_the_only_name(wires: WirePair, arenero, tmp_path: Path) -> None:
    """What the sandbox answers names nothing here."""
    wires.execd.on("Stat", stat_of(file_pb2.FILE_TYPE_REGULAR, path=b"../../evil"))
    wires.execd.on("Read", [part(b"x", end=True)])
    assert arenero("cp", "sbx_1:/w/..", str(tmp_path)).exit_code == 1
    assert arenero("cp", "sbx_1:ok", str(tmp_path)).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["ok"]


def archive_of(name: str, content: bytes = b"x") -> list[file_service_pb2.DownloadArchiveResponse]:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
        pipe = tarfile.TarInfo("pipe")
        pipe.type = tarfile.FIFOTYPE
        archive.addfile(pipe)
    return [
        file_service_pb2.DownloadArchiveResponse(data=buffer.getvalue()),
        file_service_pb2.DownloadArchiveResponse(end=True),
    ]


def test_directory_comes_down_and_what_is_left_out_is_told(wires: WirePair, arenero, tmp_path: Path) -> None:
    wires.execd.on("Stat", A_DIRECTORY)
    wires.execd.on("DownloadArchive", archive_of("sub/x"))
    result = arenero("cp", "sbx_1:/w", str(tmp_path / "new/place"))
    assert (result.exit_code, result.stdout) == (0, "")
    assert "arenero: left out 'pipe'" in result.stderr
    assert (tmp_path / "new/place/sub/x").read_bytes() == b"x"


def test_hostile_archive_is_refused(wires: WirePair, arenero, tmp_path: Path) -> None:
    wires.execd.on("Stat", A_DIRECTORY)
    wires.execd.on("DownloadArchive", archive_of("../evil"))
    result = arenero("cp", "sbx_1:/w", str(tmp_path / "here"))
    assert (result.exit_code, "refused" in result.stderr) == (1, True)
    assert not (tmp_path / "evil").exists()


def test_file_goes_from_one_sandbox_to_another(wires: WirePair, arenero) -> None:
    stored = Stored()
    wires.execd.on("Stat", A_FILE, MISSING)
    wires.execd.on("Read", [part(b"mo"), part(b"ve", end=True)])
    wires.execd.on("Write", stored.take)
    assert arenero("cp", "sbx_1:/a/x", "sbx_2:/b/y").exit_code == 0
    assert stored.opening is not None
    assert (stored.opening.path, stored.opening.mode, bytes(stored.content)) == (b"/b/y", 0o750, b"move")
    assert [call.request.sandbox_id for call in wires.gateway.called("Get")] == ["sbx_1", "sbx_2"]


def test_directory_goes_from_one_sandbox_to_another(wires: WirePair, arenero) -> None:
    wires.execd.on("Stat", A_DIRECTORY)
    wires.execd.on("DownloadArchive", archive_of("x"))
    wires.execd.on("UploadArchive", file_service_pb2.UploadArchiveResponse(entries=1))
    assert arenero("cp", "sbx_1:/a", "sbx_2:/b").exit_code == 0
    sent = b"".join(request.data for request in wires.execd.called("UploadArchive")[0].requests)
    assert sent == archive_of("x")[0].data


def test_standard_streams(wires: WirePair, arenero, environment) -> None:
    stored = Stored()
    wires.execd.on("Write", stored.take)
    wires.execd.on("Read", [part(b"\xff\x00"), part(b"out", end=True)])
    command = [sys.executable, "-m", "arenero.cli.main", "cp"]
    with subprocess.Popen(
        [*command, "-", "sbx_1:x"], env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as writing:
        _, errors = writing.communicate(b"in\x00" * 100_000, timeout=30)
    assert (writing.returncode, errors, bytes(stored.content)) == (0, b"", b"in\x00" * 100_000)
    reading = subprocess.run([*command, "sbx_1:x", "-"], env=environment, capture_output=True, timeout=30, check=True)
    assert reading.stdout == b"\xff\x00out"


def test_local_directory_that_is_missing_is_said_in_one_line(wires: WirePair, arenero, tmp_path: Path) -> None:
    wires.execd.on("Stat", A_FILE)
    wires.execd.on("Read", [part(b"x", end=True)])
    result = arenero("cp", "sbx_1:x", str(tmp_path / "no/such/x"))
    assert result.exit_code == 1
    assert result.stderr.startswith("arenero: [Errno 2] No such file or directory")
    assert len(result.stderr.splitlines()) == 1


def test_refusal_of_the_sandbox_is_said(wires: WirePair, arenero, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes(3_000_000))
    wires.execd.on("Stat", MISSING)
    wires.execd.on(
        "Write", Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "the disk limit is reached", detail("DISK_FULL"))
    )
    result = arenero("cp", str(tmp_path / "x"), "sbx_1:/w/x")
    assert (result.exit_code, result.stderr) == (1, "arenero: the disk limit is reached [DISK_FULL]\n")
