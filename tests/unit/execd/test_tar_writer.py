"""Archives that we write, as others read them."""

import io
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arenero.execd.tar import Member, MemberKind
from arenero.execd.tar_writer import END, content_end, header, stored_bytes


def archive(*members: tuple[Member, bytes]) -> tarfile.TarFile:
    data = b"".join(header(member) + content + content_end(member) for member, content in members) + END
    assert len(data) % 512 == 0
    return tarfile.open(fileobj=io.BytesIO(data), mode="r:")


def only(member: Member, content: bytes = b"") -> tarfile.TarInfo:
    (read,) = archive((member, content)).getmembers()
    return read


names = st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1, max_size=60).filter(
    lambda name: name not in (".", "..")
)
paths = st.lists(names, min_size=1, max_size=6).map("/".join)


@settings(deadline=None)
@given(
    name=paths,
    mode=st.integers(0, 0o7777),
    ids=st.tuples(st.integers(0, 2**32 - 2), st.integers(0, 2**32 - 2)),
    time=st.integers(0, 2**40),
    content=st.binary(max_size=1100),
)
def test_file_is_read_as_it_was_described(name: str, mode: int, ids: tuple[int, int], time: int, content: bytes):
    member = Member(name.encode(), MemberKind.FILE, mode, *ids, len(content), time, owner="é" * 20, group="g")
    opened = archive((member, content))
    read = opened.getmember(name)
    assert (read.name, read.mode, read.uid, read.gid, read.size, read.mtime) == (name, mode, *ids, len(content), time)
    extracted = opened.extractfile(read)
    assert extracted is not None
    assert extracted.read() == content


@pytest.mark.parametrize("kind", [MemberKind.SYMLINK, MemberKind.HARD_LINK])
@pytest.mark.parametrize("target", [b"short", b"l/" * 200 + b"ong", "größer".encode()])
def test_link_keeps_its_target(kind: MemberKind, target: bytes):
    read = only(Member(b"x", kind, link_target=target))
    assert (read.linkname, read.issym(), read.islnk()) == (
        target.decode(),
        kind is MemberKind.SYMLINK,
        kind is MemberKind.HARD_LINK,
    )


def test_kinds_are_told():
    assert only(Member(b"d/", MemberKind.DIRECTORY)).isdir()
    assert only(Member(b"f", MemberKind.FIFO)).isfifo()


def test_name_that_is_no_text_survives():
    data = header(Member(b"caf\xe9/" + b"\xff" * 120, MemberKind.FILE)) + END
    with tarfile.open(fileobj=io.BytesIO(data), errors="surrogateescape") as opened:
        assert opened.getnames()[0].encode("utf-8", "surrogateescape") == b"caf\xe9/" + b"\xff" * 120


def test_huge_file_says_its_size():
    member = Member(b"f", MemberKind.FILE, size_bytes=2**40)
    assert tarfile.TarInfo.frombuf(header(member)[-512:], "utf-8", "strict").size == 0o77777777777
    assert b"13 size=1099511627776"[2:] in header(member)
    assert stored_bytes(member) == 2**40


def test_sparse_file_is_read_with_its_holes():
    member = Member(b"d/f", MemberKind.FILE, size_bytes=1_000_000, extents=((1000, 3), (500_000, 4)))
    assert stored_bytes(member) == 7
    opened = archive((member, b"abcdefg"), (Member(b"next", MemberKind.FILE, size_bytes=1), b"x"))
    assert opened.getnames() == ["d/f", "next"]
    extracted = opened.extractfile("d/f")
    assert extracted is not None
    content = extracted.read()
    assert len(content) == 1_000_000
    assert (content[1000:1003], content[500_000:500_004]) == (b"abc", b"defg")
    assert content.count(b"\0") == 1_000_000 - 7
