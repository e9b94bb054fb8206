"""Tars from and for sandboxes. What comes from a sandbox is taken for an attack until it is none."""

import asyncio
import io
import os
import stat
import sys
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path

import click
import pytest

from arenero.cli.archives import Packing, unpack
from arenero.cli.left_out import LeftOut


def tar(*entries: tuple[str, dict[str, object]]) -> bytes:
    """An archive of entries as they are described, however absurd."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, about in entries:
            entry = tarfile.TarInfo(name)
            content = about.get("content", b"")
            assert isinstance(content, bytes)
            for field, value in about.items():
                if field != "content":
                    setattr(entry, field, value)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def file(content: bytes = b"x", **about: object) -> dict[str, object]:
    return {"content": content, "mode": 0o644, **about}


def directory(**about: object) -> dict[str, object]:
    return {"type": tarfile.DIRTYPE, "mode": 0o755, **about}


def symlink(target: str) -> dict[str, object]:
    return {"type": tarfile.SYMTYPE, "linkname": target}


def hardlink(target: str) -> dict[str, object]:
    return {"type": tarfile.LNKTYPE, "linkname": target}


async def in_pieces(content: bytes, size: int = 700) -> AsyncIterator[bytes]:
    for begin in range(0, len(content), size):
        yield content[begin : begin + size]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Where to unpack; beside it lies what must not be touched."""
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "outside").mkdir()
    made = tmp_path / "target"
    made.mkdir()
    return made


@pytest.fixture(autouse=True)
def _untouched(tmp_path: Path):
    yield
    if (tmp_path / "victim").exists():
        assert (tmp_path / "victim").read_text() == "precious"
        assert not [*(tmp_path / "outside").iterdir()]
        assert {path.name for path in tmp_path.iterdir()} <= {"victim", "outside", "target", "source"}


async def test_directory_survives_the_way_up_and_down(tmp_path: Path, target: Path) -> None:
    source = tmp_path / "source"
    (source / "empty").mkdir(parents=True)
    (source / "sub/deep").mkdir(parents=True)
    (source / "sub/tool").write_bytes(b"#!/bin/sh\n")
    (source / "sub/tool").chmod(0o755)
    (source / "sub/deep/big").write_bytes(os.urandom(3_000_000))
    (source / "ñ€").write_bytes(b"")
    os.close(os.open(os.fsencode(source) + b"/\xff", os.O_CREAT))
    (source / "link").symlink_to("sub/tool")
    (source / "dangling").symlink_to("nowhere")
    os.utime(source / "sub/tool", (1_000_000_000, 1_000_000_000))
    assert await unpack(Packing(source).pieces(), target) == LeftOut()
    names = sorted(path.relative_to(source) for path in source.rglob("*"))
    assert sorted(path.relative_to(target) for path in target.rglob("*")) == names
    assert (target / "sub/deep/big").read_bytes() == (source / "sub/deep/big").read_bytes()
    assert stat.S_IMODE((target / "sub/tool").stat().st_mode) == 0o755
    assert (target / "sub/tool").stat().st_mtime == 1_000_000_000
    assert (target / "link").readlink() == Path("sub/tool")
    assert (target / "dangling").readlink() == Path("nowhere")


async def test_what_is_packed_is_a_tar_for_everyone(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / ("n" * 200)).write_bytes(b"content")
    content = b"".join([piece async for piece in Packing(source).pieces()])
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        [entry] = archive.getmembers()
        read = archive.extractfile(entry)
        assert (entry.name, read and read.read()) == ("n" * 200, b"content")
    assert len(content) % 512 == 0


