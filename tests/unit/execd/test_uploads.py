"""Writing files."""

import os
import random
import stat
import threading
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arenero.errors import (
    AlreadyExists,
    ArenError,
    Conflict,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
)
from arenero.execd.file_config import FileConfig
from arenero.execd.identity import acting_as
from arenero.execd.uploads import HIGHEST_OFFSET, WriteMode, WriteSpec, begin
from tests.unit.execd.filekit import ALICE, names_in, no_leaked_descriptors, result, scope_of, shared_directory, write

KINDS_OF_CONTENT = {
    "one byte": b"x",
    "18 KB": bytes(range(256)) * 72,
    "18 KB and one": bytes(range(256)) * 72 + b"!",
    "PNG": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + random.Random(1).randbytes(5000),
    "UTF-16": "größer\r\n".encode("utf-16"),
    "xlsx": b"PK\x03\x04\x14\0\x06\0" + random.Random(2).randbytes(30000),
    "empty": b"",
}


@pytest.mark.parametrize("kind", KINDS_OF_CONTENT)
def test_content_is_kept_byte_by_byte(tmp_path: Path, kind: str):
    """Cases 31 and 34: nothing is lost at a size, and nothing is taken for text."""
    content = KINDS_OF_CONTENT[kind]
    written = write(
        scope_of(tmp_path), WriteSpec(b"f"), (0, content), size=len(content), sha256=sha256(content).digest()
    )
    assert (tmp_path / "f").read_bytes() == content
    assert (written.entry.status.size_bytes, written.is_in_place) == (len(content), False)
    assert names_in(tmp_path) == ["f"]


chunks = st.lists(st.tuples(st.integers(0, 60), st.binary(max_size=20)), max_size=6)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=chunks, more=st.integers(0, 30), announced=st.booleans())
def test_chunks_at_any_offsets_make_the_file(tmp_path: Path, parts, more: int, announced: bool):
    expected = bytearray()
    for offset, data in parts:
        if data:
            expected.extend(bytes(max(offset + len(data) - len(expected), 0)))
            expected[offset : offset + len(data)] = data
    expected.extend(bytes(more))
    checksum = sha256(expected).digest()
    spec = WriteSpec(b"f", has_checksum=announced)
    write(scope_of(tmp_path), spec, *parts, size=len(expected), sha256=checksum)
    assert (tmp_path / "f").read_bytes() == expected


def test_gaps_become_holes(tmp_path: Path):
    """Case 37: 10 GB with 1 MB of data takes 1 MB."""
    data = b"x" * (1 << 20)
    written = write(scope_of(tmp_path), WriteSpec(b"f", has_checksum=True), (5 << 30, data), size=10 << 30)
    assert written.entry.status.size_bytes == 10 << 30
    assert written.entry.status.disk_bytes < 2 << 20


@pytest.mark.parametrize("announced", [False, True])
def test_wrong_checksum_leaves_the_old_file(tmp_path: Path, announced: bool):
    """Case 31: a write that failed never answers OK."""
    (tmp_path / "f").write_bytes(b"old")
    with no_leaked_descriptors(), pytest.raises(InvalidArgument) as error:
        write(
            scope_of(tmp_path), WriteSpec(b"f", has_checksum=announced), (0, b"new"), sha256=sha256(b"other").digest()
        )
    assert (error.value.reason, error.value.field) == ("CHECKSUM_MISMATCH", "finish.sha256")
    assert error.value.metadata["actual"] == sha256(b"new").hexdigest()
    assert (tmp_path / "f").read_bytes() == b"old"
    assert names_in(tmp_path) == ["f"]


def test_file_shorter_than_what_was_received_is_refused(tmp_path: Path):
    with pytest.raises(InvalidArgument) as error:
        write(scope_of(tmp_path), WriteSpec(b"f"), (0, b"four"), size=3)
    assert error.value.reason == "SIZE_MISMATCH"
    assert names_in(tmp_path) == []


