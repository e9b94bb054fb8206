"""`arenero cp`."""

import io
import socket
import stat
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


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a/b", "b"),
        ("a/b/", "b"),
        ("b", "b"),
        ("a/.", ""),
        (".", ""),
        ("..", ""),
        ("a/..", ""),
        ("/", ""),
        (".x", ".x"),
    ],
)
def test_name_of_a_copy_is_its_own_unless_the_content_is_meant(text: str, name: str) -> None:
    assert (Place("", text).name, Place.parse(f"sbx_1:{text}").name) == (name, name)


class Unpacked:
    """An archive that came up, and where to."""

    def __init__(self) -> None:
        self.opening: Any = None
        self.content = bytearray()

    async def take(self, requests):
        async for request in requests:
            self.opening = self.opening or request.open
            self.content.extend(request.data)
        return file_service_pb2.UploadArchiveResponse(entries=2)

    def names(self) -> list[str]:
        with tarfile.open(fileobj=io.BytesIO(self.content)) as archive:
            return archive.getnames()


@pytest.fixture
def unpacked(wires: WirePair) -> Unpacked:
    made = Unpacked()
    wires.execd.on("UploadArchive", made.take)
    wires.execd.on("Chmod", file_service_pb2.ChmodResponse(changed=1))
    return made


@pytest.mark.parametrize(
    ("found", "source", "destination", "target", "is_new"),
    [
        ([MISSING], "d", "sbx_1:/w/new", b"/w/new", True),
        ([MISSING], "d", "sbx_1:/w/new/", b"/w/new/", True),
        ([A_DIRECTORY, MISSING], "d", "sbx_1:/w", b"/w/d", True),
        ([A_DIRECTORY, MISSING], "d/", "sbx_1:", b"./d", True),
        ([A_DIRECTORY, A_DIRECTORY], "d", "sbx_1:/w/", b"/w/d", False),
        ([A_DIRECTORY], "d/.", "sbx_1:/w", b"/w", False),
    ],
)
def test_directory_goes_where_cp_would_put_it(
    wires: WirePair, arenero, unpacked: Unpacked, tmp_path: Path, found, source, destination, target, is_new
) -> None:
    (tmp_path / "d/sub").mkdir(parents=True)
    (tmp_path / "d/sub/x").write_bytes(b"x")
    (tmp_path / "d").chmod(0o711)
    wires.execd.on("Stat", *found)
    result = arenero("cp", f"{tmp_path}/{source}", destination)
    assert (result.exit_code, result.output) == (0, "")
    assert (unpacked.opening.path, unpacked.names()) == (target, ["sub", "sub/x"])
    assert unpacked.opening.outside_links
    modes = [(call.request.path, call.request.mode) for call in wires.execd.called("Chmod")]
    assert modes == ([(target, 0o711)] if is_new else [])


@pytest.mark.parametrize("found", [[A_FILE], [A_DIRECTORY, A_FILE]], ids=["there", "in it"])
def test_directory_replaces_no_file(wires: WirePair, arenero, tmp_path: Path, found) -> None:
    wires.execd.on("Stat", *found)
    result = arenero("cp", str(tmp_path), "sbx_1:/w/x")
    assert (result.exit_code, "is a file" in result.stderr) == (1, True)
    assert not wires.execd.called("UploadArchive")


def test_what_could_not_be_sent_is_told(wires: WirePair, arenero, unpacked: Unpacked, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        wires.execd.on("Stat", MISSING)
        result = arenero("cp", str(tmp_path), "sbx_1:x")
    assert (result.exit_code, result.stderr) == (0, f"arenero: left out {tmp_path}/s: it is a socket\n")


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
    assert arenero("cp", "sbx_1:/w/..", str(tmp_path)).exit_code == 0
    assert arenero("cp", "sbx_1:ok", str(tmp_path)).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "ok"]


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
    assert stat.S_IMODE((tmp_path / "new/place").stat().st_mode) == 0o750


