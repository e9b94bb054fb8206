"""Packing trees, also such as change meanwhile."""

import io
import os
import random
import socket
import subprocess
import tarfile
import zlib
from pathlib import Path

import pytest

from arenero.errors import FailedPrecondition, InvalidArgument, NotFound, PermissionDenied
from arenero.execd import filecalls, packing
from arenero.execd.packing import MOST_SKIPPED_NAMES, PackEnd, PackSpec, pack
from tests.unit.execd.filekit import given, no_leaked_descriptors, scope_of


def packed(directory: Path, **spec: object) -> tuple[bytes, PackEnd]:
    with no_leaked_descriptors():
        *pieces, end = given(pack(scope_of(directory), PackSpec(b".", **spec)))  # type: ignore[arg-type]
    assert isinstance(end, PackEnd)
    return b"".join(piece for piece in pieces if isinstance(piece, bytes)), end


def opened(data: bytes) -> tarfile.TarFile:
    return tarfile.open(fileobj=io.BytesIO(data), mode="r:")


def names(data: bytes) -> list[str]:
    return opened(data).getnames()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "d/empty").mkdir(parents=True)
    (tmp_path / "d/f").write_bytes(b"content")
    (tmp_path / "d/f").chmod(0o751)
    os.utime(tmp_path / "d/f", (1_000_000_000, 1_000_000_000))
    (tmp_path / "d/link").symlink_to("../elsewhere")
    os.link(tmp_path / "d/f", tmp_path / "d/second")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "large").write_bytes(random.Random(4).randbytes(3_000_000))
    return tmp_path


def test_all_kinds_are_packed_in_the_order_of_names(tree: Path):
    data, end = packed(tree)
    archive = opened(data)
    assert archive.getnames() == ["d", "d/empty", "d/f", "d/link", "d/second", "fifo", "large"]
    assert end == PackEnd(7, (), 0)
    file, link, second = (archive.getmember(name) for name in ("d/f", "d/link", "d/second"))
    assert (file.mode, file.mtime, file.uid) == (0o751, 1_000_000_000, os.geteuid())
    assert link.linkname == "../elsewhere"
    assert (second.islnk(), second.linkname) == (True, "d/f")
    large = archive.extractfile("large")
    assert large is not None
    assert large.read() == (tree / "large").read_bytes()