def test_reader_sees_the_old_or_the_new_file(tmp_path: Path):
    """Case 35: on local disks replacement is atomic."""
    contents = [bytes([number]) * 200_000 for number in (1, 2)]
    write(scope_of(tmp_path), WriteSpec(b"f"), (0, contents[0]))
    wrong: list[bytes] = []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            seen = (tmp_path / "f").read_bytes()
            if seen not in contents:
                wrong.append(seen[:100])

    reader = threading.Thread(target=look)
    reader.start()
    try:
        for number in range(60):
            content = contents[number % 2]
            write(scope_of(tmp_path), WriteSpec(b"f"), (0, content[:100_000]), (100_000, content[100_000:]))
    finally:
        done.set()
        reader.join()
    assert not wrong


# --- what exists ------------------------------------------------------------------------------------------------------


def test_create_refuses_what_exists_before_anything_is_sent(tmp_path: Path):
    (tmp_path / "f").write_text("old")
    with pytest.raises(AlreadyExists) as error:
        begin(scope_of(tmp_path), WriteSpec(b"f", write_mode=WriteMode.CREATE))
    assert error.value.reason == "FILE_EXISTS"


def test_create_loses_a_race(tmp_path: Path):
    upload = begin(scope_of(tmp_path), WriteSpec(b"f", write_mode=WriteMode.CREATE))
    (tmp_path / "f").write_text("faster")
    with pytest.raises(AlreadyExists):
        result(upload.finish(upload.claim(), None, b""))
    upload.discard()
    assert (tmp_path / "f").read_text() == "faster"


def test_append_goes_to_the_end_whatever_the_offset(tmp_path: Path):
    (tmp_path / "f").write_bytes(b"one")
    spec = WriteSpec(b"f", write_mode=WriteMode.APPEND)
    written = write(scope_of(tmp_path), spec, (0, b"two"), (0, b"three"), size=8, sha256=sha256(b"twothree").digest())
    assert (tmp_path / "f").read_bytes() == b"onetwothree"
    assert written.is_in_place
    with pytest.raises(InvalidArgument):
        write(scope_of(tmp_path), spec, (0, b"two"), size=4)


def test_in_place_changes_only_what_is_sent(tmp_path: Path):
    (tmp_path / "f").write_bytes(b"abcdef")
    inode = (tmp_path / "f").stat().st_ino
    spec = WriteSpec(b"f", write_mode=WriteMode.IN_PLACE)
    write(scope_of(tmp_path), spec, (2, b"XY"), sha256=sha256(b"abXYef").digest())
    assert (tmp_path / "f").read_bytes() == b"abXYef"
    assert (tmp_path / "f").stat().st_ino == inode
    write(scope_of(tmp_path), spec, (2, b"Z"), size=3)
    assert (tmp_path / "f").read_bytes() == b"abZ"


def test_write_goes_where_a_link_leads(tmp_path: Path):
    (tmp_path / "dir").mkdir()
    (tmp_path / "link").symlink_to("dir/target")
    for content in (b"new", b"newer"):
        write(scope_of(tmp_path), WriteSpec(b"link"), (0, content))
        assert (tmp_path / "dir/target").read_bytes() == content
    assert (tmp_path / "link").is_symlink()


def test_link_out_of_the_root_is_not_written_through(tmp_path: Path):
    """Case 38: write of `up/etc/p`, and of a link to a file outside."""
    (tmp_path / "root").mkdir()
    (tmp_path / "secret").write_text("old")
    (tmp_path / "root/up").symlink_to("/")
    (tmp_path / "root/x").symlink_to("../secret")
    for path in (b"up/etc/p", b"x", b"../secret"):
        with pytest.raises(PermissionDenied) as error:
            write(scope_of(tmp_path / "root"), WriteSpec(path, make_parents=True), (0, b"new"))
        assert error.value.reason == "ESCAPES_ROOT"
    assert (tmp_path / "secret").read_text() == "old"


@pytest.mark.parametrize("write_mode", list(WriteMode))
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: path.mkdir(), "IS_A_DIRECTORY"),
        (lambda path: os.mkfifo(path), "NOT_A_REGULAR_FILE"),
    ],
)
def test_what_is_no_file_stays(tmp_path: Path, write_mode: WriteMode, make, reason: str):
    make(tmp_path / "x")
    kind = stat.S_IFMT((tmp_path / "x").stat().st_mode)
    with pytest.raises((FailedPrecondition, AlreadyExists)) as error:
        write(scope_of(tmp_path), WriteSpec(b"x", write_mode=write_mode), (0, b"new"))
    assert error.value.reason == reason
    assert stat.S_IFMT((tmp_path / "x").stat().st_mode) == kind


