"""Unpacking archives, most of them hostile."""

import gzip
import io
import os
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arenero.errors import (
    ArenError,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
)
from arenero.execd.file_config import FileConfig
from arenero.execd.identity import acting_as
from arenero.execd.packing import PackSpec, pack
from arenero.execd.scope import Scope
from arenero.execd.tar import Member, MemberKind
from arenero.execd.tar_writer import END, content_end, header
from arenero.execd.unpacking import Unpacker, UnpackSpec, points_below
from tests.unit.execd.filekit import (
    ALICE,
    given,
    names_in,
    no_leaked_descriptors,
    result,
    scope_of,
    shared_directory,
)


def unpack(scope: Scope, *pieces: bytes, **spec: object) -> Unpacker:
    with no_leaked_descriptors():
        unpacker = Unpacker(scope, UnpackSpec(b"out", **spec))  # type: ignore[arg-type]
        try:
            result(unpacker.feed(pieces))
            result(unpacker.finish())
        finally:
            unpacker.close()
    return unpacker


def archive(*members: tuple[Member, bytes] | Member) -> bytes:
    data = b""
    for each in members:
        member, content = each if isinstance(each, tuple) else (each, b"")
        data += header(member) + content + content_end(member)
    return data + END


def file(name: bytes, content: bytes = b"new", mode: int = 0o644) -> tuple[Member, bytes]:
    return Member(name, MemberKind.FILE, mode, size_bytes=len(content)), content


def directory(name: bytes, mode: int = 0o755) -> Member:
    return Member(name, MemberKind.DIRECTORY, mode)


def symlink(name: bytes, target: bytes) -> Member:
    return Member(name, MemberKind.SYMLINK, link_target=target)


def hard_link(name: bytes, target: bytes) -> Member:
    return Member(name, MemberKind.HARD_LINK, link_target=target)


@pytest.fixture
def scope(tmp_path: Path) -> Scope:
    return scope_of(tmp_path)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def test_archive_of_python_is_unpacked(scope: Scope, out: Path):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as made:
        for name, content in (("./a/b/c", b"deep"), ("top", b"x" * 100_000)):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(content), 1_000_000_000, 0o751
            made.addfile(entry, io.BytesIO(content))
    unpacker = unpack(scope, data.getvalue())
    assert (out / "a/b/c").read_bytes() == b"deep"
    assert (out / "top").read_bytes() == b"x" * 100_000
    status = (out / "top").stat()
    assert (status.st_mode & 0o7777, int(status.st_mtime)) == (0o751, 1_000_000_000)
    assert (unpacker.entries, unpacker.bytes) == (2, 100_004)


def test_what_was_packed_is_unpacked(tmp_path: Path, scope: Scope, out: Path):
    tree = tmp_path / "tree"
    (tree / "d/e").mkdir(parents=True)
    (tree / "d/f").write_bytes(b"x" * 5000)
    os.link(tree / "d/f", tree / "d/g")
    (tree / "d/link").symlink_to("f")
    os.mkfifo(tree / "d/fifo")
    (tree / "closed").mkdir()
    (tree / "closed/f").touch()
    (tree / "closed").chmod(0o555)
    with open(tree / "sparse", "wb") as sparse:
        sparse.seek(1 << 28)
        sparse.write(b"x")
    pieces = [piece for piece in given(pack(scope, PackSpec(b"tree"))) if isinstance(piece, bytes)]
    unpack(scope, *pieces)
    assert (
        subprocess.run(["diff", "-r", "--no-dereference", str(tree / "d"), str(out / "d")], check=False).returncode < 2
    )
    assert (out / "d/g").stat().st_ino == (out / "d/f").stat().st_ino
    assert os.readlink(out / "d/link") == "f"
    assert (out / "closed").stat().st_mode & 0o777 == 0o555
    assert ((out / "sparse").stat().st_size, (out / "sparse").stat().st_blocks * 512 < 1 << 20) == ((1 << 28) + 1, True)