def skipping(*skipped: bytes, unnamed: int = 0) -> list[file_service_pb2.DownloadArchiveResponse]:
    """An archive of one file, of which the sandbox says what it left out."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("x"))
    return [
        file_service_pb2.DownloadArchiveResponse(data=buffer.getvalue()),
        file_service_pb2.DownloadArchiveResponse(
            end=True, entries=1, skipped=skipped, skipped_count=len(skipped) + unnamed
        ),
    ]


A_SOCKET = stat_of(file_pb2.FILE_TYPE_SOCKET)
TOO_DEEP = "what is in it can't be read, or lies too deep"


@pytest.mark.parametrize("destination", ["here", "-", "sbx_2:/b"])
@pytest.mark.parametrize(
    ("answer", "told", "exit_code"),
    [
        (A_SOCKET, "arenero: left out {}: it is a socket\n", 0),
        (MISSING, "", 0),
        (A_DIRECTORY, f"arenero: left out {{}}: {TOO_DEEP}\n", 1),
        (A_FILE, "arenero: left out {}: it can't be read, or changed while it was\n", 1),
        (
            Refused(grpc.StatusCode.PERMISSION_DENIED, "no", detail("NO")),
            "arenero: left out {}: it can't be read\n",
            1,
        ),
    ],
    ids=["socket", "vanished", "too deep", "unreadable", "no answer"],
)
def test_what_the_sandbox_left_out_is_told(
    wires: WirePair, arenero, unpacked: Unpacked, tmp_path: Path, destination, answer, told, exit_code
) -> None:
    before: dict[str, list[Any]] = {"here": [], "-": [A_DIRECTORY], "sbx_2:/b": [MISSING]}
    wires.execd.on("Stat", A_DIRECTORY, *before[destination], answer)
    wires.execd.on("DownloadArchive", skipping(b"s"))
    result = arenero("cp", "sbx_1:/w", str(tmp_path / "here") if destination == "here" else destination)
    path = "/s" if destination == "-" else "/w/s"
    assert (result.exit_code, result.stderr) == (exit_code, told.format(path))
    assert wires.execd.called("Stat")[-1].request.path == path.encode()


def test_what_the_sandbox_left_out_is_told_in_a_few_lines(wires: WirePair, arenero, tmp_path: Path) -> None:
    wires.execd.on("Stat", A_DIRECTORY, A_SOCKET)
    wires.execd.on("DownloadArchive", skipping(*[b"s%d" % number for number in range(50)], unnamed=7))
    result = arenero("cp", "sbx_1:/w", str(tmp_path / "here"))
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 21
    assert result.stderr.endswith("arenero: left out 31 more\n")


def test_directory_comes_down_under_its_name_into_one_that_is_there(wires: WirePair, arenero, tmp_path: Path) -> None:
    wires.execd.on("Stat", A_DIRECTORY)
    wires.execd.on("DownloadArchive", archive_of("x"))
    (tmp_path / "here").mkdir()
    assert arenero("cp", "sbx_1:/a/w/", str(tmp_path / "here")).exit_code == 0
    assert arenero("cp", "sbx_1:/a/w/.", str(tmp_path / "here")).exit_code == 0
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "here", "here/w", "here/w/x", "here/x",
    ]  # fmt: skip


def test_directory_comes_down_over_no_file(wires: WirePair, arenero, tmp_path: Path) -> None:
    wires.execd.on("Stat", A_DIRECTORY)
    (tmp_path / "taken").write_bytes(b"precious")
    result = arenero("cp", "sbx_1:/w", str(tmp_path / "taken"))
    assert (result.exit_code, "is a file" in result.stderr) == (1, True)
    assert not wires.execd.called("DownloadArchive")


def test_file_comes_down_into_a_new_directory_where_the_name_ends_so(wires: WirePair, arenero, tmp_path: Path) -> None:
    wires.execd.on("Stat", A_FILE)
    wires.execd.on("Read", [part(b"down", end=True)])
    assert arenero("cp", "sbx_1:/w/result", f"{tmp_path}/new/").exit_code == 0
    assert (tmp_path / "new/result").read_bytes() == b"down"


@pytest.mark.parametrize(
    ("source", "base", "paths"),
    [("/a/w", b"/a", [b"w"]), ("w/", b".", [b"w"]), ("w/.", b"w/.", []), ("", b".", [])],
)
def test_directory_is_a_tar_on_standard_output(wires: WirePair, arenero, source, base, paths) -> None:
    wires.execd.on("Stat", A_DIRECTORY)
    wires.execd.on("DownloadArchive", archive_of("w/x"))
    result = arenero("cp", f"sbx_1:{source}", "-")
    assert (result.exit_code, result.stdout_bytes) == (0, archive_of("w/x")[0].data)
    asked = wires.execd.called("DownloadArchive")[0].request
    assert (asked.base, [*asked.paths]) == (base, paths)


def test_link_to_a_directory_is_followed_also_as_a_tar(wires: WirePair, arenero) -> None:
    wires.execd.on("Stat", A_DIRECTORY, stat_of(file_pb2.FILE_TYPE_SYMLINK))
    wires.execd.on("DownloadArchive", archive_of("x"))
    assert arenero("cp", "sbx_1:link", "-").exit_code == 0
    asked = wires.execd.called("DownloadArchive")[0].request
    assert (asked.base, [*asked.paths]) == (b"link", [])


def test_tar_from_standard_input_goes_into_a_directory(
    wires: WirePair, unpacked: Unpacked, environment: dict[str, str]
) -> None:
    wires.execd.on("Stat", A_DIRECTORY)
    sent = archive_of("x")[0].data
    command = [sys.executable, "-m", "arenero.cli.main", "cp", "-", "sbx_1:/w"]
    subprocess.run(command, env=environment, input=sent, timeout=30, check=True)
    assert (unpacked.opening.path, bytes(unpacked.content)) == (b"/w", sent)


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


def test_directory_goes_from_one_sandbox_to_another(wires: WirePair, arenero, unpacked: Unpacked) -> None:
    wires.execd.on("Stat", A_DIRECTORY, A_DIRECTORY, MISSING)
    wires.execd.on("DownloadArchive", archive_of("x"))
    assert arenero("cp", "sbx_1:/a", "sbx_2:/b").exit_code == 0
    assert (unpacked.opening.path, bytes(unpacked.content)) == (b"/b/a", archive_of("x")[0].data)


def test_standard_streams(wires: WirePair, arenero, environment) -> None:
    stored = Stored()
    wires.execd.on("Stat", MISSING, A_FILE)
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
