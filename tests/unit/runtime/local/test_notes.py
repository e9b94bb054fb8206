"""Notes: the last word counts, and half a line is no note."""

from pathlib import Path

import pytest

from arenero.runtime.local import notes


def test_the_last_word_on_each_name_counts(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    notes.begin(path, {"a": 1, "b": 2})
    notes.add(path, {"b": 3, "c": None})
    assert notes.read(path) == {"a": 1, "b": 3, "c": None}


def test_beginning_forgets_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    notes.begin(path, {"a": "x" * 5000})
    notes.add(path, {"b": 2})
    notes.begin(path, {"c": 3})
    assert notes.read(path) == {"c": 3}
    assert path.stat().st_size < 20


@pytest.mark.parametrize("left", [b'{"b": 2', b"\xff", b"[1]", b"null"])
def test_what_is_no_note_hides_no_other(tmp_path: Path, left: bytes) -> None:
    path = tmp_path / "notes"
    notes.begin(path, {"a": 1})
    with path.open("ab") as stream:
        stream.write(left)
    assert notes.read(path) == {"a": 1}
    notes.add(path, {"c": 3})
    assert notes.read(path) == {"a": 1, "c": 3}


def test_nothing_is_noted_where_there_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    notes.add(path, {"a": 1})
    assert not path.exists()
    assert notes.read(path) == {}