def test_gnu_tar_unpacks_it(tree: Path, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    data, _ = packed(tree)
    subprocess.run(["tar", "--extract", "--directory", str(out)], input=data, check=True)
    assert (out / "large").read_bytes() == (tree / "large").read_bytes()
    assert (out / "d/f").stat().st_ino == (out / "d/second").stat().st_ino


def test_compressed_archive_is_the_same_one(tree: Path):
    plain, _ = packed(tree)
    compressed, _ = packed(tree, is_compressed=True)
    assert zlib.decompress(compressed, 31) == plain


def test_chosen_paths_only_with_all_below_them(tree: Path):
    data, end = packed(tree, paths=(b"d//./", b"fifo"))
    assert names(data) == ["d", "d/empty", "d/f", "d/link", "d/second", "fifo"]
    assert end.entries == 6
    assert names(packed(tree, paths=(b".",))[0]) == names(packed(tree)[0])


def test_excluded_trees_are_left_out(tree: Path):
    data, _ = packed(tree, exclude=("d/e*", "fifo", "lar?e"))
    assert names(data) == ["d", "d/f", "d/link", "d/second"]


def test_sparse_file_takes_the_room_of_its_data(tmp_path: Path):
    """Case 37: 10 GB with 1 MB of data make an archive of 1 MB, and a file of 1 MB where it is unpacked."""
    with open(tmp_path / "sparse", "wb") as file:
        file.seek(5 << 30)
        file.write(b"x" * (1 << 20))
        file.truncate(10 << 30)
    data, _ = packed(tmp_path)
    assert len(data) < 1.1 * (1 << 20)
    (tmp_path / "out").mkdir()
    subprocess.run(["tar", "--extract", "--directory", str(tmp_path / "out")], input=data, check=True)
    unpacked = (tmp_path / "out/sparse").stat()
    assert (unpacked.st_size, unpacked.st_blocks * 512 < 2 << 20) == (10 << 30, True)


def test_names_are_bytes(tmp_path: Path):
    os.close(os.open(os.path.join(os.fsencode(tmp_path), b"caf\xe9\n"), os.O_CREAT))
    with tarfile.open(fileobj=io.BytesIO(packed(tmp_path)[0]), errors="surrogateescape") as archive:
        assert [name.encode("utf-8", "surrogateescape") for name in archive.getnames()] == [b"caf\xe9\n"]


@pytest.mark.parametrize("paths", [(), (b"top",)], ids=["all", "named"])
def test_directory_that_becomes_a_link_meanwhile_is_no_directory(tmp_path: Path, monkeypatch, paths):
    """Between being listed and being packed, and back before it would be entered: no entry lies below a link's name."""
    (tmp_path / "top/d").mkdir(parents=True)
    (tmp_path / "top/d/f").touch()
    (tmp_path / "top/e").mkdir()
    status = filecalls.status

    def swapped(dir_fd: int, name: bytes):
        if name != b"d":
            return status(dir_fd, name)
        os.rename("d", "aside", src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
        os.symlink("/etc", "d", dir_fd=dir_fd)
        return status(dir_fd, name)

    readlink = os.readlink

    def swapped_back(name: bytes, *, dir_fd: int) -> bytes:
        target = readlink(name, dir_fd=dir_fd)
        os.unlink("d", dir_fd=dir_fd)
        os.rename("aside", "d", src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
        return target

    monkeypatch.setattr(filecalls, "status", swapped)
    monkeypatch.setattr(os, "readlink", swapped_back)
    data, end = packed(tmp_path, paths=paths)
    monkeypatch.undo()
    assert names(data) == ["top", "top/d", "top/e"]
    assert opened(data).getmember("top/d").issym()
    assert end.skipped_count == 0


def test_socket_is_skipped_and_named(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f").touch()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        data, end = packed(tmp_path)
    assert names(data) == ["f"]
    assert end == PackEnd(1, (b"socket",), 1)


def test_file_that_goes_or_shrinks_meanwhile_does_not_end_the_archive(tmp_path: Path):
    for name in "abc":
        (tmp_path / name).write_bytes(name.encode() * 2_000_000)
    pieces: list[bytes] = []
    end = None
    for piece in pack(scope_of(tmp_path), PackSpec(b".")):
        if isinstance(piece, bytes) and not pieces:
            os.truncate(tmp_path / "a", 1_500_000)
            (tmp_path / "b").unlink()
        if isinstance(piece, bytes):
            pieces.append(piece)
        elif piece is not None:
            end = piece
    archive = opened(b"".join(pieces))
    assert archive.getnames() == ["a", "c"]
    shrunk, whole = archive.extractfile("a"), archive.extractfile("c")
    assert shrunk is not None
    assert whole is not None
    content = shrunk.read()
    assert (len(content), content.rstrip(b"\0").count(b"a")) == (2_000_000, len(content.rstrip(b"\0")))
    assert whole.read() == b"c" * 2_000_000
    assert end == PackEnd(2, (b"a", b"b"), 2)


def test_file_that_grows_is_packed_as_long_as_it_was(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"a" * 2_000_000)
    pieces = []
    for piece in pack(scope_of(tmp_path), PackSpec(b".")):
        if isinstance(piece, bytes):
            pieces.append(piece)
            with open(tmp_path / "a", "ab") as file:
                file.write(b"b" * 100_000)
    assert opened(b"".join(pieces)).getmember("a").size == 2_000_000


def test_many_skipped_names_are_counted(tmp_path: Path, monkeypatch):
    for number in range(20):
        (tmp_path / str(number)).touch()

    def gone(*args: object, **kwargs: object) -> object:
        raise FileNotFoundError(2, "gone")

    monkeypatch.setattr(packing, "MOST_SKIPPED_NAMES", 5)
    monkeypatch.setattr("arenero.execd.filecalls.status", gone)
    packer = packing._Packer(scope_of(tmp_path), PackSpec(b"."))
    fd = os.open(tmp_path, os.O_PATH)
    try:
        assert list(packer._below(fd, b"")) == [None] * 20
    finally:
        os.close(fd)
    assert (len(packer.skipped), packer.skipped_count) == (5, 20)
    assert MOST_SKIPPED_NAMES == 1000


@pytest.mark.parametrize(
    ("paths", "kind", "reason"),
    [
        ((b"no",), NotFound, "FILE_NOT_FOUND"),
        ((b"../x",), InvalidArgument, "INVALID_PATH"),
        ((b"/etc",), InvalidArgument, "INVALID_PATH"),
        ((b"up/secret",), PermissionDenied, "ESCAPES_ROOT"),
        ((b"f/x",), FailedPrecondition, "NOT_A_DIRECTORY"),
    ],
)
def test_paths_lie_below_the_base(tmp_path: Path, paths: tuple[bytes, ...], kind: type[Exception], reason: str):
    """Case 38."""
    (tmp_path / "secret").touch()
    (tmp_path / "base").mkdir()
    (tmp_path / "base/f").touch()
    (tmp_path / "base/up").symlink_to("..")
    with pytest.raises(kind) as error:
        packed(tmp_path / "base", paths=paths)
    assert (error.value.reason, error.value.field) == (reason, "paths")  # type: ignore[attr-defined]