# --- nothing gets out -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hostile",
    [
        [file(b"../../p")],
        [file(b"a/../../p")],
        [file(b"/etc/p")],
        [file(b"//etc/p")],
        [directory(b"../p")],
        [symlink(b"../p", b"x")],
        [symlink(b"x", b"/etc/shadow")],
        [symlink(b"x", b"..")],
        [symlink(b"d/x", b"../../p")],
        [symlink(b"x", b"a/../../p")],
        [hard_link(b"x", b"/etc/passwd")],
        [hard_link(b"x", b"../secret")],
        [hard_link(b"x", b"up/secret")],
        [file(b"up/secret")],
        [file(b"up/new")],
        [directory(b"up/new")],
        [symlink(b"up/x", b"y")],
        [symlink(b"s", b"."), symlink(b"x", b"s/s/s/../../../..")],
        [symlink(b"s", b"."), symlink(b"x", b"s/s/s/../../.."), file(b"x/secret")],
        [symlink(b"x", b"s/s/../.."), symlink(b"s", b".")],
    ],
    ids=lambda members: " ".join(repr(getattr(each, "name", None) or each[0].name) for each in members),
)
def test_nothing_leaves_the_directory(tmp_path: Path, scope: Scope, out: Path, hostile: list[Any]):
    """Case 38: `../../p`, absolute names, absolute links, links by way of links: all refused with *escapes root*."""
    (tmp_path / "secret").write_text("old")
    out.mkdir()
    (out / "up").symlink_to("..")
    before = names_in(tmp_path)
    with pytest.raises(PermissionDenied) as error:
        unpack(scope, archive(file(b"first"), *hostile, file(b"last")))
    assert error.value.reason == "ESCAPES_ROOT"
    assert names_in(tmp_path) == before
    assert (tmp_path / "secret").read_text() == "old"
    assert (tmp_path / "secret").stat().st_nlink == 1
    assert (out / "first").read_text() == "new"
    for path in out.rglob("*"):
        if path.is_symlink() and path.name != "up":
            assert path.resolve().is_relative_to(out)


def test_file_is_never_written_through_what_is_there(tmp_path: Path, scope: Scope, out: Path):
    """A link, a hard link, a FIFO in the place of a file are replaced, not written to."""
    out.mkdir()
    (tmp_path / "secret").write_text("old")
    (out / "link").symlink_to("../secret")
    os.link(tmp_path / "secret", out / "hard")
    os.mkfifo(out / "fifo")
    unpack(scope, archive(file(b"link"), file(b"hard"), file(b"fifo")))
    assert (tmp_path / "secret").read_text() == "old"
    for name in ("link", "hard", "fifo"):
        assert not (out / name).is_symlink()
        assert (out / name).read_text() == "new"


def test_link_within_the_directory_is_fine_and_followed_within(scope: Scope, out: Path):
    unpack(scope, archive(directory(b"real"), symlink(b"l", b"real/../real"), file(b"l/f"), hard_link(b"h", b"l/f")))
    assert (out / "real/f").read_text() == "new"
    assert (out / "h").stat().st_ino == (out / "real/f").stat().st_ino


@pytest.mark.parametrize("target", [b"/etc/shadow", b"../../p", b"..", b"no/such"])
def test_link_that_points_out_is_taken_when_that_is_asked_for(scope: Scope, out: Path, target: bytes):
    unpack(scope, archive(directory(b"d"), symlink(b"d/l", target), file(b"last")), outside_links=True)
    assert os.readlink(bytes(out / "d/l")) == target
    assert (out / "last").read_text() == "new"


@pytest.mark.parametrize("through", [file(b"l/p"), directory(b"l/p"), symlink(b"l/p", b"x"), hard_link(b"h", b"l/p")])
@pytest.mark.parametrize("target", ["..", "{}"], ids=["up", "absolute"])
def test_nothing_is_unpacked_through_a_link_that_points_out(
    tmp_path: Path, scope: Scope, out: Path, target: str, through: Any
):
    (tmp_path / "p").write_text("old")
    link = symlink(b"l", target.format(tmp_path).encode())
    with pytest.raises(PermissionDenied) as error:
        unpack(scope, archive(link, through), outside_links=True)
    assert error.value.reason == "ESCAPES_ROOT"
    assert ((tmp_path / "p").read_text(), (tmp_path / "p").stat().st_nlink) == ("old", 1)