def test_own_memory_is_not_written_in_place():
    """A link to /proc/self/mem in the place of a log must not let a program change execd."""
    for write_mode in (WriteMode.APPEND, WriteMode.IN_PLACE):
        with pytest.raises(PermissionDenied) as error:
            write(scope_of(), WriteSpec(b"/proc/self/mem", write_mode=write_mode), (0, b"x"))
        assert error.value.reason == "SPECIAL_FILE"


# --- owners and modes -------------------------------------------------------------------------------------------------


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def owner_of(path: Path) -> tuple[int, int]:
    return path.lstat().st_uid, path.lstat().st_gid


def test_new_file_has_its_mode_whatever_the_umask(tmp_path: Path):
    write(scope_of(tmp_path), WriteSpec(b"plain"), (0, b"x"))
    write(scope_of(tmp_path), WriteSpec(b"given", mode=0o666), (0, b"x"))
    write(scope_of(tmp_path), WriteSpec(b"appended", mode=0o600, write_mode=WriteMode.APPEND), (0, b"x"))
    modes = {name: mode_of(tmp_path / name) for name in names_in(tmp_path)}
    assert modes == {"plain": 0o644, "given": 0o666, "appended": 0o600}


@pytest.mark.root
def test_replaced_file_keeps_owner_and_mode_without_set_id_bits(tmp_path: Path):
    (tmp_path / "f").write_text("old")
    os.chown(tmp_path / "f", 4001, 4002)
    (tmp_path / "f").chmod(0o6750)
    scope = scope_of(tmp_path, config=FileConfig())
    write(scope, WriteSpec(b"f"), (0, b"new"))
    assert (owner_of(tmp_path / "f"), mode_of(tmp_path / "f")) == ((4001, 4002), 0o750)
    write(scope, WriteSpec(b"f", mode=0o4711, owner="bob"), (0, b"new"))
    assert (owner_of(tmp_path / "f"), mode_of(tmp_path / "f")) == ((4002, 4002), 0o4711)
    write(scope, WriteSpec(b"f", group="team"), (0, b"new"))
    assert owner_of(tmp_path / "f") == (4002, 4100)


@pytest.mark.root
def test_file_and_missing_parents_belong_to_the_default_user(tmp_path: Path):
    """Case 32: a, b and c.txt belong to 1000; the directory that was there keeps owner and mode."""
    (tmp_path / "data").mkdir(mode=0o750)
    (tmp_path / "data").chmod(0o750)
    os.chown(tmp_path / "data", 4002, 4002)
    write(scope_of(tmp_path, config=FileConfig()), WriteSpec(b"data/a/b/c.txt", make_parents=True), (0, b"x"))
    assert (owner_of(tmp_path / "data"), mode_of(tmp_path / "data")) == ((4002, 4002), 0o750)
    for made, mode in (("a", 0o755), ("a/b", 0o755), ("a/b/c.txt", 0o644)):
        assert (owner_of(tmp_path / "data" / made), mode_of(tmp_path / "data" / made)) == ((1000, 1000), mode)


def test_missing_parents_are_an_error_unless_they_are_to_be_made(tmp_path: Path):
    with pytest.raises(NotFound):
        write(scope_of(tmp_path), WriteSpec(b"a/b"), (0, b"x"))
    assert names_in(tmp_path) == []


@pytest.mark.root
def test_acting_user_writes_what_the_kernel_allows():
    with shared_directory() as directory:
        (directory / "own").mkdir()
        os.chown(directory / "own", 4001, 4001)
        (directory / "shared").write_text("old and longer")
        (directory / "shared").chmod(0o666)
        (directory / "closed").write_text("old")
        scope = scope_of(directory, identity=ALICE)
        with acting_as(ALICE):
            write(scope, WriteSpec(b"own/sub/f", make_parents=True), (0, b"x"))
            in_place = write(scope, WriteSpec(b"shared"), (0, b"new"))
            write(scope, WriteSpec(b"own/for-team", group="team"), (0, b"x"))
            for spec in (WriteSpec(b"closed"), WriteSpec(b"new"), WriteSpec(b"own/f", owner="bob")):
                with no_leaked_descriptors(), pytest.raises(PermissionDenied) as error:
                    write(scope, spec, (0, b"x"))
                assert error.value.reason == "FILE_PERMISSION_DENIED"
        assert owner_of(directory / "own/sub/f") == (4001, 4001)
        assert owner_of(directory / "own/for-team") == (4001, 4100)
        assert ((directory / "shared").read_text(), owner_of(directory / "shared")) == ("new", (0, 0))
        assert in_place.is_in_place
        assert (directory / "closed").read_text() == "old"
        assert names_in(directory) == ["closed", "own", "shared"]


