"""Reading archives of others, whole or in pieces, and such as nobody writes in good faith."""

import io
import random
import subprocess
import tarfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arenero.errors import InvalidArgument
from arenero.execd.tar import Member, MemberKind, checksum
from arenero.execd.tar_reader import MOST_EXTENSION_BYTES, MOST_EXTENSIONS, Content, Signal, TarReader
from arenero.execd.tar_writer import END, content_end, header

Read = list[tuple[Member, bytes]]


def read(data: bytes, pieces: int = 0, *, complete: bool = True) -> Read:
    """Feed an archive and put the files' contents together; `pieces` > 0 feeds that many bytes at a time."""
    reader = TarReader()
    found: Read = []
    content = bytearray()
    for begin in range(0, len(data), pieces or len(data) or 1):
        for event in reader.feed(data[begin : begin + (pieces or len(data))]):
            if isinstance(event, Member):
                found.append((event, b""))
                content = bytearray()
            elif isinstance(event, Content):
                content.extend(bytes(max(event.offset - len(content), 0)))
                content += event.data
            else:
                assert event is Signal.MEMBER_END
                member = found[-1][0]
                content.extend(bytes(member.size_bytes - len(content)))
                found[-1] = member, bytes(content)
    assert reader.is_complete == complete
    return found


def written(*files: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for info, content in files:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def info(name: str, **fields: object) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    for key, value in fields.items():
        setattr(made, key, value)
    return made


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("pieces", [0, 1, 511, 512, 513, 10_240])
def test_archives_of_python_in_pieces_of_any_size(form: int, pieces: int):
    long = "d/" * 45 + "file" if form == tarfile.USTAR_FORMAT else "d/" * 200 + "größer"
    data = written(
        (info("plain", mode=0o751, uid=7, gid=8, mtime=9), b"x" * 700),
        (info(long), b"y"),
        (info("dir", type=tarfile.DIRTYPE), b""),
        (info("link", type=tarfile.SYMTYPE, linkname="t/" * 40), b""),
        (info("hard", type=tarfile.LNKTYPE, linkname="plain"), b""),
        (info("empty"), b""),
        form=form,
    )
    found = read(data, pieces)
    assert [(member.name.rstrip(b"/").decode(), content) for member, content in found] == [
        ("plain", b"x" * 700),
        (long, b"y"),
        ("dir", b""),
        ("link", b""),
        ("hard", b""),
        ("empty", b""),
    ]
    plain, _, directory, link, hard, _ = (member for member, _ in found)
    assert (plain.mode, plain.uid, plain.gid, plain.modified_s) == (0o751, 7, 8, 9)
    assert directory.kind is MemberKind.DIRECTORY
    assert (link.kind, link.link_target) == (MemberKind.SYMLINK, b"t/" * 40)
    assert (hard.kind, hard.link_target) == (MemberKind.HARD_LINK, b"plain")


@pytest.mark.parametrize(
    "options",
    [
        ["--format=v7"],
        ["--format=ustar"],
        ["--format=oldgnu"],
        ["--format=gnu"],
        ["--format=posix"],
        ["--format=gnu", "--sparse"],
        ["--format=posix", "--sparse", "--sparse-version=0.0"],
        ["--format=posix", "--sparse", "--sparse-version=0.1"],
        ["--format=posix", "--sparse", "--sparse-version=1.0"],
    ],
    ids=" ".join,
)
def test_archives_of_gnu_tar_in_all_its_formats(tmp_path: Path, options: list[str]):
    (tmp_path / "d").mkdir()
    (tmp_path / "d/plain").write_bytes(random.Random(3).randbytes(3000))
    with open(tmp_path / "d/sparse", "wb") as file:
        for number in range(40):
            file.seek(number * 65536)
            file.write(b"%02d" % number)
        file.truncate(4_000_000)
    made = subprocess.run(
        ["tar", "--create", *options, "--directory", str(tmp_path), "d"], capture_output=True, check=True
    )
    found = {member.name.rstrip(b"/"): content for member, content in read(made.stdout, 1000)}
    assert found == {
        b"d": b"",
        b"d/plain": (tmp_path / "d/plain").read_bytes(),
        b"d/sparse": (tmp_path / "d/sparse").read_bytes(),
    }
    if "--sparse" in options:
        assert len(made.stdout) < 400_000


members = st.lists(
    st.tuples(
        st.binary(min_size=1, max_size=150).filter(lambda name: b"\0" not in name and not name.endswith(b"/")),
        st.binary(max_size=1030),
    ),
    max_size=4,
)


@settings(deadline=None)
@given(members, st.integers(1, 3000))
def test_what_we_write_we_read(parts: list[tuple[bytes, bytes]], pieces: int):
    files = [(Member(name, MemberKind.FILE, size_bytes=len(content)), content) for name, content in parts]
    data = b"".join(header(member) + content + content_end(member) for member, content in files) + END
    assert [(member.name, content) for member, content in read(data, pieces)] == parts


def test_what_follows_the_end_is_ignored():
    assert read(written((info("a"), b"x")) + b"rubbish" * 1000)[0][1] == b"x"


def test_archive_without_its_end_is_not_complete():
    data = header(Member(b"f", MemberKind.FILE, size_bytes=3)) + b"abc" + bytes(509)
    assert read(data, complete=False)[0][1] == b"abc"
    assert read(data[:515], complete=False)[0][1] == b""
    assert read(b"", complete=False) == []


# --- hostile ones -----------------------------------------------------------------------------------------------------


def refused(data: bytes) -> str:
    with pytest.raises(InvalidArgument) as error:
        read(data)
    assert error.value.reason == "ARCHIVE_INVALID"
    return str(error.value)


def block(name: bytes = b"f", kind: bytes = b"0", size: bytes = b"%011o" % 0, **more: tuple[int, bytes]) -> bytes:
    made = bytearray(512)
    fields = [(0, name), (100, b"0000644"), (124, size), (156, kind), (257, b"ustar\x0000"), *more.values()]
    for at, value in fields:
        made[at : at + len(value)] = value
    made[148:156] = b"%06o\0 " % checksum(bytes(made))
    return bytes(made)


def pax(*records: bytes) -> bytes:
    content = b""
    for record in records:
        length = len(record) + 3
        while len(b"%d " % length) + len(record) + 1 != length:
            length += 1
        content += b"%d %s\n" % (length, record)
    return block(kind=b"x", size=b"%011o" % len(content)) + content + bytes(-len(content) % 512)


@pytest.mark.parametrize(
    "data",
    [
        b"not a tar at all" * 100,
        b"\x1f\x8b" + bytes(600),
        block()[:511] + b"\x01",
        block(size=b"99999999999"),
        block(size=b"\xbf" + b"\xff" * 11),
        block(kind=b"Z"),
        block(kind=b"x", size=b"%011o" % (MOST_EXTENSION_BYTES + 1)),
        block(kind=b"L", size=b"%011o" % (1 << 30)),
        block(kind=b"x", size=b"%011o" % 512) + b"7 a=b\n9" + bytes(505),
        block(kind=b"x", size=b"%011o" % 512) + b"999999999999999999999999 a=b\n".ljust(512, b"\0"),
        block(kind=b"x", size=b"%011o" % 4) + b"0 a\n" + bytes(508),
        pax(b"size=99999999999999999999") + block(),
        pax(b"size=-1") + block(),
        pax(b"uid=1x") + block(),
        pax(b"path=a") * (MOST_EXTENSIONS + 1) + block(),
        pax(b"GNU.sparse.map=0,10,5,10", b"GNU.sparse.size=100") + block(size=b"%011o" % 20),
        pax(b"GNU.sparse.map=0,10", b"GNU.sparse.size=5") + block(size=b"%011o" % 10),
        pax(b"GNU.sparse.map=0,10,20", b"GNU.sparse.size=50") + block(size=b"%011o" % 10),
        pax(b"GNU.sparse.map=0,10", b"GNU.sparse.size=50") + block(size=b"%011o" % 1000),
        pax(b"GNU.sparse.major=1", b"GNU.sparse.realsize=9") + block(size=b"%011o" % 512) + b"9" * 512,
        pax(b"GNU.sparse.major=1", b"GNU.sparse.realsize=9") + block(size=b"%011o" % 512) + b"999999999\n".ljust(512),
        pax(b"GNU.sparse.major=1", b"GNU.sparse.realsize=9") + block(size=b"%011o" % 100) + b"1\n0\n9\n".ljust(512),
        block(kind=b"S", size=b"%011o" % 10, map=(386, b"%011o\0%011o\0" % (0, 20)), real=(483, b"%011o" % 15)),
    ],
)
def test_nonsense_is_refused(data: bytes):
    refused(data)


def test_compressed_archive_says_what_to_do():
    with pytest.raises(InvalidArgument) as error:
        read(b"\x1f\x8b" + bytes(600))
    assert "compression" in error.value.fix


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=3000), st.integers(0, 3000), st.integers(0, 255))
def test_no_damage_is_fatal(rest: bytes, at: int, value: int):
    """Whatever is changed or appended, the answer is members or a refusal."""
    data = bytearray(written((info("a" * 150), b"x" * 600), (info("b", type=tarfile.SYMTYPE, linkname="c"), b"")))
    data[at % len(data)] = value
    for variant in (bytes(data), bytes(data[: at % len(data)]) + rest, rest):
        reason = "ARCHIVE_INVALID"
        try:
            list(TarReader().feed(variant))
        except InvalidArgument as error:
            reason = error.reason
        assert reason == "ARCHIVE_INVALID"


def test_memory_stays_small_whatever_sizes_are_claimed():
    """A member of 8 EB, and headers of the greatest length, take no more memory than their pieces."""
    reader = TarReader()
    tracemalloc.start()
    try:
        long = b"path=" + b"x" * (MOST_EXTENSION_BYTES - 100)
        for _ in range(5):
            for event in reader.feed(pax(long)):
                assert event is None
        for event in reader.feed(block(size=b"\x80\0\0\0\x7f" + b"\xff" * 7)):
            assert isinstance(event, Member)
            assert event.size_bytes == 0x7F_FFFFFFFFFFFFFF
        for _ in range(200):
            for event in reader.feed(bytes(100_000)):
                assert isinstance(event, Content)
        assert tracemalloc.get_traced_memory()[1] < 8 * MOST_EXTENSION_BYTES
    finally:
        tracemalloc.stop()