def test_link_swapped_in_by_a_running_program_leads_nowhere(tmp_path: Path, scope: Scope, out: Path):
    """Between two members a directory becomes a link to elsewhere."""
    (tmp_path / "elsewhere").mkdir()
    unpacker = Unpacker(scope, UnpackSpec(b"out"))
    data = archive(directory(b"d"), file(b"d/one"), file(b"d/two"))
    steps = unpacker.feed([data])
    while not (out / "d/one").exists():
        next(steps)
    (out / "d").rename(out / "d-was")
    (out / "d").symlink_to("../elsewhere")
    with pytest.raises(PermissionDenied) as error:
        result(steps)
    unpacker.close()
    assert error.value.reason == "ESCAPES_ROOT"
    assert names_in(tmp_path / "elsewhere") == []


@pytest.mark.parametrize(
    ("target", "below"), [(b"a", True), (b"..", False), (b"../b", False), (b"a/../..", False), (b"./a/..", True)]
)
def test_targets_read_as_text(target: bytes, below: bool):
    assert points_below(b"x", target) is below
    assert points_below(b"d/x", b"../" + target) is below
    assert not points_below(b"d/x", b"/" + target)


@pytest.mark.parametrize("kind", [MemberKind.CHARACTER_DEVICE, MemberKind.BLOCK_DEVICE])
def test_device_is_refused(scope: Scope, out: Path, kind: MemberKind):
    with pytest.raises(InvalidArgument) as error:
        unpack(scope, archive(Member(b"null", kind)))
    assert error.value.reason == "DEVICE_IN_ARCHIVE"
    assert names_in(out) == []


def test_set_id_bits_are_dropped_unless_owners_are_kept(scope: Scope, out: Path):
    unpack(scope, archive(file(b"f", mode=0o6755), directory(b"d", mode=0o2755)))
    assert (out / "f").stat().st_mode & 0o7777 == 0o755
    assert (out / "d").stat().st_mode & 0o7777 == 0o755


@pytest.mark.root
def test_owners_are_the_default_the_given_or_the_archives(tmp_path: Path):
    member = Member(b"f", MemberKind.FILE, 0o4755, uid=4002, gid=4100)
    scope = scope_of(tmp_path, config=FileConfig())
    for spec, expected in (
        ({}, (1000, 1000, 0o755)),
        ({"owner": "alice"}, (4001, 4001, 0o755)),
        ({"keep_owners": True}, (4002, 4100, 0o4755)),
    ):
        unpack(scope, archive(member), **spec)
        status = (tmp_path / "out/f").stat()
        assert (status.st_uid, status.st_gid, status.st_mode & 0o7777) == expected
    assert (tmp_path / "out").stat().st_uid == 1000


@pytest.mark.root
def test_acting_user_unpacks_with_their_rights():
    with shared_directory(0o777) as shared:
        (shared / "out").mkdir(0o777)
        (shared / "out").chmod(0o777)
        (shared / "out/closed").mkdir(0o755)
        scope = scope_of(shared, identity=ALICE)
        with acting_as(ALICE):
            unpack(scope, archive(directory(b"d", mode=0o500), file(b"d/f"), symlink(b"l", b"d")))
            with pytest.raises(PermissionDenied):
                unpack(scope, archive(file(b"closed/f")))
        assert (shared / "out/d/f").stat().st_uid == 4001
        assert (shared / "out/d").stat().st_mode & 0o777 == 0o500


# --- what is in the way -----------------------------------------------------------------------------------------------


def test_existing_directory_stays_as_it_is(scope: Scope, out: Path):
    (out / "d").mkdir(parents=True)
    (out / "d").chmod(0o700)
    unpack(scope, archive(directory(b"d", mode=0o777), directory(b"./"), file(b"d/f")))
    assert (out / "d").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "members", [[file(b"d")], [symlink(b"d", b"f")], [hard_link(b"d", b"f")], [directory(b"f")], [file(b"f/x")]]
)
def test_directory_and_file_do_not_take_each_others_place(scope: Scope, out: Path, members: list[Any]):
    (out / "d").mkdir(parents=True)
    (out / "f").write_text("old")
    with pytest.raises(FailedPrecondition):
        unpack(scope, archive(*members))
    assert (out / "d").is_dir()
    assert (out / "f").read_text() == "old"