# --- the life of an upload --------------------------------------------------------------------------------------------


def test_upload_is_resumed_where_it_broke_off(tmp_path: Path):
    upload = begin(scope_of(tmp_path), WriteSpec(b"f", has_checksum=True))
    first = upload.claim()
    upload.write(first, [(0, b"hello "), (6, b"wor")])
    assert upload.received_offset == 9
    second = upload.claim()
    upload.write(second, [(9, b"ld")])
    with pytest.raises(Conflict) as error:
        upload.write(first, [(0, b"late")])
    assert error.value.reason == "UPLOAD_TAKEN_OVER"
    result(upload.finish(second, 11, sha256(b"hello world").digest()))
    upload.discard()
    assert (tmp_path / "f").read_bytes() == b"hello world"


def test_content_is_hashed_beside_the_next_write(tmp_path: Path):
    pieces = [random.Random(at).randbytes(70_000) for at in range(20)]
    content = b"".join(pieces)
    for hashes in (0, 1, 3):
        upload = begin(scope_of(tmp_path), WriteSpec(b"f", has_checksum=True))
        token, hashing = upload.claim(), []
        for at, piece in enumerate(pieces):
            upload.write(token, [(70_000 * at, memoryview(piece))])
            hashing += [threading.Thread(target=upload.hash) for _ in range(hashes)]
            for thread in hashing[len(hashing) - hashes :]:
                thread.start()
        written = result(upload.finish(token, len(content), sha256(content).digest()))
        for thread in hashing:
            thread.join()
        assert written.entry.status.size_bytes == len(content)
        assert not upload._unhashed
        upload.discard()
    assert (tmp_path / "f").read_bytes() == content


def test_discarded_upload_takes_nothing_more(tmp_path: Path):
    upload = begin(scope_of(tmp_path), WriteSpec(b"f"))
    token = upload.claim()
    upload.discard()
    upload.discard()
    with pytest.raises(Conflict):
        upload.write(token, [(0, b"x")])
    assert names_in(tmp_path) == []


def test_chunk_beyond_all_files_is_refused(tmp_path: Path):
    with no_leaked_descriptors(), pytest.raises(InvalidArgument) as error:
        write(scope_of(tmp_path), WriteSpec(b"f"), (HIGHEST_OFFSET, b"x"))
    assert error.value.reason == "OUT_OF_RANGE"
    with pytest.raises(InvalidArgument):
        write(scope_of(tmp_path), WriteSpec(b"f"), size=2**64 - 1)


def test_file_that_cant_fit_is_refused_before_it_is_sent(tmp_path: Path):
    with no_leaked_descriptors(), pytest.raises(ResourceExhausted) as error:
        begin(scope_of(tmp_path), WriteSpec(b"f", expected_size_bytes=2**62))
    assert error.value.reason == "NO_SPACE"


def test_directory_that_goes_meanwhile_is_an_error(tmp_path: Path):
    (tmp_path / "d").mkdir()
    upload = begin(scope_of(tmp_path), WriteSpec(b"d/f"))
    (tmp_path / "d").rmdir()
    with no_leaked_descriptors(), pytest.raises(ArenError):
        result(upload.finish(upload.claim(), None, b""))
    upload.discard()


def test_flushed_file_is_written_too(tmp_path: Path):
    for write_mode in WriteMode:
        spec = WriteSpec(f"f{write_mode.value}".encode(), write_mode=write_mode, sync=True)
        write(scope_of(tmp_path), spec, (0, b"x"))
    assert [(tmp_path / name).read_bytes() for name in names_in(tmp_path)] == [b"x"] * 4