async def test_file_that_shrinks_while_it_is_packed_spoils_nothing(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a").write_bytes(bytes([1]) * 3_000_000)
    (source / "b").write_bytes(b"after")
    packing, pieces = Packing(source).pieces(), []
    pieces.append(await anext(packing))
    pieces.append(await anext(packing))
    os.truncate(source / "a", 100)
    pieces.extend([piece async for piece in packing])
    with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as archive:
        sizes = {entry.name: entry.size for entry in archive}
    assert sizes == {"a": 3_000_000, "b": 5}


async def test_file_that_vanishes_while_it_is_packed_is_left_out(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in "abc":
        (source / name).write_bytes(b"x")
    packing = Packing(source).pieces()
    pieces = [await anext(packing)]
    (source / "b").unlink()
    pieces.extend([piece async for piece in packing])
    with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as archive:
        assert archive.getnames() == ["a", "c"]


async def test_what_no_archive_holds_is_left_out_and_told(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "null").symlink_to("/dev/null")
    server = await asyncio.start_unix_server(lambda *_: None, source / "s")
    try:
        packing = Packing(source)
        content = b"".join([piece async for piece in packing.pieces()])
    finally:
        server.close()
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        assert [(entry.name, entry.linkname) for entry in archive] == [("null", "/dev/null")]
    assert (packing.left_out, packing.has_failed) == ([f"{source}/s: it is a socket"], False)


@pytest.mark.root
async def test_device_is_not_packed(tmp_path: Path) -> None:
    os.mknod(tmp_path / "zero", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    packing = Packing(tmp_path)
    assert b"".join([piece async for piece in packing.pieces()]) == bytes(1024)
    assert packing.left_out == [f"{tmp_path}/zero: it is a device"]


async def test_what_can_not_be_read_is_left_out_as_a_failure(tmp_path: Path) -> None:
    (tmp_path / "loop").mkdir()
    (tmp_path / "ok").write_bytes(b"x")
    packing = Packing(tmp_path)
    pieces = packing.pieces()
    first = await anext(pieces)
    # A directory that becomes something else between being listed and being read can't be read.
    (tmp_path / "loop").rmdir()
    (tmp_path / "loop").write_bytes(b"")
    rest = [piece async for piece in pieces]
    with tarfile.open(fileobj=io.BytesIO(b"".join([first, *rest]))) as archive:
        assert archive.getnames() == ["loop", "ok"]
    assert (packing.left_out, packing.has_failed) == ([f"{tmp_path}/loop: Not a directory"], True)


HOSTILE = {
    "absolute name": [("/tmp/evil", file())],
    "parent": [("../victim", file())],
    "parent in the middle": [("a/../../victim", file())],
    "parent alone": [("..", directory(mode=0o777))],
    "parent at the end": [("a/..", directory()), ("a/../..", directory())],
    "hard link to a file outside": [("x", hardlink("../victim"))],
    "hard link to an absolute name": [("x", hardlink("/etc/passwd"))],
    "hard link to nothing": [("x", hardlink("nothing"))],
    "hard link to a directory": [("d", directory()), ("x", hardlink("d"))],
}


@pytest.mark.parametrize("entries", HOSTILE.values(), ids=HOSTILE)
async def test_entry_that_would_leave_the_target_is_refused(entries, target: Path) -> None:
    with pytest.raises(click.ClickException, match="refused"):
        await unpack(in_pieces(tar(*entries)), target)


OUTSIDE = {
    "absolute": [("x", symlink("/etc/passwd"))],
    "relative": [("x", symlink("../victim"))],
    "through a directory": [("d", directory()), ("d/x", symlink("../../outside"))],
    "through another link": [("up", symlink("..")), ("x", symlink("up/victim"))],
    "through a link that comes later": [("x", symlink("d/l/../victim")), ("d/l", symlink(".."))],
}


@pytest.mark.parametrize("entries", OUTSIDE.values(), ids=OUTSIDE)
async def test_link_to_outside_is_left_out_and_told(entries, target: Path) -> None:
    left_out = await unpack(in_pieces(tar(*entries)), target)
    assert any(reason.startswith(("'x'", "'d/x'")) for reason in left_out.reasons)
    assert not left_out.has_failed
    assert not [path for path in target.rglob("*") if path.is_symlink() and not path.resolve().is_relative_to(target)]


async def test_link_to_outside_does_not_stay_when_what_follows_is_refused(target: Path) -> None:
    with pytest.raises(click.ClickException, match="refused"):
        await unpack(in_pieces(tar(("l", symlink("../outside")), ("l/evil", symlink("x")))), target)
    assert not os.path.lexists(target / "l")


async def test_nothing_is_removed_through_a_link_that_was_replaced(tmp_path: Path, target: Path) -> None:
    """The place of the second link is outside once the third is there."""
    entries = [
        ("d", directory()),
        ("a", symlink("d")),
        ("a/victim", symlink("/etc/passwd")),
        ("a", symlink("..")),
    ]
    await unpack(in_pieces(tar(*entries)), target)
    assert (tmp_path / "victim").read_text() == "precious"
    assert [path.name for path in target.rglob("*")] == ["d"]


async def test_of_two_links_of_one_name_the_last_counts(target: Path) -> None:
    entries = [("x", symlink("/etc/passwd")), ("x", symlink("y"))]
    assert await unpack(in_pieces(tar(*entries)), target) == LeftOut()
    assert (target / "x").readlink() == Path("y")


THROUGH = {
    "a link of the archive": [("x", symlink("../outside")), ("x/evil", file())],
    "a link to a file": [("x", symlink("../victim")), ("x", file(b"overwritten"))],
    "a link that becomes one": [("s", symlink("d/l/../victim")), ("d/l", symlink("..")), ("s", file(b"overwritten"))],
    "a hard link to a link": [("l", symlink("../victim")), ("x", hardlink("l"))],
}


@pytest.mark.parametrize("entries", THROUGH.values(), ids=THROUGH)
async def test_nothing_is_written_through_a_link_of_the_archive(entries, target: Path) -> None:
    """Refused or unpacked beside it, as the case may be: the fixture looks at what lies outside."""
    try:
        await unpack(in_pieces(tar(*entries)), target)
    except click.ClickException as error:
        assert "refused" in error.message  # noqa: PT017 - either outcome is right
    for path in target.rglob("*"):
        assert path.resolve().is_relative_to(target)


async def test_nothing_is_written_through_links_that_were_there(tmp_path: Path, target: Path) -> None:
    (target / "dir").symlink_to(tmp_path / "outside")
    (target / "file").symlink_to(tmp_path / "victim")
    with pytest.raises(click.ClickException, match="through a link"):
        await unpack(in_pieces(tar(("dir/evil", file()))), target)
    await unpack(in_pieces(tar(("file", file(b"new")))), target)
    assert (target / "file").read_bytes() == b"new"
    assert not (target / "file").is_symlink()


async def test_link_is_replaced_by_a_directory(tmp_path: Path, target: Path) -> None:
    (target / "d").symlink_to(tmp_path / "outside")
    await unpack(in_pieces(tar(("d", directory()), ("d/x", file()))), target)
    assert (target / "d/x").read_bytes() == b"x"


async def test_files_belong_to_who_unpacks_them_and_have_no_special_bits(target: Path) -> None:
    await unpack(
        in_pieces(
            tar(
                ("tool", file(mode=0o6777, uid=4242, gid=4242, uname="daemon", gname="daemon")),
                ("secret", file(mode=0o000)),
                ("d", directory(mode=0o3000, uid=4242)),
                ("d/inside", file()),
            )
        ),
        target,
    )
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in target.rglob("*")}
    assert modes == {"tool": 0o755, "secret": 0o600, "d": 0o700, "inside": 0o644}
    assert {path.stat().st_uid for path in target.rglob("*")} == {os.geteuid()}


async def test_devices_and_pipes_are_left_out(target: Path) -> None:
    device = {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3}
    left_out = await unpack(in_pieces(tar(("null", device), ("pipe", {"type": tarfile.FIFOTYPE}))), target)
    assert (len(left_out.reasons), left_out.has_failed) == (2, False)
    assert not [*target.iterdir()]


async def test_target_itself_keeps_its_mode(target: Path) -> None:
    await unpack(in_pieces(tar((".", directory(mode=0o777)), ("./a", file()))), target)
    assert stat.S_IMODE(target.stat().st_mode) != 0o777
    assert (target / "a").exists()


async def test_hard_link_is_a_copy(target: Path) -> None:
    await unpack(in_pieces(tar(("a", file(b"content")), ("b/c", hardlink("a")))), target)
    assert (target / "b/c").read_bytes() == b"content"
    assert (target / "a").stat().st_nlink == 1


@pytest.mark.parametrize("mtime", [-5, 1e30, float("inf"), float("nan")])
async def test_absurd_times_are_bounded(mtime: float, target: Path) -> None:
    entry = tarfile.TarInfo("x")
    entry.pax_headers = {"mtime": str(mtime)}
    await unpack(in_pieces(entry.tobuf(tarfile.PAX_FORMAT) + bytes(1024)), target)
    assert 0 <= (target / "x").stat().st_mtime <= 2**33


async def test_holes_stay_holes(target: Path) -> None:
    """A gigabyte that a sandbox claims to have costs no gigabyte here."""
    size, data = 1 << 30, b"end"
    sparse = f"1\n{size - len(data)}\n{len(data)}\n".encode().ljust(512, b"\0") + data
    entry = tarfile.TarInfo("GNUSparseFile.0/big")
    entry.size = len(sparse)
    entry.pax_headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": "big",
        "GNU.sparse.realsize": str(size),
    }
    content = entry.tobuf(tarfile.PAX_FORMAT) + sparse + bytes(-len(sparse) % 512) + bytes(1024)
    await unpack(in_pieces(content), target)
    found = (target / "big").stat()
    assert found.st_size == size
    assert found.st_blocks * 512 < 1 << 20
    with (target / "big").open("rb") as unpacked:
        unpacked.seek(-3, os.SEEK_END)
        assert unpacked.read() == b"end"


@pytest.mark.parametrize("content", [b"", b"no tar at all" * 100, tar(("a", file(b"x" * 5000)))[:2000]])
async def test_damaged_archive_is_an_error(content: bytes, target: Path) -> None:
    with pytest.raises(click.ClickException, match="damaged"):
        await unpack(in_pieces(content), target)


def chained_headers() -> bytes:
    """Extended headers that extend one another, deeper than Python calls itself."""
    header = tarfile.TarInfo("x")
    header.type = tarfile.XHDTYPE
    return header.tobuf(tarfile.USTAR_FORMAT) * (2 * sys.getrecursionlimit())


ABSURD = {
    "below a file": tar(("a", file()), ("a/b", file())),
    "directory below a file": tar(("a", file()), ("a/b/c", directory())),
    "link below a file": tar(("a", file()), ("a/b", symlink("c"))),
    "link to an empty name": tar(("l", symlink(""))),
    "headers that extend one another": chained_headers(),
    "sparse file of nonsense": tar(("a", file(pax_headers={"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}))),
    "size that is no number": tar(("a", file(pax_headers={"GNU.sparse.map": "0,x", "GNU.sparse.size": "1"}))),
    "size below zero": tar(("a", file(pax_headers={"GNU.sparse.map": "-5,-5", "GNU.sparse.size": "-1"}))),
}


@pytest.mark.parametrize("content", ABSURD.values(), ids=ABSURD)
async def test_absurd_archive_is_one_clear_error(content: bytes, target: Path) -> None:
    with pytest.raises(click.ClickException, match=r"^the archive from the sandbox (is damaged|can't be unpacked): "):
        await unpack(in_pieces(content, 1 << 20), target)


TOO_LONG = {
    "name": ("n" * 300, file()),
    "path": ("/".join(["d" * 200] * 25), file()),
    "link": ("n" * 300, symlink("ok")),
    "target of a link": ("l", symlink("t" * 5000)),
    "depth": ("/".join("d" * 1900), directory()),
}


@pytest.mark.parametrize("entry", TOO_LONG.values(), ids=TOO_LONG)
async def test_path_that_is_too_long_is_left_out_as_a_failure(entry, target: Path) -> None:
    left_out = await unpack(in_pieces(tar(entry, ("ok", file()))), target)
    [reason] = left_out.reasons
    assert ("too long" in reason, len(reason) < 300, left_out.has_failed) == (True, True, True)
    assert (target / "ok").read_bytes() == b"x"


async def test_archive_is_not_unpacked_before_it_has_arrived(target: Path) -> None:
    async def breaks_off() -> AsyncIterator[bytes]:
        yield tar(("a", file()))[:512]
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await unpack(breaks_off(), target)
    assert not [*target.iterdir()]


async def test_progress_is_told(target: Path) -> None:
    told: list[int] = []
    content = tar(("a", file()))
    await unpack(in_pieces(content, 4096), target, progress=told.append)
    assert told[-1] == len(content)


async def test_unpacking_needs_no_filter_of_tarfile(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian 12's Python 3.11.2 has none."""
    for name in ("data_filter", "tar_filter", "fully_trusted_filter", "FilterError"):
        monkeypatch.delattr(tarfile, name, raising=False)
    assert sys.version_info >= (3, 11)
    await unpack(in_pieces(tar(("d", directory()), ("d/a", file()), ("l", symlink("d/a")))), target)
    assert (target / "l").read_bytes() == b"x"