def test_hard_link_needs_its_original(scope: Scope):
    with pytest.raises(NotFound):
        unpack(scope, archive(hard_link(b"x", b"no")))
    with pytest.raises(InvalidArgument):
        unpack(scope, archive(symlink(b"s", b"f"), hard_link(b"x", b"s")))
    unpack(scope, archive(file(b"f"), hard_link(b"f", b"f")))


def test_link_to_nowhere_and_in_circles_is_kept(scope: Scope, out: Path):
    unpack(scope, archive(symlink(b"a", b"b"), symlink(b"b", b"a"), symlink(b"c", b"no/such")))
    assert os.readlink(out / "c") == "no/such"


# --- too much ---------------------------------------------------------------------------------------------------------


def test_entries_and_bytes_have_a_limit(scope: Scope, out: Path):
    many = archive(*[file(b"%d" % number, b"x" * 10) for number in range(20)])
    for spec in ({"most_entries": 5}, {"most_bytes": 50}):
        with pytest.raises(ResourceExhausted) as error:
            unpack(scope, many, **spec)
        assert error.value.reason == "ARCHIVE_TOO_LARGE"
    assert "5" not in names_in(out)


def test_file_that_is_cut_off_does_not_stay(scope: Scope, out: Path):
    with pytest.raises(ResourceExhausted):
        unpack(scope, archive(file(b"f", b"x" * 10_000)), most_bytes=100)
    assert names_in(out) == []
    out.joinpath("f").write_text("old")
    with pytest.raises(InvalidArgument):
        unpack(scope, archive(file(b"f", b"x" * 10_000))[:5000])
    assert (out / "f").read_text() == "old"
    assert names_in(out) == ["f"]


def bomb() -> Iterator[bytes]:
    """Give 256 MB of zeros, which gzip makes a megabyte of."""
    yield header(Member(b"f", MemberKind.FILE, size_bytes=1 << 28))
    for _ in range(16):
        yield bytes(1 << 24)


def test_decompression_bomb_stops_at_the_limit(scope: Scope, out: Path):
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as stream:
        for piece in bomb():
            stream.write(piece)
    assert len(packed.getvalue()) < 8 << 20
    with pytest.raises(ResourceExhausted):
        unpack(scope, packed.getvalue(), is_compressed=True, most_bytes=1 << 20)
    assert names_in(out) == []


# --- compressed, damaged, incomplete ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 100, 10**6])
def test_compressed_archive_in_pieces_and_in_several_members(scope: Scope, out: Path, size: int):
    data = archive(file(b"f", b"x" * 3000))
    packed = gzip.compress(data[:700]) + gzip.compress(data[700:]) + bytes(100)
    unpack(scope, *(packed[at : at + size] for at in range(0, len(packed), size)), is_compressed=True)
    assert (out / "f").read_bytes() == b"x" * 3000


@pytest.mark.parametrize(
    ("data", "is_compressed"),
    [
        (archive(file(b"f"))[:-1024], False),
        (gzip.compress(archive(file(b"f")))[:-4], True),
        (archive(file(b"f")), True),
        (gzip.compress(archive(file(b"f"))), False),
        (gzip.compress(archive(file(b"f")))[:-8] + b"damaged!", True),
        (b"", False),
        (b"", True),
    ],
)
def test_incomplete_or_damaged_archive_is_an_error(scope: Scope, data: bytes, is_compressed: bool):
    """Case 31: what isn't there is never answered with OK."""
    with pytest.raises(InvalidArgument) as error:
        unpack(scope, data, is_compressed=is_compressed)
    assert error.value.reason == "ARCHIVE_INVALID"


def test_name_that_the_kernel_cant_take_is_an_error(scope: Scope):
    for name in (b"x" * 300, b"d/" * 3000 + b"f", b"a\0b" * 50, b""):
        with pytest.raises(ArenError):
            unpack(scope, archive(file(name)))
