"""Reading in chunks."""

import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arenero.errors import ArenError, FailedPrecondition, InvalidArgument, NotFound
from arenero.execd.reading import HIGHEST_OFFSET, MOST_CHUNK_BYTES, Chunk, ReadRange, read
from tests.unit.execd.filekit import given as items
from tests.unit.execd.filekit import no_leaked_descriptors, scope_of


def chunks(path: Path, **wanted: object) -> list[Chunk]:
    with no_leaked_descriptors():
        return items(read(scope_of(path.parent), os.fsencode(path.name), ReadRange(**wanted)))  # type: ignore[arg-type]


def content(found: list[Chunk]) -> bytes:
    return b"".join(chunk.data for chunk in found)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=100), offset=st.integers(0, 120), length=st.integers(0, 120), chunk=st.integers(1, 30))
def test_any_range_in_any_chunks_is_what_the_file_has(
    tmp_path: Path, data: bytes, offset: int, length: int, chunk: int
):
    (tmp_path / "f").write_bytes(data)
    found = chunks(tmp_path / "f", offset=offset, length=length, chunk_bytes=chunk, has_checksum=True)
    expected = data[offset : offset + length] if length else data[offset:]
    assert content(found) == expected
    assert found[-1].is_end
    assert found[-1].sha256 == sha256(expected).digest()
    position = offset
    for part in found[:-1]:
        assert (part.offset, part.is_end) == (position, False)
        position += len(part.data)


def test_first_chunk_describes_the_file(tmp_path: Path):
    (tmp_path / "f").write_bytes(b"abc")
    first, last = chunks(tmp_path / "f")
    assert first.entry is not None
    assert (first.entry.path, first.entry.status.size_bytes, first.data) == (b"f", 3, b"abc")
    assert (last.entry, last.is_end, last.sha256) == (None, True, b"")
    (tmp_path / "empty").touch()
    (only,) = chunks(tmp_path / "empty")
    assert only.is_end
    assert only.entry is not None


def test_holes_are_left_out_when_asked(tmp_path: Path):
    """Case 37: 10 GB with 1 MB of data is read as 1 MB."""
    with open(tmp_path / "f", "wb") as file:
        file.seek(3 << 30)
        file.write(b"x" * (1 << 20))
        file.truncate(10 << 30)
    found = chunks(tmp_path / "f", is_sparse=True)
    assert sum(len(chunk.data) for chunk in found) == 1 << 20
    assert (found[0].offset, found[-1].offset) == (3 << 30, 10 << 30)
    assert found[0].entry is not None
    assert found[0].entry.status.size_bytes == 10 << 30


def test_holes_count_as_zeros_in_the_checksum(tmp_path: Path):
    with open(tmp_path / "f", "wb") as file:
        file.seek(3 << 20)
        file.write(b"x")
        file.truncate(5 << 20)
    found = chunks(tmp_path / "f", is_sparse=True, has_checksum=True)
    assert found[-1].sha256 == sha256((tmp_path / "f").read_bytes()).digest()


def test_file_that_grows_is_read_to_its_former_end(tmp_path: Path):
    """A program that appends without end must not make a read without end."""
    path = tmp_path / "f"
    path.write_bytes(b"x" * 100)
    got = b""
    for chunk in read(scope_of(tmp_path), b"f", ReadRange(chunk_bytes=10)):
        assert chunk is not None
        got += chunk.data
        with path.open("ab") as file:
            file.write(b"y" * 1000)
    assert got == b"x" * 100


def test_file_that_shrinks_ends_early(tmp_path: Path):
    path = tmp_path / "f"
    path.write_bytes(b"x" * 100)
    got = b""
    for chunk in read(scope_of(tmp_path), b"f", ReadRange(chunk_bytes=10)):
        assert chunk is not None
        got += chunk.data
        os.truncate(path, 30)
    assert got == b"x" * 30


def test_file_of_proc_is_read_though_it_has_no_size():
    found = items(read(scope_of(), b"/proc/version", ReadRange()))
    assert content(found).startswith(b"Linux version")


@pytest.mark.parametrize(
    ("prepare", "kind", "reason"),
    [
        (lambda path: None, NotFound, "FILE_NOT_FOUND"),
        (lambda path: path.mkdir(), FailedPrecondition, "IS_A_DIRECTORY"),
        (lambda path: os.mkfifo(path), FailedPrecondition, "NOT_A_REGULAR_FILE"),
    ],
)
def test_what_cant_be_read_is_named(tmp_path: Path, prepare, kind: type[ArenError], reason: str):
    prepare(tmp_path / "x")
    with pytest.raises(kind) as error:
        chunks(tmp_path / "x")
    assert (error.value.reason, error.value.field) == (reason, "path")


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({"offset": HIGHEST_OFFSET + 1}, "offset"),
        ({"offset": 5, "length": HIGHEST_OFFSET}, "offset"),
        ({"chunk_bytes": MOST_CHUNK_BYTES + 1}, "chunk_bytes"),
        ({"chunk_bytes": 0}, "chunk_bytes"),
    ],
)
def test_impossible_range_is_refused(tmp_path: Path, wanted: dict[str, int], field: str):
    (tmp_path / "f").touch()
    with pytest.raises(InvalidArgument) as error:
        chunks(tmp_path / "f", **wanted)
    assert error.value.field == field
